"""What sub-agents and peers said that counts from now on: what consolidation made a memory of, or found to be so.

A peer's word counts through a memory made of its correction alone; a sub-agent's confirmations and verified outcomes
of a memory count as well, since it worked for this agent.
"""

from collections.abc import Iterator

from consolidation.experience import whose
from transcript import memory_drafts as drafts
from transcript.event import Draft, Event
from transcript.log import Log
from transcript.memories import MemoryState
from transcript.memory_told import Told
from transcript.sieve import Sieve, type_field

_SAID = Sieve((type_field("correction"), type_field("outcome")))


def adopt(log: Log, state: MemoryState, at: Told) -> list[Draft]:
    """Return the adoptions that the record allows, in its order; those that it holds already are among them.

    A memory that verification did not pass, or that was refuted since, adopts nothing.
    """
    sound = {m.id: m for m in state.memories.values() if m.verified == "not_refuted" and not m.refuted_because}
    made_of: dict[str, list[str]] = {}
    for memory in sound.values():
        for span in memory.sources:
            made_of.setdefault(span.event, []).append(memory.id)
    found = []
    for event in log.read(sieve=_SAID):
        sender = whose(event, event.body) if event.type in ("correction", "outcome") and event.body else ""
        if sender:
            named = set(_named(event)) if sender.startswith("worker:") else set()
            for memory in sorted({*made_of.get(event.id, ()), *(named & sound.keys())}):
                found.append(drafts.adopted(at, memory, event.id, cause=event.type, sender=sender))
    return found


def _named(event: Event) -> Iterator[str]:
    """Yield what a confirmation or a verified outcome speaks for."""
    if event.type == "correction" and event.body.get("kind") == "confirmation":
        yield str(event.body.get("of", "")).partition("#")[0]
    elif event.type == "outcome" and event.body.get("status") == "verified":
        yield from (str(pointer).partition("#")[0] for pointer in event.body.get("evidence") or ())
