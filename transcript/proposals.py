"""What the record's events of proposals add up to: every proposal with its state, what was applied, the keys' changes.

The record is the authority: files below `.coord/` are written from it and held against it.
"""

import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from transcript.blobs import is_reference
from transcript.errors import RecordError
from transcript.event import PROPOSAL_TYPES, Event, Position
from transcript.log import Log
from transcript.sieve import Sieve, type_field

DECIDED = {"approve": "approved", "decline": "declined", "revise": "revised"}
# What was approved is not what stands there any more: it waits for a person again. Other refusals leave the state.
RESETTING = frozenset(
    {
        "decision_fields",
        "decision_changed",
        "action_changed",
        "document_changed",
        "other_store",
        "bad_mac",
        "expired",
        "evidence_changed",
        "used",
        "target_gone",
        "no_target",
        "key_unknown",
        "key_rotated",
        "key_revoked",
    }
)
_PROPOSAL = b'"type":"proposal.'
_SIEVE = Sieve(types=(_PROPOSAL,))
_SINCE = Sieve(types=(_PROPOSAL, type_field("redaction")))
Stage = tuple[str, Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal as the record holds it: its document when it came, its state and decision now.

    `stages` are all it went through, the present one last. An erased one has no document.
    """

    id: str
    document: Mapping[str, Any]
    document_hash: str
    by: str
    event: str
    seq: int
    ts: str
    adopted: bool = False
    stages: tuple[Stage, ...] = (("proposed", None),)
    decided_seq: int = 0
    refused: tuple[str, ...] = ()
    erased: bool = False

    @property
    def state(self) -> str:
        """Return proposed, approved, declined, revised, timed_out or applied."""
        return self.stages[-1][0]

    @property
    def decision(self) -> Mapping[str, Any] | None:
        """Return the decision that holds, None where none does."""
        return self.stages[-1][1]

    def file(self) -> dict[str, Any]:
        """Return what its file holds: the document in its present state."""
        return {**self.document, "state": self.state, "decision": self.decision}


@dataclass(frozen=True, slots=True)
class Applied:
    """One item of the canonical memory. `item` is None when its words were erased; place and line hash stay."""

    proposal: str
    event_id: str
    item: Mapping[str, Any] | None
    place: int
    line_hash: str
    nonce: str
    event: str
    seq: int
    ts: str
    effect: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class KeyState:
    """What the record knows of a key: its last change, and behind which event that stands."""

    key_id: str
    change: str
    seq: int
    reason: str = ""


@dataclass(slots=True)
class ProposalState:
    """All of it, each in the order of the record; `refused` counts refusals by code."""

    store_id: str
    documents: dict[str, Proposal] = field(default_factory=dict)
    applied: list[Applied] = field(default_factory=list)
    keys: dict[str, KeyState] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    promoted: list[Mapping[str, Any]] = field(default_factory=list)
    through: Position | None = field(default=None, compare=False)  # how far the record was read

    def item(self, event_id: str) -> Applied | None:
        """Return the applied item of an id, None where there is none."""
        return next((one for one in self.applied if one.event_id == event_id), None)


def may_decide(state: str, word: str) -> bool:
    """Say whether a proposal in this state may be decided: once, and what was approved can still be revised."""
    return state == "proposed" or (state == "approved" and word == "revise")


def event_id_of(store_id: str, proposal: str) -> str:
    """Return the id of the item that a proposal becomes in a workspace."""
    return str(uuid5(NAMESPACE_URL, f"recall:{store_id}:{proposal}"))


def fold_proposals(log: Log) -> ProposalState:
    """Return what the record says of proposals, decisions and the canonical memory. Reads only."""
    return caught_up(log, None)


def caught_up(log: Log, state: ProposalState | None) -> ProposalState:
    """Return a state that was folded before, with what came since; folded anew where something was erased meanwhile."""
    end = log.head().position
    if state is not None and state.through is not None and state.through != end:
        state = _read_on(log, state, state.through, end)
    if state is None or state.through is None:
        state = ProposalState(log.workspace.id)
        for event in log.read(sieve=_SIEVE):
            if event.seq > end.seq:
                break
            take(state, event, _opened(log, event))
    state.through = end
    return state


def _read_on(log: Log, state: ProposalState, start: Position, end: Position) -> ProposalState | None:
    """Return the state with what stands behind a position, None where it cannot be trusted any more."""
    with contextlib.suppress(RecordError):  # an old record was put back
        for event in log.read(start, sieve=_SINCE):
            if event.seq > end.seq:
                break
            if event.type == "redaction":
                return None
            take(state, event, _opened(log, event))
        return state
    return None


def _opened(log: Log, event: Event) -> Mapping[str, Any]:
    """Return an event's body with its long texts opened, which only contents and effects have: looking costs time."""
    body = event.body
    document = body.get("document")
    long = "effect" in body or (isinstance(document, dict) and "content" in document.get("action", ()))
    return log.body(event) if long or any(map(is_reference, body.values())) else body


def take(state: ProposalState, event: Event, body: Mapping[str, Any]) -> None:
    """Fold one event, its body opened, into a state; the events come in the order of the record."""
    if event.type not in PROPOSAL_TYPES:
        return
    if not body:
        _erased(state, event)
    elif event.type == "proposal.proposed":
        _proposed(state, event, body)
    elif event.type == "proposal.key":
        state.keys[body["key_id"]] = KeyState(body["key_id"], body["change"], event.seq, body.get("reason", ""))
    elif event.type == "proposal.promoted":
        state.promoted.append(body)
    elif body.get("proposal_id") in state.documents:
        _changed(state, event, body)


def _proposed(state: ProposalState, event: Event, body: Mapping[str, Any]) -> None:
    name, document = body["proposal_id"], body["document"]
    state.documents.setdefault(
        name,
        Proposal(
            name,
            document,
            body["document_hash"],
            body["by"],
            event.id,
            event.seq,
            event.ts,
            bool(body.get("adopted")),
        ),
    )


def _changed(state: ProposalState, event: Event, body: Mapping[str, Any]) -> None:
    known = state.documents[body["proposal_id"]]
    if event.type == "proposal.decided":
        word = DECIDED.get(str(body["decision"].get("decision")))
        if word is not None and may_decide(known.state, str(body["decision"]["decision"])):
            stage = (word, body["decision"])
            known = replace(known, stages=(*known.stages, stage), decided_seq=event.seq)
    elif event.type == "proposal.timed_out":
        if known.state == "proposed":
            known = replace(known, stages=(*known.stages, ("timed_out", None)))
    elif event.type == "proposal.refused":
        state.refused[body["code"]] += 1
        known = replace(known, refused=(*known.refused, body["code"]))
        if known.state == "approved" and body["step"] == "apply" and body["code"] in RESETTING:
            known = replace(known, stages=(*known.stages, ("proposed", None)))
    elif event.type == "proposal.applied" and (known.state == "approved" or known.erased):
        known = replace(known, stages=(*known.stages, ("applied", known.decision)))
        item = body["item"]
        state.applied.append(
            Applied(
                known.id,
                item["event_id"],
                item,
                item["seq"],
                body["line_hash"],
                body["nonce"],
                event.id,
                event.seq,
                event.ts,
                body.get("effect"),
            )
        )
    state.documents[known.id] = known


def _erased(state: ProposalState, event: Event) -> None:
    """Keep what the envelope alone tells of an event whose words are gone."""
    name = str(event.native.get("id", ""))
    known = state.documents.get(name)
    if event.type == "proposal.proposed":
        known = Proposal(name, {}, "", "", event.id, event.seq, event.ts)
    if known is None or event.type not in ("proposal.proposed", "proposal.decided", "proposal.applied"):
        return
    if event.type == "proposal.applied":
        place, line_hash = int(event.native["part"]), str(event.native["version"])
        gone = Applied(
            name, event_id_of(state.store_id, name), None, place, line_hash, "", event.id, event.seq, event.ts
        )
        state.applied.append(gone)
        known = replace(known, stages=(*known.stages, ("applied", known.decision)))
    state.documents[name] = replace(known, document={}, erased=True)
