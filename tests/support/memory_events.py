"""Builders of single memory events."""

from typing import Any

from transcript import memory_drafts
from transcript.canonical import b32id
from transcript.event import Draft
from transcript.memories import Span
from transcript.memory_told import Told

SAID = "2026-01-06T10:00:00.000Z"
LATER = "2026-02-01T10:00:00.000Z"
AT = Told("2026-03-01T12:00:00.000Z")
HUMAN = Told("2026-03-01T12:30:00.000Z", session="recall:1", actor="human", key="k")
EVENT = b32id("event")
PLACE = Span(EVENT, 3, 40, "0123456789abcdef")


def body(text: str = "Ports come from config.toml.", **fields: Any) -> dict[str, Any]:
    """Return the body of a candidate."""
    made: dict[str, Any] = {
        "key": b32id("key", text),
        "found_by": "decision",
        "memory_type": "design_decision",
        "kind": "statement",
    }
    made |= {"kind": "statement", "text": text, "why": "two servers clash", "sources": [PLACE.body()], "subject": []}
    made |= {
        "closed_by": [],
        "agent_id": "self",
        "worker": "",
        "peer": "",
        "projects": [],
        "roles": [],
        "tags": [],
        "said_at": SAID,
    }
    made |= {"privacy": "project", "supersedes": None, "mistake": None, "drafted_by": "", "file": None, "covers": None}
    return made | fields


def candidate(text: str = "Ports come from config.toml.", **fields: Any) -> Draft:
    """Return a candidate."""
    return memory_drafts.candidate(AT, body(text, **fields))


def written(text: str = "Ports come from config.toml.", **fields: Any) -> Draft:
    """Return the memory of the candidate of this text."""
    given: dict[str, Any] = {"sources": [PLACE], "said_at": SAID, "why": "two servers clash"} | fields
    return memory_drafts.written(AT, candidate(text).id, "design_decision", text, **given)


def place_of(draft: Draft) -> Span:
    """Return all of a memory as a place."""
    return Span(draft.id, 0, len(draft.body["text"]))
