"""Watches the harnesses' session files and takes in what is new within two seconds, by looking at sizes and times."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from transcript.adapters.base import Adapter
from transcript.adapters.registry import registered
from transcript.capture import DEFAULTS, SyncReport, sync
from transcript.capture_claims import places
from transcript.settings import CaptureSettings
from transcript.workspace import Workspace

INTERVAL_S = 0.5


def watch(
    workspace: Workspace | None,
    data: Path,
    env: Mapping[str, str],
    *,
    sources: Path | None = None,
    adapters: Sequence[Adapter] | None = None,
    all_roots: bool = False,
    settings: CaptureSettings = DEFAULTS,
    on_report: Callable[[SyncReport], None] = lambda report: None,
    should_stop: Callable[[], bool] = lambda: False,
    interval_s: float = INTERVAL_S,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Sync now, and again whenever a file has changed, until should_stop says so. Nothing is written in between.

    on_report is told of each sync that was made. Between two looks the process sleeps for interval_s.
    """
    before: dict[Path, tuple[int, int]] | None = None
    used = registered().adapters if adapters is None else adapters
    while not should_stop():
        now = _stamps(used, workspace, data, env, sources)
        if now != before:
            report = sync(
                workspace, data, env,
                sources=sources, adapters=adapters, all_roots=all_roots, settings=settings, now=clock(),
            )  # fmt: skip
            on_report(report)
            before = now
        sleep(interval_s)


def _stamps(
    adapters: Sequence[Adapter], workspace: Workspace | None, data: Path, env: Mapping[str, str], sources: Path | None
) -> dict[Path, tuple[int, int]]:
    """Return size and change time of every session file, of what lies beside it, and of a database's journal."""
    stamps: dict[Path, tuple[int, int]] = {}
    for adapter in adapters:
        found, _ = adapter.discover(places(adapter, env, sources, workspace, data))
        for source in found:
            journal = source.path.with_name(f"{source.path.name}-wal")
            for path in (source.path, journal, *([Path(source.companion)] if source.companion else [])):
                try:
                    status = path.stat()
                except OSError:
                    continue
                stamps[path] = (status.st_size, status.st_mtime_ns)
    return stamps
