"""A window on the conversation: the newest turns, a page further back, or the turns around one event.

Never the whole record unless asked: a page has at most 20 turns and a token cap, and a cursor
to the page before it.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from transcript.errors import PointerError, RecordError
from transcript.event import Event, Position
from transcript.filters import Filter, words
from transcript.log import Log
from transcript.sieve import Sieve
from transcript.telling import counted

LAST = 20
RADIUS = 5
TOKEN_CAP = 8000
ALL_TURNS = Filter()
REDACTED = "[redacted]"
_CURSOR = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18}){2}\.[0-9a-f]{8}")
_CUT = "… [cut; 'recall show' has the rest]"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a window: its event, its words as far as they fit, and whether it is the one asked for."""

    event: Event
    text: str
    tokens: int
    target: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """Turns from oldest to newest, the cursor to older ones (None at the start), and what was left out."""

    turns: list[Turn]
    cursor: str | None
    note: str


def rough_tokens(text: str) -> int:
    """Return a token count that is rarely too low: a third of the bytes, rounded up."""
    return (len(text.encode("utf-8", "surrogatepass")) + 2) // 3


def context(
    log: Log,
    *,
    last: int = LAST,
    around: str | None = None,
    radius: int = RADIUS,
    cursor: str | None = None,
    wanted: Filter = ALL_TURNS,
    all: bool = False,
    token_cap: int = TOKEN_CAP,
    count_tokens: Callable[[str], int] = rough_tokens,
) -> Window:
    """Return a window of conversation turns.

    By default the newest `last` turns within token_cap; cursor continues where an earlier
    window ended; around (an event id or pointer) centres the window on one event of any type,
    within its session; all lifts both caps. Following cursors meets every turn once. Sessions
    that a key unites come in the order of time, all others in the order of the record.
    PointerError for an event or a cursor that does not fit the record.
    """
    if last < 1 or radius < 0 or token_cap < 1:
        raise ValueError("last and token_cap are at least 1, radius at least 0")
    if around is not None:
        return _around(log, around, radius, wanted, token_cap, count_tokens)
    found: list[Turn] = []
    spent = 0
    note = ""
    more = False
    for event in _united(log, wanted, cursor) if wanted.session_key else _older(log, wanted, cursor):
        if not wanted(event, log):
            continue
        if not all and len(found) == last:
            more, note = True, f"{counted(last, 'turn')}; older ones behind the cursor"
            break
        turn = _turn(log, event, count_tokens)
        if not all and spent + turn.tokens > token_cap:
            if found:
                more, note = True, f"token cap of {token_cap} reached; older turns behind the cursor"
                break
            turn = _shortened(turn, token_cap, count_tokens)
            note = f"one turn cut to {counted(token_cap, 'token')}"
        found.append(turn)
        spent += turn.tokens
    if not more and not note and not all and cursor is None and wanted != ALL_TURNS and len(found) < last:
        note = f"{counted(len(found), 'turn')}: all there are of what was asked for"
    return Window(found[::-1], _cursor(found[-1].event) if more else None, note)


def _around(log: Log, around: str, radius: int, wanted: Filter, cap: int, count: Callable[[str], int]) -> Window:
    """Return the target with radius turns of its session on either side; texts are cut to fit the cap."""
    target = log.find(around)
    if wanted.session is None and not wanted.session_key:
        wanted = replace(wanted, session=target.session)
    wanted = replace(wanted, workers=wanted.workers or bool(target.body.get("worker")))
    sieve = wanted.sieve()
    older = (event for event in log.read_back(target.position, sieve=sieve) if event.seq < target.seq)
    newer = log.read(target.position, sieve=sieve)
    before = list(islice((event for event in older if wanted(event, log)), radius))
    after = list(islice((event for event in newer if wanted(event, log)), radius))
    events = [*reversed(before), target, *after]
    turns = [_turn(log, event, count, target=event.id == target.id) for event in events]
    if sum(turn.tokens for turn in turns) <= cap:
        return Window(turns, None, "")
    share = max(1, cap // len(turns))
    turns = [turn if turn.tokens <= share else _shortened(turn, share, count) for turn in turns]
    return Window(turns, None, f"long turns cut to {counted(share, 'token')} each, so that all fit into {cap}")


def _turn(log: Log, event: Event, count: Callable[[str], int], *, target: bool = False) -> Turn:
    text = readable(log, event) if event.body else REDACTED
    return Turn(event, text, count(text), target)


def readable(log: Log, event: Event) -> str:
    """Return what an event says; where a long text of it is gone, a line that says so: the rest stays readable."""
    try:
        return words(log, event)
    except RecordError as error:
        return f"[{error}]"


def _shortened(turn: Turn, cap: int, count: Callable[[str], int]) -> Turn:
    """Return the turn with as much of its beginning as fits into cap tokens, the mark included."""
    low, high = 0, len(turn.text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(turn.text[:middle] + _CUT) <= cap:
            low = middle
        else:
            high = middle - 1
    text = turn.text[:low] + _CUT
    return Turn(turn.event, text, count(text), turn.target, cut=True)


def _cursor(event: Event) -> str:
    at = event.position
    return f"{at.segment}.{at.offset}.{at.seq}.{at.hash[:8]}"


def _united(log: Log, wanted: Filter, cursor: str | None) -> Iterator[Event]:
    """Yield what a session key unites from newest to oldest by time, from behind the one a cursor names."""
    events = sorted(
        (event for event in log.read_back(sieve=wanted.sieve()) if wanted(event, log)),
        key=lambda one: (one.ts, one.seq),
        reverse=True,
    )
    if cursor is None:
        yield from events
        return
    for number, event in enumerate(events):
        if _cursor(event).split(".")[2:] == cursor.split(".")[2:]:
            yield from events[number + 1 :]
            return
    raise PointerError("the cursor does not fit this record; run 'recall context' without one")


def _older(log: Log, wanted: Filter, cursor: str | None) -> Iterator[Event]:
    """Yield events that may be wanted from newest to oldest, from behind the one a cursor names."""
    start = _place(log, cursor) if cursor is not None else None
    for event in log.read_back(start, sieve=wanted.sieve()):
        if start is None or event.seq < start.seq:
            yield event


def _place(log: Log, cursor: str) -> Position:
    """Return the position of the event that a cursor names, wherever its line stands by now."""
    parts = cursor.split(".")
    if _CURSOR.fullmatch(cursor) is None:
        raise PointerError("not a cursor of this command; run 'recall context' without one")
    segment, offset, seq = (int(part) for part in parts[:3])
    head = log.head()
    if 0 < seq <= head.seq and (segment, offset) <= (head.segment, head.length):
        at_place: Event | None = None
        with contextlib.suppress(RecordError):  # no line ends there any more
            at_place = next(log.read_back(Position(segment, offset, seq, "")), None)
        if at_place is None or at_place.seq != seq:
            same = Sieve(groups=((b',"seq":%d,' % seq,),))
            at_place = next((event for event in log.read_back(sieve=same) if event.seq == seq), None)
        if at_place is not None and at_place.position.hash.startswith(parts[3]):
            return at_place.position
    raise PointerError("the cursor does not fit this record; run 'recall context' without one")
