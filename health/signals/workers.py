"""Sub-agents: whether what they were told and found can be recalled."""

from health.facts import WorkerFacts
from health.known import Area, Known, one
from health.signal import Level, Signal
from transcript.telling import counted

MOST_SHOWN = 20


def workers_unindexed(w: WorkerFacts) -> Signal:
    """Return how many sub-agents of the record the index lacks, though it has read on beyond them."""
    text = f"{w.indexed:,} of {counted(w.seen, 'session of a worker', 'sessions of workers')} indexed"
    return Signal(
        id="workers_unindexed",
        value={"seen": w.seen, "indexed": w.indexed, "missing": len(w.missing)},
        unit="count",
        level=Level.WARN if w.missing else Level.OK,
        text=text + (f", {len(w.missing):,} missing" if w.missing else ""),
        meaning="What a sub-agent did is half of the work; the session that called it holds its last words alone.",
        action="run 'recall index rebuild'" if w.missing else "",
        details=w.missing[:MOST_SHOWN],
    )


KNOWN = (
    Known(
        "workers_unindexed",
        one(lambda f: workers_unindexed(f.workers)),
        Area.INDEXING,
        "record, index.sqlite",
        warn="> 0",
        why_never="the session that called them is found",
        remedy="index rebuild",
        safe=True,
        rows="LCA-D-09H",
    ),
)
