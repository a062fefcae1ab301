"""When a night is due: once for each local date, at a wall time, also where clocks change or the machine slept.

A zone of None is the system's own, with its rules for summer time. Instants are aware; days are local dates.
"""

import zlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Due:
    """One night: its local date, and the moment from which on it is due."""

    day: date
    moment: datetime


def due_on(day: date, at: time, zone: tzinfo | None = None) -> Due:
    """Return the night of a local date.

    A wall time that clocks pass over moves to the next that they show; one that they show twice counts the first time.
    """
    wall = datetime.combine(day, at)
    for _ in range(24 * 60):
        moment = _moment(wall, zone)
        if _wall(moment, zone) == wall:
            return Due(day, moment)
        wall += timedelta(minutes=1)
    return Due(day, _moment(datetime.combine(day, at), zone))


def last_due(now: datetime, at: time, zone: tzinfo | None = None) -> Due:
    """Return the newest night whose moment has come."""
    day = _wall(now, zone).date() + _DAY  # a zone may be a day ahead of where its clocks were an hour ago
    while (found := due_on(day, at, zone)).moment > now:
        day -= _DAY
    return found


def is_due(due: Due, last: date | None) -> bool:
    """Return whether a night is owed, when the last was that of `last`: a later date is.

    So is every one after a night of a day that has not come yet: the clock was wrong then.
    """
    return last is None or due.day > last or due.day < last - _DAY


def missed(due: Due, last: date | None) -> int:
    """Return how many nights between the last and this one never ran."""
    return 0 if last is None else max(0, (due.day - last).days - 1)


def jitter(host: str, data: Path, most_minutes: int) -> int:
    """Return this machine's minutes after the wall time, 0 to most_minutes, the same at every call.

    A hundred machines that share a disk then do not all begin at once.
    """
    return zlib.crc32(f"{host}\0{data}".encode("utf-8", "surrogateescape")) % (most_minutes + 1)


def _moment(wall: datetime, zone: tzinfo | None) -> datetime:
    return (wall.replace(tzinfo=zone) if zone is not None else wall).astimezone(UTC)


def _wall(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)
