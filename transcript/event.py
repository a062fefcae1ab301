"""Events: what one line of the record says, how it is written and what makes it valid.

A line is the canonical JSON of an envelope with a body inside. The envelope is chained
(`prev` is the SHA-256 of the previous envelope, body left out); the body is bound to it by
`commit` = SHA-256(salt ‖ canonical body, the salt standing in it). Erasing a body therefore
leaves the chain whole and nothing to guess from.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from transcript.canonical import ID_ALPHABET, ID_LENGTH, canonical, sha256_hex
from transcript.errors import RecordError, RecordNewer

VERSION = 1
SALT_BYTES = 16

TYPES = frozenset(
    {
        "conversation_turn",
        "tool_call",
        "tool_result",
        "reasoning",
        "system",
        "unknown",
        "sighting",
        "mark",
        "checkpoint",
        "decision",
        "task",
        "question",
        "correction",
        "outcome",
        "observation",
        "recall",
        "prune",
        "index_run",
        "redaction",
        "health",
        "grant",
        "role",
        "pack",
        "standing",
        "signature",
    }
)
PROPOSAL_TYPES = frozenset(
    {
        "proposal.proposed",
        "proposal.decided",
        "proposal.timed_out",
        "proposal.refused",
        "proposal.applied",
        "proposal.promoted",
        "proposal.purged",
        "proposal.key",
    }
)
MEMORY_TYPES = frozenset(
    {
        "memory.candidate",
        "memory.verdict",
        "memory.decided",
        "memory.written",
        "memory.amended",
        "memory.superseded",
        "memory.refuted",
        "memory.archived",
        "memory.restored",
        "memory.checked",
        "memory.source",
        "memory.cited",
        "memory.promoted",
        "memory.prevented_mistake",
        "memory.adopted",
        "memory.approved",
    }
)
ACTORS = frozenset({"user", "assistant", "tool", "system", "human"})
ORIGINS = frozenset({"internal", "external"})
TS_SOURCES = frozenset({"record", "joined", "file", "capture"})
TURN_KINDS = frozenset({"prompt", "reply", "summary", "worker_prompt"})
BODY_KEYS: dict[str, tuple[str, ...]] = {
    "conversation_turn": ("kind", "text"),
    "tool_call": ("call_id", "input", "tool"),
    "tool_result": ("call_id", "text"),
    "reasoning": ("text",),
    "system": ("subtype",),
    "unknown": ("raw",),
    "sighting": ("of",),
    "mark": ("mark",),
    "memory.candidate": ("found_by", "key", "memory_type", "sources", "text"),
    "memory.verdict": ("label", "of", "reviewer", "round", "verdict"),
    "memory.decided": ("of", "outcome", "pending", "reason"),
    "memory.written": ("candidate", "memory_type", "sources", "statement", "text"),
    "memory.amended": ("because", "memory", "set"),
    "memory.superseded": ("by", "of", "reason"),
    "memory.refuted": ("because", "memory"),
    "memory.archived": ("memory",),
    "memory.restored": ("memory",),
    "memory.checked": ("memory", "path", "stale"),
    "memory.source": ("path", "sha256", "text"),
    "memory.cited": ("how", "of", "session"),
    "memory.promoted": ("memory", "session"),
    "memory.prevented_mistake": ("action", "cited", "memory", "session"),
    "memory.adopted": ("cause", "event", "memory"),
    "memory.approved": ("action", "mac", "memory"),
    "proposal.proposed": ("by", "document", "document_hash", "proposal_id"),
    "proposal.decided": ("decision", "document", "proposal_id"),
    "proposal.timed_out": ("older_than_days", "proposal_id"),
    "proposal.refused": ("code", "field", "proposal_id", "step"),
    "proposal.applied": ("item", "line_hash", "nonce", "proposal_id"),
    "proposal.promoted": ("event_id", "manifest", "sha256", "to"),
    "proposal.purged": ("events", "retention"),
    "proposal.key": ("change", "key_id"),
    "grant": ("actor", "audience", "channel", "item", "reason", "until", "withdrawn"),
    "role": ("actor", "path", "role", "sha256"),
    "pack": ("actor", "change", "files", "name", "sha256", "version"),
    "standing": ("how", "kind", "path", "sha256"),
    "signature": ("algorithm", "key_id", "of", "through", "value"),
    "health": ("failing", "figures", "level", "warning"),
    "prune": ("items", "policy", "reason", "session", "state", "threshold", "tokens_after", "tokens_before"),
}
NATIVE_KEYS = frozenset({"harness", "version", "id", "part", "adapter", "source"})
ENVELOPE_KEYS = frozenset(
    {"v", "seq", "id", "type", "ts", "ts_source", "session", "agent", "actor", "origin", "native", "body"}
    | {"commit", "prev"}
)

_ID = re.compile(f"[{ID_ALPHABET}]{{{ID_LENGTH}}}")
_HASH = re.compile("[0-9a-f]{64}")
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z")


@dataclass(frozen=True, slots=True)
class Position:
    """Where reading stands: behind event `seq`, whose envelope hash is `hash`, at a byte of a segment."""

    segment: int
    offset: int
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it is written. `ts` may be empty when `ts_source` is `capture`: the clock fills it."""

    type: str
    id: str
    ts: str
    ts_source: str
    session: str
    agent: str
    actor: str
    origin: str
    native: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the record. `body` is without its salt, and long texts in it may be blob references.

    `position` is the one behind the event: reading from it continues with the next one.
    A redacted event has an empty body and an empty salt.
    """

    type: str
    id: str
    ts: str
    ts_source: str
    session: str
    agent: str
    actor: str
    origin: str
    native: dict[str, Any]
    body: dict[str, Any]
    v: int
    seq: int
    commit: str
    prev: str
    salt: str
    position: Position

    @property
    def pointer(self) -> str:
        """The event as a source pointer shows it (longer on a clash)."""
        return self.id[:10]


def stamp(moment: datetime) -> str:
    """Return an aware moment as the record writes it: UTC, milliseconds, `Z`."""
    if moment.tzinfo is None:
        raise ValueError("the moment has no time zone")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def moment(stamp: str) -> datetime:
    """Return a moment that the record or a file names; a day alone begins at midnight UTC."""
    found = datetime.fromisoformat(stamp)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def ending(text: str) -> datetime:
    """Return when what is said to hold until `text` ends; a day alone is included: it ends with that day, UTC."""
    try:
        last = date.fromisoformat(text)
    except ValueError:
        return moment(text)
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)


def is_stamp(text: object) -> bool:
    """Say whether text is a moment as the record writes it (a real one, in UTC)."""
    if not isinstance(text, str) or _STAMP.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True


def is_type(name: object) -> bool:
    """Say whether the record knows events of this type."""
    return isinstance(name, str) and (name in TYPES or name in MEMORY_TYPES or name in PROPOSAL_TYPES)


def genesis(workspace_id: str) -> str:
    """Return what the first event of a workspace is chained to."""
    return sha256_hex(workspace_id.encode("utf-8"))


def fault(fields: dict[str, Any]) -> tuple[str, str] | None:
    """Return (code, reason) for the first thing wrong with an event's fields, None when valid.

    The reason names fields, never their content: it may be shown about quarantined material.
    """
    for name in ("ts", "session"):
        value = fields.get(name)
        if value is None or value == "":
            return (f"missing_{name}", f"`{name}` is missing")
    if not is_type(fields.get("type")):
        return ("unknown_type", "`type` is none the record knows")
    if not is_stamp(fields["ts"]):
        return ("schema", "`ts` is no UTC moment like 2026-01-31T12:00:00.000Z")
    for name in ("session", "agent"):
        if not isinstance(fields.get(name), str) or not fields[name]:
            return ("schema", f"`{name}` is no text")
    if not isinstance(fields.get("id"), str) or _ID.fullmatch(fields["id"]) is None:
        return ("schema", f"`id` is not {ID_LENGTH} base32 characters")
    for name, allowed in (("ts_source", TS_SOURCES), ("actor", ACTORS), ("origin", ORIGINS)):
        if not _is_one_of(fields.get(name), allowed):
            return ("schema", f"`{name}` is none of {', '.join(sorted(allowed))}")
    native = fields.get("native")
    if not isinstance(native, dict) or not native.keys() <= NATIVE_KEYS:
        return ("schema", "`native` is no object of the known fields")
    return _body_fault(fields["type"], fields.get("body"))


def _body_fault(kind: str, body: object) -> tuple[str, str] | None:
    if not isinstance(body, dict):
        return ("schema", "`body` is no object")
    if not body:  # redacted, or a type without fields
        return None
    for name in BODY_KEYS.get(kind, ()):
        if name not in body:
            return ("schema", f"`body.{name}` is missing")
    if kind == "conversation_turn" and not _is_one_of(body["kind"], TURN_KINDS):
        return ("schema", f"`body.kind` is none of {', '.join(sorted(TURN_KINDS))}")
    return None


def _is_one_of(value: object, allowed: frozenset[str]) -> bool:
    """Say whether a value of any kind, unhashable ones too, is one of these names."""
    return isinstance(value, str) and value in allowed


def validate_draft(draft: Draft) -> None:
    """Refuse a draft that the record must not take in, with a ValueError that names the field."""
    problem = fault({name: getattr(draft, name) for name in Draft.__slots__})
    if problem is None and not draft.body and draft.type in BODY_KEYS:
        problem = ("schema", "`body` is empty")
    if problem is None and "salt" in draft.body:
        problem = ("schema", "`body.salt` belongs to the record")
    if problem is not None:
        raise ValueError(f"not an event: {problem[1]}")


def line_fault(fields: object) -> tuple[str, str] | None:
    """Return (code, reason) for the first thing wrong with a parsed line of the record."""
    if not isinstance(fields, dict):
        return ("schema", "the line is no object")
    problem = fault(fields)
    if problem is not None:
        return problem
    if fields.keys() != ENVELOPE_KEYS:
        return ("schema", "the envelope has not exactly the known fields")
    if type(fields["v"]) is not int or fields["v"] != VERSION:
        return ("schema", "`v` is another version")
    if type(fields["seq"]) is not int or fields["seq"] < 1:
        return ("schema", "`seq` is no count from 1")
    for name in ("commit", "prev"):
        if not isinstance(fields[name], str) or _HASH.fullmatch(fields[name]) is None:
            return ("schema", f"`{name}` is no SHA-256")
    salt = fields["body"].get("salt", "" if not fields["body"] else None)
    if not isinstance(salt, str):
        return ("schema", "`body.salt` is missing")
    return None


def commitment(salt: str, body: bytes) -> str:
    """Return SHA-256(salt ‖ canonical body); the body holds its salt."""
    return hashlib.sha256(salt.encode("utf-8", "replace") + body).hexdigest()


def envelope_parts(draft: Draft, commit: str) -> tuple[bytes, bytes, bytes]:
    """Return a line's canonical bytes before its body, behind it, and behind `seq`: all but the chain's own."""
    before = canonical({"actor": draft.actor, "agent": draft.agent})[:-1]
    behind = canonical({"commit": commit, "id": draft.id, "native": draft.native, "origin": draft.origin})[1:-1]
    end = {"session": draft.session, "ts": draft.ts, "ts_source": draft.ts_source, "type": draft.type, "v": VERSION}
    return before, b"," + behind, b"," + canonical(end)[1:]


def to_line(parts: tuple[bytes, bytes, bytes], body: bytes, *, seq: int, prev: str) -> tuple[bytes, str]:
    """Return the line (newline included) and the envelope's hash; body is canonical and holds the salt."""
    before, behind, end = parts
    tail = b'%b,"prev":"%b","seq":%d%b' % (behind, prev.encode("ascii"), seq, end)
    return b'%b,"body":%b%b\n' % (before, body, tail), sha256_hex(before + tail)


def envelope_hash(line: bytes) -> str:
    """Return the hash of a written line's envelope, without parsing it.

    Before `body` stand only two texts, whose quotes are escaped; behind it no field may be
    called `commit` but the envelope's own: so the first and the last match are the right ones.
    """
    start = line.index(b',"body":')
    end = line.rindex(b',"commit":"')
    return sha256_hex(line[:start] + line[end:].rstrip(b"\n"))


def from_line(line: bytes, *, segment: int, end: int) -> Event:
    """Return the event of a line that ends at byte end of its segment. Unknown types are kept."""
    try:
        fields = json.loads(line)
        version = fields["v"]
        if type(version) is int and version > VERSION:
            raise RecordNewer(f"the record is of version {version}, this program reads {VERSION}; upgrade recall")
        body = fields["body"]
        seq = fields["seq"]
        position = Position(segment, end, seq, envelope_hash(line))
        return Event(
            type=fields["type"],
            id=fields["id"],
            ts=fields["ts"],
            ts_source=fields["ts_source"],
            session=fields["session"],
            agent=fields["agent"],
            actor=fields["actor"],
            origin=fields["origin"],
            native=fields["native"],
            v=version,
            seq=seq,
            commit=fields["commit"],
            prev=fields["prev"],
            salt=body.pop("salt", ""),
            body=body,
            position=position,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RecordError(
            f"the record has a damaged line before byte {end} of segment {segment}; run 'recall verify'"
        ) from None
