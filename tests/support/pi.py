"""Builders of pi session files, versions 1 to 3.

session = PiSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.write(folder)      # -> <folder>/--home-dev-shop--/<time>_<session id>.jsonl
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from support.claude import START, made_uuid, stamp


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "thinkingSignature": "sig"}


def tool_call(call_id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


class PiSession:
    """One file in the making; every keyword of a call ends up in the entry itself."""

    def __init__(
        self, cwd: str = "/home/dev/shop", *, seed: str = "one", version: int = 3, parent: str | None = None
    ) -> None:
        self.cwd, self.seed, self.version = cwd, seed, version
        self.session = made_uuid("pi", seed)
        self.last: str | None = None
        header: dict[str, Any] = {"type": "session", "id": self.session, "timestamp": stamp(), "cwd": cwd}
        if version > 1:
            header["version"] = version
        if parent:
            header["parentSession"] = parent
        self.entries: list[dict[str, Any]] = [header]
        self.lines: list[bytes] = [json.dumps(header).encode()]

    def entry(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Add an entry of any type behind the last one."""
        n = len(self.lines)
        made: dict[str, Any] = {"type": kind, "timestamp": stamp(n)}
        if self.version > 1:
            made["id"] = hashlib.sha256(f"{self.seed}/{n}".encode()).hexdigest()[:8]
            made["parentId"] = self.last
        made.update(fields)
        self.last = made.get("id")
        return self.bare(made)

    def bare(self, made: dict[str, Any]) -> dict[str, Any]:
        """Add an entry exactly as given."""
        self.entries.append(made)
        self.lines.append(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return made

    def message(self, role: str, /, *, entry: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """Add a message of any role; `entry` holds fields of the entry around it."""
        at = int((START.timestamp() + 60 * len(self.lines)) * 1000)
        return self.entry("message", message={"role": role, **fields, "timestamp": at}, **(entry or {}))

    def user(self, *blocks: Any, **entry: Any) -> dict[str, Any]:
        return self.message("user", content=[text(b) if isinstance(b, str) else b for b in blocks], entry=entry)

    def assistant(self, *blocks: Any, entry: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        content = [text(b) if isinstance(b, str) else b for b in blocks]
        fields = {"model": "stub", "stopReason": "stop", **fields}
        return self.message("assistant", content=content, entry=entry, **fields)

    def result(self, call_id: str, output: str, *, is_error: bool = False) -> dict[str, Any]:
        return self.message(
            "toolResult", toolCallId=call_id, toolName="bash", content=[text(output)], isError=is_error
        )  # fmt: skip

    def raw(self, line: bytes) -> None:
        self.lines.append(line)

    def to_bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, folder: Path) -> Path:
        """Write the file where the client would under its sessions folder and return its path."""
        name = f"{stamp().replace(':', '-').replace('.', '-')}_{self.session}.jsonl"
        path = folder / f"--{self.cwd.strip('/').replace('/', '-')}--" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.to_bytes())
        return path
