"""How well recall finds what the project's own questions ask for, and whether it found them better before."""

from health.facts import Facts
from health.known import Area, Known, one
from health.signal import Level, Signal, span
from transcript.telling import counted, minute

WARN_DROP, FAIL_DROP = 0.01, 0.10


def recall_quality(facts: Facts) -> Signal:
    """Return the mean reciprocal rank of the newest evaluation, and what it lost against the best before it."""
    quality = facts.quality
    level, text = Level.OK, "not measured: 'recall eval self' has not been run"
    if quality.mrr is not None and quality.at is not None:
        text = (
            f"{quality.mrr:.0%} of the best rank, over {counted(quality.questions, 'question')}, "
            f"{span(max(0.0, facts.now - quality.at))} ago"
        )
    if quality.change is not None and quality.change_high < 0 and quality.change <= -WARN_DROP:
        level = Level.FAIL if quality.change <= -FAIL_DROP else Level.WARN
        text += (
            f"; {_points(quality.change)} points lower than before "
            f"({_points(quality.change_high)} to {_points(quality.change_low)}, {quality.shared:,} asked twice)"
        )
    return Signal(
        id="recall_quality",
        value=quality.mrr,
        unit="share",
        level=level,
        text=text,
        meaning="Where in the list stands the turn that a question of the project's own past asks for: 100 % is first.",
        action="undo what changed since (settings, model, version), then run 'recall eval self' again" if level else "",
        details=(f"best before: {minute(quality.against)}",) if level and quality.against is not None else (),
    )


def _points(drop: float) -> str:
    return f"{-100 * drop:.1f}"


KNOWN = (
    Known(
        "recall_quality",
        one(recall_quality),
        Area.RECALL,
        "<workspace>/run/eval-self.jsonl",
        warn="1 point below the best run of 30 days, the 95 % interval below 0",
        fail="10 points below it",
        remedy="eval self",
        rows="CARD-12",
    ),
)
