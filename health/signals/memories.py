"""Memories: what holds, how candidates ended, and whether checkpoints are made and whole."""

from health.facts import Facts
from health.facts_memories import MemoryFacts
from health.known import Area, Known, one
from health.signal import NONE_ALLOWED_FAIL, NONE_ALLOWED_WARN, Level, Signal, count, span
from transcript.coord_codes import SAYS
from transcript.telling import counted

PROPOSALS = "run 'recall memory list --proposals', then 'recall memory accept' or 'decline' each"
NEVER = "none yet"


def memories(m: MemoryFacts) -> Signal:
    """Return how many memories are in which state; warns where two say otherwise and nobody has decided."""
    level = Level.WARN if m.conflicts else Level.OK
    parts = [f"{number:,} {name}" for name, number in sorted(m.states.items(), key=lambda pair: -pair[1])]
    parts += [f"{m.waiting:,} waiting"] if m.waiting else []
    parts += [f"{m.conflicts:,} in conflict"] if m.conflicts else []
    return Signal(
        id="memories",
        value={**m.states, "waiting": m.waiting, "conflict": m.conflicts},
        unit="count",
        level=level,
        text=", ".join(parts) or NEVER,
        meaning="A statement that conflicts with a memory waits for a person; neither is taken for the truth.",
        action=PROPOSALS if level else "",
    )


def files(m: MemoryFacts) -> Signal:
    """Return how many files of memories are not what the record says."""
    return count(
        "memory_files",
        len(m.edited),
        ("file differs from the record", "files differ from the record"),
        limits=NONE_ALLOWED_WARN,
        meaning="Files of memories are made from the record; a hand edit is kept aside and offered as a proposal.",
        action="run 'recall project'",
        details=m.edited[:20],
    )


def verification(m: MemoryFacts) -> Signal:
    """Return how candidates for memories ended."""
    parts = ", ".join(f"{number:,} {name}" for name, number in m.decided.items() if number)
    return Signal(
        id="verification",
        value=dict(m.decided),
        unit="count",
        level=Level.OK,
        text=parts or NEVER,
        meaning="How candidates for memories ended; 'recall consolidate stats' counts the reasons.",
        details=tuple(f"{name}: {number:,}" for name, number in m.reasons.items()),
    )


def last_checkpoint(facts: Facts) -> Signal:
    """Return when the last checkpoint was made; warns when a step of it failed."""
    m = facts.memories
    level = Level.WARN if m.checkpoint_failed else Level.OK
    text = NEVER
    if m.checkpoint_at is not None:
        failed = f", the step {m.checkpoint_failed} failed" if m.checkpoint_failed else ""
        text = f"{m.checkpoint_state} {span(facts.now - m.checkpoint_at)} ago{failed}"
    return Signal(
        id="checkpoint_last",
        value={
            "state": m.checkpoint_state,
            "failed_step": m.checkpoint_failed,
            "at": m.checkpoint_at,
            "age_seconds": None if m.checkpoint_at is None else round(max(0.0, facts.now - m.checkpoint_at)),
        },
        unit="state",
        level=level,
        text=text,
        meaning="A checkpoint is complete when memories, index, archive and verification are.",
        action="run 'recall checkpoint'" if level else "",
    )


def triggers(m: MemoryFacts) -> Signal:
    """Return how many checkpoints were elected and how many a trigger made."""
    parts = ", ".join(f"{name} {number:,}" for name, number in m.triggers.items())
    return Signal(
        id="checkpoint_triggers",
        value={"elected": m.elected, "fixed": m.fixed, **m.triggers},
        unit="count",
        level=Level.OK,
        text=f"{m.elected:,} elected, {m.fixed:,} by a trigger" + (f" ({parts})" if parts else ""),
        meaning="Elected checkpoints are the usual case, those before a compaction and at a session's end the net.",
    )


def due(m: MemoryFacts) -> Signal:
    """Return what asks for a consolidation."""
    return Signal(
        id="checkpoint_due",
        value=list(m.due),
        unit="names",
        level=Level.WARN if m.due else Level.OK,
        text="; ".join(f"{name}: {why}" for name, why in m.due.items()) or "nothing",
        meaning="Too many memories, or too many that expired or whose files changed: recall gets worse.",
        action="run 'recall consolidate --nightly'" if m.due else "",
    )


def compactions(m: MemoryFacts) -> Signal:
    """Return how many compacted sessions a checkpoint has read, and how many had none before; warns for unread ones."""
    total = sum(m.compactions.values())
    open_ones, in_part = m.compactions.get("unprotected", 0), m.compactions.get("protected", 0)
    text = f"{total - open_ones:,} of {counted(total, 'compacted session')} kept by a checkpoint" if total else "none"
    text += f", {in_part:,} by one that left steps out" if in_part else ""
    text += f"; before {m.compactions_unprepared:,} there was none" if m.compactions_unprepared else ""
    return Signal(
        id="compactions",
        value={**m.compactions, "without_checkpoint_before": m.compactions_unprepared},
        unit="count",
        level=Level.WARN if open_ones else Level.OK,
        text=text,
        meaning="A compaction is safe once a checkpoint has read what it took away; best is one before it.",
        action="run 'recall checkpoint'" if open_ones else "",
    )


def nightly(facts: Facts) -> Signal:
    """Return when the night last ran; warns when a part of it failed."""
    m = facts.memories
    level = Level.WARN if m.nightly_state == "failed" else Level.OK
    text = "never ran"
    if m.nightly_at is not None:
        failed = f": {', '.join(m.nightly_failed)}" if m.nightly_failed else ""
        text = f"{m.nightly_state} {span(facts.now - m.nightly_at)} ago{failed}"
    return Signal(
        id="nightly_last",
        value={"state": m.nightly_state, "failed": list(m.nightly_failed), "at": m.nightly_at},
        unit="state",
        level=level,
        text=text,
        meaning="A night captures, indexes, consolidates, verifies and tests; 'recall schedule install' has it run.",
        action="run 'recall consolidate --nightly' and read its table" if level else "",
    )


def approval_key(m: MemoryFacts) -> Signal:
    """Return whether decisions can be signed and approvals checked; a missing key is a fault only where some count."""
    missing = m.key_fault == "key_missing"
    bad = bool(m.key_fault) and (not missing or m.approvals > 0)
    made = f", {counted(m.approvals, 'approval')}" if m.approvals else ""
    return Signal(
        id="approval_key",
        value=m.key_fault or "there",
        unit="state",
        level=Level.WARN if bad else Level.OK,
        text=("there" if not m.key_fault else "none" if missing else m.key_fault) + made,
        meaning="A decision counts only when its signature verifies under a key that nobody else can read.",
        action=SAYS[m.key_fault] if bad else "",
    )


def gone(m: MemoryFacts) -> Signal:
    """Return memories that no longer hold and that the index would still show as current."""
    return count(
        "expired_current",
        len(m.shown_though_gone),
        (
            "memory that no longer holds is current in the index",
            "memories that no longer hold are current in the index",
        ),
        limits=NONE_ALLOWED_FAIL,
        meaning="What was replaced, refuted or has expired must never be shown as current.",
        action="run 'recall index', then 'recall index rebuild'",
        details=m.shown_though_gone[:20],
    )


KNOWN = (
    Known(
        "memories",
        one(lambda f: memories(f.memories)),
        Area.MEMORIES,
        "record",
        warn="a conflict",
        why_never="a person decides; neither is told as true",
        remedy="memory list --proposals",
    ),
    Known(
        "memory_files",
        one(lambda f: files(f.memories)),
        Area.MEMORIES,
        "files of memories, record",
        warn="> 0",
        why_never="they are made anew from the record",
        remedy="project",
        safe=True,
    ),
    Known(
        "verification",
        one(lambda f: verification(f.memories)),
        Area.MEMORIES,
        "record",
        why_never="every outcome is right",
    ),
    Known(
        "checkpoint_last",
        one(last_checkpoint),
        Area.MEMORIES,
        "record",
        warn="a step failed",
        why_never="the next one does what this one did not",
        remedy="checkpoint",
        safe=True,
    ),
    Known(
        "checkpoint_triggers",
        one(lambda f: triggers(f.memories)),
        Area.MEMORIES,
        "record",
        why_never="every mixture is right",
    ),
    Known(
        "checkpoint_due",
        one(lambda f: due(f.memories)),
        Area.MEMORIES,
        "record",
        warn="something asks for one",
        why_never="recall gets worse slowly",
        remedy="consolidate --nightly",
        safe=True,
    ),
    Known(
        "compactions",
        one(lambda f: compactions(f.memories)),
        Area.MEMORIES,
        "record",
        warn="a session is unprotected",
        why_never="the record still holds what left the window",
        remedy="checkpoint",
        safe=True,
        rows="LCA-D-05H",
    ),
    Known(
        "nightly_last",
        one(nightly),
        Area.MEMORIES,
        "nightly.json",
        warn="a part failed",
        why_never="a missed night has a signal of its own",
        remedy="consolidate --nightly",
        safe=True,
        rows="LCA-5.4-14",
    ),
    Known(
        "approval_key",
        one(lambda f: approval_key(f.memories)),
        Area.MEMORIES,
        "key folder",
        warn="unusable, or missing while approvals exist",
        why_never="nothing is applied without it",
    ),
    Known(
        "expired_current",
        one(lambda f: gone(f.memories)),
        Area.MEMORIES,
        "record, index.sqlite",
        fail="> 0",
        why_never="what no longer holds must never be shown",
        remedy="index",
        safe=True,
    ),
)
