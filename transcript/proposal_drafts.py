"""Builds the events of proposals, decisions and the canonical memory, one function a kind.

Each names its proposal in `native`, which outlives an erasure: so it is known afterwards whose words are gone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from transcript.canonical import b32id
from transcript.event import Draft

SESSION = "recall:coord"
ADAPTER = "coord"


def proposed(
    at: str,
    document: Mapping[str, Any],
    document_hash: str,
    *,
    by: str,
    adopted: bool = False,
    actor: str = "system",
) -> Draft:
    """Return that a proposal exists; one event for each id. `adopted`: it was found on disk, not written by us."""
    name = str(document["proposal_id"])
    body: dict[str, Any] = {"proposal_id": name, "document": dict(document), "document_hash": document_hash, "by": by}
    if document.get("revises"):
        body["revises"] = document["revises"]
    if adopted:
        body["adopted"] = True
    return _draft("proposal.proposed", at, name, body, name, actor=actor)


def decided(at: str, document: Mapping[str, Any], decision: Mapping[str, Any]) -> Draft:
    """Return a person's signed decision, with the document as it was shown."""
    name = str(document["proposal_id"])
    body = {"proposal_id": name, "decision": dict(decision), "document": dict(document)}
    return _draft("proposal.decided", at, name, body, name, str(decision["nonce"]), actor="human")


def timed_out(at: str, proposal: str, older_than_days: int) -> Draft:
    """Return that nobody decided a proposal in time."""
    body = {"proposal_id": proposal, "older_than_days": older_than_days}
    return _draft("proposal.timed_out", at, proposal, body, proposal)


def refused(at: str, proposal: str, code: str, field: str, step: str, *, nonce: str = "") -> Draft:
    """Return that a decision or an application was refused at `step` (decide, apply); every attempt counts."""
    body = {"proposal_id": proposal, "code": code, "field": field, "step": step, **({"nonce": nonce} if nonce else {})}
    return _draft("proposal.refused", at, proposal, body, proposal, code, field, step, at)


def applied(
    at: str,
    proposal: str,
    nonce: str,
    item: Mapping[str, Any],
    line_hash: str,
    effect: Mapping[str, Any] | None = None,
    *,
    actor: str = "system",
) -> Draft:
    """Return that an approved proposal became an item of the canonical memory: the moment from which it holds.

    The item's place and the hash of its line stand in `native` too: the chain needs them when its words are erased.
    """
    body: dict[str, Any] = {"proposal_id": proposal, "nonce": nonce, "item": dict(item), "line_hash": line_hash}
    if effect:
        body["effect"] = dict(effect)
    native = {"part": item["seq"], "version": line_hash}
    return _draft("proposal.applied", at, proposal, body, proposal, nonce, actor=actor, native=native)


def promoted(at: str, event_id: str, to: str, sha256: str, manifest: Mapping[str, Any]) -> Draft:
    """Return that one item was copied into a file of the repository."""
    body = {"event_id": event_id, "to": to, "sha256": sha256, "manifest": dict(manifest)}
    return _draft("proposal.promoted", at, event_id, body, event_id, to, sha256)


def purged(at: str, events: Sequence[str], retention: str) -> Draft:
    """Return that items were erased because a retention decision says so."""
    body = {"events": list(events), "retention": retention}
    return _draft("proposal.purged", at, retention, body, retention, *events)


def key_changed(at: str, key_id: str, change: str, *, reason: str = "") -> Draft:
    """Return that a key was created, rotated or revoked, as this record learned of it; never the key."""
    body = {"key_id": key_id, "change": change, **({"reason": reason} if reason else {})}
    return _draft("proposal.key", at, key_id, body, key_id, change)


def _draft(
    kind: str,
    at: str,
    subject: str,
    body: dict[str, Any],
    *parts: str,
    actor: str = "system",
    native: Mapping[str, Any] | None = None,
) -> Draft:
    return Draft(
        type=kind,
        id=b32id(kind, *parts),
        ts=at,
        ts_source="record",
        session=SESSION,
        agent="recall",
        actor=actor,
        origin="internal",
        native={"adapter": ADAPTER, "id": subject, **(native or {})},
        body=body,
    )
