"""Reads which statements turns were shown although something had taken their place; writes nothing."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from health.facts import Replaced
from indexer.exchange import CURATED_TYPES
from recall.cues import read_cues
from recall.history import asks_for_history
from recall.time_words import stretch
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field

_ENDS = ("memory.superseded", "memory.refuted", "memory.archived", "memory.restored", "memory.source")
_LINKS = Sieve(types=tuple(map(type_field, _ENDS)))
_NEWER = Sieve(types=tuple(map(type_field, sorted(CURATED_TYPES))), groups=((b'"supersedes":"',),))


def replaced_items(log: Log, turns: Iterable[Event]) -> tuple[Replaced, ...]:
    """Return the items of these turns that no longer held then, newest turn first; those asked for as history not.

    `read` says whether the index that answered had read what ended them.
    """
    shown = [turn for turn in turns if turn.body.get("items")]
    if not shown:
        return ()
    links = sorted([*log.read(sieve=_LINKS), *log.read(sieve=_NEWER)], key=lambda event: event.seq)
    gone = _gone(links, shown)
    found = []
    for turn in shown:
        known, said = gone[turn.id, _read_to(turn)], gone[turn.id, turn.seq]
        if (known or said) and not _asked_for_the_past(turn.body):
            pointers = [str(item.get("pointer", "")) for item in turn.body["items"]]
            found += [Replaced(turn.id[:10], pointers[at], at in known) for at in sorted(known | said)]
    return tuple(found)


def _gone(links: Sequence[Event], shown: Sequence[Event]) -> dict[tuple[str, int], set[int]]:
    """Return (turn, event of the record) -> the places of its items that had ended by then."""
    gone: dict[tuple[str, int], set[int]] = {}
    ended, taken = _Ended(), 0
    for through in sorted({at for turn in shown for at in (_read_to(turn), turn.seq)}):
        while taken < len(links) and links[taken].seq <= through:
            ended.take(links[taken])
            taken += 1
        for turn in shown:
            if through in (_read_to(turn), turn.seq):
                items = enumerate(turn.body["items"])
                gone[turn.id, through] = {place for place, item in items if ended.has(item)}
    return gone


def _read_to(turn: Event) -> int:
    """The number of the last event that the index had read which answered this turn."""
    try:
        return min(turn.seq, int(json.loads(turn.body["index"]["watermark"])["seq"]))
    except (KeyError, TypeError, ValueError):
        return turn.seq


def _asked_for_the_past(body: Mapping[str, Any]) -> bool:
    """Whether the engine took this prompt for one about what was: then what was replaced may answer."""
    if body.get("history"):
        return True
    mode = str(body.get("query_mode", "turn"))
    cues, now = read_cues(str(body.get("prompt", "")), mode=mode), datetime.fromisoformat(str(body["now"]))
    named = stretch(cues.text, now, language=cues.language)
    return asks_for_history(cues.text, now=now, when=named, searched=mode == "tool")


@dataclass(slots=True)
class _Ended:
    """What no longer holds at some event of the record."""

    memories: dict[str, set[str]] = field(default_factory=dict)  # memory, decision or file -> why
    words: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)  # event -> span -> what replaced it
    newer: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # path -> the last event with its text

    def has(self, item: Mapping[str, Any]) -> bool:
        """Say whether an item's statement had ended."""
        event = str(item.get("event", ""))
        if item.get("kind") in ("memory", "curated", "project"):
            return bool(self.memories.get(event))
        start, end = int(item.get("start", 0)), int(item.get("end", 0))
        return any(start < high and end > low for low, high in self.words.get(event, ()))

    def take(self, event: Event) -> None:
        """Take the next event in."""
        body, memory = event.body, str(event.body.get("memory", ""))
        if event.type == "memory.superseded":
            self._superseded(body.get("of"), body.get("by"))
        elif event.type == "memory.refuted":
            self.memories.setdefault(memory, set()).add("refuted")
            self._give_back(memory)
        elif event.type == "memory.archived":
            self.memories.setdefault(memory, set()).add("archived")
        elif event.type == "memory.restored":
            self.memories.get(memory, set()).discard("archived")
        elif event.type == "memory.source":
            before = self.files.get(str(body.get("path", "")))
            self.files[str(body.get("path", ""))] = event.id
            if before is not None:
                self.memories.setdefault(before, set()).add("superseded")
        elif event.origin == "internal":
            self.memories.setdefault(str(body["supersedes"]), set()).add("superseded")

    def _superseded(self, of: object, by: object) -> None:
        if isinstance(of, Mapping) and isinstance(by, Mapping):
            old, new = str(of.get("event", "")), str(by.get("event", ""))
            self.memories.setdefault(old, set()).add("superseded")
            self.words.setdefault(old, {})[int(of.get("start", 0)), int(of.get("end", 0))] = new
            self.newer[old] = new

    def _give_back(self, wrong: str) -> None:
        """Let the words hold again whose place a wrong memory had taken; what replaced that one keeps the place."""
        newer = self.newer.get(wrong, "")
        stands = bool(newer) and "refuted" not in self.memories.get(newer, ())
        for event, spans in self.words.items():
            held = {span: newer if by == wrong else by for span, by in spans.items() if by != wrong or stands}
            self.words[event] = held
