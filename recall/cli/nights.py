"""Gives each project its night in a process of its own, bounded, and at low priority."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from datetime import time
from pathlib import Path

from recall.cli.app import App
from recall.cli.main import HOME, START, isolation_flags
from recall.config import Config, load
from recall.nights import FAILED, NOT_DUE, Ended, Outcome, run
from recall.operations_settings import LogSettings
from transcript.errors import WorkspaceError

GOODBYE_S = 10.0
WAIT_S = 300.0  # for a consolidation that a session's end has started
NIGHT = ("consolidate", "--nightly", "--json")


def nightly(app: App, *, anyway: bool) -> Ended:
    """Do what is due for every project; `anyway` does it whether due or not."""
    from indexer.power import lower_priority

    if not app.data.is_dir():  # on a disk that is not there now: made anew it would lie in that disk's place
        raise WorkspaceError(f"no data folder {app.data}; run 'recall init' in a project, or 'recall schedule remove'")
    config = user_config(app)
    settings = config.schedule()
    lower_priority()
    ended = run(
        app.data,
        lambda root, seconds: night_of(root, seconds, app.data, app.env),
        now=app.now(),
        at=time(*settings.time()),
        minutes=settings.minutes,
        anyway=anyway,
    )
    if not ended.note and ended.state != NOT_DUE:
        _log(ended, app.data, config.logs())
    return ended


def _log(ended: Ended, data: Path, settings: LogSettings) -> None:
    """Leave a line for each project and one for the night."""
    from recall.logs import logger

    log = logger(data, "night", settings)
    for name, one in ended.projects.items():
        log.info("project_done", workspace=name, state=one.state, seconds=one.seconds, failures=one.in_a_row)
    log.info("night_done", date=ended.due.day.isoformat(), state=ended.state, projects=len(ended.projects))


def user_config(app: App) -> Config:
    """The user's settings, no project's: the scheduler calls from no project's folder."""
    return load(app.data, None, app.env)


def isolated() -> list[str]:
    """Return the words that start this very `recall` by its interpreter, clean of what the environment brings."""
    return [sys.executable, *isolation_flags(), "-c", START, str(HOME)]


def night_of(root: Path, seconds: float, data: Path, env: Mapping[str, str]) -> Outcome:
    """Run the night of one project; what is not over after so many seconds is ended with all that it started."""
    own = {name: value for name, value in env.items() if name != "RECALL_CHILD"}  # a child of ours captures nothing
    try:
        child = subprocess.Popen(
            [*isolated(), *NIGHT, "--wait", f"{min(WAIT_S, seconds / 2):.0f}", "--within", f"{seconds:.0f}"],
            cwd=root,
            env={**own, "RECALL_HOME": str(data)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:  # a folder that may not be entered, or went away just now: the others have their night
        return Outcome(FAILED, (f"could not be started ({error.strerror})",))
    try:
        out, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return Outcome(FAILED, (f"not over after {seconds:.0f} s",))
    finally:
        _end(child)
    try:
        told = json.loads(out)
        failed = tuple(str(part["name"]) for part in told["parts"] if part["state"] == FAILED)
        return Outcome(str(told["state"]), failed)
    except (ValueError, KeyError, TypeError):
        return Outcome(FAILED, (f"ended with exit code {child.returncode}",))


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a process that still runs: politely, and then with all that it started."""
    if child.poll() is not None:
        return
    for number in ("SIGTERM", "SIGKILL"):
        with contextlib.suppress(OSError):
            if os.name == "nt":
                child.kill()
            else:
                os.killpg(child.pid, getattr(signal, number))
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GOODBYE_S)
    if child.stdout is not None:
        child.stdout.close()
