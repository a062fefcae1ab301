"""Notes what a compaction takes out of a session's window, so that the hook can tell it. Runs behind a turn."""

from collections.abc import Iterable

from recall.window_items import BOUNDARY
from recall.window_state import Left, keep_left
from transcript.canonical import canonical
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

_COUNTED = ("conversation_turn", "tool_call", "tool_result")


def note(workspace: Workspace, occasions: Iterable[tuple[str, str]]) -> None:
    """Write what left, or is about to leave, the windows of the sessions whose hooks came; (event, session) each."""
    log = Log(workspace)
    for event, session in dict.fromkeys(occasions):
        found = gone(log, session, announced=event == "PreCompact") if session else None
        if found is not None:
            keep_left(workspace.run_dir, session, found)


def gone(log: Log, session: str, *, announced: bool = False) -> Left | None:
    """Return what the last compaction of a session took away; with announced what one would that comes now.

    None where the session was never compacted, or nothing stood in it.
    """
    last, before = _boundaries(log, session)
    end = None if announced else last
    start = last if announced else before
    if end is None and not announced:
        return None
    events = [one for one in _between(log, session, start, end) if not one.body.get("worker")]
    said = [one for one in events if one.type == "conversation_turn"]
    if not events:
        return None
    return Left(
        messages=len(said),
        prompts=sum(one.body.get("kind") == "prompt" for one in said),
        calls=sum(one.type == "tool_call" for one in events),
        first=events[0].id,
        last=events[-1].id,
        after=start.seq if start is not None else 0,
        boundary=end.seq if end is not None else 0,
        checkpoint=_checkpoint(log),
    )


def _boundaries(log: Log, session: str) -> tuple[Event | None, Event | None]:
    """The last compaction of a session and the one before it."""
    sieve = Sieve(
        types=(type_field("system"),),
        groups=((b',"session":' + canonical(session),), (b'"subtype":"%b"' % BOUNDARY.encode(),)),
    )
    own = (e for e in log.read_back(sieve=sieve) if e.session == session and _is_boundary(e))
    return next(own, None), next(own, None)


def _is_boundary(event: Event) -> bool:
    return event.type == "system" and event.body.get("subtype") == BOUNDARY and not event.body.get("worker")


def _between(log: Log, session: str, start: Event | None, end: Event | None) -> list[Event]:
    sieve = Sieve(types=tuple(map(type_field, _COUNTED)), groups=((b',"session":' + canonical(session),),))
    found = log.read(start.position if start is not None else None, sieve=sieve)
    return [
        one for one in found if one.session == session and one.type in _COUNTED and (end is None or one.seq < end.seq)
    ]


def _checkpoint(log: Log) -> str:
    """The newest complete checkpoint, "" before the first."""
    made = log.read_back(only="checkpoint", sieve=Sieve(types=(type_field("checkpoint"),)))
    return next((one.id for one in made if one.body.get("state") == "complete"), "")
