"""Where each event stands, read from the record itself and not from the index that is being judged.

Hits and leaks are decided by this map, so a wrong time or session in the index cannot hide itself.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from eval.labels import Span
from transcript.event import Event

VERSION = 1


@dataclass(frozen=True, slots=True)
class Place:
    """When an event was recorded (seconds) and the sessions and source files it stands in, by name."""

    said: float
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class RecordMap:
    """Events by id, and for each labelled record the events made of it with the quoted spans."""

    places: dict[str, Place]
    events_of: dict[str, frozenset[str]]  # native uuid -> events
    quotes: dict[tuple[str, str], tuple[tuple[str, int, int], ...]]  # (uuid, quote) -> (event, start, end)

    def missing(self, spans: Iterable[Span]) -> list[Span]:
        """Return the labelled spans whose record is not in the record at all."""
        return [span for span in spans if not self.events_of.get(span.uuid)]


def build(events: Iterable[Event], spans: Iterable[Span], text: Callable[[Event], str]) -> RecordMap:
    """Read the whole record once; text is called only for records that a span names."""
    wanted: dict[str, set[str]] = {}
    for span in spans:
        wanted.setdefault(span.uuid, set()).add(span.quote)
    said: dict[str, float] = {}
    sessions: dict[str, set[str]] = {}
    events_of: dict[str, set[str]] = {}
    quotes: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    for event in events:
        if event.type == "sighting":
            sessions.setdefault(str(event.body.get("of", "")), set()).update(_names(event))
            continue
        said[event.id] = datetime.fromisoformat(event.ts).timestamp()
        sessions.setdefault(event.id, set()).update(_names(event))
        uuid = str(event.native.get("id", ""))
        if uuid not in wanted:
            continue
        events_of.setdefault(uuid, set()).add(event.id)
        words = text(event)
        for quote in wanted[uuid]:
            quotes.setdefault((uuid, quote), []).extend((event.id, *at) for at in occurrences(words, quote))
    return RecordMap(
        {id: Place(said[id], frozenset(sessions[id])) for id in said},
        {uuid: frozenset(ids) for uuid, ids in events_of.items()},
        {key: tuple(found) for key, found in quotes.items()},
    )


def occurrences(words: str, quote: str) -> list[tuple[int, int]]:
    """Return every place of quote in words."""
    found, start = [], words.find(quote) if quote else -1
    while start >= 0:
        found.append((start, start + len(quote)))
        start = words.find(quote, start + 1)
    return found


def cached(path: Path, key: str, make: Callable[[], RecordMap]) -> RecordMap:
    """Return the map kept at path when it was made for key (a hash of record and labels), else make and keep it."""
    try:
        data = json.loads(path.read_bytes())
        if data["version"] == VERSION and data["key"] == key:
            return _decoded(data)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": VERSION, "key": key, **_encoded(made)}), encoding="utf-8")
    return made


def _names(event: Event) -> set[str]:
    file = str(event.body.get("file", ""))
    return {event.session, PurePosixPath(file.replace("\\", "/")).name.removesuffix(".jsonl")} - {""}


def _encoded(made: RecordMap) -> dict[str, object]:
    names = sorted({name for place in made.places.values() for name in place.sessions})
    number = {name: i for i, name in enumerate(names)}
    return {
        "names": names,
        "places": {id: [p.said, sorted(number[name] for name in p.sessions)] for id, p in made.places.items()},
        "events_of": {uuid: sorted(ids) for uuid, ids in made.events_of.items()},
        "quotes": [[*key, list(found)] for key, found in made.quotes.items()],
    }


def _decoded(data: dict[str, object]) -> RecordMap:
    names: list[str] = data["names"]  # type: ignore[assignment]
    places: dict[str, tuple[float, list[int]]] = data["places"]  # type: ignore[assignment]
    events_of: dict[str, list[str]] = data["events_of"]  # type: ignore[assignment]
    quotes: list[tuple[str, str, list[tuple[str, int, int]]]] = data["quotes"]  # type: ignore[assignment]
    sets: dict[tuple[int, ...], frozenset[str]] = {}
    decoded = {}
    for id, (said, numbers) in places.items():
        key = tuple(numbers)
        if key not in sets:
            sets[key] = frozenset(names[n] for n in numbers)
        decoded[id] = Place(said, sets[key])
    return RecordMap(
        decoded,
        {uuid: frozenset(ids) for uuid, ids in events_of.items()},
        {(uuid, quote): tuple((e, s, t) for e, s, t in found) for uuid, quote, found in quotes},
    )
