"""Reads whether a scheduler calls the nights, how it stands there, and which night is owed."""

from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path

from health.facts_machine import ScheduleFacts
from recall import nights
from recall.config import load
from recall.nights import Nights
from recall.schedule_install import Run, holder, own_job, run_program, status
from recall.schedule_times import due_on, is_due, last_due
from transcript.errors import ScheduleError
from transcript.event import moment


def schedule_facts(data: Path, env: Mapping[str, str], *, now: datetime, run: Run = run_program) -> ScheduleFacts:
    """Return how the nights stand, and how the call stands with the scheduler that has it."""
    held = nights.read(data)
    settings = load(data, None, env).schedule()
    owed, missed = _owed(held, time(*settings.time()), now)
    kind = holder(data, env, run)
    same, enabled = True, None
    if kind:
        try:
            found = status(kind, own_job(data, settings), env, run)
            same, enabled = found.installed and found.same, found.enabled
        except ScheduleError:
            same = False
    return ScheduleFacts(
        kind=kind,
        installed_text_ok=same,
        enabled=enabled,
        due=owed,
        last=moment(held.at).timestamp() if held.at else None,
        failed_projects={one.root: one.in_a_row for one in held.projects.values() if one.in_a_row},
        missed=missed,
    )


def _owed(held: Nights, at: time, now: datetime) -> tuple[float | None, int]:
    """Return when the first night came that is owed, and how many are; none where every night ran."""
    newest = last_due(now, at)
    if held.due is None or not is_due(newest, held.due):
        return None, 0
    count = max(1, (newest.day - held.due).days)
    first = date.fromordinal(newest.day.toordinal() - count + 1)
    return due_on(first, at).moment.timestamp(), count
