"""Builders of Qwen Code session files.

session = QwenSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.write(folder)      # -> <folder>/projects/-home-dev-shop/chats/<session id>.jsonl
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.claude import made_uuid, slug, stamp

if TYPE_CHECKING:
    from support.contract import Contract


def text(words: str) -> dict[str, Any]:
    return {"text": words}


class QwenSession:
    """One file in the making; every keyword of a call ends up in the record itself."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one", session: str = "") -> None:
        self.cwd, self.seed = cwd, seed
        self.session = session or made_uuid("qwen", seed)
        self.lines: list[bytes] = []
        self.last: str | None = None

    def record(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Add a record of any type behind the last one."""
        n = len(self.lines)
        made: dict[str, Any] = {
            "uuid": made_uuid(self.seed, n), "parentUuid": self.last, "sessionId": self.session,
            "timestamp": stamp(n), "type": kind, "cwd": self.cwd, "version": "0.24.4", "gitBranch": "main", **fields,
        }  # fmt: skip
        self.last = made["uuid"]
        self.lines.append(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return made

    def user(self, *parts: Any, **fields: Any) -> dict[str, Any]:
        content = [text(part) if isinstance(part, str) else part for part in parts]
        return self.record("user", message={"role": "user", "parts": content}, **fields)

    def assistant(self, *parts: Any, **fields: Any) -> dict[str, Any]:
        content = [text(part) if isinstance(part, str) else part for part in parts]
        return self.record("assistant", model="stub", message={"role": "model", "parts": content}, **fields)

    def tool(self, call_id: str, arguments: dict[str, Any], response: dict[str, Any], **outcome: Any) -> None:
        self.assistant({"functionCall": {"id": call_id, "name": "run_shell_command", "args": arguments}})
        part = {"functionResponse": {"id": call_id, "name": "run_shell_command", "response": response}}
        result = {"callId": call_id, "status": "success", **outcome}
        self.record("tool_result", message={"role": "user", "parts": [part]}, toolCallResult=result)

    def system(self, subtype: str, **payload: Any) -> dict[str, Any]:
        return self.record("system", subtype=subtype, systemPayload=payload)

    def write(self, folder: Path, *, worker: str = "") -> Path:
        """Write the file where the client would; `worker` is the id of a sub-agent of this session."""
        home = folder / "projects" / slug(self.cwd)
        path = home / "chats" / f"{self.session}.jsonl"
        if worker:
            path = home / "subagents" / self.session / f"agent-{worker}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in self.lines))
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Return the session that the contract of all adapters asks for."""
    from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract

    session = QwenSession(cwd=cwd, seed=cwd)
    injected = f"<qwen:user-prompt-submit-context>\n{BLOCK}\n</qwen:user-prompt-submit-context>"
    reminder = f"<system-reminder>{ENVELOPE}</system-reminder>"
    native = [session.user(PROMPT, injected, reminder, systemPayload={"displayText": PROMPT})["uuid"]]
    call = {"functionCall": {"id": "c1", "name": TOOL, "args": {"path": "gate.toml"}}}
    native.append(session.assistant(call)["uuid"])
    answer = {"functionResponse": {"id": "c1", "name": TOOL, "response": {"output": RESULT}}}
    native.append(session.record("tool_result", message={"role": "user", "parts": [answer]})["uuid"])
    native.append(session.record("hologram")["uuid"])
    native.append(session.assistant(REPLY)["uuid"])
    return Contract(session.write(root / "qwen"), frozenset(native), "hologram@0.24.4")
