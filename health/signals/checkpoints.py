"""Checkpoints: whether what they read can be found, and how long turns have waited for one."""

from health.facts import Facts
from health.facts_memories import CheckpointFacts
from health.known import Area, Known, one
from health.signal import Level, Limits, Signal, span
from transcript.telling import counted

WAITING = Limits(warn=3 * 86_400.0, fail=14 * 86_400.0)


def checkpoint_embedded(c: CheckpointFacts) -> Signal:
    """Return how many turns that the last checkpoint read are in the index; none of them fails."""
    missing = 0 if c.embedded is None else c.expected - c.embedded
    level = Level.OK if missing <= 0 else Level.WARN if c.embedded else Level.FAIL
    text = "no checkpoint has read a turn"
    if c.expected:
        held = "an unknown number" if c.embedded is None else f"{c.embedded:,}"
        text = f"{held} of {counted(c.expected, 'turn')} of the last checkpoint in the index, embedded or by words"
    return Signal(
        id="checkpoint_embedded",
        value={"expected": c.expected, "embedded": c.embedded},
        unit="count",
        level=level,
        text=text,
        meaning="A checkpoint whose indexing does nothing says that it is complete, and nothing of it is ever found.",
        action="run 'recall index rebuild', then 'recall health'" if level else "",
    )


def checkpoint_age(facts: Facts) -> Signal:
    """Return for how many seconds turns have waited for a checkpoint, None where none waits or none was ever made."""
    since = facts.checkpoints.waiting_since
    age = None if since is None else max(0.0, facts.now - since)
    level = WAITING.level(age or 0.0)
    return Signal(
        id="checkpoint_age",
        value=None if age is None else round(age),
        unit="seconds",
        level=level,
        text="nothing waits for a checkpoint" if age is None else f"turns wait for a checkpoint since {span(age)}",
        meaning="What no checkpoint has read is found by search, but no memory comes of it.",
        action="run 'recall checkpoint'; 'recall schedule install' does it every night" if level else "",
        limits=WAITING,
    )


KNOWN = (
    Known(
        "checkpoint_embedded",
        one(lambda f: checkpoint_embedded(f.checkpoints)),
        Area.INDEXING,
        "record, index.sqlite",
        warn="not all that it read",
        fail="none of it",
        remedy="index rebuild",
        safe=True,
        rows="LCA-10.6-02, LCA-D-01H",
    ),
    Known(
        "checkpoint_age",
        one(checkpoint_age),
        Area.MEMORIES,
        "record",
        warn="> 3 days",
        fail="> 14 days",
        remedy="checkpoint",
        safe=True,
        rows="LCA-8.2-03",
    ),
)
