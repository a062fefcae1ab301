"""How old the newest backup is, where one was ever made."""

from collections.abc import Iterable
from pathlib import Path

from health.facts import Facts
from health.known import Area, Known
from health.signal import Level, Limits, Signal, span
from transcript.telling import counted

DAY_S = 86400.0
LIMITS = Limits(8 * DAY_S, 31 * DAY_S)


def backup_age(facts: Facts, limits: Limits = LIMITS) -> Iterable[Signal]:
    """Yield the age of the newest backup; nothing where none was made: who copies the disk needs none.

    However old it is, one that holds every event is well.
    """
    backup = facts.backup
    if backup.at is None:
        return
    age = max(0.0, facts.now - backup.at)
    level = limits.level(age) if backup.behind_events else Level.OK
    yield Signal(
        id="backup_age",
        value=age,
        unit="seconds",
        level=level,
        text=f"{span(age)} old, {counted(backup.behind_events, 'event')} since",
        meaning="What was recorded since is on this disk alone; what was forgotten since is still in the backup.",
        action=f"run 'recall backup {Path(backup.path).parent}'" if level else "",
        limits=limits,
        details=(backup.path,),
    )


KNOWN = (
    Known(
        "backup_age",
        backup_age,
        Area.OPERATIONS,
        "<data>/run/backups.json",
        warn="> 8 days, with events since",
        fail="> 31 days, with events since",
        remedy="backup",
    ),
)
