"""The detached capture behind a turn, with what consolidation adds to it: the worth of memories in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall import background

if TYPE_CHECKING:
    from indexer.store import Store
    from recall.config import Config
    from transcript.workspace import Workspace


def main(arguments: list[str]) -> None:
    """Run as the detached process that `recall.spawn.start_capture` starts."""
    background.main(arguments, weigh=weigh_if_due)


def weigh_if_due(workspace: Workspace, store: Store, config: Config) -> int:
    """Weigh memories anew where the index has lost their worth, or it was made under other settings; return how many
    rows changed.
    """
    from indexer.standing import is_due

    if not is_due(store, config.experience().mark):
        return 0
    from consolidation.apply import apply
    from consolidation.settings import Settings

    return apply(workspace, store, Settings(experience=config.experience()))
