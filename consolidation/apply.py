"""Brings what the index knows of a memory's worth up to what the record proves: weights, approvals, risks."""

from collections.abc import Collection

from consolidation.approval import Authorised
from consolidation.experience import Experience, experience_of
from consolidation.settings import Settings
from indexer import standing
from indexer.store import Store
from recall import standing_context
from transcript.event import moment
from transcript.log import Log
from transcript.memories import Memory, fold_memories
from transcript.workspace import Workspace


def apply(
    workspace: Workspace,
    store: Store,
    settings: Settings,
    *,
    authorised: Authorised | None = None,
) -> int:
    """Return how many rows differed and were written; the same record and settings again: none.

    Losing the index loses nothing of it. What contradicts a procedure is known from when the standing context was last
    put together. Approvals are held against the workspace's own key unless `authorised` says otherwise.
    """
    log = Log(workspace)
    state = fold_memories(log)
    against = frozenset(standing_context.held(workspace.run_dir).conflicts)
    worth = experience_of(log, settings.experience, authorised=authorised)
    rows = {name: weighed(one, state.memories.get(name), against) for name, one in worth.items()}
    return standing.write(store, rows, under=settings.experience.mark)


def weighed(experience: Experience, memory: Memory | None, against: Collection[str] = frozenset()) -> standing.Weighed:
    """Return a memory's row; of a passage that was cited, memory is None. `against` contradict a procedure."""
    in_conflict = memory is not None and (memory.conflicts or memory.id in against)
    risks = [name for name, so in (("stale", memory and memory.stale_paths), ("conflict", in_conflict)) if so]
    return standing.Weighed(
        approved=experience.approved,
        raw=experience.raw,
        hits=experience.hits,
        applied=int(moment(experience.applied).timestamp()) if experience.applied else 0,
        roles=experience.roles,
        risks=tuple(risks),
    )
