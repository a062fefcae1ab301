"""Capture: what the harness's logs hold that the record does not, and what could not be read."""

from collections import Counter

from health.facts import CaptureFacts, Expiring, Facts
from health.known import Area, Known, one
from health.signal import NO_LIMIT, NONE_ALLOWED_WARN, Level, Signal, count, size, span
from transcript.skipped import worded
from transcript.telling import counted

SHOWN = 20


def capture_lag(facts: Facts, *, warn_seconds: float = 3600, fail_seconds: float = 86400) -> Signal:
    """Return how long the oldest bytes of the harness's logs wait to be taken in."""
    capture = facts.capture
    age = None if capture.behind_oldest is None else max(0.0, facts.now - capture.behind_oldest)
    level = Level.OK
    if capture.behind:
        waited = warn_seconds + 1 if age is None else age
        level = Level.FAIL if waited > fail_seconds else Level.WARN if waited > warn_seconds else Level.OK
    text = "nothing waits"
    if capture.behind:
        since = "" if age is None else f", for {span(age)}"
        text = f"{counted(capture.behind, 'file waits', 'files wait')} ({size(capture.behind_bytes)}){since}"
    return Signal(
        id="capture_lag",
        value={"files": capture.behind, "bytes": capture.behind_bytes, "age_seconds": age and round(age)},
        unit="seconds",
        level=level,
        text=text,
        meaning="Transcripts of this workspace that have grown since they were read, or have to be read again.",
        action="run 'recall sync'; hooks do it after every turn" if level else "",
        details=tuple(
            f"{one.harness}: {counted(one.files, 'file')} ({size(one.bytes)}), "
            f"for {span(max(0.0, facts.now - one.oldest))}"
            for one in capture.waiting
        ),
    )


def excluded(capture: CaptureFacts) -> Signal:
    """Return whether the project was excluded: then nothing new comes in and no hook answers."""
    return Signal(
        id="project_excluded",
        value=capture.excluded,
        unit="flag",
        level=Level.WARN if capture.excluded else Level.OK,
        text="this project is excluded" if capture.excluded else "this project is not excluded",
        meaning="Of an excluded project nothing is captured, and nothing is injected there.",
        action="'recall exclude' lists what is kept out; run 'recall exclude PATH --remove' for the folder this is in"
        if capture.excluded
        else "",
    )


def sources_uncaptured(capture: CaptureFacts) -> Signal:
    """Return transcripts of this workspace of which nothing was ever taken in."""
    return count(
        "sources_uncaptured",
        capture.uncaptured,
        ("transcript was never taken in", "transcripts were never taken in"),
        limits=NO_LIMIT,
        meaning="New ones wait for the end of a turn; 'capture_lag' says for how long.",
        action="",
    )


def sources_missing(capture: CaptureFacts) -> Signal:
    """Return transcripts that were read once and are gone."""
    return count(
        "sources_missing",
        len(capture.missing),
        (
            f"of {counted(capture.sources, 'transcript')} is gone",
            f"of {counted(capture.sources, 'transcript')} are gone",
        ),
        limits=NO_LIMIT,
        meaning="The harness deletes its own; what was read of them is safe in the record.",
        action="",
        details=capture.missing[:SHOWN],
    )


def near_retention(facts: Facts, *, fail_seconds: float = 3 * 86400) -> Signal:
    """Return transcripts not taken in that the harness will delete within a week; within three days that fails."""
    lost = [file for file in facts.capture.expiring if not file.taken_in]
    soonest = lost[0].at - facts.now if lost else 0.0
    level = Level.OK if not lost else Level.FAIL if soonest <= fail_seconds else Level.WARN
    many = counted(len(lost), "transcript that is not taken in", "transcripts that are not taken in")
    return Signal(
        id="near_retention",
        value=len(lost),
        unit="count",
        level=level,
        text=f"the harness will delete {many}, {_when(soonest)}"
        if lost
        else "nothing that the record lacks is deleted",
        meaning="The harness deletes transcripts of a certain age; these are in no record yet.",
        action="run 'recall sync' now" if level else "",
        details=_deletions(lost, facts.now),
    )


def harness_deletes(facts: Facts) -> Signal:
    """Return transcripts that the harness will delete within a week and that the record holds: no loss."""
    safe = [file for file in facts.capture.expiring if file.taken_in]
    by_harness = Counter(file.harness for file in safe)
    first = {file.harness: file for file in reversed(safe)}
    told = (
        f"{name} will delete {counted(n, 'session file')} of over {span(first[name].after)}, "
        f"{_when(first[name].at - facts.now)}; the record holds {'it' if n == 1 else 'them'}"
        for name, n in sorted(by_harness.items())
    )
    return Signal(
        id="harness_deletes",
        value=dict(by_harness),
        unit="count",
        level=Level.OK,
        text="; ".join(told) or "no harness deletes a session of this project within a week",
        meaning="The harness deletes its own; what was read of them is safe in the record.",
        details=_deletions(safe, facts.now),
    )


def _when(seconds: float) -> str:
    return f"the first in {span(seconds)}" if seconds > 0 else "the first when it starts next"


def _deletions(files: list[Expiring], now: float) -> tuple[str, ...]:
    return tuple(f"{file.path}: {_in(file.at - now)}" for file in files[:SHOWN])


def _in(seconds: float) -> str:
    return f"in {span(seconds)}" if seconds > 0 else "at its next start"


def unknown_types(capture: CaptureFacts) -> Signal:
    """Return record types that this version does not know, by name."""
    names = sorted(capture.unknown_types.items(), key=lambda item: (-item[1], item[0]))
    kinds = counted(len(names), "unknown type")
    return count(
        "unknown_types",
        sum(capture.unknown_types.values()),
        (f"record of {kinds}", f"records of {kinds}"),
        limits=NONE_ALLOWED_WARN,
        meaning="They are kept raw and not indexed; a newer version may read them.",
        action="look for an update of recall; after it 'recall sync --readapt' reads them",
        details=tuple(f"{name}: {n:,}" for name, n in names[:SHOWN]),
    )


def damaged_lines(capture: CaptureFacts) -> Signal:
    """Return lines that could not be read, with file and offset; never their content."""
    return count(
        "damaged_lines",
        capture.damaged,
        ("damaged line", "damaged lines"),
        limits=NONE_ALLOWED_WARN,
        meaning="Lines of the harness's logs that are no records; everything around them was taken in.",
        action="look at the places named; nothing of this product wrote them",
        details=tuple(clip(where) for where in capture.damaged_where[:SHOWN]),
    )


def mended_lines(capture: CaptureFacts) -> Signal:
    """Return lines that hold more than one record; all of them were taken in."""
    return count(
        "mended_lines",
        capture.mended,
        ("line held more than one record", "lines held more than one record"),
        limits=NO_LIMIT,
        meaning="A harness left out a line end; every record of such a line was taken in.",
        action="",
    )


def incomplete_tails(capture: CaptureFacts) -> Signal:
    """Return files whose last line is not finished yet."""
    return count(
        "incomplete_tails",
        len(capture.incomplete_tails),
        ("file ends in an unfinished line", "files end in an unfinished line"),
        limits=NO_LIMIT,
        meaning="A harness is writing, or was stopped while it wrote; the line is read when it is whole.",
        action="",
        details=capture.incomplete_tails[:SHOWN],
    )


def skipped(capture: CaptureFacts) -> Signal:
    """Return what was not taken in on purpose, by reason."""
    parts = "; ".join(worded(reason, n) for reason, n in sorted(capture.skipped.items()) if n)
    return Signal(
        id="skipped",
        value=dict(capture.skipped),
        unit="count",
        level=Level.OK,
        text=parts or "nothing was left out",
        meaning="Session files that the last sync passed over; 'recall sync' names the folders that are gone.",
    )


def clip(text: str, limit: int = 200) -> str:
    """Return text no longer than limit: error output never repeats a whole damaged line."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


KNOWN = (
    Known(
        "capture_lag",
        one(capture_lag),
        Area.RECORD,
        "session files of the harnesses",
        warn="oldest > 1 h",
        fail="oldest > 1 day",
        remedy="sync",
        safe=True,
    ),
    Known(
        "project_excluded",
        one(lambda f: excluded(f.capture)),
        Area.RECORD,
        "exclusions",
        warn="excluded",
        why_never="a person asked for it",
    ),
    Known(
        "sources_uncaptured",
        one(lambda f: sources_uncaptured(f.capture)),
        Area.RECORD,
        "session files of the harnesses",
        why_never="capture_lag says for how long they wait",
    ),
    Known(
        "sources_missing",
        one(lambda f: sources_missing(f.capture)),
        Area.RECORD,
        "session files of the harnesses",
        why_never="the record holds what was read of them",
    ),
    Known(
        "near_retention",
        one(near_retention),
        Area.RECORD,
        "session files, retention of the harnesses",
        warn="within 7 days",
        fail="within 3 days",
        remedy="sync",
        safe=True,
    ),
    Known(
        "harness_deletes",
        one(harness_deletes),
        Area.RECORD,
        "session files, retention of the harnesses",
        why_never="the record holds them",
    ),
    Known(
        "unknown_types",
        one(lambda f: unknown_types(f.capture)),
        Area.RECORD,
        "record",
        warn="> 0",
        why_never="they are kept raw",
    ),
    Known(
        "damaged_lines",
        one(lambda f: damaged_lines(f.capture)),
        Area.RECORD,
        "record",
        warn="> 0",
        why_never="everything around them was taken in",
    ),
    Known(
        "mended_lines",
        one(lambda f: mended_lines(f.capture)),
        Area.RECORD,
        "record",
        why_never="every record of such a line was taken in",
    ),
    Known(
        "incomplete_tails",
        one(lambda f: incomplete_tails(f.capture)),
        Area.RECORD,
        "record",
        why_never="a harness is writing",
    ),
    Known("skipped", one(lambda f: skipped(f.capture)), Area.RECORD, "record", why_never="left out on purpose"),
)
