"""Opens a source pointer: the exact words, from the record itself, with what was said around them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from indexer.passages import event_text
from recall.disclosure import Door
from transcript.errors import PointerError, RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.telling import counted, quoted

MOST_SCANNED = 5000  # events looked through for one neighbour's side


@dataclass(frozen=True, slots=True)
class Shown:
    """An event, the words its pointer names, and its neighbours in the conversation."""

    event: Event
    text: str  # of the whole event
    start: int
    end: int
    before: tuple[tuple[Event, str], ...]
    after: tuple[tuple[Event, str], ...]

    @property
    def words(self) -> str:
        """The words that the pointer names."""
        return self.text[self.start : self.end]


def parse_pointer(pointer: str) -> tuple[str, int | None, int | None]:
    """Event prefix and span; (prefix, None, None) for a pointer to a whole event. PointerError when it is none."""
    name, mark, span = pointer.strip().strip("[]()<>`'\".,;").partition("#")
    if not name:
        raise PointerError(f"{quoted(pointer)} is no source pointer; one looks like abcdefghij#0-120")
    if not mark:
        return name, None, None
    start, dash, end = span.partition("-")
    if not (start.isdecimal() and dash and end.isdecimal()) or int(start) > int(end):
        raise PointerError(f"{quoted(pointer)} is no source pointer; one looks like abcdefghij#0-120")
    return name, int(start), int(end)


def show(
    pointer: str, logs: Sequence[Log], *, neighbours: int = 2, door_of: Callable[[Log], Door] | None = None
) -> Shown:
    """Resolve a pointer without the index, in the first log that knows it.

    PointerError where `door_of` its record does not let it out; neighbours that it does not are left out.
    """
    if not logs:
        raise ValueError("no record to look in")
    name, start, end = parse_pointer(pointer)
    log, event = _found(name, logs)
    door = door_of(log) if door_of is not None else None
    if door is not None:
        door.refuse_event(log, event)
    text = _text(log, event)
    if start is None or end is None:
        start, end = 0, len(text)
    if end > len(text):
        raise PointerError(
            f"{pointer}: the event has {counted(len(text), 'character')}" if text else f"{pointer}: redacted"
        )
    return Shown(
        event,
        text,
        start,
        end,
        tuple(reversed(_talk(log, event, log.read_back(event.position), neighbours, door))),
        tuple(_talk(log, event, log.read(event.position), neighbours, door)),
    )


def _found(name: str, logs: Sequence[Log]) -> tuple[Log, Event]:
    first: PointerError | None = None
    for log in logs:
        try:
            return log, log.find(name)
        except PointerError as error:
            first = first or error
    assert first is not None
    raise first


def _talk(log: Log, around: Event, events: Iterable[Event], count: int, door: Door | None) -> list[tuple[Event, str]]:
    """The nearest turns of the same session on one side of an event."""
    found: list[tuple[Event, str]] = []
    for event in islice(events, MOST_SCANNED):
        if len(found) >= count:
            break
        if event.id == around.id or event.type != "conversation_turn" or event.session != around.session:
            continue
        if door is None or door.lets_event(log, event):
            found.append((event, _neighbour_text(log, event)))
    return found


def _neighbour_text(log: Log, event: Event) -> str:
    """Text of a neighbour; what is wrong with it is no reason not to show the words asked for."""
    try:
        return _text(log, event)
    except RecordError as error:
        return f"[{error}]"


def _text(log: Log, event: Event) -> str:
    """The text that an event's spans count in."""
    body = log.body(event)
    return event_text(event.type, body) or str(body.get("raw", ""))
