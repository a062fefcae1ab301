"""Notes what a compaction takes out of a session's window, so that the hook can tell it. Runs behind a turn."""

from collections.abc import Iterable, Sequence

from recall.window_items import BOUNDARY
from recall.window_state import Left, keep_left, noted
from transcript.canonical import canonical
from transcript.capture_source import TRUNCATED
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

_COUNTED = ("conversation_turn", "tool_call", "tool_result")


def note(workspace: Workspace, occasions: Iterable[tuple[str, str]]) -> None:
    """Write what left, or is about to leave, the windows of the sessions whose hooks came; (event, session) each."""
    log = Log(workspace)
    for event, session in dict.fromkeys(occasions):
        if not session:
            continue
        known = noted(workspace.run_dir, session)
        found = gone(log, session, announced=event == "PreCompact", known=known.boundary if known is not None else 0)
        if found is not None:
            keep_left(workspace.run_dir, session, found)


def gone(log: Log, session: str, *, announced: bool = False, known: int = 0) -> Left | None:
    """Return what the last compaction of a session took away, or the harness cut; with announced what one would now.

    None where nothing was taken out of the session's window, or nothing stood in it; and where that is the one whose
    number is `known`.
    """
    last, before, cut = _ends(log, session)
    if announced:
        return _left(log, session, last, None)
    if known and known == max((one.seq for one in (last, cut) if one is not None), default=0):
        return None
    if cut is not None and (last is None or cut.seq > last.seq):
        events = [log.get(str(name)) for name in cut.body.get("events") or ()]
        return _told(f"cut {cut.id}", events, cut.seq, _checkpoint(log), cut=True) if events else None
    return _left(log, session, before, last) if last is not None else None


def _left(log: Log, session: str, start: Event | None, end: Event | None) -> Left | None:
    """What stands between two compactions; one that is announced and then done has one name."""
    events = _between(log, session, start, end)
    if not events:
        return None
    name = f"after {start.id if start is not None else session}"
    return _told(name, events, end.seq if end is not None else 0, _checkpoint(log))


def _told(name: str, events: Sequence[Event], boundary: int, checkpoint: str, *, cut: bool = False) -> Left:
    said = [one for one in events if one.type == "conversation_turn"]
    return Left(
        name=name,
        messages=len(said),
        prompts=sum(one.body.get("kind") == "prompt" for one in said),
        calls=sum(one.type == "tool_call" for one in events),
        first=events[0].id,
        last=events[-1].id,
        boundary=boundary,
        checkpoint=checkpoint,
        cut=cut,
    )


def _ends(log: Log, session: str) -> tuple[Event | None, Event | None, Event | None]:
    """The last compaction of a session, the one before it, and the last time that its harness cut its file."""
    sieve = Sieve(
        types=(type_field("system"), type_field("mark")),
        groups=((b',"session":' + canonical(session),), (_said("subtype", BOUNDARY), _said("mark", TRUNCATED))),
    )
    cut: Event | None = None
    found: list[Event] = []
    for event in log.read_back(sieve=sieve):
        if event.session != session or event.body.get("worker"):
            continue
        if event.type == "mark" and event.body.get("mark") == TRUNCATED:
            cut = cut or event
        elif event.type == "system" and event.body.get("subtype") == BOUNDARY:
            found.append(event)
            if len(found) == 2:
                break
    return (*found, None, None)[0], (*found, None, None)[1], cut


def _said(field: str, value: str) -> bytes:
    return b'"%b":%b' % (field.encode(), canonical(value))


def _between(log: Log, session: str, start: Event | None, end: Event | None) -> list[Event]:
    sieve = Sieve(types=tuple(map(type_field, _COUNTED)), groups=((b',"session":' + canonical(session),),))
    found = []
    for event in log.read(start.position if start is not None else None, sieve=sieve):
        if end is not None and event.seq >= end.seq:
            break
        if event.session == session and event.type in _COUNTED and not event.body.get("worker"):
            found.append(event)
    return found


def _checkpoint(log: Log) -> str:
    """The newest complete checkpoint, "" before the first."""
    made = log.read_back(only="checkpoint", sieve=Sieve(types=(type_field("checkpoint"),)))
    return next((one.id for one in made if one.body.get("state") == "complete"), "")
