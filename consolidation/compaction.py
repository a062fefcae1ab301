"""Whether what a compaction took out of a session's window was safe by then."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consolidation.stats import Checkpoint, checkpoint_of, told
from transcript.canonical import canonical
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve

NONE, UNPROTECTED, PROTECTED, OK = "none", "unprotected", "protected", "ok"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A session's last compaction: its state, and whether a checkpoint that holds for it was made before it."""

    state: str
    prepared: bool


def state(log: Log, session: str) -> str:
    """Return none (never compacted), unprotected, protected, or ok, of a session's last compaction.

    ok: a complete checkpoint has read the session up to its boundary, with archive and index done and checked;
    protected: there is a checkpoint, but one of those was left out; unprotected: there is none.
    """
    return states(log, told(log)).get(session, NONE)


def states(log: Log, events: Iterable[tuple[Event, Mapping[str, Any]]]) -> dict[str, str]:
    """Return the state of the last compaction of every session that was compacted; events as `stats.told` has them."""
    return {name: one.state for name, one in compacted(log, events).items()}


def compacted(log: Log, events: Iterable[tuple[Event, Mapping[str, Any]]]) -> dict[str, Compacted]:
    """Return the last compaction of every session that was compacted; events as `stats.told` has them."""
    boundaries: dict[str, Event] = {}
    made: list[Checkpoint] = []
    for event, body in events:
        if event.type == "system" and not body.get("worker"):
            boundaries[event.session] = event
        elif event.type == "checkpoint" and body.get("state") == "complete":
            made.append(checkpoint_of(event, body))
    return {name: _judged(made, boundary, _last_before(log, boundary)) for name, boundary in boundaries.items()}


def _last_before(log: Log, boundary: Event) -> int:
    """The number of the last event of a session before its boundary."""
    sieve = Sieve(groups=((b',"session":' + canonical(boundary.session),),))
    before = (event.seq for event in log.read_back(boundary.position, sieve=sieve) if _is_before(event, boundary))
    return next(before, 0)


def _is_before(event: Event, boundary: Event) -> bool:
    return event.session == boundary.session and event.seq < boundary.seq and event.type not in ("recall", "prune")


def _judged(made: Sequence[Checkpoint], boundary: Event, last: int) -> Compacted:
    safe = [one for one in made if one.through >= last]
    found = UNPROTECTED if not safe else OK if any(one.whole for one in safe) else PROTECTED
    return Compacted(found, any(one.seq < boundary.seq for one in safe))
