"""Capture: brings a workspace's record up to date with the session files of the harnesses.

`sync` may run at any time, as often as one likes, in several processes at once: what was read is read again from
where it stood, what the record holds already is recognised by its id, and where it stood is written down only after
the events are on disk.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from transcript.adapters.base import Adapter, Options
from transcript.adapters.guard import Guarded
from transcript.adapters.registry import ADAPTERS, Registered, registered
from transcript.adapters.views import UnreadableSource
from transcript.capture_claims import Claims, claim
from transcript.capture_plan import Heads, Planned, count, gone_folders, order, plan
from transcript.capture_source import SourceTaker, Taking
from transcript.capture_state import CaptureState, SourceState
from transcript.errors import CaptureError, LockBusy
from transcript.event import stamp
from transcript.kept_out import CHILD, is_child
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.settings import CaptureSettings
from transcript.workspace import Workspace

__all__ = ["ADAPTERS", "CaptureSettings", "HarnessReport", "Progress", "SyncReport", "sync"]

LOCK_TIMEOUT_S = 600.0
SAVE_EVERY_S = 1.0


DEFAULTS = CaptureSettings()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync is, in bytes still to be read when it began."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int


@dataclass(slots=True)
class HarnessReport:
    """What one sync met of one harness. Damage and unknown types are of what was read in this run."""

    files: int = 0
    sessions: int = 0
    by_type: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    damaged: int = 0

    @property
    def added(self) -> int:
        """How many events of sessions are new."""
        return sum(self.by_type.values()) - self.by_type["sighting"] - self.by_type["mark"]

    @property
    def met(self) -> bool:
        """Whether there was anything of this harness at all."""
        return bool(self.files or self.by_type or self.skipped)


@dataclass(slots=True)
class SyncReport:
    """What one sync did. `added` counts events of every kind but sightings and marks; damage is of this run."""

    by_type: Counter[str] = field(default_factory=Counter)
    harnesses: dict[str, HarnessReport] = field(default_factory=dict)
    sessions: int = 0
    files: int = 0
    changed: int = 0
    bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    gone: Counter[str] = field(default_factory=Counter)  # folders that are no more, with their sources
    records: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    damaged: list[tuple[str, int, int, str]] = field(default_factory=list)
    rewound: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    incomplete: list[tuple[str, int]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    llm_tokens: int = 0

    @property
    def added(self) -> int:
        """How many events of sessions are new."""
        return sum(self.by_type.values()) - self.sightings - self.marks

    @property
    def sightings(self) -> int:
        """How many records were found to stand in one more place."""
        return self.by_type["sighting"]

    @property
    def marks(self) -> int:
        """How many marks (abandoned, rewound, missing ...) are new."""
        return self.by_type["mark"]


def sync(
    workspace: Workspace | None,
    data: Path,
    env: Mapping[str, str],
    *,
    sources: Path | None = None,
    adapters: Sequence[Adapter] | None = None,
    all_roots: bool = False,
    full: bool = False,
    progress: Callable[[Progress], None] | None = None,
    now: datetime | None = None,
    settings: CaptureSettings = DEFAULTS,
    lock_timeout: float = LOCK_TIMEOUT_S,
) -> SyncReport:
    """Take in what is new in the sessions of a workspace (of every known workspace when it is None).

    sources is a folder to look in instead of the harnesses' own, adapters are those to use (all that are registered
    by default; `refused` names those of other packages that are none). all_roots takes every session found there
    into this workspace, wherever it was held. full compares every byte that was read before. LockBusy when another
    capture of the workspace does not end in time.
    """
    began = time.monotonic()
    report = SyncReport()
    if is_child(env):
        report.skipped[CHILD] += 1
        return report
    if all_roots and (sources is None or workspace is None):
        raise CaptureError("--all-roots takes in every session under a folder: name it with --from")
    if sources is not None and not sources.exists():
        raise CaptureError(f"{sources} does not exist; name a folder that holds sessions")
    moment = now or datetime.now(UTC)
    found = registered() if adapters is None else Registered(tuple(adapters))
    report.refused += found.refused
    state = CaptureState(workspace) if workspace is not None else None
    known = state.sources if state is not None else {}
    heads = state.heads if state is not None else {}
    groups: dict[str, tuple[Workspace, list[_Part]]] = {}
    if workspace is not None:
        groups[workspace.id] = (workspace, [])
    for claims in claim(map(Guarded, found.adapters), env, sources, workspace, data, known):
        of = report.harnesses.setdefault(claims.adapter.harness, HarnessReport())
        of.skipped += claims.refused
        for target, planned in _assign(claims, workspace, data, known, heads, all_roots=all_roots, report=report):
            groups.setdefault(target.id, (target, []))[1].append((claims.adapter, planned))
        report.skipped += of.skipped
    for _, (target, parts) in sorted(groups.items()):
        run = _Run(target, settings, moment, report, heads, full=full, progress=progress)
        run.take(parts, lock_timeout)
    for name in [name for name, of in report.harnesses.items() if not of.met]:
        del report.harnesses[name]
    report.seconds = time.monotonic() - began
    return report


_Part = tuple[Adapter, list[Planned]]


def _assign(
    claims: Claims,
    workspace: Workspace | None,
    data: Path,
    known: dict[str, SourceState],
    heads: Heads,
    *,
    all_roots: bool,
    report: SyncReport,
) -> list[tuple[Workspace, list[Planned]]]:
    """Return each workspace with its sources of one harness, and count the others by reason."""
    skipped = report.harnesses[claims.adapter.harness].skipped
    planned, unread = plan(claims.adapter, claims.sources, known, data, all_roots=all_roots, heads=heads)
    report.failed += unread
    skipped += count(planned)
    report.gone += gone_folders(planned)
    usable = [item for item in planned if not item.reason]
    if workspace is not None:
        mine = [item for item in usable if all_roots or (item.owner is not None and item.owner.id == workspace.id)]
        if len(usable) > len(mine):
            skipped["foreign"] += len(usable) - len(mine)
        return [(workspace, mine)]
    groups: dict[str, tuple[Workspace, list[Planned]]] = {}
    for item in usable:
        if item.owner is not None:
            groups.setdefault(item.owner.id, (item.owner, []))[1].append(item)
    return [groups[name] for name in sorted(groups)]


class _Run:
    """One capture of one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        settings: CaptureSettings,
        now: datetime,
        report: SyncReport,
        heads: Heads,
        *,
        full: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.workspace, self.settings, self.now, self.report = workspace, settings, now, report
        self.heads, self.full, self.progress = heads, full, progress

    def take(self, parts: list[_Part], lock_timeout: float) -> None:
        """Take the sources in under the capture lock, those of all harnesses in the order of their beginnings."""
        lock = FileLock(self.workspace.run_dir / "capture.lock")
        if not lock.acquire(lock_timeout):
            raise LockBusy("another capture of this workspace is running; try again when it is done")
        try:
            self._take(parts)
        finally:
            lock.release()

    def _take(self, parts: list[_Part]) -> None:
        state = CaptureState(self.workspace)
        options = Options(self.workspace.id_key(), self.settings.reasoning)
        native = NativeStore(self.workspace) if self.settings.native else None
        self._todo = _Todo([item for _, planned in parts for item in planned], state, self.progress)
        log = Log(self.workspace)
        log.recover(now=self.now)  # a torn tail or a damaged head is put right before anything is read
        self._saved, self._dirty = time.monotonic(), False
        takers = [
            SourceTaker(
                adapter, log, state, options,
                native=native, now=self.now, taking=Taking(), on_bytes=self._todo.bytes_done,
            )
            for adapter, _ in parts
        ]  # fmt: skip
        todo = [(item, taker) for taker, (_, planned) in zip(takers, parts, strict=True) for item in planned]
        for item, taker in sorted(todo, key=lambda one: order(one[0])):
            self._item(taker, state, item)
        for taker, (adapter, planned) in zip(takers, parts, strict=True):
            self._dirty = self._absent(taker, state, {item.source.source for item in planned}) or self._dirty
            self._report(adapter.harness, taker.taking, planned)
        if self._dirty or state.skipped != dict(self.report.skipped) or state.heads != self.heads:
            state.heads = self.heads
            state.skipped = dict(self.report.skipped)
            state.synced = stamp(self.now)
            state.save()
        self.report.missing += state.missing()
        self.report.incomplete += state.incomplete()

    def _item(self, taker: SourceTaker, state: CaptureState, item: Planned) -> None:
        source = item.source
        self.heads.pop(source.source, None)  # from here on its state knows
        if source.source not in state.sources:
            state.sources[source.source] = _new_state(item)
            self._dirty = True
        self._dirty = self._one(taker, item, state.sources[source.source]) or self._dirty
        self._todo.file_done()
        if self._dirty and time.monotonic() - self._saved > SAVE_EVERY_S:
            state.save()
            self._saved, self._dirty = time.monotonic(), False

    def _one(self, taker: SourceTaker, item: Planned, state: SourceState) -> bool:
        dirty = False
        if state.path != str(item.source.path):
            state.path, state.companion, dirty = str(item.source.path), item.source.companion, True
        if state.missing:
            taker.mark_absence(item.source.source, state, back=True)
            dirty = True
        try:
            if taker.take(item.source, full=self.full):
                self.report.changed += 1
                dirty = True
        except FileNotFoundError:
            self.report.failed.append((state.path, "gone while it was read"))
        except (PermissionError, UnreadableSource) as error:
            self.report.failed.append((state.path, error.strerror or "not readable"))
        return dirty

    def _absent(self, taker: SourceTaker, state: CaptureState, present: set[str]) -> bool:
        """Mark sources whose file is gone: harnesses delete old ones. What they held stays."""
        dirty = False
        for name, source in state.sources.items():
            if source.harness != taker.adapter.harness or name in present or source.missing or not source.offset:
                continue
            if not Path(source.path).exists():
                taker.mark_absence(name, source, back=False)
                dirty = True
        return dirty

    def _report(self, harness: str, taking: Taking, planned: list[Planned]) -> None:
        report = self.report
        of = report.harnesses[harness]
        of.by_type += taking.added
        of.files += len(planned)
        of.sessions += len({item.head.session for item in planned})
        of.unknown += taking.unknown
        of.damaged += len(taking.damage)
        report.by_type += taking.added
        report.files += len(planned)
        report.sessions += len({item.head.session for item in planned})
        report.bytes += taking.bytes
        report.records += taking.records
        report.unknown += taking.unknown
        report.notes += taking.notes
        report.damaged += taking.damage
        report.rewound += taking.rewound


class _Todo:
    """Counts what is done of what there was to do."""

    def __init__(self, planned: list[Planned], state: CaptureState, tell: Callable[[Progress], None] | None) -> None:
        self._tell = tell
        self._files, self._files_total = 0, len(planned)
        self._bytes, self._bytes_total = 0, 0
        if tell is not None:
            for item in planned:
                known = state.sources.get(item.source.source)
                self._bytes_total += max(0, _size(item.source.path) - (known.offset if known else 0))

    def bytes_done(self, number: int) -> None:
        """Note bytes that are in the record."""
        self._bytes += number
        self._show()

    def file_done(self) -> None:
        """Note a file that is up to date."""
        self._files += 1
        self._show()

    def _show(self) -> None:
        if self._tell is not None:
            self._tell(Progress(self._files, self._files_total, self._bytes, max(self._bytes, self._bytes_total)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _new_state(item: Planned) -> SourceState:
    source = item.source
    return SourceState(
        harness=source.harness,
        path=str(source.path),
        identity=source.identity,
        session=item.head.session,
        worker=source.worker,
        companion=source.companion,
        cwd=item.head.cwd,
        first=item.head.ts,
    )
