"""Applies approved proposals: everything a decision covers is held against what stands there, then one item is added.

The record is written first, in one batch with the effect's events: that is the moment from which it holds. Everything
behind it may be done again, and `CoordDesk.settle` does what a crash left.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from consolidation.approval import mac_holds, well_formed
from consolidation.coord_desk import CoordDesk, differing_field
from consolidation.coord_effects_port import NO_EFFECTS, Effects
from consolidation.coord_refs import References, action_fault
from consolidation.coord_schema import SCHEMA_VERSION, Document, action_hash, proposal_hash
from transcript import proposal_drafts
from transcript.coord_codes import Refusal, refused
from transcript.errors import KeyFault
from transcript.event import moment, stamp
from transcript.projections import coord_lines
from transcript.proposals import RESETTING, Proposal, event_id_of

__all__ = ["NO_EFFECTS", "Effects", "Outcome", "Refusal", "apply", "check", "expirable", "expire"]

ALREADY = "already applied"
MOST_AHEAD = timedelta(minutes=5)  # by which clocks that wrote and read a decision may differ


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of applying: the proposal's state, the item's id, whether the memory changed, and why not."""

    state: str
    event_id: str = ""
    changed: bool = False
    code: str = ""
    field: str = ""
    note: str = ""


def check(
    desk: CoordDesk, document: Document, effects: Effects = NO_EFFECTS, *, refs: References | None = None
) -> Refusal | None:
    """Return why a document cannot be applied now, None when it can. Reads only; run it under the desk's lock.

    `refs` may be shared by several documents that are looked at one after another.
    """
    known = desk.state().documents.get(document.id)
    if known is None or known.erased:
        return Refusal("no_proposal" if known is None else "erased")
    if known.state != "approved":
        ended = f"it is {known.state}; write a new proposal" if known.state != "proposed" else ""
        return Refusal("not_approved", "state", ended)
    if document.state != "approved":
        return Refusal("state_edited", "state")
    if not document.evidence_refs:
        return Refusal("no_evidence", "action.evidence_refs")
    refs = refs or desk.references()
    return (
        decision_fault(desk, document, known)
        or _in_time(desk, document)
        or _evidence_fault(document, refs)
        or _used(desk, document)
        or action_fault(document.action, refs)
        or memory_fault(desk)
        or effects.check(document.action)
    )


def decision_fault(desk: CoordDesk, document: Document, known: Proposal) -> Refusal | None:
    """Return why a document and its decision are not what a person signed here, None when they are."""
    mirrored = known.decision or {}
    first = Document(known.document)
    if not _same(action_hash(document), mirrored.get("affected_action_hash")):
        return Refusal("action_changed", differing_field(document.action, first.action, "action") or "action")
    if not _same(proposal_hash(document), mirrored.get("proposal_hash")):
        return Refusal("document_changed", differing_field(document.core(), first.core()) or "document")
    decision = document.decision
    if decision is None or not well_formed(decision):
        return Refusal("decision_fields", "decision")
    if decision["store_id"] != desk.store_id:
        return Refusal("other_store", "decision.store_id")
    try:
        key = desk.key(decision["key_id"])
    except KeyFault as fault:
        return Refusal(fault.code, fault.field or "decision.key_id")
    if not mac_holds(decision, key.secret):
        return Refusal("bad_mac", "decision.mac")
    if decision != mirrored:  # both hold texts alone
        return Refusal("decision_changed", "decision." + differing_field(decision, mirrored))
    return _key_fault(desk, key.id, known)


def _same(found: str, signed: object) -> bool:
    return isinstance(signed, str) and hmac.compare_digest(found.encode(), signed.encode("utf-8", "surrogatepass"))


def _key_fault(desk: CoordDesk, name: str, known: Proposal) -> Refusal | None:
    """Return why a key's decisions do not hold: it was revoked, or replaced before this one was made."""
    if name in desk.revoked():
        return Refusal("key_revoked", name)
    change = desk.state().keys.get(name)
    late = change is not None and change.change == "rotated" and known.decided_seq > change.seq
    return Refusal("key_rotated", name) if late else None


def _in_time(desk: CoordDesk, document: Document) -> Refusal | None:
    decision = document.decision or {}
    if desk.now >= moment(decision["expires_at"]):
        return Refusal("expired", "decision.expires_at")
    ahead = moment(decision["timestamp"]) - desk.now > MOST_AHEAD  # else a clock set back would revive what has run out
    return Refusal("bad_time", "decision.timestamp") if ahead else None


def _evidence_fault(document: Document, refs: References) -> Refusal | None:
    signed: Mapping[str, str] = (document.decision or {})["evidence_hashes"]
    changed = (ref for ref, now in refs.signed(document.action).items() if signed.get(ref) != now)
    ref = next(changed, None)
    return None if ref is None else Refusal("evidence_changed", ref)


def _used(desk: CoordDesk, document: Document) -> Refusal | None:
    return Refusal("used", "decision.nonce") if (document.decision or {})["nonce"] in desk.used() else None


def memory_fault(desk: CoordDesk) -> Refusal | None:
    """Return why nothing can be appended to memory.yml, None when it is what the record says or a beginning of it."""
    code, where = desk.memory_fault()
    if code in ("", "coord_missing", "coord_behind"):
        return None
    return Refusal("memory_edited" if code == "coord_edited" else code, where)


def apply(desk: CoordDesk, name: str, effects: Effects = NO_EFFECTS) -> Outcome:
    """Apply an approved proposal; what differs from what was approved is refused, recorded, and waits again.

    CoordError when there is no such proposal; a second time it changes nothing and says `already applied`.
    """
    with desk.lock():
        desk.settle(effects)
        done = next((one for one in desk.state().applied if one.proposal == name), None)
        if done is not None:
            return Outcome("applied", done.event_id, note=ALREADY)
        document = desk.held(name).document
        fault = check(desk, document, effects)
        if fault is not None:
            return _refused(desk, document, fault)
        return _applied(desk, document, effects)


def _refused(desk: CoordDesk, document: Document, fault: Refusal) -> Outcome:
    nonce = str((document.decision or {}).get("nonce", ""))[:64]
    before = desk.state().documents[document.id].state
    draft = proposal_drafts.refused(stamp(desk.now), document.id, fault.code, fault.field, "apply", nonce=nonce)
    desk.append(draft)
    state = desk.state().documents[document.id].state
    if before == "approved" and fault.code in RESETTING:
        desk.write(document.with_state(state, None))
    return Outcome(state, code=fault.code, field=fault.field, note=fault.message)


def _applied(desk: CoordDesk, document: Document, effects: Effects) -> Outcome:
    item = _item(desk, document)
    decision = document.decision or {}
    drafts, effect = effects.drafts(document.action, item, decision, item["applied_at"])
    line = coord_lines.line(item)
    applied = proposal_drafts.applied(
        item["applied_at"], document.id, item["nonce"], item, coord_lines.line_hash(line), effect
    )
    desk.append(applied, *drafts)
    desk.keys.burn(desk.store_id, item["nonce"])
    desk.add_line(line)
    if effect is not None:
        desk.land(effects, document.id, effect)
    desk.write(document.with_state("applied", decision))
    return Outcome("applied", item["event_id"], changed=True)


def _item(desk: CoordDesk, document: Document) -> dict[str, Any]:
    """Return the item that a proposal becomes: its kind and links follow from operation and target."""
    action, decision = document.action, document.decision or {}
    before = desk.state().applied
    target = desk.references().target(document.target) if document.target else None
    made: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "event_id": event_id_of(desk.store_id, document.id),
        "seq": len(before) + 1,
        "prev": before[-1].line_hash if before else coord_lines.NO_LINE,
        "kind": str(action.get("kind", "decision")),
        "summary": action["summary"],
        **({"subject": action["subject"]} if "subject" in action else {}),
        "source_task": document.raw["source_task"],
        "evidence_refs": list(document.evidence_refs),
        "evidence_hashes": {ref: decision["evidence_hashes"][ref] for ref in document.evidence_refs},
        "proposal_id": document.id,
        "action_hash": action_hash(document),
        "nonce": decision["nonce"],
        "actor": decision["actor"],
        "approved_at": decision["timestamp"],
        "applied_at": stamp(desk.now),
    }
    if target is None:
        return made
    if target.scheme != "event":  # a memory, a procedure, a pack: the item tells what came of it
        return {**made, "kind": "outcome", "target_ref": target.ref}
    if document.operation == "add":
        return {**made, "kind": "resolution", "resolves": target.ref}
    if document.operation == "supersede":
        return {**made, "kind": target.kind, "supersedes": target.ref}
    word = {"archive": "archived", "delete": "deleted"}[document.operation]
    return {**made, "kind": "lifecycle", "target_ref": target.ref, "lifecycle": word}


def expirable(desk: CoordDesk, days: int) -> list[str]:
    """Return the ids of proposals that have waited for a decision for longer than days."""
    last = desk.now - timedelta(days=days)
    waiting = [one for one in desk.state().documents.values() if one.state == "proposed" and not one.erased]
    return [one.id for one in waiting if min(moment(one.ts), moment(str(one.document["created_at"]))) < last]


def expire(desk: CoordDesk, days: int) -> tuple[str, ...]:
    """Time out the proposals that have waited for longer than days; return their ids."""
    if days < 1:
        raise refused("schema", "older-than")
    with desk.lock():
        desk.settle()
        found = expirable(desk, days)
        if found:
            desk.append(*(proposal_drafts.timed_out(stamp(desk.now), name, days) for name in found))
        for name in found:
            held = desk.documents().by_id.get(name)
            if held is not None:
                desk.write(held.document.with_state("timed_out", None))
        return tuple(found)
