"""The standing context: whether a session is told who it is, what has no room, what was changed by hand."""

from health.facts import Facts
from health.facts_memories import StandingFacts
from health.known import Area, Known, one
from health.signal import NONE_ALLOWED_WARN, Level, Signal, count, span
from transcript.telling import counted

CONFLICT_DAYS = 7.0
_DAY = 86_400.0


def identity(s: StandingFacts) -> Signal:
    """Return whether a session is told who it is; warns where somebody began to say so and nothing is told."""
    level = Level.WARN if s.expected and not s.identity else Level.OK
    told = counted(s.entries, "entry told", "entries told")
    return Signal(
        id="standing_identity",
        value={"identity": s.identity, "entries": s.entries},
        unit="count",
        level=level,
        text=told if s.identity else "no IDENTITY.md or USER.md is told",
        meaning="A session is told first who the agent and the user are; without that it begins as a stranger.",
        action="run 'recall init --scaffold' and fill in IDENTITY.md" if level else "",
    )


def critical(s: StandingFacts) -> Signal:
    """Return how many critical memories have room; fails where one has none."""
    missing = s.critical - s.critical_loaded
    chars = f"{s.critical_chars:,} of {s.budget:,} characters"
    return Signal(
        id="standing_critical",
        value={"chars": s.critical_chars, "budget": s.budget, "loaded": s.critical_loaded, "total": s.critical},
        unit="count",
        level=Level.FAIL if missing else Level.OK,
        text=f"{s.critical_loaded:,} of {s.critical:,} critical memories, {chars}",
        meaning="What is critical is told in every session; what has no room is told in none.",
        action="shorten or archive some, or raise what 'recall config standing.chars' shows" if missing else "",
        details=s.left_out[:20],
    )


def room(s: StandingFacts) -> Signal:
    """Return how large all that is to be told is beside the budget; warns where it is larger."""
    return Signal(
        id="standing_budget",
        value={"chars": s.chars, "budget": s.budget, "no_room": len(s.no_room)},
        unit="count",
        level=Level.WARN if s.chars > s.budget else Level.OK,
        text=f"{s.chars:,} of {s.budget:,} characters"
        + (f"; {counted(len(s.no_room), 'file has', 'files have')} no room" if s.no_room else ""),
        meaning="All that every session carries: who and for whom, instructions, critical memories; each turn pays it.",
        action="run 'recall session-start' and shorten the largest, or raise what 'recall config standing.chars' shows"
        if s.chars > s.budget
        else "",
        details=s.no_room[:20],
    )


def files(s: StandingFacts) -> Signal:
    """Return how many files of memories and of the standing context could not be read."""
    return count(
        "standing_files",
        len(s.failed),
        ("file is not told", "files are not told"),
        limits=NONE_ALLOWED_WARN,
        meaning=f"Of {counted(s.files, 'file')} in folders of memories {s.loaded:,} were read; the others are named.",
        action="run 'recall session-start' and mend the files it names",
        details=s.failed[:20],
    )


def governed(s: StandingFacts) -> Signal:
    """Return how many files were changed by hand since somebody took responsibility for them."""
    return count(
        "standing_ungoverned",
        len(s.ungoverned),
        ("file was changed outside of the flow", "files were changed outside of the flow"),
        limits=NONE_ALLOWED_WARN,
        meaning="They are told as they stand; who changed them and why is not on record.",
        action="look at them, then 'recall standing accept PATH'",
        details=(*s.ungoverned[:20], *(f"new: {key}" for key in s.new[:5])),
    )


def conflicts(facts: Facts) -> Signal:
    """Return how many memories contradict a procedure, and for how long; fails after a week."""
    since = facts.standing.conflicts
    oldest = facts.now - min(since.values()) if since else 0.0
    level = Level.OK if not since else Level.FAIL if oldest > CONFLICT_DAYS * _DAY else Level.WARN
    return Signal(
        id="procedure_conflicts",
        value={"open": len(since), "oldest_seconds": round(oldest)},
        unit="count",
        level=level,
        text=counted(len(since), "memory says", "memories say") + " otherwise than a procedure"
        + (f", the oldest for {span(oldest)}" if since else ""),
        meaning="The procedure holds; no checkpoint is complete until one of the two is changed.",
        action="change the file, or 'recall memory archive' the memory" if since else "",
        details=tuple(since),
    )  # fmt: skip


def rules(s: StandingFacts) -> Signal:
    """Return how many much-cited rules stand in a memory only."""
    return count(
        "rules_in_memory_only",
        s.rules,
        ("much-cited rule stands in a memory only", "much-cited rules stand in a memory only"),
        limits=NONE_ALLOWED_WARN,
        meaning="A rule that agents follow again and again belongs into an instruction; a proposal waits for a person.",
        action="run 'recall coord review'",
    )


KNOWN = (
    Known(
        "standing_identity",
        one(lambda f: identity(f.standing)),
        Area.LOADING,
        "standing.json",
        warn="begun and nothing told",
        why_never="a session works without it",
        remedy="init --scaffold",
    ),
    Known(
        "standing_critical",
        one(lambda f: critical(f.standing)),
        Area.LOADING,
        "standing.json",
        fail="one has no room",
        why_never="what is critical and untold is lost at once",
        rows="LCA-6.1-08, LCA-D-04H",
    ),
    Known(
        "standing_budget",
        one(lambda f: room(f.standing)),
        Area.LOADING,
        "standing.json",
        warn="more than the budget",
        why_never="what is critical and has no room fails by itself",
        remedy="session-start",
        rows="LCA-6.1-08, LCA-12.1-05",
    ),
    Known(
        "standing_files",
        one(lambda f: files(f.standing)),
        Area.LOADING,
        "folders of memories",
        warn="> 0",
        why_never="the others are told",
        remedy="session-start",
        rows="LCA-D-03H",
    ),
    Known(
        "standing_ungoverned",
        one(lambda f: governed(f.standing)),
        Area.LOADING,
        "files of the standing context",
        warn="> 0",
        why_never="they are told as they stand",
    ),
    Known(
        "procedure_conflicts",
        one(conflicts),
        Area.LOADING,
        "standing.json",
        warn="> 0",
        fail="oldest > 7 days",
        rows="LCA-D-08H",
    ),
    Known(
        "rules_in_memory_only",
        one(lambda f: rules(f.standing)),
        Area.LOADING,
        "standing.json",
        warn="> 0",
        why_never="a proposal waits for a person",
        remedy="coord review",
        rows="LCA-D-08H",
    ),
)
