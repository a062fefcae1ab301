"""Capture: brings a workspace's record up to date with the session files of the harnesses.

`sync` may run at any time, as often as one likes, in several processes at once: what was read is read again from
where it stood, what the record holds already is recognised by its id, and where it stood is written down only after
the events are on disk.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from transcript.adapters.base import Adapter, Options, SourceFile
from transcript.adapters.registry import ADAPTERS
from transcript.capture_plan import Heads, Planned, count, plan
from transcript.capture_source import SourceTaker, Taking
from transcript.capture_state import CaptureState, SourceState
from transcript.children import is_child
from transcript.errors import CaptureError, LockBusy
from transcript.event import stamp
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.workspace import Workspace

__all__ = ["ADAPTERS", "CaptureSettings", "Progress", "SyncReport", "sync"]

LOCK_TIMEOUT_S = 600.0
SAVE_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """reasoning: keep exposed reasoning as events. native: keep the source bytes as they were read."""

    reasoning: bool = False
    native: bool = True


DEFAULTS = CaptureSettings()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync is, in bytes still to be read when it began."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int


@dataclass(slots=True)
class SyncReport:
    """What one sync did. `added` counts events of every kind but sightings and marks; damage is of this run."""

    by_type: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    files: int = 0
    changed: int = 0
    bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    damaged: list[tuple[str, int, int, str]] = field(default_factory=list)
    rewound: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    incomplete: list[tuple[str, int]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
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
    all_roots: bool = False,
    full: bool = False,
    progress: Callable[[Progress], None] | None = None,
    now: datetime | None = None,
    settings: CaptureSettings = DEFAULTS,
    lock_timeout: float = LOCK_TIMEOUT_S,
) -> SyncReport:
    """Take in what is new in the sessions of a workspace (of every known workspace when it is None).

    sources is a folder to look in instead of the harnesses' own; all_roots takes every session found there into this
    workspace, wherever it was held. full compares every byte that was read before. LockBusy when another capture of
    the workspace does not end in time.
    """
    began = time.monotonic()
    report = SyncReport()
    if is_child(env):
        report.skipped["child"] += 1
        return report
    if all_roots and (sources is None or workspace is None):
        raise CaptureError("--all-roots takes in every session under a folder: name it with --from")
    if sources is not None and not sources.exists():
        raise CaptureError(f"{sources} does not exist; name a folder that holds sessions")
    moment = now or datetime.now(UTC)
    heads = CaptureState(workspace).heads if workspace is not None else {}
    for adapter in ADAPTERS:
        found, refused = adapter.discover([sources] if sources is not None else adapter.roots(env))
        report.skipped += refused
        for target, planned in _assign(adapter, found, workspace, data, heads, all_roots=all_roots, report=report):
            run = _Run(adapter, target, settings, moment, report, heads, full=full, progress=progress)
            run.take(planned, lock_timeout)
    report.seconds = time.monotonic() - began
    return report


def _assign(
    adapter: Adapter,
    found: list[SourceFile],
    workspace: Workspace | None,
    data: Path,
    heads: Heads,
    *,
    all_roots: bool,
    report: SyncReport,
) -> list[tuple[Workspace, list[Planned]]]:
    """Return each workspace with its sources, and count the others by reason."""
    states = CaptureState(workspace).sources if workspace is not None else {}
    planned, unread = plan(adapter, found, states, data, all_roots=all_roots, heads=heads)
    report.failed += unread
    report.skipped += count(planned)
    usable = [item for item in planned if not item.reason]
    if workspace is not None:
        mine = [item for item in usable if all_roots or (item.owner is not None and item.owner.id == workspace.id)]
        report.skipped["foreign"] += len(usable) - len(mine)
        report.skipped += Counter()
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
        adapter: Adapter,
        workspace: Workspace,
        settings: CaptureSettings,
        now: datetime,
        report: SyncReport,
        heads: Heads,
        *,
        full: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.adapter, self.workspace, self.settings, self.now, self.report = adapter, workspace, settings, now, report
        self.heads, self.full, self.progress = heads, full, progress

    def take(self, planned: list[Planned], lock_timeout: float) -> None:
        """Take the sources in under the capture lock."""
        lock = FileLock(self.workspace.run_dir / "capture.lock")
        if not lock.acquire(lock_timeout):
            raise LockBusy("another capture of this workspace is running; try again when it is done")
        try:
            self._take(planned)
        finally:
            lock.release()

    def _take(self, planned: list[Planned]) -> None:
        state = CaptureState(self.workspace)
        taking = Taking()
        options = Options(self.workspace.id_key(), self.settings.reasoning)
        native = NativeStore(self.workspace) if self.settings.native else None
        todo = _Todo(planned, state, self.progress)
        log = Log(self.workspace)
        log.recover(now=self.now)  # a torn tail or a damaged head is put right before anything is read
        taker = SourceTaker(
            self.adapter, log, state, options,
            native=native, now=self.now, taking=taking, on_bytes=todo.bytes_done,
        )  # fmt: skip
        saved = time.monotonic()
        dirty = False
        for item in planned:
            source = item.source
            self.heads.pop(str(source.path), None)  # from here on its state knows
            if source.source not in state.sources:
                state.sources[source.source] = _new_state(item)
                dirty = True
            dirty = self._one(taker, item, state.sources[source.source]) or dirty
            todo.file_done()
            if dirty and time.monotonic() - saved > SAVE_EVERY_S:
                state.save()
                saved, dirty = time.monotonic(), False
        dirty = self._absent(taker, state, {item.source.source for item in planned}) or dirty
        if dirty or state.skipped != dict(self.report.skipped) or state.heads != self.heads:
            state.heads = self.heads
            state.skipped = dict(self.report.skipped)
            state.synced = stamp(self.now)
            state.save()
        self._report(taking, state, planned)

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
        except PermissionError as error:
            self.report.failed.append((state.path, error.strerror or "not readable"))
        return dirty

    def _absent(self, taker: SourceTaker, state: CaptureState, present: set[str]) -> bool:
        """Mark sources whose file is gone: harnesses delete old ones. What they held stays."""
        dirty = False
        for name, source in state.sources.items():
            if name not in present and not source.missing and source.offset and not Path(source.path).exists():
                taker.mark_absence(name, source, back=False)
                dirty = True
        return dirty

    def _report(self, taking: Taking, state: CaptureState, planned: list[Planned]) -> None:
        report = self.report
        report.by_type += taking.added
        report.files += len(planned)
        report.sessions += len({item.head.session for item in planned})
        report.bytes += taking.bytes
        report.records += taking.records
        report.unknown += taking.unknown
        report.notes += taking.notes
        report.damaged += taking.damage
        report.rewound += taking.rewound
        report.missing += state.missing()
        report.incomplete += state.incomplete()


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
