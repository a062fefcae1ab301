"""The history of a memory: every event that names it or the candidate it came of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transcript.event import Event
from transcript.log import Log
from transcript.memories import MemoryState
from transcript.memory_drafts import written_id
from transcript.memory_names import named
from transcript.sieve import Sieve, type_field

MOST_CHARS = 160  # of what an event says
_SIEVE = Sieve((b'"type":"memory.', type_field("correction"), type_field("outcome")))
_SAID = ("statement", "text", "reason", "verdict", "how", "did", "cause", "path", "decision")


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a memory's history; actor says who, text what of."""

    id: str
    type: str
    ts: str
    actor: str
    text: str


def story(log: Log, state: MemoryState, name: str) -> Iterator[Told]:
    """Yield what the record tells of a memory or a candidate, in its order."""
    memory = state.memories.get(name) or state.memories.get(written_id(name))
    ids = {memory.id, memory.candidate} if memory is not None else {name}
    for event in log.read(sieve=_SIEVE):
        if not event.body:
            continue
        body = log.body(event)
        by = body.get("by")
        about = named(event.type, body) | ({str(by.get("event", ""))} if isinstance(by, Mapping) else set())
        if event.id in ids or any(one in about for one in ids | {one[:10] for one in ids}):
            yield Told(event.id, event.type, event.ts, _who(event, body), _text(body))


def _who(event: Event, body: Mapping[str, Any]) -> str:
    reviewer = body.get("reviewer")
    if isinstance(reviewer, Mapping):
        return str(reviewer.get("id", ""))
    who = str(body.get("actor") or (body.get("by") if isinstance(body.get("by"), str) else "") or event.actor)
    if who == "system" and body.get("found_by"):
        return f"find/{body['found_by']}"
    kind = str(body.get("actor_kind", ""))
    return f"{kind}:{who}" if kind and kind != who else who


def _text(body: Mapping[str, Any]) -> str:
    said = next((str(body[name]) for name in _SAID if isinstance(body.get(name), str) and body[name]), "")
    because = str(body.get("because") or body.get("target") or "")
    changed = body.get("set")
    if isinstance(changed, Mapping):
        said = ", ".join(f"{name} {value}" for name, value in changed.items())
    told = " ".join(f"{said}{f' ({because[:10]})' if because else ''}".split())
    return told if len(told) <= MOST_CHARS else f"{told[:MOST_CHARS].rstrip()} …"
