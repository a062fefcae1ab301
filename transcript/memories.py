"""What the record's memory events add up to: every memory, candidate and link as they stand now.

The types and their fold. It reads the memory events alone; a snapshot in `run/` makes the next fold as short as what
came since, and losing it loses time only. It holds words of the record: a redaction behind it throws it away, and
`forget_snapshot` does so at once.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from transcript.canonical import sha256_hex
from transcript.errors import RecordError
from transcript.event import MEMORY_TYPES, Event, Position, moment
from transcript.log import Log
from transcript.memory_fold import closing, empty, take
from transcript.paths import read_file, write_atomic
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

VERSION = 4
SNAPSHOT = "memories.json"
FOLDED = MEMORY_TYPES | {"checkpoint", "redaction"}
_SIEVE = Sieve((b'"type":"memory.', type_field("checkpoint"), type_field("redaction")))


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open place in an event's text; sha256 is the first 16 hex digits of the masked words' hash."""

    event: str
    start: int
    end: int
    sha256: str = ""

    @property
    def pointer(self) -> str:
        """The span as a source pointer shows it."""
        return f"{self.event[:10]}#{self.start}-{self.end}"

    def body(self) -> dict[str, Any]:
        """Return the span as an event's body holds it."""
        return {"event": self.event, "start": self.start, "end": self.end, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory with everything that later events say of it."""

    id: str
    candidate: str
    seq: int
    ts: str
    memory_type: str
    kind: str
    label: str
    verified: str
    statement: str
    why: str
    subject: tuple[str, ...]
    tags: tuple[str, ...]
    projects: tuple[str, ...]
    roles: tuple[str, ...]
    critical_for: tuple[str, ...]
    privacy: str
    agent_id: str
    sources: tuple[Span, ...]
    files: tuple[tuple[str, str], ...]
    said_at: str
    valid_from: str
    valid_to: str
    supersedes: tuple[str, ...]
    reason: str
    actor: str
    actor_kind: str
    mistake: tuple[str, str] | None = None
    covers: tuple[str, int, int] | None = None
    superseded_by: str = ""
    supersession_note: str = ""
    refuted_because: str = ""
    archived: bool = False
    stale_paths: tuple[str, ...] = ()
    checked: tuple[tuple[str, str], ...] = ()  # path and the event that told of it last
    conflicts: tuple[str, ...] = ()  # candidates that wait, whose last verdict names this memory
    approved: tuple[str, ...] = ()  # events of approval, authentic or not
    last_applied: str = ""  # the day it was last cited

    def state_at(self, now: datetime) -> str:
        """Return the first that applies of refuted, archived, superseded, expired, future, current."""
        if self.refuted_because:
            return "refuted"
        if self.archived:
            return "archived"
        if self.superseded_by:
            return "superseded"
        if self.valid_to and moment(self.valid_to) <= now:
            return "expired"
        return "future" if self.valid_from and now < moment(self.valid_from) else "current"

    @property
    def text(self) -> str:
        """What the index holds and pointers count in."""
        return text_of(self.statement, self.why)


@dataclass(frozen=True, slots=True)
class CandidateState:
    """A candidate, what was found about it, and what was decided last."""

    id: str
    seq: int
    body: Mapping[str, Any]
    verdicts: tuple[Mapping[str, Any], ...] = ()
    decided: Mapping[str, Any] | None = None

    @property
    def pending(self) -> bool:
        """Say whether it waits for a person, or for a review that did not come."""
        return self.decided is not None and bool(self.decided.get("pending"))


@dataclass(frozen=True, slots=True)
class Link:
    """That one statement took another's place; either may be a place in the transcript."""

    of: Span
    by: Span
    reason: str
    at: str
    event: str


@dataclass(frozen=True, slots=True)
class MemoryState:
    """All of it, each in the order of the record. `cited` names sessions by memory or event."""

    memories: dict[str, Memory] = field(default_factory=dict)
    candidates: dict[str, CandidateState] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    project_files: dict[str, tuple[str, str]] = field(default_factory=dict)  # path -> (event, sha256)
    cited: dict[str, set[str]] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] | None = None  # body of the last complete one, and its `event`
    through: Position | None = None  # how far that one had read

    def current(self, now: datetime) -> list[Memory]:
        """Return the memories that hold at a moment, in the order of the record."""
        return [memory for memory in self.memories.values() if memory.state_at(now) == "current"]


def text_of(statement: str, why: str) -> str:
    """Return the text of a memory: what is indexed and pointed into."""
    return f"{statement}\nWhy: {why}" if why else statement


def span_of_body(value: object) -> Span:
    """Return the span that an event's body holds; an empty one where there is none."""
    held = value if isinstance(value, Mapping) else {}
    start, end = held.get("start", 0), held.get("end", 0)
    places = (start, end) if isinstance(start, int) and isinstance(end, int) else (0, 0)
    return Span(str(held.get("event", "")), *places, str(held.get("sha256", "")))


def fold_memories(log: Log, *, snapshot: bool = True, keep: bool = False) -> MemoryState:
    """Return what the memory events of the record add up to; without snapshot from the record alone.

    Reads only; with keep the snapshot is brought up to date, which one process at a time may do.
    """
    held = _read_snapshot(log) if snapshot else None
    at = _fold_on(log, *held) if held is not None else None
    state = held[0] if held is not None and at is not None else empty()
    if at is None:
        at = _fold_on(log, state, log.start, whole=True)
        assert at is not None
    if keep and (held is None or held[1] != at):
        _write_snapshot(log.workspace, state, at)
    return _built(state)


def fold_events(events: Iterable[tuple[Event, dict[str, Any]]]) -> MemoryState:
    """Return what events of a record add up to, given in its order with their bodies opened."""
    state = empty()
    for event, body in events:
        take(state, event, body)
    return _built(state)


def forget_snapshot(workspace: Workspace) -> None:
    """Remove the snapshot, which holds words of the record."""
    (workspace.run_dir / SNAPSHOT).unlink(missing_ok=True)


def _fold_on(log: Log, state: dict[str, Any], at: Position, *, whole: bool = False) -> Position | None:
    """Fold what stands behind a position; None when the snapshot before it cannot be trusted any more."""
    try:
        end = log.head().position
        for event in log.read(at, sieve=_SIEVE):
            if event.seq > end.seq:
                break
            if event.type == "redaction" and not whole:
                return None
            if event.type in FOLDED and event.body:
                take(state, event, log.body(event))
    except RecordError:
        if whole:
            raise
        return None
    return end


def _built(state: dict[str, Any]) -> MemoryState:
    candidates = {
        name: CandidateState(name, held["seq"], held["body"], tuple(held["verdicts"]), held["decided"])
        for name, held in state["candidates"].items()
    }
    conflicts: dict[str, list[str]] = {}
    for name, candidate in candidates.items():
        if candidate.pending and candidate.verdicts:
            for conflict in candidate.verdicts[-1].get("conflicts") or ():
                conflicts.setdefault(str(conflict.get("memory", "")), []).append(name)
    through = (state["checkpoint"] or {}).get("through")
    return MemoryState(
        memories={name: _memory(held, conflicts.get(name, [])) for name, held in state["memories"].items()},
        candidates=candidates,
        links=[Link(span_of_body(of), span_of_body(by), *rest) for of, by, *rest in state["links"]],
        project_files={path: (event, sha256) for path, (event, sha256) in state["files"].items()},
        cited={name: set(sessions) for name, sessions in state["cited"].items()},
        checkpoint=state["checkpoint"],
        through=Position(**through) if isinstance(through, dict) else None,
    )


def _memory(held: dict[str, Any], conflicts: list[str]) -> Memory:
    body, mistake, covers = held["body"], held["body"].get("mistake"), held["body"].get("covers")
    texts = ("candidate", "memory_type", "statement", "why", "said_at", "valid_from", "valid_to", "actor", "actor_kind")
    lists = ("subject", "tags", "projects", "roles", "critical_for", "supersedes")
    rest: dict[str, Any] = {name: str(body.get(name) or "") for name in texts}
    rest["valid_to"] = closing(rest["valid_from"], rest["valid_to"])
    rest |= {name: tuple(map(str, body.get(name) or ())) for name in lists}
    return Memory(
        id=held["id"],
        seq=held["seq"],
        ts=held["ts"],
        kind=str(body.get("kind") or "statement"),
        label=str(body.get("label") or "inference"),
        verified=str(body.get("verified") or "unverified"),
        privacy=str(body.get("privacy") or "project"),
        agent_id=str(body.get("agent_id") or "self"),
        reason=str(body.get("reason") or "new"),
        sources=tuple(span_of_body(one) for one in body.get("sources") or ()),
        files=tuple((str(one["path"]), str(one["sha256"])) for one in body.get("files") or ()),
        mistake=(str(mistake["avoid"]), str(mistake["instead"])) if mistake else None,
        covers=(str(covers["session"]), int(covers["from"]), int(covers["to"])) if covers else None,
        stale_paths=tuple(held["stale"]),
        checked=tuple(held.get("checked", {}).items()),
        conflicts=tuple(conflicts),
        approved=tuple(held["approved"]),
        **rest,
        **held["changed"],
    )


def _read_snapshot(log: Log) -> tuple[dict[str, Any], Position] | None:
    try:
        check, _, data = read_file(log.workspace.run_dir / SNAPSHOT).partition(b"\n")
        held = json.loads(data) if check == sha256_hex(data).encode("ascii") else {}
        if held["version"] != VERSION or held["of"] != log.workspace.id:
            return None
        return held["state"], Position(**held["position"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_snapshot(workspace: Workspace, state: dict[str, Any], at: Position) -> None:
    position = {"segment": at.segment, "offset": at.offset, "seq": at.seq, "hash": at.hash}
    held = {"version": VERSION, "of": workspace.id, "position": position, "state": state}
    data = json.dumps(held, separators=(",", ":")).encode("ascii")
    try:
        write_atomic(workspace.run_dir / SNAPSHOT, sha256_hex(data).encode("ascii") + b"\n" + data, durable=False)
    except OSError:
        return  # a workspace that cannot be written is folded from its start each time
