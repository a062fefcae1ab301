"""Sessions that start, as each harness tells it, and what they are told."""

import json
from typing import Any

from recall import ledger
from recall.contracts import CONTRACTS
from recall.resident import Resident
from support.hooks import project
from support.payloads import raw
from transcript.log import Log
from transcript.workspace import Workspace

ANSWERED = [name for name, contract in CONTRACTS.items() if "SessionStart" in contract.answers]
WITH_PROMPT = [name for name, contract in CONTRACTS.items() if contract.opens_with_prompt]


def start(harness: str = "claude-code", source: str = "startup", **more: Any) -> bytes:
    """Return the payload of a session that starts in the project."""
    cwd = {"workspace_roots": [str(project())]} if harness == "cursor" else {"cwd": str(project())}
    return raw(harness, "SessionStart", **cwd, **({"source": source} if harness != "cursor" else {}), **more)


def ask(resident: Resident, payload: bytes, harness: str = "claude-code") -> str:
    """Return the told block, whatever the shape of the answer; what follows the answer happens too."""
    reply = resident.respond(harness, payload, 60)
    if reply.afterwards is not None:
        reply.afterwards(True)
    return block_of(reply.output)


def block_of(output: bytes) -> str:
    """Return the block in an answer, "" for none."""
    if not output:
        return ""
    found = json.loads(output)
    inner = found.get("hookSpecificOutput", found)
    return str(inner.get("additionalContext") or inner["additional_context"])


def told_rows(workspace: Workspace) -> list[dict[str, Any]]:
    """Return the ledger's rows of starts, the first first."""
    return [event.body for event in ledger.turns(Log(workspace), modes=(ledger.START_MODE,))][::-1]
