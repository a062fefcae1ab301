"""Holds memory.yml, the proposals' files and their decisions against the record. Reads only: run it before settling."""

from collections.abc import Callable

from consolidation.approval import known_secrets, mac_holds, well_formed
from consolidation.coord_desk import CoordDesk, differing_field, standing_of
from consolidation.coord_refs import References, ends, lasting, state_of
from consolidation.coord_schema import Document, action_hash, proposal_hash
from transcript.errors import KeyFault
from transcript.projections import coord_files
from transcript.proposals import Applied, Proposal

Report = Callable[[str, str], None]


def verify(desk: CoordDesk, report: Report) -> None:
    """Report (code, where) for everything that is not as the record and the signatures say it must be.

    What each code means, and which of them are warnings, says `transcript.coord_codes`.
    """
    desk.forget_read()
    _files(desk, report)
    decisions(desk, report)
    _evidence(desk, report)


def _files(desk: CoordDesk, report: Report) -> None:
    """Report what is wrong with the files: unreadable ones, strange names, edits, and a memory.yml that differs."""
    found, state = desk.documents(), desk.state()
    for name, code, field in found.faults:
        report(code, f"{coord_files.PROPOSALS}/{name}" + (f" ({field})" if field else ""))
    for name, of in found.misnamed:
        report("misnamed", f"{coord_files.PROPOSALS}/{name} (proposal {of})")
    for name, held in sorted(found.by_id.items()):
        known = state.documents.get(name)
        where = f"{coord_files.PROPOSALS}/{held.name}"
        if known is None:
            report("coord_unmirrored", where)
        elif known.erased:
            report("erased", where)
        else:
            changed = differing_field(held.document.core(), Document(known.document).core())
            if changed:
                report("coord_edited", f"{where} ({changed})")
            standing = standing_of(held.document, known)
            if standing != "same":
                report("coord_behind" if standing == "behind" else "state_edited", f"{where} (state)")
    coord_files.check(desk.root, state, report, present=found.by_id)


def decisions(desk: CoordDesk, report: Report) -> None:
    """Report decisions that nobody signed with a key of ours, and items that no such decision stands behind.

    Each as `proposal ID`, a key that cannot be read as `key ID`: what it signed could not be checked.
    """
    state = desk.state()
    items = {one.proposal: one for one in state.applied}
    secrets, revoked, faults = known_secrets(desk.keys), desk.revoked(), set[str]()
    for known in state.documents.values():
        decision = known.decision
        if known.erased or decision is None:
            continue
        where = f"proposal {known.id}"
        name = str(decision.get("key_id"))
        secret = secrets(name)
        if secret is None:
            faults.add(name)
        elif not (well_formed(decision) and mac_holds(decision, secret) and _stands(known, items.get(known.id))):
            report("bad_mac", where)
        elif decision["store_id"] != desk.store_id:  # a record that was taken over into a workspace of its own
            report("other_store", where)
        elif name in revoked and known.state in ("approved", "applied"):
            report("revoked_key" if known.state == "applied" else "key_revoked", where)
    for name in sorted(faults):
        report(_code_of(desk, name), f"key {name}")


def _code_of(desk: CoordDesk, name: str) -> str:
    """Return why a key cannot be read."""
    try:
        desk.keys.by_id(name, even_revoked=True)
    except KeyFault as fault:
        return fault.code
    return "key_unknown"


def _stands(known: Proposal, applied: Applied | None) -> bool:
    """Say whether a decision is one on this document, and its item what it approved."""
    decision, document = known.decision or {}, Document(known.document)
    if decision["proposal_hash"] != proposal_hash(document):
        return False
    if decision["affected_action_hash"] != action_hash(document):
        return False
    if applied is None or applied.item is None:
        return known.state != "applied" or applied is not None
    item, action = applied.item, document.action
    hashes = {ref: decision["evidence_hashes"].get(ref) for ref in action["evidence_refs"]}
    signed = [decision["affected_action_hash"], decision["nonce"], hashes, action["summary"]]
    return decision["decision"] == "approve" and signed == [
        item["action_hash"],
        item["nonce"],
        item["evidence_hashes"],
        item["summary"],
    ]


def _evidence(desk: CoordDesk, report: Report) -> None:
    """Report items that still hold and whose evidence is gone or another."""
    state = desk.state()
    ended = ends(state)
    refs: References = desk.references()
    for one in state.applied:
        if one.item is None or one.event_id in ended:
            continue
        for ref, then in lasting(one.item).items():
            code = {"broken": "evidence_broken", "changed": "evidence_changed"}.get(state_of(then, refs.hash(ref)))
            if code:
                report(code, f"event {one.event_id} ({ref})")
