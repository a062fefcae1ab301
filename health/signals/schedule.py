"""The nights: whether a scheduler calls them, whether one was missed, which project's fail."""

from health.facts import Facts
from health.facts_machine import ScheduleFacts
from health.known import Area, Known, one
from health.signal import Level, Signal, span
from transcript.telling import counted

LATE_S = 6 * 3600.0  # a laptop that was closed at night catches up in the morning
MISSED_S = 26 * 3600.0
IN_A_ROW = 3


def schedule(s: ScheduleFacts) -> Signal:
    """Return whether a scheduler calls the nights; warns when what it was given is gone, changed or switched off."""
    bad = bool(s.kind) and (not s.installed_text_ok or s.enabled is False)
    text = f"{s.kind} calls each hour" if s.kind else "not installed; 'recall schedule install' does it"
    if bad:
        text = f"{s.kind} " + ("does not hold the call as it should" if not s.installed_text_ok else "is switched off")
    return Signal(
        id="schedule",
        value=s.kind or "none",
        unit="state",
        level=Level.WARN if bad else Level.OK,
        text=text,
        meaning="The system's scheduler calls 'recall schedule run', which does the nightly jobs of every project.",
        action="run 'recall schedule install'" if bad else "",
    )


def missed(facts: Facts) -> Signal:
    """Return the nights that are owed; one that is some hours late warns, a whole day without one fails."""
    s = facts.schedule
    late = facts.now - s.due if s.kind and s.due is not None else 0.0
    level = Level.FAIL if late > MISSED_S else Level.WARN if late > LATE_S else Level.OK
    if not s.kind:
        text = "not scheduled"
    elif s.due is None:
        text = "none" + (f"; the last was {span(facts.now - s.last)} ago" if s.last is not None else " is due yet")
    else:
        text = f"{counted(s.missed, 'night')} did not run; due {span(late)} ago"
    return Signal(
        id="nightly_missed",
        value=s.missed if s.kind else 0,
        unit="count",
        level=level,
        text=text,
        meaning="A night that does not run captures, verifies and tests nothing, and nobody is told.",
        action="run 'recall schedule run', then 'recall schedule status'" if level else "",
    )


def failed(s: ScheduleFacts) -> Signal:
    """Return the projects whose last night failed; thrice in a row fails."""
    worst = max(s.failed_projects.values(), default=0)
    level = Level.FAIL if worst >= IN_A_ROW else Level.WARN if worst else Level.OK
    names = sorted(s.failed_projects)
    return Signal(
        id="nights_failed",
        value=names,
        unit="names",
        level=level,
        text=f"{counted(len(names), 'project')}" + (f", {counted(worst, 'night')} in a row" if worst else ""),
        meaning="The night of these projects ended with a part that failed.",
        action="run 'recall consolidate --nightly' there and read its table" if level else "",
        details=tuple(f"{name}: {counted(s.failed_projects[name], 'night')} in a row" for name in names),
    )


KNOWN = (
    Known(
        "schedule",
        one(lambda f: schedule(f.schedule)),
        Area.OPERATIONS,
        "<data>/run/nights.json, the scheduler's own files",
        warn="gone, changed or switched off",
        why_never="the nights can be run by hand",
        remedy="schedule install",
        safe=True,
    ),
    Known(
        "nightly_missed",
        one(missed),
        Area.OPERATIONS,
        "<data>/run/nights.json",
        warn="> 6 h after a night was due",
        fail="> 26 h after it",
        remedy="schedule run",
        safe=True,
        rows="LCA-8.2-03, LCA-14-07",
    ),
    Known(
        "nights_failed",
        one(lambda f: failed(f.schedule)),
        Area.OPERATIONS,
        "<data>/run/nights.json",
        warn="once",
        fail="3 nights in a row",
        remedy="consolidate --nightly",
        rows="LCA-8.2-03",
    ),
)
