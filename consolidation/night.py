"""The nightly job: capture, index, consolidate, verify, project, compact, quality, health, self test, each told.

It needs no live agent and no clock but to say when it ran: what there is to do follows from the record, so that a run
which comes twice, late, or in an hour that the clock shows twice finds nothing new the second time.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from consolidation.model import Deps, Report
from consolidation.run import BUSY, DONE, FAILED, SAME, SKIPPED, UNCHANGED, OnStage, alone, work
from consolidation.settings import Settings
from consolidation.triggers import due
from transcript.errors import RecallError, clip
from transcript.event import Position, moment, stamp
from transcript.memories import fold_memories
from transcript.paths import read_derived, write_atomic
from transcript.projections.views import project
from transcript.telling import counted
from transcript.verify import verify
from transcript.workspace import Workspace

FILE = "nightly.json"  # when the last one ran and how it and its parts ended
VERIFIED = "verified.json"
WHOLE_DAYS = 7  # after so many days the whole record is verified again
TESTED = 3
RESERVE_S = 60.0  # of the night's time, for the parts that must be done: what can wait leaves it to them
NO_TIME = "no time left in this night"
TOLD = {"failing": "failing", "new": "new since the last night", "mended": "mended"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the night; state is done, unchanged, skipped or failed, seconds are those it took."""

    name: str
    state: str
    count: int = 0
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Night:
    """What the night did; state is complete, failed or busy, report that of the consolidation."""

    state: str
    parts: tuple[Part, ...]
    report: Report | None = None

    @property
    def failed(self) -> tuple[str, ...]:
        """The parts that failed."""
        return tuple(part.name for part in self.parts if part.state == FAILED)


Outcome = tuple[str, int, str]  # state, count, note


def night(
    deps: Deps,
    settings: Settings,
    *,
    now: datetime,
    full: bool = False,
    dry_run: bool = False,
    trigger: str = "nightly",
    wait_s: float = 0.0,
    within_s: float = math.inf,
    on_part: OnStage = lambda _name: None,
) -> Night:
    """Do everything that can be done while nobody works; a part that fails does not keep the later ones from it.

    Another consolidation is waited for as long as wait_s. What can wait is left out where within_s is too short. full
    reads and verifies the whole record. A dry run consolidates without writing and leaves the other parts out.
    """
    if dry_run:
        made = _Night(deps, settings, now, full, trigger, on_part, dry_run=True)
        made.consolidate()
        return Night(made.state, tuple(made.parts), made.report)
    until = time.monotonic() + within_s
    with alone(deps.workspace, wait_s=wait_s) as other:
        if other:
            return Night(BUSY, (Part("lock", SKIPPED, note=other),))
        began = time.monotonic()
        made = _Night(deps, settings, now, full, trigger, on_part, until=until)
        made.run()
        held: dict[str, Any] = {"at": stamp(now), "state": made.state, "seconds": round(time.monotonic() - began, 2)}
        held["failed"] = [part.name for part in made.parts if part.state == FAILED]
        held["parts"] = [asdict(part) for part in made.parts]
        write_atomic(deps.workspace.run_dir / FILE, json.dumps(held).encode("ascii"), durable=False)
        return Night(made.state, tuple(made.parts), made.report)


class _Night:
    """A night at work."""

    def __init__(
        self,
        deps: Deps,
        settings: Settings,
        now: datetime,
        full: bool,
        trigger: str,
        on_part: OnStage,
        dry_run: bool = False,
        until: float = math.inf,
    ) -> None:
        self.deps, self.settings, self.now, self.full = deps, settings, now, full
        self.trigger, self._on_part, self.dry_run, self._until = trigger, on_part, dry_run, until
        self.parts: list[Part] = []
        self.report: Report | None = None

    @property
    def state(self) -> str:
        """How the parts so far ended together."""
        return "failed" if any(part.state == FAILED for part in self.parts) else "complete"

    def run(self) -> None:
        """Do every part."""
        self._part("capture", self._capture)
        self._part("index", self._index)
        self.consolidate()
        self._part("verify", self._verify)
        self._part("project", self._project)
        self._part("compact", self._compact)
        self._part("quality", self._quality)
        self._part("health", self._health)
        self._part("self test", self._self_test)

    def consolidate(self) -> None:
        """Do the part that makes memories."""
        self._part("consolidate", self._consolidate)

    def _part(self, name: str, do: Callable[[], Outcome]) -> None:
        self._on_part(name)
        began = time.monotonic()
        try:
            state, count, note = do()
        except (RecallError, OSError) as error:
            state, count, note = FAILED, 0, clip(f"{error}" or type(error).__name__)
        self.parts.append(Part(name, state, count, round(time.monotonic() - began, 2), note))

    def _capture(self) -> Outcome:
        new = self.deps.capture()
        return DONE if new else SAME, new, counted(new, "new event")

    def _index(self) -> Outcome:
        made = self.deps.index()
        new = int(made.get("new", 0))
        return DONE if new else SAME, new, f"{counted(new, 'new passage')} of {int(made['chunks']):,}"

    def _consolidate(self) -> Outcome:
        """Too many memories, or too many that no longer hold, are an occasion; what goes follows from them alone."""
        wanted = due(fold_memories(self.deps.log), self.settings.consolidation, self.now)
        self.report = work(
            self.deps,
            self.settings,
            trigger=wanted[0].trigger if wanted else self.trigger,
            now=self.now,
            dry_run=self.dry_run,
            full=self.full,
            on_stage=self._on_part,
        )
        part = _told(self.report)
        asked = "".join(f"; due: {one.trigger} ({one.why})" for one in wanted)
        return part.state, part.count, part.note + asked

    def _verify(self) -> Outcome:
        workspace = self.deps.workspace
        held = {} if self.full else _verified(workspace, self.now)
        since = Position(**held["through"]) if held else None
        whole = since is None
        report = verify(workspace, since=since, native=whole, views=False)
        if not report.ok:
            return FAILED, report.counts["problems"], f"{', '.join(report.codes[:3])}; run 'recall verify'"
        if report.through is not None:
            told = {"through": asdict(report.through), "whole": held.get("whole") or stamp(self.now)}
            write_atomic(workspace.run_dir / VERIFIED, json.dumps(told).encode("ascii"), durable=False)
        events = report.counts["events"]
        start = f"from event {since.seq + 1:,}" if since is not None else "all"
        return DONE if events else SAME, events, f"{counted(events, 'event')}, {start}"

    def _project(self) -> Outcome:
        made = project(self.deps.workspace)
        return DONE if made.written else SAME, len(made.written), counted(len(made.written), "file")

    def _compact(self) -> Outcome:
        if self.deps.reclaim is None or self._left <= 0:
            return SKIPPED, 0, "" if self.deps.reclaim is None else NO_TIME
        return self.deps.reclaim(self._left)

    def _quality(self) -> Outcome:
        if self.deps.quality is None or self._left <= 0:
            return SKIPPED, 0, "" if self.deps.quality is None else NO_TIME
        return self.deps.quality(self._idle, self._left)

    @property
    def _left(self) -> float:
        """The seconds that what can wait may take."""
        return self._until - time.monotonic() - RESERVE_S

    @property
    def _idle(self) -> bool:
        """Whether nothing was new."""
        return self.report is not None and self.report.state == UNCHANGED

    def _health(self) -> Outcome:
        found = self.deps.health(self._idle, True)
        named = {said: ", ".join(map(str, found.get(name, ()))) for name, said in TOLD.items()}
        parts = [f"{said}: {names}" for said, names in named.items() if names]
        return DONE, len(found.get("failing", ())), "; ".join([str(found["level"]), *parts])

    def _self_test(self) -> Outcome:
        memories = fold_memories(self.deps.log).current(self.now)
        asked = [memory.id for memory in memories if memory.kind == "statement"][-TESTED:]
        if not asked:
            return SKIPPED, 0, "no memories yet"
        found = self.deps.probe(asked)
        return DONE if found == len(asked) else FAILED, found, f"{found} of {len(asked)} recalled"


def _told(report: Report) -> Part:
    """The consolidation as a part of the night."""
    if report.state == UNCHANGED:
        note = f"nothing new since checkpoint {report.checkpoint[:10]}" if report.checkpoint else "nothing new"
        return Part("consolidate", SAME, note=note)
    broken = next((step for step in report.steps if step.state == FAILED), None)
    accepted = report.counts.get("accepted", 0)
    if broken is not None:
        return Part("consolidate", FAILED, accepted, note=f"{broken.name}: {broken.note}")
    others = ", ".join(f"{n:,} {name}" for name, n in report.counts.items() if n and name != "accepted")
    note = counted(accepted, "memory", "memories") + (f", {others}" if others else "")
    return Part("consolidate", DONE, accepted, note=note)


def last(workspace: Workspace) -> Mapping[str, Any]:
    """Return at, state, seconds, failed parts and all parts of the last night; empty before the first."""
    return read_derived(workspace.run_dir / FILE)


def could_wait(held: Mapping[str, Any]) -> list[str]:
    """Return what a night of `last` did or left out of the parts that can wait, a phrase each."""
    parts = held.get("parts")
    return [
        f"{part['name']} {part.get('state', '?')}{': ' if part.get('note') else ''}{part.get('note') or ''}"
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("name") in ("compact", "quality") and part.get("state") != SAME
    ]


def _verified(workspace: Workspace, now: datetime) -> dict[str, Any]:
    """Where the last verification ended; empty where the whole record is due again."""
    held = read_derived(workspace.run_dir / VERIFIED)
    try:
        Position(**held["through"])
        fresh = timedelta(0) <= now - moment(held["whole"]) < timedelta(days=WHOLE_DAYS)
    except (KeyError, TypeError, ValueError):
        return {}
    return held if fresh else {}
