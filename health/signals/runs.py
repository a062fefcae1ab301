"""Runs that are to be independent of each other: whether each began with nothing of an earlier one."""

from health.facts import Inherited, RunFacts
from health.known import Area, Known, one
from health.signal import Level, Signal
from transcript.telling import counted

MOST_SHOWN = 20


def runs_not_independent(r: RunFacts) -> Signal:
    """Return how many sessions that were declared cleared began with a compaction or with words of a summary."""
    text = f"{counted(r.declared, 'run')} declared cleared in 30 days"
    if r.inherited:
        verb = "is" if len(r.inherited) == 1 else "are"
        text = f"{len(r.inherited):,} of {counted(r.declared, 'run')} declared cleared {verb} not independent"
    return Signal(
        id="runs_not_independent",
        value={"declared": r.declared, "not_independent": len(r.inherited)},
        unit="count",
        level=Level.FAIL if r.inherited else Level.OK,
        text=text,
        meaning="A compaction's summary carries what one run said into the next: they cannot be compared then.",
        action="discard what such a run showed, and begin another with 'recall session new --cleared'"
        if r.inherited
        else "",
        details=tuple(map(_told, r.inherited[:MOST_SHOWN])),
    )


def _told(run: Inherited) -> str:
    """Return what a run inherited, in a line."""
    parts = ["begins with a compaction"] if run.compacted else []
    if run.of:
        parts.append(f"{run.share:.0%} of its 8-grams stand in the summary of session {run.of[:12]}")
    return f"session {run.session[:12]}: {', '.join(parts)}"


KNOWN = (
    Known(
        "runs_not_independent",
        one(lambda f: runs_not_independent(f.runs)),
        Area.RECORD,
        "record",
        fail="> 0 in 30 days",
        why_never="a run is independent or it is not",
        remedy="session new --cleared",
        rows="LCA-D-06H",
    ),
)
