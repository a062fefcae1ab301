"""Capture: what waits, what is about to be deleted, what could not be read."""

from health.facts import Expiring
from support.health_cases import DAY, HOUR, NOW, OK, WARN, Case, well

NEVER = (OK, OK, OK)
WARNS = (OK, WARN, WARN)


def capture(**changes):
    return well("capture", **changes)


def expiring(days, *, taken_in=False):
    return capture(expiring=(Expiring("a.jsonl", "claude-code", NOW + days * DAY, 30 * DAY, taken_in),))


CASES = {
    "capture_lag": Case(
        capture(behind=1, behind_bytes=40, behind_oldest=NOW - 2 * HOUR),
        capture(behind=2, behind_bytes=40, behind_oldest=NOW - 2 * DAY),
        ("1 file waits (0 B), for 60 s", "1 file waits (40 B), for 2.0 h", "2 files wait (40 B), for 2.0 days"),
        healthy=capture(behind=1, behind_oldest=NOW - 60),
    ),
    "project_excluded": Case(
        capture(excluded=True), capture(excluded=True, behind=9), ("not excluded", "is excluded", "is excluded"), WARNS
    ),
    "sources_uncaptured": Case(
        capture(uncaptured=1), capture(uncaptured=900), ("0", "1 transcript was", "900 transcripts"), NEVER
    ),
    "sources_missing": Case(
        capture(missing=("a.jsonl",)), capture(missing=("a.jsonl",) * 3), ("0 of", "a.jsonl", "3 of 3"), NEVER
    ),
    "near_retention": Case(
        expiring(6), expiring(2.9), ("nothing that the record lacks", "the first in 6.0 days", "in 2.9 days"),
        healthy=expiring(2, taken_in=True),
    ),
    "harness_deletes": Case(
        expiring(5, taken_in=True), expiring(-1, taken_in=True),
        ("no harness deletes", "the first in 5.0 days; the record holds it", "when it starts next"), NEVER,
    ),
    "unknown_types": Case(
        capture(unknown_types={"new@2": 3}), capture(unknown_types={"new@2": 3, "b@1": 900}),
        ("0 records", "new@2: 3", "903 records of 2 unknown types"), WARNS,
    ),
    "damaged_lines": Case(
        capture(damaged=1, damaged_where=("a.jsonl at 120: not JSON",)), capture(damaged=900),
        ("0 damaged", "a.jsonl at 120: not JSON", "900 damaged lines"), WARNS,
    ),
    "mended_lines": Case(capture(mended=1), capture(mended=900), ("0", "1 line held", "900 lines held"), NEVER),
    "incomplete_tails": Case(
        capture(incomplete_tails=("a.jsonl",)), capture(incomplete_tails=("a",) * 9), ("0", "a.jsonl", "9 files"), NEVER
    ),
    "skipped": Case(
        capture(skipped={"excluded": 1}), capture(skipped={"excluded": 900}),
        ("nothing was left out", "1 of excluded projects", "900 of excluded"), NEVER,
    ),
}  # fmt: skip
