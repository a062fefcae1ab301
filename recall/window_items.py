"""What stands in a session's window since its last compaction: from the record, or from a harness's own file.

Sub-agents have windows of their own, and what was abandoned or taken back stands in none.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.passages import event_text
from recall import picture_tokens
from transcript.adapters.base import Adapter, Options, SourceFile
from transcript.adapters.jsonl import parse_line, raw_lines
from transcript.adapters.registry import harness_of, registered
from transcript.canonical import canonical
from transcript.capture_plan import read_head
from transcript.errors import CaptureError, PointerError, RecordError
from transcript.event import Draft, Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field

BOUNDARY = "compact_boundary"
SAID = frozenset({"conversation_turn", "tool_call", "tool_result", "reasoning"})
UNSEEN = frozenset(  # notices of the harness to its user: the model is not shown them
    {"turn_duration", "stop_hook_summary", "api_error", "synthetic", "local_command", "pr_link"}
    | {"microcompact_boundary", BOUNDARY}
)
GONE = frozenset({"abandoned", "rewound"})


@dataclass(frozen=True, slots=True)
class Item:
    """One event that stands in a window, with its text opened. `seq` is 0 where the record does not hold it.

    Of a `stubbed` one only the line that points to it stands there.
    """

    id: str
    type: str
    seq: int
    ts: str
    text: str
    tokens: int
    body: dict[str, Any] = field(default_factory=dict)
    stubbed: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A window's events in their order, whose they are, and the number of the compaction they stand behind."""

    session: str
    harness: str
    boundary: int
    items: tuple[Item, ...]


class Counter:
    """Counts the tokens of each distinct text once, pictures in it by what a model takes them for."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        found = self._known.get(text)
        if found is None:
            words, pictures = picture_tokens.split(text)
            found = self._known[text] = self._count(words) + pictures
        return found


def newest_session(log: Log) -> str:
    """Return the session that spoke last; "" in an empty record."""
    event = _newest(log)
    return event.session if event is not None else ""


def newest_harness(log: Log) -> str:
    """Return the harness of the session that spoke last; "" in an empty record."""
    event = _newest(log)
    return event.agent if event is not None else ""


def _newest(log: Log) -> Event | None:
    sieve = Sieve(types=tuple(map(type_field, sorted(SAID))))
    return next((event for event in log.read_back(sieve=sieve) if not event.session.startswith("recall:")), None)


def of_record(log: Log, session: str, count: Callable[[str], int]) -> Items:
    """Return the window of a session as the record holds it; empty for a session that the record does not know."""
    found: list[Item] = []
    verdict: dict[str, str] = {}
    boundary, harness, counter = 0, "", Counter(count)
    for event in log.read_back(sieve=Sieve(groups=((b',"session":' + canonical(session),),))):
        if event.session != session or event.body.get("worker"):
            continue
        if event.type == "mark":
            for name in event.body.get("events") or ():
                verdict.setdefault(str(name), str(event.body.get("mark", "")))  # the newest mark of an event holds
            continue
        if event.type == "system" and event.body.get("subtype") == BOUNDARY:
            boundary, harness = event.seq, harness or event.agent
            break
        said = _sighted(log, event) if event.type == "sighting" else event
        if said is not None and _stands(said.type, said.body):
            harness = harness or event.agent
            found.append(_item(said, event.seq, _opened(log, said), counter))
    items = tuple(item for item in reversed(found) if verdict.get(item.id) not in GONE)
    return Items(session, harness, boundary, items)


def of_file(path: Path, harness: str, log: Log, count: Callable[[str], int], *, reasoning: bool = False) -> Items:
    """Return the window as a harness's file holds it; what the record lacks has no number.

    CaptureError when the file is missing or holds no session of this harness.
    """
    adapter, source = _source(path, harness)
    drafts = list(_drafts(adapter, source, Options(log.workspace.id_key(), reasoning)))
    gone = _gone(drafts)
    own = [one for one in drafts if not one.body.get("worker")]
    ends = [n for n, one in enumerate(own) if one.type == "system" and one.body.get("subtype") == BOUNDARY]
    ids, counter = log.ids(), Counter(count)

    def number(name: str) -> int:
        return log.get(name).seq if name in ids else 0

    since = own[ends[-1] + 1 :] if ends else own
    items = [
        _item(one, number(one.id), one.body, counter)
        for one in since
        if _stands(one.type, one.body) and one.id not in gone
    ]
    session = next((one.session for one in own), source.session or path.stem)
    return Items(session, adapter.harness, number(own[ends[-1]].id) if ends else 0, tuple(items))


def _stands(kind: str, body: dict[str, Any]) -> bool:
    if kind == "system":
        return bool(body.get("text")) and body.get("subtype") not in UNSEEN
    return kind in SAID and bool(body)


def _item(said: Event | Draft, seq: int, body: dict[str, Any], counter: Counter) -> Item:
    text = event_text(said.type, body)
    return Item(said.id, said.type, seq, said.ts, text, counter(text), body)


def _opened(log: Log, event: Event) -> dict[str, Any]:
    try:
        return log.body(event)
    except RecordError:  # its long text is gone: what stands in the window cannot be measured, and never leaves it
        return {**{name: value for name, value in event.body.items() if not isinstance(value, dict)}, "text": ""}


def _sighted(log: Log, event: Event) -> Event | None:
    """The event that a resumed session repeats."""
    try:
        return log.get(str(event.body.get("of", "")))
    except (PointerError, RecordError):
        return None


def _gone(drafts: Iterable[Draft]) -> set[str]:
    gone: set[str] = set()
    for one in drafts:
        if one.type == "mark":
            names = set(map(str, one.body.get("events") or ()))
            gone = gone | names if one.body.get("mark") in GONE else gone - names
    return gone


def _source(path: Path, harness: str) -> tuple[Adapter, SourceFile]:
    if not path.is_file():
        raise CaptureError(f"no file {path}; name a session's file")
    adapters = registered().adapters
    name = harness_of(harness, [one.harness for one in adapters])
    adapter = next(one for one in adapters if one.harness == name)
    path = path.resolve()
    found, _ = adapter.discover([path.parent])
    source = next((one for one in found if one.path.resolve() == path), None)
    if source is None or not read_head(adapter, source).known:
        raise CaptureError(f"{path} holds no session of {adapter.harness}; name its harness with --harness")
    return adapter, source


def _drafts(adapter: Adapter, source: SourceFile, options: Options) -> Iterator[Draft]:
    head = read_head(adapter, source)
    memory = {"session": source.session or head.session or source.path.stem, "ts": head.ts}
    reader = adapter.reader(source, memory, options)
    with adapter.open(source) as file:
        for number, (at, end, raw, _) in enumerate(raw_lines(file, 0), 1):
            if raw.strip(b" \t\r"):
                reader.feed(parse_line(number, at, end, raw, adapter.is_record))
    for taken in [*reader.take(), *reader.finish()]:
        yield taken.draft
