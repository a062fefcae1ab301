"""Reads what the signals of memories look at; writes nothing."""

from collections import Counter
from datetime import datetime
from pathlib import Path

from consolidation import night
from consolidation.compaction import compacted
from consolidation.keys import KeyStore
from consolidation.stats import checkpoints, stats, told
from consolidation.triggers import due
from health.facts_memories import MemoryFacts
from indexer.rows import SUPERSEDED, StandingRow
from indexer.store import Store
from recall.memory_settings import ConsolidationSettings
from transcript.errors import KeyFault, RecordError, StoreError
from transcript.event import moment
from transcript.log import Log
from transcript.memories import MemoryState, fold_events
from transcript.projections import memory_files
from transcript.projections.views import folder_of
from transcript.workspace import Workspace


def memory_facts(
    workspace: Workspace, data: Path, settings: ConsolidationSettings, *, now: datetime, log: Log | None = None
) -> MemoryFacts:
    """Return what the record's memory events and checkpoints come to, and whether files and index agree with them."""
    log = log or Log(workspace)
    try:
        events = told(log)
        compactions = compacted(log, events).values()
    except RecordError:  # what is wrong with the record has signals of its own
        return MemoryFacts()
    state, ends, made, last = fold_events(events), stats(events), checkpoints(events), night.last(workspace)
    return MemoryFacts(
        states=Counter(memory.state_at(now) for memory in state.memories.values()),
        conflicts=len({name for memory in state.memories.values() for name in memory.conflicts}),
        waiting=sum(one.pending for one in state.candidates.values()),
        edited=_files(workspace, state),
        shown_though_gone=_shown_though_gone(workspace, state, now),
        decided=ends.ends,
        reasons=ends.reasons,
        checkpoint_at=moment(made.last.ts).timestamp() if made.last else None,
        checkpoint_state=made.last.state if made.last else "",
        checkpoint_failed=made.last.failed_step if made.last else "",
        elected=made.elected,
        fixed=made.fixed,
        triggers=made.triggers,
        due={one.trigger: one.why for one in due(state, settings, now)},
        compactions=Counter(one.state for one in compactions),
        compactions_unprepared=sum(not one.prepared for one in compactions),
        nightly_at=_seconds(str(last.get("at", ""))),
        nightly_state=str(last.get("state", "")),
        nightly_failed=tuple(map(str, last.get("failed", ()))),
        approvals=sum(len(memory.approved) for memory in state.memories.values()),
        key_fault=_key_fault(data),
    )


def _files(workspace: Workspace, state: MemoryState) -> tuple[str, ...]:
    """The files of memories that are not what the record says, each with what is wrong."""
    folder = folder_of(workspace.root)
    place = folder.parent / memory_files.FOLDER if folder is not None else None
    if place is None or not place.is_dir():
        return ()
    found: list[str] = []
    memory_files.check(place, memory_files.rendered(state), lambda code, where: found.append(f"{where}: {code}"))
    return tuple(found)


def _shown_though_gone(workspace: Workspace, state: MemoryState, now: datetime) -> tuple[str, ...]:
    """The memories that no longer hold and of which the index does not know that."""
    past = [memory.id for memory in state.memories.values() if memory.state_at(now) not in ("current", "future")]
    if not past:
        return ()
    try:
        with Store.open(workspace.index_path) as store:
            standing = store.standing(past)
            return tuple(name[:10] for name in past if _is_current(store, name, standing.get(name), now))
    except StoreError:
        return ()


def _is_current(store: Store, name: str, row: StandingRow | None, now: datetime) -> bool:
    if row is not None and row.valid_to is not None and row.valid_to <= now.timestamp():
        return False
    places = store.places(store.chunks_of(name)).values()
    return any(place.event_id == name and not place.flags & SUPERSEDED for rows in places for place in rows)


def _key_fault(data: Path) -> str:
    try:
        KeyStore(data).current()
    except KeyFault as fault:
        return fault.code
    return ""


def _seconds(stamp: str) -> float | None:
    try:
        return moment(stamp).timestamp()
    except ValueError:
        return None
