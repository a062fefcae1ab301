"""The health report that pages show: making it reads all there is, so the last one is shown while a new one is made."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transcript.errors import RecallError

if TYPE_CHECKING:
    from datetime import date

    from health.report import Report
    from recall.cli.app import App

KEPT_S = 60.0  # from then on a look makes a new one, for the next


@dataclass(frozen=True, slots=True)
class Looked:
    """A report, how many turns of each harness were taken in by day, and the monotonic second all that was made at."""

    report: Report
    captures: Mapping[str, Mapping[date, int]]
    made_at: float


_making = threading.Lock()
_kept: dict[str, Looked] = {}  # by workspace


def looked(app: App, *, again: bool = False) -> Looked:
    """Return the report of this project as it was made last; with again, and the first time, a new one.

    One that is older than a minute is returned as it is, and a new one is made meanwhile.
    """
    name = app.workspace().id
    found = _kept.get(name)
    if found is None or again:
        with _making:
            newer = _kept.get(name)
            if newer is None or newer is found:  # else somebody made one while we waited
                newer = _make(app)
            return newer
    if time.monotonic() - found.made_at > KEPT_S:
        begin(app)
    return found


def begin(app: App) -> None:
    """Make a report in the background, unless that is done already."""

    def make() -> None:
        if _making.acquire(blocking=False):
            try:
                with contextlib.suppress(RecallError):  # a page that needs one makes it, and shows what is wrong
                    _make(app)
            finally:
                _making.release()

    threading.Thread(target=make, name="looking", daemon=True).start()


def _make(app: App) -> Looked:
    from health.gather_calendar import captures
    from recall.cli.app import DEMO
    from recall.cli.reported import report_of

    workspace = app.workspace()
    report = report_of(app, hooked=app.data.name != DEMO)
    made = Looked(report, captures(app.log(workspace), app.now()), time.monotonic())
    _kept[workspace.id] = made
    return made
