"""Which events a memory event names, and what an erasure therefore takes of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from transcript.canonical import ID_LENGTH
from transcript.event import Event

_POINTER = 10  # characters of an id that a pointer shows
_IDS = ("of", "by", "memory", "candidate", "target", "because", "event", "turn", "verdict", "link")
_PLACES = ("of", "by", "answer", "cited", "action", "supersedes")
_LISTS = ("sources", "closed_by", "conflicts", "findings", "set_aside")


def named(event_type: str, body: Mapping[str, Any]) -> set[str]:
    """Return the ids, whole or as pointers show them, of the events that a memory event's words rest on.

    Whose place a memory or a statement takes is not among them: one may go and the other stay. An edit rests on what it
    edits.
    """
    found = set(_names(event_type, body))
    if event_type == "memory.written" and body.get("reason") == "edit":
        found.update(map(str, body.get("supersedes") or ()))
    return {name for name in found if len(name) in (_POINTER, ID_LENGTH)}


def _names(event_type: str, body: Mapping[str, Any]) -> Iterator[str]:
    skipped = {"memory.superseded": "by", "memory.candidate": "supersedes"}.get(event_type, "")
    for name in _IDS:
        if name != skipped and isinstance(body.get(name), str):
            yield body[name].partition("#")[0]
    for name in _PLACES:
        if name != skipped and isinstance(body.get(name), Mapping):
            yield str(body[name].get("event", ""))
    for name in _LISTS:
        for one in body.get(name) or ():
            if isinstance(one, Mapping):
                yield str(one.get("event") or one.get("memory") or one.get("evidence_pointer", "")).partition("#")[0]


def derived(memory_events: Iterable[Event], gone: set[str]) -> set[str]:
    """Return the ids of the memory events that rest on erased ones, to the last; a memory takes its candidate along."""
    events = list(memory_events)
    names = {event.id: named(event.type, event.body) for event in events}
    candidates = {event.id: str(event.body.get("candidate", "")) for event in events if event.type == "memory.written"}
    known = {event.id for event in events}
    taken: set[str] = set()
    reached = set(gone)
    while True:
        wider = {name for name, rests_on in names.items() if _reaches(rests_on, reached)}
        wider |= {candidates[name] for name in candidates.keys() & (reached | wider)} & known
        if wider <= taken:
            return taken
        taken |= wider
        reached |= wider


def _reaches(rests_on: set[str], reached: set[str]) -> bool:
    if not rests_on.isdisjoint(reached):
        return True
    short = {name for name in rests_on if len(name) == _POINTER}
    return bool(short) and any(name[:_POINTER] in short for name in reached)
