"""What a proposal is: the document's schema, its canonical bytes and hashes. Reads no file and knows no store.

`references/coord_memory_schema.md` says the same in words; both name one schema version.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from consolidation.coord_ref_words import bad_ref, scheme_of
from transcript.canonical import canonical, sha256_hex
from transcript.coord_codes import refused
from transcript.errors import CoordError
from transcript.projections.coord_files import DOCUMENT
from transcript.strict_json import strict_json

__all__ = ["SCHEMA_VERSION", "CoordError", "Document", "action_hash", "parse", "proposal_hash", "strict_json"]

SCHEMA_VERSION = 1
CANON_VERSION = "1"
OPERATIONS = ("add", "supersede", "archive", "delete")
KINDS = ("decision", "question", "artifact", "outcome")
STATES = ("proposed", "approved", "declined", "revised", "timed_out", "applied")
ELSEWHERE = ("research_claim", "paper_claim")
MOST_REFS = 64
MOST_TEXT = 48 * 1024
_ACTION = ("operation", "target_ref", "summary", "evidence_refs")
_MORE = ("kind", "subject", "content")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Document:
    """A proposal as it was parsed: `raw` holds every field of it, checked."""

    raw: Mapping[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        """The proposal's id, a canonical uuid."""
        return str(self.raw["proposal_id"])

    @property
    def action(self) -> Mapping[str, Any]:
        """What is to be done: the part that is hashed and signed."""
        action: Mapping[str, Any] = self.raw["action"]
        return action

    @property
    def operation(self) -> str:
        """One of OPERATIONS."""
        return str(self.action["operation"])

    @property
    def target(self) -> str:
        """What the action changes, "" where nothing is named."""
        return str(self.action["target_ref"] or "")

    @property
    def evidence_refs(self) -> tuple[str, ...]:
        """What the action rests on."""
        return tuple(self.action["evidence_refs"])

    @property
    def state(self) -> str:
        """One of STATES, as the document says it; the record decides."""
        return str(self.raw["state"])

    @property
    def decision(self) -> Mapping[str, Any] | None:
        """A person's decision, None where there is none."""
        decision: Mapping[str, Any] | None = self.raw["decision"]
        return decision

    def core(self) -> dict[str, Any]:
        """Return what is proposed: the document without state and decision."""
        return {name: value for name, value in self.raw.items() if name not in ("state", "decision")}

    def with_state(self, state: str, decision: Mapping[str, Any] | None) -> "Document":
        """Return the same proposal in another state."""
        return Document({**self.raw, "state": state, "decision": None if decision is None else dict(decision)})


def action_hash(document: Document) -> str:
    """Return the SHA-256 of the action's canonical bytes: sorted names, ASCII, no blanks."""
    return sha256_hex(canonical(document.action))


def proposal_hash(document: Document) -> str:
    """Return the SHA-256 of the canonical bytes of the document without state and decision."""
    return sha256_hex(canonical(document.core()))


def parse(data: bytes) -> Document:
    """Return the proposal of a file's bytes; CoordError with code and field for the first thing that is wrong."""
    return checked(strict_json(data))


def checked(value: object) -> Document:
    """Return the proposal of a JSON value that was read strictly; CoordError for the first thing that is wrong."""
    raw = _object(value, "document", DOCUMENT[:-1], DOCUMENT[-1:])
    if type(raw["schema_version"]) is not int or raw["schema_version"] != SCHEMA_VERSION:
        raise refused("schema", "schema_version")
    _uuid(raw["proposal_id"], "proposal_id")
    _line(raw["source_task"], "source_task")
    if not isinstance(raw["created_at"], str) or not is_moment(raw["created_at"]):
        raise refused("schema", "created_at")
    if raw["state"] not in STATES:
        raise refused("schema", "state")
    if raw["decision"] is not None and not isinstance(raw["decision"], dict):
        raise refused("schema", "decision")
    if "revises" in raw:
        _uuid(raw["revises"], "revises")
        if raw["revises"] == raw["proposal_id"]:
            raise refused("schema", "revises")
    _check_action(raw["action"])
    return Document(raw)


def is_moment(text: str) -> bool:
    """Say whether text is a moment of ISO 8601 with a time zone."""
    if _MOMENT.fullmatch(text) is None:
        return False
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _check_action(value: object) -> None:
    action = _object(value, "action", _ACTION, _MORE)
    if action["operation"] not in OPERATIONS:
        raise refused("schema", "action.operation")
    _text(action["summary"], "action.summary", 4000)
    refs = action["evidence_refs"]
    if not isinstance(refs, list) or len(refs) > MOST_REFS:
        raise refused("schema", "action.evidence_refs")
    for number, ref in enumerate(refs):
        if bad_ref(ref):
            raise refused("bad_ref", f"action.evidence_refs[{number}]")
    if len(set(refs)) != len(refs):
        raise refused("schema", "action.evidence_refs")
    if action.get("kind") in ELSEWHERE:
        raise refused("wrong_store", "action.kind")
    if "kind" in action and action["kind"] not in KINDS:
        raise refused("schema", "action.kind")
    if "subject" in action:
        _line(action["subject"], "action.subject")
    _check_target(action)


def _check_target(action: Mapping[str, Any]) -> None:
    target = action["target_ref"]
    if target is None:
        if action["operation"] != "add":
            raise refused("no_target", "action.target_ref")
    elif bad_ref(target, target=True):
        raise refused("bad_ref", "action.target_ref")
    if "content" not in action:
        return
    content = _object(action["content"], "action.content", ("path", "text"))
    scheme, path = scheme_of(target or "")
    if scheme not in ("procedure", "identity") or content["path"] != path:
        raise refused("schema", "action.content.path")
    if not isinstance(content["text"], str) or len(content["text"].encode()) > MOST_TEXT:
        raise refused("schema", "action.content.text")


def _object(value: object, where: str, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an object that has these names and no other."""
    if not isinstance(value, dict):
        raise refused("schema", where)
    for name in names:
        if name not in value:
            raise refused("schema", name if where == "document" else f"{where}.{name}")
    if not value.keys() <= {*names, *optional}:
        raise refused("unknown_key", where)
    return value


def _uuid(value: object, where: str) -> None:
    try:
        canonical_form = isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        canonical_form = False
    if not canonical_form:
        raise refused("schema", where)


def _text(value: object, where: str, most: int) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise refused("schema", where)


def _line(value: object, where: str) -> None:
    """Refuse what is not one line of at most 200 characters that are all seen."""
    _text(value, where, 200)
    if not str(value).isprintable():
        raise refused("schema", where)
