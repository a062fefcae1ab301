"""Erasing as a whole: the record's own part with everything that is derived from it."""

import os
import shutil
from datetime import datetime

from recall import session_state, turnstate, window_state
from transcript import memories, redaction
from transcript.log import Log
from transcript.projections import views
from transcript.redaction import Erased, Planner, Report, Rewriter
from transcript.redaction_plan import Plan
from transcript.workspace import Workspace


def erase(workspace: Workspace, planner: Planner, *, now: datetime, by: str = "") -> Report | None:
    """Carry out what planner finds, in the record and in everything derived from it; None when it finds nothing."""
    report = redaction.erase(workspace, lambda: _guarded(planner(), workspace), rewriters(), now=now, by=by)
    if report is not None:
        views.refresh(workspace)  # the note that all is erased came after they were written
    return report


def _guarded(plan: Plan, workspace: Workspace) -> Plan:
    """A plan that does not drop who reads along with the words beside it."""
    name = (workspace.run_dir / session_state.NAME).relative_to(workspace.home).as_posix()
    if name in plan.drop:
        session_state.keep_audiences(workspace.run_dir)
        plan.drop.remove(name)
    return plan


def rewriters() -> tuple[Rewriter, ...]:
    """Return what takes erased events out of index, turn states, views, files of memories, rules and proposals."""
    return (
        Rewriter("chunks", _index),
        Rewriter("turn_states", _turns),
        Rewriter("memory_files", _memories),
        Rewriter("views", _views),
        Rewriter("coord", _coord),
        Rewriter("rules_files", _rules),  # behind what they are written from
    )


def finish(workspace: Workspace, *, now: datetime) -> Report | None:
    """Finish an erasure that a crash left unfinished; None when there is none, which costs one look."""
    if not redaction.unfinished(workspace):
        return None
    report = redaction.resume(workspace, rewriters(), now=now)
    views.refresh(workspace)
    return report


def _index(erased: Erased) -> int:
    from indexer.forget import forget

    return forget(erased.workspace, erased.events).chunks


def _turns(erased: Erased) -> int:
    """Forget which prompts were claimed: their hashes are of words, and of use for seconds only."""
    folder = erased.workspace.run_dir / "turns"
    changed = 0
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        changed += turnstate.forget(path, frozenset(erased.events))
    return changed


def _views(erased: Erased) -> int:
    """Write the project's views anew; where that cannot be done they are removed: losing them loses nothing.

    What a replay that was killed left beside them goes too.
    """
    from recall import cold_replay

    views.forget_snapshot(erased.workspace)
    cold_replay.clear(erased.workspace)
    folder = views.folder_of(erased.workspace.root)
    if folder is None or not folder.is_dir():
        return 0
    done = views.refresh(erased.workspace)
    if done is not None:
        return len(done.written)
    held = [path for path in folder.iterdir() if path.is_file()]
    for path in held:
        path.unlink(missing_ok=True)
    return len(held)


def _memories(erased: Erased) -> int:
    """Write the files of the memories anew; copies of those that were changed by hand may hold the words, and go."""
    memories.forget_snapshot(erased.workspace)
    views.forget_snapshot(erased.workspace)  # this writes the views too
    return views.forget_memories(erased.workspace)


def _rules(erased: Erased) -> int:
    """Write our block in the project's rules files anew; without words of the record where no setting can be read."""
    from recall import config, rules_block

    workspace = erased.workspace
    data = workspace.data
    settings = (data, workspace.root, os.environ)
    tokens, carried = config.told_tokens(*settings), config.carried(*settings)
    return rules_block.keep_up(data, workspace, most_tokens=tokens, carried=carried)


def _coord(erased: Erased) -> int:
    """Take erased proposals and items out of `.coord/` in every folder of the project, and drop what was made of words.

    Copies of edited files may hold the words too, and so may what hooks and hosts are told from.
    """
    from transcript.projections import coord_files
    from transcript.proposals import fold_proposals

    workspace = erased.workspace
    shutil.rmtree(workspace.run_dir / coord_files.EDITED, ignore_errors=True)
    window_state.forget_words(workspace.run_dir)
    for name in ("facets.json", "standing.json"):
        (workspace.run_dir / name).unlink(missing_ok=True)
    state = fold_proposals(Log(workspace))
    gone = {known.id for known in state.documents.values() if known.erased}
    return sum(coord_files.erase(root, state, gone) for root in coord_files.coord_roots(workspace)) if gone else 0
