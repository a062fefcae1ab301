"""What all builders of memory events share: who tells it and when, ids that follow from content, closed words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transcript.canonical import b32id, canonical
from transcript.event import Draft, is_stamp, moment
from transcript.memories import Span
from transcript.telling import quoted

SESSION = "recall:consolidation"
ACTOR_KINDS = ("policy", "agent", "human")


@dataclass(frozen=True, slots=True)
class Told:
    """When and by whom an event is told; a run leaves all but `ts` as they are. `key` makes a person's ids differ."""

    ts: str
    session: str = SESSION
    agent: str = "recall"
    actor: str = "system"
    origin: str = "internal"
    key: str = ""
    where: Mapping[str, str] = field(default_factory=dict)  # surface, session_key, role, cwd

    def __post_init__(self) -> None:
        if not is_stamp(self.ts):
            raise ValueError(f"ts is {quoted(self.ts)}, must be a moment like 2026-01-31T12:00:00.000Z")


def told(kind: str, at: Told, body: dict[str, Any], *parts: str, origin: str = "") -> Draft:
    """Return an event whose id follows from its kind and parts."""
    return Draft(
        type=kind,
        id=b32id(kind, *parts),
        ts=at.ts,
        ts_source="record",
        session=at.session,
        agent=at.agent,
        actor=at.actor,
        origin=origin or at.origin,
        body=body,
    )


def commanded(kind: str, at: Told, body: dict[str, Any], actor: str, actor_kind: str) -> Draft:
    """Return an event that somebody commands: the same command at another time is another event."""
    one_of("actor_kind", actor_kind, ACTOR_KINDS)
    if not actor.strip():
        raise ValueError("a memory is changed by somebody: name the actor")
    whole = {**body, "actor": actor.strip(), "actor_kind": actor_kind, **{k: v for k, v in at.where.items() if v}}
    return told(kind, at, whole, at.ts, at.key, canonical(whole).decode("ascii"))


def place_of(span: Span) -> dict[str, Any]:
    """Return a place without the hash of its words."""
    return {"event": whole_id("event", span.event), "start": span.start, "end": span.end}


def whole_id(name: str, value: str) -> str:
    """Return an id; ValueError for the beginning of one."""
    if len(value) != 26:
        raise ValueError(f"`{name}` is {quoted(value)}, must be the whole id of an event")
    return value


def a_moment(name: str, value: str) -> str:
    """Return a moment; ValueError for what is none."""
    try:
        moment(value)
    except ValueError:
        raise ValueError(f"{name} is {quoted(value)}, must be a moment such as 2026-01-31T12:00:00Z") from None
    return value


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is none of the allowed ones."""
    if value not in allowed:
        raise ValueError(f"{name} is {quoted(value)}, must be one of {', '.join(allowed)}")
