"""Builders of Copilot CLI session files.

session = CopilotSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.write(folder)      # -> <folder>/<session id>/events.jsonl
"""

import json
from pathlib import Path
from typing import Any

from support.claude import made_uuid, stamp


def request(call_id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"toolCallId": call_id, "name": name, "arguments": arguments, "type": "function"}


class CopilotSession:
    """One file in the making; `event` adds an event of any type behind the last one."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one", version: str = "1.0.102") -> None:
        self.cwd, self.seed = cwd, seed
        self.session = made_uuid("copilot", seed)
        self.last: str | None = None
        self.events: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self.event(
            "session.start", sessionId=self.session, version=1, copilotVersion=version,
            context={"cwd": cwd, "gitRoot": cwd, "branch": "main"},
        )  # fmt: skip

    def event(self, kind: str, /, *, around: dict[str, Any] | None = None, **data: Any) -> dict[str, Any]:
        """Add an event; `around` holds fields beside its data."""
        n = len(self.lines)
        made = {
            "type": kind, "data": data, "id": made_uuid("event", self.seed, n), "timestamp": stamp(n),
            "parentId": self.last, **(around or {}),
        }  # fmt: skip
        self.last = made["id"]
        self.events.append(made)
        self.lines.append(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return made

    def user(self, words: str, **data: Any) -> dict[str, Any]:
        return self.event("user.message", content=words, **data)

    def assistant(self, words: str = "", *requests: dict[str, Any], **data: Any) -> dict[str, Any]:
        data = {"messageId": made_uuid("message", self.seed, len(self.lines)), "model": "stub", **data}
        return self.event("assistant.message", content=words, toolRequests=list(requests), **data)

    def result(self, call_id: str, output: str, **data: Any) -> dict[str, Any]:
        data = {"success": True, "result": {"content": output}, **data}
        return self.event("tool.execution_complete", toolCallId=call_id, **data)

    def raw(self, line: bytes) -> None:
        self.lines.append(line)

    def to_bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, folder: Path, *, old: bool = False) -> Path:
        """Write the file where the client would (before: <session id>.jsonl) and return its path."""
        path = folder / f"{self.session}.jsonl" if old else folder / self.session / "events.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.to_bytes())
        return path
