"""A person's decision and its signature: an HMAC-SHA256 under a key that no event holds.

The signature covers what was decided, by whom, on which bytes and evidence, for which store and until when, so that it
can be moved to no other proposal, memory or project.
"""

import hmac
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from consolidation.coord_schema import CANON_VERSION
from consolidation.keys import Key, KeyStore
from transcript.canonical import canonical, sha256_hex
from transcript.errors import KeyFault
from transcript.event import moment
from transcript.workspace import Workspace

ALGORITHM = "hmac-sha256"
COVERED = (
    "canon_version",
    "store_id",
    "proposal_id",
    "proposal_hash",
    "affected_action_hash",
    "evidence_hashes",
    "decision",
    "actor",
    "timestamp",
    "rationale",
    "nonce",
    "expires_at",
)
DECISION = frozenset({*COVERED, "key_id", "authorization", "mac"})
_DOMAIN = b"recall-approval/1\n"
_MAC = re.compile("[0-9a-f]{64}")
_NONCE = re.compile("[0-9a-f]{32}")

Authorised = Callable[[Mapping[str, Any]], bool]
Secrets = Callable[[str], bytes | None]


def sign(fields: Mapping[str, Any], key: Key) -> dict[str, Any]:
    """Return the decision of these COVERED fields, signed; in the order the skill and the schema name them."""
    said = {"actor": "", "decision": "", "timestamp": "", "rationale": "", "affected_action_hash": ""}
    whole = {**said, "canon_version": CANON_VERSION, **fields, "key_id": key.id, "authorization": ALGORITHM}
    return {**whole, "mac": mac_of(whole, key.secret)}


def mac_of(body: Mapping[str, Any], secret: bytes) -> str:
    """Return the signature of a decision; KeyError when one of the covered fields is missing."""
    return hmac.new(secret, _DOMAIN + canonical({name: body[name] for name in COVERED}), sha256).hexdigest()


def mac_holds(body: Mapping[str, Any], secret: bytes) -> bool:
    """Say whether a decision was signed with this key; a signature of another length or alphabet is none."""
    mac = body.get("mac")
    return isinstance(mac, str) and _MAC.fullmatch(mac) is not None and hmac.compare_digest(mac_of(body, secret), mac)


def well_formed(decision: Mapping[str, Any]) -> bool:
    """Say whether a decision has exactly the fields it must have, each of its kind."""
    if decision.keys() != DECISION or decision["authorization"] != ALGORITHM:
        return False
    hashes = decision["evidence_hashes"]
    if not isinstance(hashes, dict) or not all(isinstance(value, str) for value in hashes.values()):
        return False
    if not all(isinstance(decision[name], str) for name in DECISION - {"evidence_hashes"}):
        return False
    if decision["canon_version"] != CANON_VERSION or decision["decision"] not in ("approve", "decline", "revise"):
        return False
    return _NONCE.fullmatch(decision["nonce"]) is not None and _in_time(decision) is not None


def _in_time(body: Mapping[str, Any]) -> bool | None:
    """Say whether a decision was made before it ran out; None where its moments are none."""
    try:
        return moment(str(body["timestamp"])) < moment(str(body["expires_at"]))
    except ValueError:
        return None


def authorised(body: Mapping[str, Any], secrets: Secrets, store_id: str) -> bool:
    """Say whether an approval of a memory holds: signed with a key of ours, for this memory and workspace, in time."""
    if any(name not in body for name in (*COVERED, "mac", "key_id", "action", "memory")):
        return False
    action = body["action"]
    if not isinstance(action, dict) or body["affected_action_hash"] != sha256_hex(canonical(action)):
        return False
    if (action.get("operation"), action.get("target_ref")) != ("add", f"memory:{body['memory']}"):
        return False
    if body["decision"] != "approve" or body["store_id"] != store_id or not _in_time(body):
        return False
    secret = secrets(str(body["key_id"]))
    return secret is not None and mac_holds(body, secret)


def for_workspace(workspace: Workspace) -> Authorised:
    """Return what says whether an approval holds in a workspace, under the keys of the data folder it lies in.

    What was applied before its key was revoked stays.
    """
    secrets = known_secrets(KeyStore(workspace.data))
    return lambda body: authorised(body, secrets, workspace.id)


def known_secrets(keys: KeyStore) -> Secrets:
    """Return the lookup of a key's secret by its id, each read once; None for a key that is not here or not safe."""
    held: dict[str, bytes | None] = {}

    def secret(name: str) -> bytes | None:
        if name not in held:
            try:
                held[name] = keys.by_id(name, even_revoked=True).secret
            except KeyFault:
                held[name] = None
        return held[name]

    return secret
