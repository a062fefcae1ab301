"""What an authorised removal of canonical items takes: only what no longer holds, and only by a retention decision."""

from collections.abc import Collection, Sequence

from consolidation.coord_desk import CoordDesk
from consolidation.coord_refs import ends
from transcript.coord_codes import Refusal
from transcript.event import PROPOSAL_TYPES, Event
from transcript.sieve import Sieve

SUBJECT = "retention"
_SIEVE = Sieve(types=(b'"type":"proposal.', b'"type":"memory.approved"'))


def purge_fault(desk: CoordDesk, events: Sequence[str], retention: str) -> Refusal | None:
    """Return why these items may not be erased: no retention decision that holds, or they hold themselves."""
    state = desk.state()
    ended = ends(state)
    decision = state.item(retention)
    item = decision.item if decision is not None else None
    holds = item is not None and retention not in ended and item["kind"] == "decision"
    if item is None or not holds or str(item.get("subject", "")).casefold() != SUBJECT:
        note = "removal needs a canonical decision with the subject `retention` that holds; propose one first"
        return Refusal("no_retention_decision", "retention", note)
    for name in events:
        applied = state.item(name)
        if applied is None:
            return Refusal("no_target", name, "the canonical memory has no item of this id; see recall coord read")
        if name not in ended and (applied.item or {}).get("kind") not in ("resolution", "lifecycle", None):
            return Refusal("still_holds", name, "it still holds; archive, delete or supersede it first")
    return None


def events_of(desk: CoordDesk, items: Collection[str]) -> set[str]:
    """Return the record's events that hold the words of these items: proposals, decisions and what came of them."""
    proposals = {one.proposal for one in desk.state().applied if one.event_id in items}
    return {event.id for event in desk.log.read(sieve=_SIEVE) if event.body and _proposal_of(event) in proposals}


def _proposal_of(event: Event) -> str:
    if event.type in PROPOSAL_TYPES:
        return str(event.native.get("id", ""))
    return str(event.body.get("proposal_id", "")) if event.type == "memory.approved" else ""
