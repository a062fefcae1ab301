"""The health report that pages show: made at most once a minute, for it reads all there is."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from health.report import Report
    from recall.cli.app import App

KEPT_S = 60.0


@dataclass(frozen=True, slots=True)
class Looked:
    """A report, and how many turns of each harness were taken in by day."""

    report: Report
    captures: Mapping[str, Mapping[date, int]]


_lock = threading.Lock()
_kept: dict[str, tuple[float, Looked]] = {}  # by workspace, with the monotonic second it was made at


def looked(app: App, *, again: bool = False) -> Looked:
    """Return the report of this project, at most a minute old; with again a new one. Who asks meanwhile waits."""
    from health.gather_calendar import captures
    from recall.cli.app import DEMO
    from recall.cli.reported import report_of

    workspace = app.workspace()
    with _lock:
        at, found = _kept.get(workspace.id, (0.0, None))
        if found is None or again or time.monotonic() - at > KEPT_S:
            found = Looked(report_of(app, hooked=app.data.name != DEMO), captures(app.log(workspace), app.now()))
            _kept[workspace.id] = (time.monotonic(), found)
    return found
