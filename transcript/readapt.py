"""Runs today's adapters over the native bytes of old captures and appends only what is new.

The harness has long deleted its files; the bytes were kept for this.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from transcript.adapters.base import Adapter, Options, SourceFile, Taken
from transcript.adapters.jsonl import parse_line
from transcript.adapters.registry import registered
from transcript.capture import DEFAULTS, LOCK_TIMEOUT_S, Progress, SyncReport
from transcript.capture_source import SourceTaker, Taking
from transcript.capture_state import CaptureState, SourceState
from transcript.errors import LockBusy
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.settings import CaptureSettings
from transcript.workspace import Workspace


def readapt(
    workspace: Workspace,
    *,
    now: datetime,
    settings: CaptureSettings = DEFAULTS,
    lock_timeout: float = LOCK_TIMEOUT_S,
    progress: Callable[[Progress], None] | None = None,
) -> SyncReport:
    """Read every native byte of a workspace again; positions of capture stay where they are.

    Sources that the capture state no longer knows are counted as skipped: a sync finds them again.
    """
    began = time.monotonic()
    report = SyncReport()
    lock = FileLock(workspace.run_dir / "capture.lock")
    if not lock.acquire(lock_timeout):
        raise LockBusy("a capture of this workspace is running; try again when it is done")
    try:
        state = CaptureState(workspace)
        native = NativeStore(workspace)
        taking = Taking()
        options = Options(workspace.id_key(), settings.reasoning)
        adapters = {adapter.harness: adapter for adapter in registered().adapters}
        kept = {name for _, name in native.sources()}
        ordered = sorted(
            state.sources.items(), key=lambda item: (bool(item[1].worker), item[1].first, item[1].identity)
        )
        if lost := len(kept - state.sources.keys()):
            report.skipped["unknown_source"] = lost
        ordered = [(name, known) for name, known in ordered if name in kept and known.harness in adapters]
        total = sum(known.offset for _, known in ordered)

        def tell(read: int) -> None:
            if progress is not None:
                progress(Progress(report.files, len(ordered), report.bytes + read, total))

        for name, known in ordered:
            adapter = adapters[known.harness]
            taker = SourceTaker(adapter, Log(workspace), state, options, native=None, now=now, taking=taking)
            _again(adapter, taker, native, name, known, options, tell)
            report.files += 1
            report.changed += 1
            report.bytes += known.offset
            tell(0)
        report.sessions = len({known.session for _, known in ordered})
        report.seconds = time.monotonic() - began
        report.by_type += taking.added
    finally:
        lock.release()
    return report


def _again(
    adapter: Adapter,
    taker: SourceTaker,
    native: NativeStore,
    name: str,
    known: SourceState,
    options: Options,
    tell: Callable[[int], None],
) -> None:
    source = _source(known)
    memory: dict[str, Any] = {"session": known.session}
    reader = adapter.reader(source, memory, options)
    fresh: set[str] = set()
    current: int | None = None
    number = 0
    for generation, offset, raw, ended in native.lines(known.harness, name):
        if not ended:
            continue
        if current is not None and generation != current:
            _append(taker, source, reader.take() + reader.finish(), fresh)
            memory = {**adapter.restarted(memory), "session": known.session}
            reader = adapter.reader(source, memory, options)
            number = 0
        current = generation
        number += 1
        if raw.strip(b" \t\r"):
            reader.feed(parse_line(number, offset, offset + len(raw) + 1, raw, adapter.is_record))
        if number % 500 == 0:
            _append(taker, source, reader.take(), fresh)
            tell(min(offset, known.offset))
    _append(taker, source, reader.take() + reader.finish(), fresh)


def _append(taker: SourceTaker, source: SourceFile, taken: list[Taken], fresh: set[str]) -> None:
    """Append what is new; a mark speaks of new events only, the others were judged when they were captured."""
    ids = taker.log.ids()
    kept = []
    for item in taken:
        draft = item.draft
        if draft.type != "mark":
            if draft.id not in ids:
                fresh.add(draft.id)
        elif draft.body["events"]:
            events = [event for event in draft.body["events"] if event in fresh]
            if not events:
                continue
            item = Taken(replace(draft, body={**draft.body, "events": events}))
        kept.append(item)
    taker.append(kept, source)


def _source(known: SourceState) -> SourceFile:
    path = Path(known.path)
    session = known.session if path.stem == known.session or known.worker else ""
    return SourceFile(known.harness, path, known.identity, session, known.worker, known.companion)
