"""Looks at a session's live window: what stands in it, how full it is, what of it is kept where. Writes nothing."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from indexer.store import Store
from recall import pressure, window_host, window_items
from recall.governance_settings import WindowSettings
from recall.pressure import HARNESS, Pressure, Source
from recall.window import Piece, pieces
from recall.window_host import HostWindow
from recall.window_items import Item, Items
from recall.window_pruned import prunings, without
from transcript.canonical import canonical
from transcript.errors import PointerError, StoreError
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.projections import fold
from transcript.sieve import Sieve, type_field
from transcript.telling import counted, quoted

_OPEN = ("open", "started", "blocked")


@dataclass(frozen=True, slots=True)
class Index:
    """Which events recall can find, how far the index has read the record, why it cannot be asked ("" where it can)."""

    found: frozenset[str] = frozenset()
    watermark: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class LiveWindow:
    """A session's window with its pieces, its pressure, and what the index knows of it.

    `since` is the number of the record's last compaction of it, and how many plans were applied after that.
    """

    items: Items
    pieces: tuple[Piece, ...]
    pressure: Pressure
    index: Index
    since: tuple[int, int] = (0, 0)

    @property
    def session(self) -> str:
        """The session's id."""
        return self.items.session


def look(
    log: Log,
    *,
    session: str = "",
    file: Path | None = None,
    harness: str = "",
    host: HostWindow | None = None,
    settings: WindowSettings,
    env: Mapping[str, str],
    count: Callable[[str], int],
) -> LiveWindow:
    """Return the window of a session of the record (the newest by default), or of a harness's file.

    host stands for the harness's own window where it is given. PointerError for a session that the record does not
    know, CaptureError for a file that holds none.
    """
    if file is not None:
        found = window_items.of_file(file, harness or "claude-code", log, count)
        source: Source | None = pressure.source_in(file, found.harness)
    else:
        session = session_named(log, session)
        found = window_items.of_record(log, session, count)
        source = pressure.source_of(log.workspace, session)
    name = source.harness if source is not None else found.harness
    if host is None:
        window = source.used.window if source is not None and source.used is not None else 0
        host = window_host.of(name, env, log.workspace.root, seen=window_host.observed(log, name), window=window)
    boundary, pruned = prunings(log, found.session)
    found = replace(found, items=without(found.items, pruned, count))
    index = index_of(log, [item.id for item in found.items])
    made = pieces(
        found.items,
        indexed=index.found,
        watermark=index.watermark,
        stub_tokens=settings.stub_tokens,
        held=held(log, found.session, found.items),
    )
    full = pressure.measure(sum(item.tokens for item in found.items), source, host)
    if source is not None and full.counted_by == HARNESS:  # the harness has not counted since what was pruned after it
        freed = sum(one.freed for one in pruned if one.at > source.written)
        full = replace(full, tokens=max(0, full.tokens - freed))
    return LiveWindow(found, tuple(made), full, index, (boundary, len(pruned)))


def index_of(log: Log, events: Collection[str]) -> Index:
    """Return what the index knows of these events."""
    try:
        with Store.open(log.workspace.index_path) as store:
            mark = json.loads(store.meta().watermark or "{}")
            return Index(store.indexed(events), int(mark.get("seq", 0)))
    except StoreError as error:
        return Index(error=str(error))


def held(log: Log, session: str, items: Sequence[Item]) -> dict[str, str]:
    """Return events of a window that must stay, each with why: an open task rests on them, or a memory in use does."""
    ids = {item.id for item in items}
    found: dict[str, str] = {}
    for name, task in _tasks(log).items():
        for step in task["steps"] if task["state"] in _OPEN else ():
            events = {pointer.partition("#")[0] for pointer in step["evidence"]} & ids
            if step["session"] == session:
                events |= _before(items, step["seq"])
            found |= dict.fromkeys(events, f"task {name} is open")
    state = fold_memories(log)
    for memory in state.memories.values():
        if session in state.cited.get(memory.id, ()):
            events = {source.event for source in memory.sources} & ids
            found |= dict.fromkeys(events, f"memory {memory.id[:10]} is in use and rests on it")
    return found


def _before(items: Sequence[Item], seq: int) -> set[str]:
    """The last event of a window before a number of the record: what was being done when a step was recorded."""
    return {name for _, name in sorted((i.seq, i.id) for i in items if 0 < i.seq < seq)[-1:]}


def _tasks(log: Log) -> dict[str, dict[str, Any]]:
    state = fold.empty()
    for event in log.read(sieve=Sieve(types=(type_field("task"),))):
        fold.fold(state, event, log.body(event))
    tasks: dict[str, dict[str, Any]] = state["tasks"]
    return tasks


def session_named(log: Log, given: str) -> str:
    """Return the session that a name or its beginning stands for, the newest without one; PointerError for none."""
    if not given:
        newest = window_items.newest_session(log)
        if not newest:
            raise PointerError("the record holds no session yet; run 'recall sync' first")
        return newest
    whole = canonical(given)
    if any(event.session == given for event in log.read(sieve=Sieve(groups=((b',"session":' + whole,),)))):
        return given
    begun = log.read(sieve=Sieve(groups=((b',"session":' + whole[:-1],),)))
    names = {event.session for event in begun if event.session.startswith(given)}
    if len(names) == 1:
        return names.pop()
    if names:
        raise PointerError(f"{counted(len(names), 'session')} begin with {quoted(given)}; give more of it")
    raise PointerError(f"no session {quoted(given)} in this workspace; 'recall context --last 5' shows the newest ones")
