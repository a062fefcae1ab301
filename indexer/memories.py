"""Folds the memory events: a memory stands where the words that it quotes stand, and holds as long as the record says.

Its pointer has the time at which its words were said, never that of the consolidation: an old truth must not look new.
It has a place in every session and exchange in which the quoted words stand, so that it stays out of a session that
has them before it still. A file of the project stands by itself, in its newest state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from indexer import standing
from indexer.rows import BY_PERSON, EXTERNAL, FROM_WORKER, MEMORY, PRIVATE, PROJECT_FILE, SUMMARY, SUPERSEDED, WISH
from indexer.store_write import NewChunk, Place, Rows
from transcript.event import Event

WRITTEN, SOURCE = "memory.written", "memory.source"
SAID = frozenset({WRITTEN, SOURCE})
LINKS = frozenset({"memory.amended", "memory.superseded", "memory.refuted", "memory.archived", "memory.restored"})
_BARS = {
    "memory.refuted": (standing.REFUTED, True),
    "memory.archived": (standing.ARCHIVED, True),
    "memory.restored": (standing.ARCHIVED, False),
}
_INHERITED = EXTERNAL | FROM_WORKER  # whose word it is does not change by being remembered

Passage = tuple[int, int, bytes, NewChunk | None]


def class_and_role(event: Event) -> tuple[str, str]:
    """Return source class and role of the passages of a memory or of a file."""
    if event.type == SOURCE:
        return "project", "system"
    name = "summary" if event.body.get("kind") == "summary" else "memory"
    return name, "human" if event.body.get("actor_kind") == "human" else "assistant"


def say(rows: Rows, event: Event, passages: Sequence[Passage], wishes: frozenset[int]) -> tuple[int, int]:
    """Store the passages of a memory or a file; return how many pointers there are, and how many were known chunks."""
    number = rows.event(event.id)
    places = _of_file(rows, event, number) if event.type == SOURCE else _of_memory(rows, event, number)
    pointers = known = 0
    for start, end, key, new in passages:
        chunk_id, stored = (rows.chunk_id(key), False) if new is None else rows.chunk(new)
        known += not stored
        for place in places:
            rows.pointer(chunk_id, start, end, replace(place, flags=place.flags | (WISH if start in wishes else 0)))
            pointers += 1
    return pointers, known


def sighted(rows: Rows, quoted: str, session: int, seq: int) -> None:
    """Give the memories that quote an event a place in another session in which that event now stands."""
    for memory in rows.quoting(quoted):
        found = rows.find_event(memory)
        for chunk_id, start, end, place in rows.places(found[0]) if found else ():
            rows.pointer(chunk_id, start, end, rows.moved(place, session=session, seq=seq))


def link(rows: Rows, event: Event) -> None:
    """Apply what an event says of a memory, or of a place in the transcript whose words no longer hold."""
    run, g, body = rows.store.run, rows.generation, event.body
    memory = str(body.get("memory", ""))
    if event.type in _BARS:
        why, on = _BARS[event.type]
        rows.flag_span(memory, SUPERSEDED, on=standing.bar(run, g, memory, why, on=on))
        if event.type == "memory.refuted":
            _give_back(rows, memory)
    elif event.type == "memory.amended":
        _amend(rows, memory, body.get("set"))
    elif event.type == "memory.superseded":
        of, by = _span(body.get("of")), _span(body.get("by"))
        if of is not None and by is not None:
            _supersede(rows, of, by[0], seconds(str(body.get("at", ""))))


def _supersede(rows: Rows, of: tuple[str, int, int], by: str, at: int) -> None:
    """A memory is superseded whole; of what was merely said, the passages that hold the words."""
    event, start, end = of
    if not rows.is_memory(event):
        rows.flag_span(event, SUPERSEDED, start, end)
        rows.correct(f"{event}#{start}-{end}", by)
        return
    run, g = rows.store.run, rows.generation
    standing.bar(run, g, event, standing.SUPERSEDED)
    if at:
        standing.close(run, g, event, at)
    rows.flag_span(event, SUPERSEDED)
    rows.correct(event, by)
    rows.pass_on(event, by)


def _give_back(rows: Rows, memory: str) -> None:
    """Let words of the transcript hold again whose place a memory had taken, unless something else has it too."""
    for place in rows.uncorrect(memory):
        event, _, span = place.partition("#")
        start, _, end = span.partition("-")
        if standing.barred(rows.store.run, rows.generation, event):
            continue
        rows.flag_span(event, SUPERSEDED, int(start), int(end), on=False)
        for other in rows.spans_replaced(event):
            rows.flag_span(event, SUPERSEDED, *other)


def _amend(rows: Rows, memory: str, new: object) -> None:
    if not isinstance(new, Mapping):
        return
    interval = {name: _time(new[name]) for name in ("valid_from", "valid_to") if name in new}
    if interval:
        standing.amend(rows.store.run, rows.generation, memory, **interval)
    if "privacy" in new:
        rows.flag_span(memory, PRIVATE, on=new["privacy"] == "private")


def _of_memory(rows: Rows, event: Event, number: int) -> list[Place]:
    body, run, g = event.body, rows.store.run, rows.generation
    sources = body.get("sources")
    quoted = _span(sources[0]) if isinstance(sources, list) and sources else None
    standing.note(
        run,
        g,
        event.id,
        recorded=seconds(event.ts),
        valid_from=_time(body.get("valid_from")),
        valid_to=_time(body.get("valid_to")),
        label=str(body.get("label", "")),
        quotes=f"{quoted[0]}#{quoted[1]}-{quoted[2]}" if quoted else "",
    )
    flags = (PRIVATE if body.get("private") else 0) | (BY_PERSON if body.get("actor_kind") == "human" else 0)
    flags |= EXTERNAL if event.origin == "external" else 0
    flags |= SUPERSEDED if standing.barred(run, g, event.id) else 0
    kind = SUMMARY if body.get("kind") == "summary" else MEMORY
    said = seconds(str(body.get("said_at", ""))) or seconds(event.ts)
    session = rows.session(event.session).id
    alone = Place(number, session, 0, said, kind, event.seq, flags, "")
    if quoted is None:
        return [alone]
    rows.quotes(quoted[0], event.id)
    places: dict[int, Place] = {}
    for place in rows.standing_in(*quoted):
        worker = place.worker if place.flags & FROM_WORKER else ""
        at = replace(alone, session=place.session, exchange=place.exchange, seq=place.seq, worker=worker)
        at = replace(at, flags=flags | place.flags & _INHERITED)
        held = places.setdefault(place.session, at)
        if held.seq < at.seq:
            places[place.session] = at
    return list(places.values()) or [alone]


def _of_file(rows: Rows, event: Event, number: int) -> list[Place]:
    run, g, path, recorded = rows.store.run, rows.generation, str(event.body.get("path", "")), seconds(event.ts)
    flags = PROJECT_FILE
    for other, when in standing.files(run, g, path):
        if other == event.id:
            continue
        if when > recorded:  # this one comes late
            flags |= SUPERSEDED
        else:
            standing.bar(run, g, other, standing.SUPERSEDED)
            rows.flag_span(other, SUPERSEDED)
    standing.note(run, g, event.id, recorded=recorded, path=path)
    session = rows.session(f"recall:file:{path}").id  # a session is what covers a prompt together: one file is that
    return [Place(number, session, 0, recorded, MEMORY, event.seq, flags, "")]


def _span(value: object) -> tuple[str, int, int] | None:
    if not isinstance(value, Mapping):
        return None
    event, start, end = value.get("event"), value.get("start"), value.get("end")
    if not (isinstance(event, str) and isinstance(start, int) and isinstance(end, int)):
        return None
    return (event, start, end) if event and start < end else None


def _time(value: Any) -> int | None:
    """Return a moment of the record in seconds since 1970, None for an open end."""
    return seconds(value) or None if isinstance(value, str) and value else None


def seconds(stamp: str) -> int:
    """Seconds since 1970 of an event's time, 0 for what is none."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
