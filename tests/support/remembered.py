"""Builders of a record in which something was said and some of it is remembered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from consolidation.model import Candidate
from consolidation.span import marked
from support.record import NOW, make_draft, make_log
from transcript import memory_drafts as drafts
from transcript.event import Draft
from transcript.log import Log
from transcript.memories import Memory, MemoryState, Span, fold_memories
from transcript.memory_told import Told

DAY = "2026-01-{:02d}T10:00:00.000Z"
AT = Told("2026-03-01T12:00:00.000Z")


@dataclass
class Remembered:
    """A record with messages and memories in it."""

    log: Log
    said: int = 0
    state: MemoryState = field(default_factory=MemoryState)

    @property
    def key(self) -> bytes:
        """What secrets are marked with."""
        return self.log.workspace.id_key()

    def say(self, text: str, *, day: int = 1, by: str = "assistant", **body: Any) -> Span:
        """Add a message and return the place of its words."""
        self.said += 1
        kind = "prompt" if by == "user" else "reply"
        draft = make_draft(f"said {self.said}", text=text, body={"kind": kind} | body, actor=by, ts=DAY.format(day))
        self.log.append([draft], now=NOW)
        return self.place(draft.id, 0, len(text))

    def place(self, event: str, start: int, end: int) -> Span:
        """Return a place in a message, with the hash of its words."""
        text = self.log.text(self.log.get(event))
        return marked(event, text, start, end, self.key)[0]

    def candidate(self, text: str, *sources: Span, day: int = 1, **fields: Any) -> Candidate:
        """Return a candidate that rests on some places; without any it says so in a message of its own first."""
        places = sources or (self.say(text, day=day, by=fields.pop("by", "assistant")),)
        values: dict[str, Any] = {"found_by": "cause", "memory_type": "project_fact", "said_at": DAY.format(day)}
        return Candidate(text=text, sources=places, **(values | fields))

    def remember(self, candidate: Candidate, **fields: Any) -> Memory:
        """Make a memory of a candidate, unchecked, and return it."""
        self.log.append([drafts.candidate(AT, candidate.body()), written(candidate, **fields)], now=NOW)
        self.state = fold_memories(self.log)
        return self.state.memories[drafts.written_id(candidate.id)]

    def append(self, events: Sequence[Draft]) -> None:
        """Add events and fold anew."""
        self.log.append(events, now=NOW)
        self.state = fold_memories(self.log)


def written(candidate: Candidate, **fields: Any) -> Draft:
    """Return the memory event of a candidate as it stands."""
    values: dict[str, Any] = {"sources": candidate.sources, "said_at": candidate.said_at, "why": "it was said"}
    values |= {"mistake": candidate.mistake, "subject": candidate.subject}
    return drafts.written(AT, candidate.id, candidate.memory_type, candidate.text, **(values | fields))


def make_remembered(folder: Path) -> Remembered:
    """Return an empty record."""
    return Remembered(make_log(folder))
