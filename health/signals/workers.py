"""Sub-agents: whether what they found can be recalled, and what they were corrected in was learned."""

from health.facts import Facts, WorkerFacts
from health.known import Area, Known, one
from health.signal import Level, Limits, Signal, span
from transcript.telling import counted

MOST_SHOWN = 20
CORRECTED = Limits(warn=3 * 86400, fail=30 * 86400)


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


def worker_corrections(facts: Facts) -> Signal:
    """Return how many corrections of sub-agents consolidation has decided nothing of, and since when."""
    w = facts.workers
    age = 0.0 if w.corrections_oldest is None else max(0.0, facts.now - w.corrections_oldest)
    level = max(CORRECTED.level(age), Level.WARN if w.corrections_passed else Level.OK)
    text = f"{counted(len(w.corrections), 'correction')} of workers not consolidated"
    return Signal(
        id="worker_corrections",
        value={"waiting": len(w.corrections), "passed_over": w.corrections_passed},
        unit="count",
        level=level,
        text=text
        + (f", since {span(age)}" if w.corrections else "")
        + (f"; a checkpoint passed over {w.corrections_passed:,}" if w.corrections_passed else ""),
        meaning="What a sub-agent was corrected in weighs nothing for the agent that called it before consolidation.",
        action="run 'recall checkpoint'; 'recall memory list --proposals' shows what waits for a person"
        if level
        else "",
        limits=CORRECTED,
        details=w.corrections[:MOST_SHOWN],
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
    Known(
        "worker_corrections",
        one(worker_corrections),
        Area.MEMORIES,
        "record",
        warn="> 3 days, or said before the last checkpoint",
        fail="> 30 days",
        remedy="checkpoint",
        safe=True,
        rows="LCA-D-09H",
    ),
)
