"""The nights of every project: one after the other, once for each local date, whoever calls and however often.

`<data>/run/nights.json` holds how the last one ended. It is written after each project, so that a night which was cut
short goes on with the projects that it had not reached.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, tzinfo
from datetime import time as wall_time
from pathlib import Path
from typing import Any

from recall.schedule_times import Due, is_due, last_due, missed
from transcript.event import moment, stamp
from transcript.lock import FileLock, holder
from transcript.paths import read_derived, secure_dir, write_atomic
from transcript.roots import excluded, read_table
from transcript.workspace import Workspace

FILE = "run/nights.json"
LOCK = "run/night.lock"
COMPLETE, FAILED, CUT, BUSY, NOT_DUE = "complete", "failed", "cut", "busy", "not due"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the night of one project ended: complete, failed or busy (another consolidation works; it is still owed)."""

    state: str
    failed: tuple[str, ...] = ()  # the parts that failed


@dataclass(frozen=True, slots=True)
class Held:
    """The last night of one project."""

    root: str
    at: str
    due: str  # the local date it belongs to
    state: str
    failed: tuple[str, ...] = ()
    seconds: float = 0.0
    in_a_row: int = 0  # failures, this one included


@dataclass(frozen=True, slots=True)
class Nights:
    """What is known of the nights so far. `due` is the local date of the last one that ended."""

    kind: str = ""  # the scheduler that calls, "" for none
    due: date | None = None
    at: str = ""
    state: str = ""
    missed: int = 0  # nights before the last one that never ran
    projects: Mapping[str, Held] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a call did: complete, failed, cut (time was over), busy (another runs, or works in a project) or not due."""

    state: str
    due: Due
    projects: Mapping[str, Held] = field(default_factory=dict)  # those that had their night in this call
    waiting: tuple[str, ...] = ()  # roots that the time did not reach; they come first in the next night
    note: str = ""


Work = Callable[[Path, float], Outcome]  # root, seconds it may take at most


def read(data: Path) -> Nights:
    """Return what is known; what is missing or damaged is not known, and the next night writes it anew."""
    held = read_derived(data / FILE)
    try:
        projects = {name: _held(one) for name, one in held.get("projects", {}).items()}
        day = date.fromisoformat(held["due"]) if held.get("due") else None
        words = {name: str(held.get(name, "")) for name in ("kind", "at", "state")}
        if words["at"]:
            moment(words["at"])
        return Nights(**words, due=day, missed=int(held.get("missed", 0)), projects=projects)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return Nights()


def write(data: Path, nights: Nights) -> None:
    """Keep what is known."""
    secure_dir(data / "run")
    told = {**asdict(nights), "due": nights.due.isoformat() if nights.due is not None else ""}
    write_atomic(data / FILE, json.dumps(told).encode("ascii"), durable=False)


def projects(data: Path) -> dict[str, Path]:
    """Return workspace id -> folder of every project that is there, has a record and is not excluded."""
    found = {}
    for name, entry in read_table(data).items():
        if not Workspace(name, data / "workspaces" / name, None).head_file.exists():
            continue
        there = [Path(one) for one in entry.roots if os.path.isdir(one)]  # noqa: PTH112 - no error, whoever may look
        root = next((one for one in there if not excluded(one, data)), None)
        if root is not None:
            found[name] = root
    return found


def run(
    data: Path,
    work: Work,
    *,
    now: datetime,
    at: wall_time,
    minutes: float,
    anyway: bool = False,
    zone: tzinfo | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Ended:
    """Give every project its night, the one that has waited longest first; nothing where none is due.

    `anyway` does it all the same. One call works at a time: another ends at once and says who does. `minutes` bounds
    the whole night.
    """
    lock = FileLock(data / LOCK)
    due = last_due(now, at, zone)
    if not lock.acquire():
        return Ended(BUSY, due, note=f"another night runs (process {holder(lock.path) or '?'}); nothing done")
    try:
        known = read(data)
        if not anyway and not is_due(due, known.due):
            return Ended(NOT_DUE, due)
        return _night(data, work, known, due, now, until=clock() + minutes * 60, anyway=anyway, clock=clock)
    finally:
        lock.release()


def _night(
    data: Path,
    work: Work,
    known: Nights,
    due: Due,
    now: datetime,
    *,
    until: float,
    anyway: bool,
    clock: Callable[[], float],
) -> Ended:
    here, day = projects(data), due.day.isoformat()
    held = {name: one for name, one in known.projects.items() if name in here}
    order = sorted(here, key=lambda name: (held[name].at if name in held else "", name))
    left = [name for name in order if anyway or name not in held or held[name].due != day]
    done: dict[str, Held] = {}
    for name in left:
        began = clock()
        if began >= until:
            break
        outcome = work(here[name], until - began)
        row = held[name].in_a_row + 1 if name in held else 1
        done[name] = held[name] = Held(
            root=str(here[name]),
            at=stamp(now),
            due=(held[name].due if name in held else "") if outcome.state == BUSY else day,
            state=outcome.state,
            failed=outcome.failed,
            seconds=round(clock() - began, 1),
            in_a_row=row if outcome.state == FAILED else 0,
        )
        write(data, replace(read(data), projects=held))
    waiting = tuple(str(here[name]) for name in left if name not in done)
    if any(one.state == BUSY for one in done.values()):  # the next call finds the night due, and does only those
        write(data, replace(read(data), at=stamp(now), state=BUSY, projects=held))
        return Ended(BUSY, due, done, waiting)
    bad = any(one.state == FAILED for name, one in held.items() if one.due == day)
    state = FAILED if bad else CUT if waiting else COMPLETE
    never = missed(due, known.due)
    write(data, replace(read(data), due=due.day, at=stamp(now), state=state, missed=never, projects=held))
    return Ended(state, due, done, waiting)


def _held(fields: Mapping[str, Any]) -> Held:
    moment(str(fields["at"]))
    words = {name: str(fields[name]) for name in ("root", "at", "due", "state")}
    return Held(
        **words,
        failed=tuple(map(str, fields["failed"])),
        seconds=float(fields["seconds"]),
        in_a_row=int(fields["in_a_row"]),
    )
