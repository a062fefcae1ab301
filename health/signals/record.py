"""The record: is there anything, is it whole, is it private."""

from health.facts import Facts, RecordFacts
from health.known import Area, Known, one
from health.signal import NO_LIMIT, NONE_ALLOWED_FAIL, NONE_ALLOWED_WARN, Level, Signal, count, span
from transcript.telling import counted

FROM_BACKUP = "'recall restore DIR --replace' puts a backup in its place and keeps what is here aside"


def stored(record: RecordFacts) -> Signal:
    """Return how many events there are; none is a failure, however quiet everything else is."""
    level = Level.OK if record.events else Level.FAIL
    none = "nothing is stored" if not record.chain_problems else "the end of the record cannot be read"
    return Signal(
        id="stored",
        value=record.events,
        unit="count",
        level=level,
        text=f"{counted(record.events, 'event')} of {counted(record.sessions, 'session')}" if record.events else none,
        meaning="Without a record there is nothing to recall, so nothing can be well.",
        action=""
        if record.events
        else "run 'recall verify'"
        if record.chain_problems
        else "run 'recall sync', and 'recall enable-hooks claude-code' for the future",
        details=tuple(f"{name}: {n:,}" for name, n in sorted(record.by_type.items())),
    )


def chain(record: RecordFacts) -> Signal:
    """Return up to which event the chain was checked, and what was found."""
    problems = record.chain_problems
    if problems:
        level, text = Level.FAIL, f"{counted(len(problems), 'problem')}: {problems[0]}"
    elif record.chain_checked_to is None:
        level, text = Level.OK, "not checked by this report"
    else:
        first = record.chain_checked_from or 1
        level = Level.OK
        text = f"whole from event {first:,} up to event {record.chain_checked_to:,} of {record.last_event_seq:,}"
    return Signal(
        id="chain",
        value=record.chain_checked_to,
        unit="event",
        level=level,
        text=text,
        meaning="Every event names the hash of the one before it; 'recall verify' checks the whole record.",
        action=f"run 'recall verify' for all of them; {FROM_BACKUP}" if problems else "",
        details=problems[1:20],
    )


def head(record: RecordFacts) -> Signal:
    """Return whether the record ends where its head file says; a shorter one was cut."""
    level = Level.FAIL if record.head_ok is False else Level.OK
    texts = {True: "the record ends where its head says", False: "the record ends before its head", None: "no head yet"}
    return Signal(
        id="head",
        value=record.head_ok,
        unit="flag",
        level=level,
        text=texts[record.head_ok],
        meaning="The head is written after each batch and witnesses a cut.",
        action=f"run 'recall verify'; {FROM_BACKUP}" if level else "",
    )


def quarantine(record: RecordFacts) -> Signal:
    """Return bytes that stood behind the record's head after a crash and were put aside."""
    return Signal(
        id="quarantine",
        value=record.quarantine_bytes,
        unit="bytes",
        level=Level.OK,
        text=f"{counted(record.quarantine_bytes, 'byte')} in quarantine",
        meaning="An unfinished line that a crash left; it was never part of the record.",
    )


def spool(facts: Facts, *, fail_seconds: float = 86400) -> Signal:
    """Return ledger events that wait for the next writer; old ones mean that none comes."""
    record = facts.record
    age = None if record.spool_oldest is None else max(0.0, facts.now - record.spool_oldest)
    old = age is not None and age > fail_seconds
    level = Level.WARN if record.spooled and old else Level.OK
    since = f", the oldest {span(age)} old" if age is not None and record.spooled else ""
    return Signal(
        id="spool",
        value=record.spooled,
        unit="count",
        level=level,
        text=f"{counted(record.spooled, 'event waits', 'events wait')} in the spool{since}",
        meaning="Turns leave their ledger event here when the record is locked; the next writer takes them in.",
        action="run 'recall sync'" if level else "",
    )


def projection_lag(record: RecordFacts) -> Signal:
    """Return how many events the farthest of the views is behind the record; none is the rule after every write."""
    lags = record.view_lag
    worst = max(lags.values(), default=0) if lags is not None else 0
    behind = {name: n for name, n in (lags or {}).items() if n}
    text = f"{counted(worst, 'event')} behind ({', '.join(sorted(behind))})" if behind else "every view is up to date"
    return Signal(
        id="projection_lag",
        value=None if lags is None else worst,
        unit="count",
        level=NONE_ALLOWED_WARN.level(worst),
        text="no views: the project was never initialised" if lags is None else text,
        meaning="Events that the files under .recall/views should show and do not.",
        action="run 'recall project'" if worst else "",
        limits=NONE_ALLOWED_WARN,
        details=tuple(f"{name}: {n:,}" for name, n in sorted((lags or {}).items()) if n),
    )


def reasoning_withheld(record: RecordFacts) -> Signal:
    """Return sessions with hidden reasoning that was not taken in."""
    return count(
        "reasoning_withheld",
        record.reasoning_withheld,
        ("session with reasoning withheld", "sessions with reasoning withheld"),
        limits=NO_LIMIT,
        meaning="Hidden reasoning is off by default; capture.reasoning = true keeps exposed traces.",
        action="",
    )


def file_modes(record: RecordFacts) -> Signal:
    """Return files and folders of the workspace that others can read."""
    return count(
        "file_modes",
        len(record.open_to_others),
        ("file or folder is open to other users", "files or folders are open to other users"),
        limits=NONE_ALLOWED_FAIL if record.events else NONE_ALLOWED_WARN,
        meaning="Folders are 0700 and files 0600: transcripts hold secrets.",
        action="run 'chmod -R go-rwx' on the data folder, which 'recall config' names",
        details=record.open_to_others[:20],
    )


KNOWN = (
    Known(
        "stored",
        one(lambda f: stored(f.record)),
        Area.RECORD,
        "record",
        fail="no event",
        why_never="an empty record is broken at once",
        remedy="sync",
        safe=True,
    ),
    Known(
        "chain",
        one(lambda f: chain(f.record)),
        Area.RECORD,
        "record",
        fail="any problem",
        why_never="a broken chain is broken at once",
        remedy="verify",
    ),
    Known(
        "head",
        one(lambda f: head(f.record)),
        Area.RECORD,
        "head file",
        fail="differs from the record",
        why_never="a cut record is broken at once",
        remedy="verify",
    ),
    Known(
        "quarantine",
        one(lambda f: quarantine(f.record)),
        Area.RECORD,
        "quarantine folder",
        why_never="what a crash left was never part of the record",
    ),
    Known(
        "spool",
        one(spool),
        Area.RECORD,
        "spool folder",
        warn="oldest > 1 day",
        why_never="nothing is lost: the next writer takes it in",
        remedy="sync",
        safe=True,
    ),
    Known(
        "projection_lag",
        one(lambda f: projection_lag(f.record)),
        Area.RECORD,
        "views",
        warn="> 0",
        why_never="views are made anew from the record",
        remedy="project",
        safe=True,
    ),
    Known(
        "reasoning_withheld",
        one(lambda f: reasoning_withheld(f.record)),
        Area.RECORD,
        "record",
        why_never="withheld because a setting says so",
    ),
    Known(
        "file_modes",
        one(lambda f: file_modes(f.record)),
        Area.RECORD,
        "data folder",
        warn="> 0 while the record is empty",
        fail="> 0",
    ),
)
