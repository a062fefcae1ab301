"""The detached capture behind a turn, with what consolidation adds to it: worth of memories, standing context."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recall import background

if TYPE_CHECKING:
    from indexer.store import Store
    from recall.config import Config
    from transcript.workspace import Workspace


def main(arguments: list[str]) -> None:
    """Run as the detached process that `recall.spawn.start_capture` starts."""
    background.main(arguments, weigh=follow)


def follow(workspace: Workspace, store: Store, config: Config) -> int:
    """Bring up to the record what a capture leaves behind: weights, and the standing context where a file of it is
    another by now; return how many weights changed.
    """
    stand_if_due(workspace, config)
    return weigh_if_due(workspace, store, config)


def stand_if_due(workspace: Workspace, config: Config) -> bool:
    """Put the standing context together anew where one of its files has changed; say whether it was."""
    from recall.standing_context import held
    from recall.standing_places import places, refreshed

    data = workspace.data
    where = places(data, workspace.root, config.standing().folders)
    if not refreshed(held(workspace.run_dir).entries, where)[1]:
        return False
    from consolidation import standing_set
    from consolidation.settings import Settings

    settings = Settings(memory=config.memory(), experience=config.experience(), standing=config.standing())
    standing_set.after_apply(workspace, settings, now=datetime.now(UTC))
    return True


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
