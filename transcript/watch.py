"""Watches the harnesses' session files and takes in what is new within two seconds, by looking at sizes and times."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from transcript.capture import ADAPTERS, DEFAULTS, SyncReport, sync
from transcript.settings import CaptureSettings
from transcript.workspace import Workspace

INTERVAL_S = 0.5


def watch(
    workspace: Workspace | None,
    data: Path,
    env: Mapping[str, str],
    *,
    sources: Path | None = None,
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
    while not should_stop():
        now = _stamps(env, sources)
        if now != before:
            report = sync(
                workspace, data, env, sources=sources, all_roots=all_roots, settings=settings, now=clock()
            )  # fmt: skip
            on_report(report)
            before = now
        sleep(interval_s)


def _stamps(env: Mapping[str, str], sources: Path | None) -> dict[Path, tuple[int, int]]:
    """Return size and change time of every session file."""
    stamps: dict[Path, tuple[int, int]] = {}
    for adapter in ADAPTERS:
        found, _ = adapter.discover([sources] if sources is not None else adapter.roots(env))
        for source in found:
            try:
                status = source.path.stat()
            except OSError:
                continue
            stamps[source.path] = (status.st_size, status.st_mtime_ns)
    return stamps
