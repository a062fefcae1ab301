"""What is remembered and what it weighs, folded once for as long as the record stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recall.cli.app import App
    from recall.cli.memory_read import Weights
    from transcript.memories import MemoryState


@dataclass(frozen=True, slots=True)
class Remembered:
    """Memories and candidates that leave to who looks, and what the memories weigh."""

    state: MemoryState
    weights: Weights


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
