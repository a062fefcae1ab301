"""A person's decision on a proposal: what was shown, byte for byte, is what is signed and recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from consolidation.approval import sign
from consolidation.coord_desk import CoordDesk, differing_field, readable, standing_of
from consolidation.coord_refs import Evidence, action_fault
from consolidation.coord_schema import CANON_VERSION, Document, action_hash, proposal_hash
from transcript import proposal_drafts
from transcript.coord_codes import Refusal
from transcript.errors import CoordError
from transcript.event import stamp
from transcript.projections import coord_files
from transcript.proposals import DECIDED, may_decide

__all__ = ["Decided", "Evidence", "Shown", "decide", "show", "shown"]

MOST_RATIONALE = 2000


class Named(Protocol):
    """Who decides: a person whom the command line has asked on a terminal."""

    @property
    def name(self) -> str:
        """The name that is signed."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person is asked about: the document as its file held it, its hashes, and every piece of its evidence.

    `target` is what the action changes as it stands now, None where that has no words of its own. `evidence_hashes` are
    what is signed of all that.
    """

    document: Document
    raw: bytes = field(repr=False)
    action_hash: str
    proposal_hash: str
    evidence: tuple[Evidence, ...]
    target: Evidence | None = None
    evidence_hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decided proposal, and the new one where it was revised."""

    document: Document
    new: Document | None = None


def show(desk: CoordDesk, name: str) -> Shown:
    """Return what a person is to be shown of a proposal; CoordError when there is no such file or it is not whole."""
    desk.forget_read()
    held = desk.held(name)
    return shown(desk, held.document, held.raw)


def shown(desk: CoordDesk, document: Document, raw: bytes | None = None) -> Shown:
    """Return what a person is to be shown of a document; without raw, of one that is not written yet."""
    refs = desk.references()
    return Shown(
        document,
        coord_files.document_bytes(document.raw) if raw is None else raw,
        action_hash(document),
        proposal_hash(document),
        tuple(refs.evidence(ref) for ref in document.evidence_refs),
        refs.changes(document.target),
        refs.signed(document.action),
    )


def decide(
    desk: CoordDesk,
    shown: Shown,
    word: str,
    *,
    person: Named,
    rationale: str,
    revised: Mapping[str, Any] | None = None,
) -> Decided:
    """Sign and record a decision on what was shown; `word` is approve, decline or revise (with the revised action).

    CoordError, with nothing decided, when the file or its evidence is not what was shown any more, when it was decided
    before, or when there is no safe key. The attempt is recorded.
    """
    if word not in DECIDED or (word == "revise") != (revised is not None):
        raise ValueError("a decision is approve, decline, or revise with the revised action")
    rationale = rationale.strip()
    if not rationale or len(rationale) > MOST_RATIONALE or not person.name.strip():
        raise CoordError("schema", "rationale", f"a decision has an actor and 1 to {MOST_RATIONALE} characters of why")
    with desk.lock():
        desk.settle()
        fault = _fault(desk, shown, word)
        if fault is not None:
            desk.append(proposal_drafts.refused(stamp(desk.now), shown.document.id, fault.code, fault.field, "decide"))
            raise fault.error()
        return _decided(desk, shown, word, person.name.strip(), rationale, revised)


def _decided(
    desk: CoordDesk, shown: Shown, word: str, actor: str, rationale: str, revised: Mapping[str, Any] | None
) -> Decided:
    new = None
    if revised is not None:
        task = str(shown.document.raw["source_task"])
        new = desk.drafted(revised, source_task=task, revises=shown.document.id)
    decision = sign(
        {
            "canon_version": CANON_VERSION,
            "store_id": desk.store_id,
            "proposal_id": shown.document.id,
            "proposal_hash": shown.proposal_hash,
            "affected_action_hash": shown.action_hash,
            "evidence_hashes": dict(shown.evidence_hashes),
            "decision": word,
            "actor": actor,
            "timestamp": stamp(desk.now),
            "rationale": rationale,
            "nonce": desk.random(16).hex(),
            "expires_at": stamp(desk.now + timedelta(days=desk.settings.expires_days)),
        },
        desk.keys.current(),
    )
    document = shown.document.with_state(DECIDED[word], decision)
    readable(document)
    drafts = [proposal_drafts.decided(stamp(desk.now), shown.document.raw, decision)]
    if new is not None:
        desk.write(new)
        drafts.insert(0, desk.proposed(new, by=actor))
    desk.append(*drafts)
    desk.write(document)
    return Decided(document, new)


def _fault(desk: CoordDesk, shown: Shown, word: str) -> Refusal | None:
    """Return why this decision cannot be recorded as things stand under the lock, None when it can."""
    try:
        held = desk.held(shown.document.id)
        key = desk.keys.current()
    except CoordError as fault:
        return Refusal(fault.code, fault.field)
    if key.id in desk.revoked():
        return Refusal("key_revoked", key.id)
    known = desk.state().documents[held.document.id]
    if known.erased:
        return Refusal("erased")
    if not may_decide(known.state, word):
        return Refusal("decided_already", "state")
    if held.raw != shown.raw:
        return Refusal("changed_since_shown", differing_field(held.document.raw, shown.document.raw) or "document")
    if standing_of(held.document, known) != "same":
        return Refusal("state_edited", "state")
    if proposal_hash(held.document) != known.document_hash:
        changed = differing_field(held.document.core(), Document(known.document).core())
        return Refusal("document_changed", changed, "a proposal never changes; restore its file, or write a new one")
    refs = desk.references()
    for ref, now in refs.signed(held.document.action).items():
        if shown.evidence_hashes.get(ref) != now:
            return Refusal("changed_since_shown", ref)
    if refs.changes(held.document.target) != shown.target:
        return Refusal("changed_since_shown", "action.target_ref")
    return action_fault(held.document.action, refs) if word == "approve" else None
