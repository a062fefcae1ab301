"""The health report that pages show: making it reads all there is, so the last one is shown while a new one is made."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recall.cli.output import unusable
from transcript.errors import RecallError

if TYPE_CHECKING:
    from datetime import date

    from health.report import Report
    from recall.cli.app import App

KEPT_S = 60.0  # from then on a look makes a new one, for the next
WAIT_S = 0.2  # a look waits so long for one that is being made


@dataclass(frozen=True, slots=True)
class Looked:
    """A report, how many turns of each harness were taken in by day, and the monotonic second all that was made at."""

    report: Report
    captures: Mapping[str, Mapping[date, int]]
    made_at: float


_guard = threading.Lock()
_making: dict[str, threading.Event] = {}  # by workspace, set when it is made
_kept: dict[str, Looked] = {}
_wrong: dict[str, RecallError] = {}


def looked(app: App, *, again: bool = False) -> Looked | None:
    """Return the report of this project as it was made last; None while the first one is being made.

    With again, and where the last is older than a minute, a new one is made meanwhile. RecallError where none can be.
    """
    name = app.workspace().id
    found = _kept.get(name)
    if found is None or again:
        begin(app).wait(WAIT_S)
        if name in _wrong:
            raise _wrong[name]
        return _kept.get(name)
    if time.monotonic() - found.made_at > KEPT_S:
        begin(app)
    return found


def begin(app: App) -> threading.Event:
    """Make a report in the background, unless that is done already; return what is set when it is made."""
    name = app.workspace().id

    def make() -> None:
        try:
            _make(app)
            _wrong.pop(name, None)
        except Exception as error:  # nobody watches this thread: whoever asks for the report is told
            _wrong[name] = _told(error)
        finally:
            with _guard:
                _making.pop(name).set()

    with _guard:
        at_work = _making.get(name)
        if at_work is None:
            at_work = _making[name] = threading.Event()
            threading.Thread(target=make, name="looking", daemon=True).start()
        return at_work


def _told(error: Exception) -> RecallError:
    """What a page says of a report that could not be made; of a fault of ours the terminal says where it is."""
    if isinstance(error, RecallError):
        return error
    what = unusable(error) if isinstance(error, OSError) else ""
    if not what:
        traceback.print_exception(error)
        what = f"the report broke ({type(error).__name__}); the terminal where the console was started shows where"
    return RecallError(what)


def _make(app: App) -> None:
    from health.gather_calendar import captures
    from recall.cli.app import DEMO
    from recall.cli.reported import report_of

    workspace = app.workspace()
    report = report_of(app, hooked=app.data.name != DEMO)
    _kept[workspace.id] = Looked(report, captures(app.log(workspace), app.now()), time.monotonic())
