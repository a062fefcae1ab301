"""Whether what a compaction took out of a session's window was safe by then."""

from collections.abc import Sequence

from consolidation.stats import Checkpoint, checkpoint_of
from transcript.canonical import canonical
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field

NONE, UNPROTECTED, PROTECTED, OK = "none", "unprotected", "protected", "ok"


def state(log: Log, session: str) -> str:
    """Return none (never compacted), unprotected, protected, or ok, of a session's last compaction.

    ok: a complete checkpoint read the session up to its boundary, with archive and index done and checked; protected:
    there is a checkpoint, but one of those was not done; unprotected: there is none.
    """
    return states(log, session).get(session, NONE)


def states(log: Log, session: str = "") -> dict[str, str]:
    """Return the state of the last compaction of every session that was compacted, or of one session."""
    groups = ((b',"session":' + canonical(session),),) if session else ()
    found: dict[str, Event] = {}
    for event in log.read(sieve=Sieve(groups=((b'"subtype":"compact_boundary"',), *groups))):
        if _is_boundary(event) and session in ("", event.session):
            found[event.session] = event
    if not found:
        return {}
    made = [
        checkpoint_of(event, log.body(event))
        for event in log.read(sieve=Sieve((type_field("checkpoint"),)))
        if event.type == "checkpoint" and event.body.get("state") == "complete"
    ]
    return {name: _judged(made, _last_before(log, boundary)) for name, boundary in found.items()}


def _is_boundary(event: Event) -> bool:
    body = event.body
    return event.type == "system" and body.get("subtype") == "compact_boundary" and not body.get("worker")


def _last_before(log: Log, boundary: Event) -> int:
    """The number of the last event of a session before its boundary."""
    sieve = Sieve(groups=((b',"session":' + canonical(boundary.session),),))
    before = (event.seq for event in log.read_back(boundary.position, sieve=sieve) if _is_before(event, boundary))
    return next(before, 0)


def _is_before(event: Event, boundary: Event) -> bool:
    return event.session == boundary.session and event.seq < boundary.seq and event.type != "recall"


def _judged(made: Sequence[Checkpoint], last: int) -> str:
    safe = [one for one in made if one.through >= last]
    if not safe:
        return UNPROTECTED
    return OK if any(one.whole for one in safe) else PROTECTED
