"""Builders of Cline sessions: of the command line, and tasks of the editor extension.

session = ClineSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.write(folder)      # -> <folder>/<id>/<id>.messages.json, or session.task(folder)
"""

import json
from pathlib import Path
from typing import Any

from support.claude import START
from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract
from transcript.canonical import sha256_hex

BEGAN = int(START.timestamp() * 1000)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_use(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def tool_result(call_id: str, *results: str, success: bool = True) -> dict[str, Any]:
    content = [{"query": "q", "result": result, "success": success} for result in results]
    return {"type": "tool_result", "tool_use_id": call_id, "name": "run_commands", "content": content}


class ClineSession:
    """One session in the making."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one", version: str = "3.0.65") -> None:
        self.cwd, self.seed, self.version = cwd, seed, version
        self.id = f"{BEGAN}_{sha256_hex(seed.encode())[:5]}"
        self.messages: list[dict[str, Any]] = []

    def message(self, role: str, *blocks: Any, **fields: Any) -> dict[str, Any]:
        number = len(self.messages)
        made = {
            "id": f"msg_{sha256_hex(f'{self.seed}/{number}'.encode())[:8]}",
            "role": role,
            "content": [text(block) if isinstance(block, str) else block for block in blocks],
            "ts": BEGAN + 60_000 * number,
            **fields,
        }
        self.messages.append(made)
        return made

    def user(self, *blocks: Any, **fields: Any) -> dict[str, Any]:
        """Add what was typed: bare strings are wrapped as the client wraps them."""
        wrapped = [f'<user_input mode="act">{b}</user_input>' if isinstance(b, str) else b for b in blocks]
        return self.message("user", *wrapped, **fields)

    def assistant(self, *blocks: Any, **fields: Any) -> dict[str, Any]:
        fields = {"modelInfo": {"id": "stub"}, "metrics": {"inputTokens": 1}, **fields}
        return self.message("assistant", *blocks, **fields)

    def write(self, folder: Path) -> Path:
        """Write the session as the command line does and return the file of its messages."""
        path = folder / self.id / f"{self.id}.messages.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        origin = {"source": "cli", "sessionId": self.id, "version": self.version}
        document = {"version": 1, "agent": "lead", "sessionId": self.id, "origin": origin, "messages": self.messages}
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
        about = {"session_id": self.id, "started_at": "2026-06-15T10:00:00.000Z", "cwd": self.cwd}
        path.with_name(f"{self.id}.json").write_text(json.dumps(about), encoding="utf-8")
        return path

    def task(self, folder: Path, *, shown: list[dict[str, Any]] | None = None) -> Path:
        """Write the session as the extension keeps a task: without ids and times, the times beside it."""
        path = folder / str(BEGAN) / "api_conversation_history.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        messages = [{"role": m["role"], "content": m["content"]} for m in self.messages]
        path.write_text(json.dumps(messages), encoding="utf-8")
        if shown is not None:
            path.with_name("ui_messages.json").write_text(json.dumps(shown), encoding="utf-8")
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write the session of the contract, as the command line does."""
    session = ClineSession(cwd, seed=cwd)
    native = [session.user(PROMPT)]
    native.append(session.assistant(tool_use("t1", TOOL, path="gate.toml")))
    native.append(session.message("user", tool_result("t1", RESULT)))
    hook = f'<hook_context source="PreToolUse">\n{BLOCK}\n</hook_context>'
    native.append(session.message("user", hook, metadata={"displayRole": "system"}))
    native.append(session.message("user", f"<environment_details>{ENVELOPE}</environment_details>"))
    native.append(session.assistant({"type": "hologram"}, REPLY))
    ids = frozenset(message["id"] for message in native)
    return Contract(session.write(root / "cline"), ids, "assistant/hologram@3.0.65")
