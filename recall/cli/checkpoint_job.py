"""The detached checkpoint behind a session's end, a compaction or a window that fills: nobody waits for it."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recall import hook_counters, spawn
from recall.cli.app import App
from transcript.errors import RecallError

if TYPE_CHECKING:
    from consolidation.model import Report

NAME = "checkpoint"
WAITS, WAIT_S = 150, 2.0  # while another consolidation works
MOST_ROUNDS = 20


def main(arguments: list[str]) -> None:
    """Run as the detached process: DATA CWD MARKS LOCK, as `recall.spawn.start_checkpoint` gives them."""
    data, cwd, marks, locked = arguments
    spawn.settle(int(locked))
    env = {name: value for name, value in os.environ.items() if name != "RECALL_CHILD"}
    held: int | None = int(locked)
    again = Path(f"{marks}.again")
    while held is not None:
        try:
            rounds(App(env, Path(cwd), Path(data)), again)
        except Exception as error:  # nobody watches this process: the failure is counted for health
            hook_counters.add(Path(data), NAME, f"error:{type(error).__name__}")
            again.unlink(missing_ok=True)
        os.close(held)
        held = spawn.take_lock(f"{marks}.lock") if again.exists() else None  # a mark came between look and release
    os._exit(0)


def rounds(app: App, again: Path) -> int:
    """Make a checkpoint for each mark, and return how many were asked for."""
    done = 0
    while again.exists() and done < MOST_ROUNDS:
        for line in dict.fromkeys(spawn.take_marks(again)):
            trigger, _, link = line.partition(" ")
            if trigger:
                checkpoint(app, trigger, link)
                done += 1
    return done


def checkpoint(app: App, trigger: str, link: str) -> Report | None:
    """Make one checkpoint; what fails is counted for health, and the next one does it."""
    from consolidation.run import BUSY, FAILED, INCOMPLETE, consolidate
    from indexer import power
    from recall.cli.work import deps_of, settings_of, take_files

    power.lower_priority()
    try:
        workspace, settings = app.writable_workspace(), settings_of(app)
        # what started this has taken in the sessions, and knows where each harness keeps its own
        deps = replace(deps_of(app, workspace), capture=lambda: take_files(app, workspace))
        for _ in range(WAITS):
            report = consolidate(deps, settings, trigger=trigger, link=link, now=app.now())
            if report.state != BUSY:
                break
            time.sleep(WAIT_S)
        if report.state in (FAILED, INCOMPLETE, BUSY):
            hook_counters.add(app.data, NAME, report.state)
        return report
    except RecallError as error:
        hook_counters.add(app.data, NAME, type(error).__name__)
        return None
