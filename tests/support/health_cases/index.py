"""The index as a view of the record."""

from support.health_cases import DAY, FAIL, HOUR, NOW, OK, WARN, Case, well


def gate(**changes):
    fit = {"gate_fitted": NOW - HOUR, "gate_safe": True, "gate_model": "m", "gate_passages": 60}
    return well("index", **{**fit, **changes})


NEVER = (OK, OK, OK)
AT_ONCE = (OK, FAIL, FAIL)
WARNS = (OK, WARN, WARN)

CASES = {
    "index": Case(
        well("index", present=False),
        well("index", error="index.sqlite is newer than this version"),
        ("generation 1", "no index", "newer than this version"),
        AT_ONCE,
    ),
    "rebuild_unfinished": Case(
        well("index", building_generation=2, building_since=NOW - 7 * HOUR, building_rows=40),
        well("index", building_generation=2),
        ("no rebuild is under way", "generation 2 was begun 7.0 h ago: 40 of 64 passages", "begun long ago"),
        WARNS,
    ),
    "index_write_hold": Case(
        well("index", longest_hold=(60_001.0, "rebuild")), well("index", longest_hold=(90_000.0, "index")),
        ("no run yet", "60,001 ms at most (in a run of 'rebuild')", "90,000 ms at most"), WARNS,
    ),
    "chunks_by_class": Case(
        well("index", chunks_by_class={}),
        well("index", chunks_by_class={"tool": 90_000, "memory": 0}),
        ("conversation 60, tool 4", "none", "tool 90,000"),
        NEVER,
    ),
    "orphan_vectors": Case(
        well("index", orphan_vectors=1), well("index", orphan_vectors=3), ("0", "1 vector", "3 vectors"), AT_ONCE
    ),
    "orphan_pointers": Case(
        well("index", orphan_pointers=1), well("index", orphan_pointers=3), ("0", "1 pointer", "3 pointers"), AT_ONCE
    ),
    "word_index": Case(
        well("index", words_extra=1),
        well("index", words_missing=5),
        ("0 rows", "1 row differs between words and store (0 missing, 1 extra)", "5 rows differ"),
        AT_ONCE,
    ),
    "unindexed": Case(
        well("index", unindexed=3, unindexed_oldest=NOW - HOUR - 1),
        well("index", unindexed=3, unindexed_oldest=NOW - DAY - 1),
        ("3 events not indexed, the first 60 min old", "3 events", "24.0 h old"),
        healthy=well("index", unindexed=3, unindexed_oldest=NOW - HOUR),
    ),
    "implausible_times": Case(
        well("index", implausible_times=1), well("index", implausible_times=900), ("0 rows", "1 row", "900"), WARNS
    ),
    "secrets_masked": Case(
        well("index", secrets_masked=1), well("index", secrets_masked=900), ("0", "1 secret", "900 secrets"), NEVER
    ),
    "marks": Case(
        well("index", marks_missing=True),
        well("index", marks_missing=True, rows=0, distinct=0),
        ("kept", "made by an earlier version", "did not keep them"),
        WARNS,
    ),
    "gate": Case(
        gate(gate_passages=32),
        gate(gate_passages=1, gate_model="n"),
        ("fitted 60 min ago to 60 passages", "now 64, same model", "another model"),
        WARNS,
        healthy=gate(),
    ),
}  # fmt: skip
