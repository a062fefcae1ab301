"""Live windows: whether a checkpoint comes before the harness compacts, and whether anything left unpreserved."""

from health.facts_memories import WindowFacts
from health.known import Area, Known, one
from health.signal import NONE_ALLOWED_FAIL, NONE_ALLOWED_WARN, Level, Signal, count
from transcript.telling import counted


def trigger(w: WindowFacts) -> Signal:
    """Return how many tokens lie between our checkpoint and the harness's own compaction; fails below none."""
    level = Level.FAIL if w.fault else Level.OK
    text = "not known: no session yet"
    if w.harness:
        guess = "" if w.limit_known else " (a guess)"
        own = f"checkpoint at {counted(w.checkpoint_tokens, 'token')}" if w.checkpoint_tokens else "no checkpoint"
        text = f"{own}, {w.harness} compacts at {w.limit_tokens:,}{guess}"
    return Signal(
        id="window_trigger",
        value={
            "harness": w.harness,
            "window": w.window_tokens,
            "host_window": w.host_tokens,
            "checkpoint": w.checkpoint_tokens,
            "compaction": w.limit_tokens,
            "margin": w.limit_tokens - w.checkpoint_tokens if w.checkpoint_tokens else None,
            "known": w.limit_known,
        },
        unit="tokens",
        level=level,
        text=text,
        meaning="A window that fills is kept by a checkpoint before the harness compacts it.",
        action=w.fault.rpartition("; ")[2] if w.fault else "",
        details=(f"window taken as {counted(w.window_tokens, 'token')}, of {w.harness} {w.host_tokens:,}",)
        if w.harness
        else (),
    )


def refused(w: WindowFacts) -> Signal:
    """Return in how many sessions the last pruning was refused."""
    return count(
        "window_refused",
        len(w.refused),
        ("session whose last pruning was refused", "sessions whose last pruning was refused"),
        limits=NONE_ALLOWED_FAIL,
        meaning="Something that was to leave a window is not preserved in the record; nothing left.",
        action="run 'recall sync', 'recall index' and 'recall verify', then 'recall window apply' again",
        details=w.refused[:20],
    )


def emergencies(w: WindowFacts) -> Signal:
    """Return how often a handoff had to be written because a window was full and nothing could leave it."""
    return count(
        "window_emergencies",
        w.emergencies,
        ("handoff written for a full window", "handoffs written for full windows"),
        limits=NONE_ALLOWED_WARN,
        meaning="A window was full and nothing could leave it: a handoff was kept; 'recall window report' says why.",
        action="run 'recall index'; it must not lag behind a session",
    )


def truncated(w: WindowFacts) -> Signal:
    """Return how often a harness dropped the beginning of its own file."""
    return Signal(
        id="window_truncated",
        value=w.truncated,
        unit="count",
        level=Level.OK,
        text=counted(w.truncated, "file was cut by its harness", "files were cut by their harness"),
        meaning="The harness dropped the beginning of a session's file; the record holds what stood there.",
    )


def covered(w: WindowFacts) -> Signal:
    """Return how many turns that a compaction's summary stands for are not in the record."""
    return Signal(
        id="summary_absent",
        value=w.absent,
        unit="count",
        level=Level.WARN if w.absent else Level.OK,
        text=f"{counted(w.absent, 'turn')} behind {counted(w.covered, 'summary', 'summaries')} missing from the record",
        meaning="What a summary stands for must all be in the record: a summary replaces nothing.",
        action="run 'recall sync --full'" if w.absent else "",
    )


KNOWN = (
    Known(
        "window_trigger",
        one(lambda f: trigger(f.window)),
        Area.LOADING,
        "record, settings of the harness",
        fail="the checkpoint comes too late",
        why_never="a window compacted before is not kept",
        rows="LCA-D-05H",
    ),
    Known(
        "window_refused",
        one(lambda f: refused(f.window)),
        Area.LOADING,
        "record",
        fail="> 0",
        why_never="what left must be in the record",
    ),
    Known(
        "window_emergencies",
        one(lambda f: emergencies(f.window)),
        Area.LOADING,
        "record",
        warn="> 0",
        why_never="a handoff was kept",
        remedy="index",
        safe=True,
    ),
    Known(
        "window_truncated",
        one(lambda f: truncated(f.window)),
        Area.LOADING,
        "record",
        why_never="the record holds what was dropped",
    ),
    Known(
        "summary_absent",
        one(lambda f: covered(f.window)),
        Area.LOADING,
        "record",
        warn="> 0",
        why_never="they may still be read from the session's file",
        remedy="sync --full",
        safe=True,
    ),
)
