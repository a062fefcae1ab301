"""Whether a person's approval of a memory is authentic: an HMAC-SHA256 under a key that no event holds.

The signature covers what was approved, by whom, when and until when, and names the memory through the hash of the
action, so that it cannot be moved to another one.
"""

import hmac
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from transcript.canonical import canonical, sha256_hex
from transcript.event import moment
from transcript.workspace import Workspace

FOLDER, NAME = "keys", "approval.key"
LEAST_BYTES = 16
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
_DOMAIN = b"recall-approval/1\n"

Authorised = Callable[[Mapping[str, Any]], bool]


def approval_key(data: Path) -> bytes | None:
    """Return the key of a data folder, None where there is none or it is too short to be one."""
    try:
        key = (data / FOLDER / NAME).read_bytes().strip()
    except OSError:
        return None
    return key if len(key) >= LEAST_BYTES else None


def action_hash(memory: str) -> str:
    """Return the hash of what an approval of this memory lets be done."""
    return sha256_hex(canonical({"action": "approve", "memory": memory}))


def mac_of(body: Mapping[str, Any], key: bytes) -> str:
    """Return the signature of an approval; KeyError when one of the covered fields is missing."""
    return hmac.new(key, _DOMAIN + canonical({name: body[name] for name in COVERED}), sha256).hexdigest()


def authorised(body: Mapping[str, Any], key: bytes | None, store_id: str) -> bool:
    """Say whether an approval holds: signed with the key, for this memory and workspace, in time, and no refusal."""
    if key is None or any(name not in body for name in (*COVERED, "mac", "memory")):
        return False
    if body["decision"] != "approve" or body["store_id"] != store_id:
        return False
    if body["affected_action_hash"] != action_hash(str(body["memory"])):
        return False
    try:
        in_time = not body["expires_at"] or moment(str(body["timestamp"])) < moment(str(body["expires_at"]))
    except ValueError:
        return False
    return in_time and hmac.compare_digest(mac_of(body, key), str(body["mac"]))


def for_workspace(workspace: Workspace) -> Authorised:
    """Return what says whether an approval holds in a workspace, under the key of the data folder it lies in."""
    key = approval_key(workspace.home.parents[1])
    return lambda body: authorised(body, key, workspace.id)
