"""Since when and until when memories hold: what their sources and supersessions say where an interval is open."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from transcript import memory_drafts as drafts
from transcript.curation import Author
from transcript.errors import PointerError
from transcript.event import Draft, moment
from transcript.log import Log
from transcript.memories import Memory, MemoryState
from transcript.memory_fold import closing
from transcript.memory_told import Told


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of how many memories the interval begins, and of how many that were replaced it ends and names what opens."""

    memories: int
    begun: int
    replaced: int
    ended: int

    @property
    def share(self) -> float:
        """The share of both fields that are filled; 1 where nothing is remembered."""
        asked = self.memories + self.replaced
        return (self.begun + self.ended) / asked if asked else 1.0

    @property
    def text(self) -> str:
        """The coverage in one line."""
        ends = f"superseded_by resolves {self.ended:,} of {self.replaced:,}"
        return f"valid_from {self.begun:,} of {self.memories:,}, {ends}: {self.share:.2f}"

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {**asdict(self), "share": self.share}


def backfill(state: MemoryState, log: Log, at: Told, by: Author) -> list[Draft]:
    """Return what fills open intervals: valid_from from the oldest source, valid_to from what took the place."""
    closed = {link.of.event: link.at for link in state.links if link.at}
    found = []
    for memory in state.memories.values():
        new: dict[str, Any] = {}
        if not memory.valid_from:
            said = _said(memory, log)
            if not memory.valid_to or moment(said) < moment(memory.valid_to):  # else nobody knows since when it held
                new["valid_from"] = said
        if memory.superseded_by and not memory.valid_to:
            ends = closed.get(memory.id) or _begun(state, memory.superseded_by)
            new["valid_to"] = closing(new.get("valid_from", memory.valid_from), ends)
        new = {name: value for name, value in new.items() if value}
        if new:
            told = drafts.amended(at, memory.id, new, because=memory.id, actor=by.name, actor_kind=by.kind)
            found.append(told)
    return found


def coverage(state: MemoryState, amended: Iterable[Draft] = ()) -> Coverage:
    """Return how far intervals are filled, once some amendments hold."""
    new = {str(one.body["memory"]): one.body["set"] for one in amended}
    held = list(state.memories.values())
    replaced = [memory for memory in held if memory.superseded_by]
    return Coverage(
        len(held),
        sum(bool(memory.valid_from or new.get(memory.id, {}).get("valid_from")) for memory in held),
        len(replaced),
        sum(
            bool(memory.valid_to or new.get(memory.id, {}).get("valid_to")) and memory.superseded_by in state.memories
            for memory in replaced
        ),
    )


def _said(memory: Memory, log: Log) -> str:
    """Return when the first of a memory's sources was said, or when the memory says it was."""
    stamps = []
    for span in memory.sources:
        try:
            stamps.append(log.get(span.event).ts)
        except PointerError:
            continue
    return min(stamps, key=moment) if stamps else memory.said_at


def _begun(state: MemoryState, name: str) -> str:
    new = state.memories.get(name)
    return new.said_at if new is not None else ""
