"""What the record adds up to, held from page to page: memories with what they weigh, and the sessions."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transcript.errors import RecallError

if TYPE_CHECKING:
    from recall.cli.app import App
    from recall.cli.memory_read import Weights
    from transcript.log import Log
    from transcript.memories import MemoryState
    from transcript.projections.views import Fold


@dataclass(frozen=True, slots=True)
class Remembered:
    """Memories and candidates that leave to who looks, and what the memories weigh."""

    state: MemoryState
    weights: Weights


_guard = threading.Lock()
_sessions: dict[str, Fold] = {}  # by workspace
_folded: dict[str, tuple[Any, MemoryState, Weights]] = {}  # by workspace, with what it was folded from


def remembered(app: App) -> Remembered:
    """Return what is remembered now. Reads the record where it, or a setting of the weights, is another than before."""
    from recall.cli.memory_read import weighed
    from recall.cli.reading import door
    from transcript.memories import fold_memories

    workspace = app.workspace()
    log = app.log(workspace)
    config = app.config
    of = (log.head(), config.experience(), config.memory(), config.settings().scales)
    held = _folded.get(workspace.id)
    if held is None or held[0] != of:
        held = _folded[workspace.id] = (of, fold_memories(log), weighed(app, log, injected=True))
    return Remembered(door(app, workspace).state(held[1]), held[2])


def sessions_of(log: Log) -> dict[str, dict[str, Any]]:
    """Return every session by its id as `projections.fold` has it. Reads what came since it was asked for last.

    The first time it begins with the snapshot of the views where there is one, which it does not write.
    """
    from transcript.projections.views import read_snapshot, sessions

    name = log.workspace.id
    with _guard:
        held = _sessions.pop(name, None) or read_snapshot(log)
        _sessions[name] = sessions(log, held)
        return {session: dict(one) for session, one in _sessions[name][0]["sessions"].items()}


def begin(app: App) -> threading.Thread:
    """Read the sessions in the background, so that the first look at them finds them; the page tells what is wrong."""

    def read() -> None:
        with contextlib.suppress(RecallError, OSError):
            sessions_of(app.log(app.workspace()))

    thread = threading.Thread(target=read, name="sessions", daemon=True)
    thread.start()
    return thread
