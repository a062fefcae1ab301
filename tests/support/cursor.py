"""Builders of Cursor agent transcripts.

session = CursorSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.write(projects)    # -> <projects>/home-dev-shop/agent-transcripts/<uuid>/<uuid>.jsonl
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from support.claude import START, made_uuid
from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_use(name: str = "Shell", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": arguments}


class CursorSession:
    """One transcript in the making."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one") -> None:
        self.cwd = cwd
        self.session = made_uuid("cursor", seed)
        self.records: list[dict[str, Any]] = []
        self.lines: list[bytes] = []

    def record(self, made: dict[str, Any]) -> None:
        """Add a record exactly as given."""
        self.records.append(made)
        self.lines.append(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    def message(self, role: str, *blocks: Any) -> None:
        content = [text(block) if isinstance(block, str) else block for block in blocks]
        self.record({"role": role, "message": {"content": content}})

    def user(self, words: str, *, wrapped: bool = True) -> None:
        self.message("user", f"<user_query>\n{words}\n</user_query>" if wrapped else words)

    def assistant(self, *blocks: Any) -> None:
        self.message("assistant", *blocks)

    def project(self, projects: Path) -> Path:
        return projects / re.sub(r"[^A-Za-z0-9]+", "-", self.cwd).strip("-")

    def path(self, projects: Path, *, worker: str = "", flat: bool = False, suffix: str = ".jsonl") -> Path:
        folder = self.project(projects) / "agent-transcripts"
        if worker:
            return folder / self.session / "subagents" / f"{worker}{suffix}"
        return folder / f"{self.session}{suffix}" if flat else folder / self.session / f"{self.session}{suffix}"

    def trust(self, projects: Path) -> None:
        """Write what the client keeps once a person trusts the folder."""
        folder = self.project(projects)
        folder.mkdir(parents=True, exist_ok=True)
        trusted = {"trustedAt": "2026-06-15T10:00:00.000Z", "workspacePath": self.cwd}
        (folder / ".workspace-trusted").write_text(json.dumps(trusted))

    def write(self, projects: Path, *, trusted: bool = True, minutes: float = 0, **where: Any) -> Path:
        """Write the transcript where the client would, with a fixed time, and return its path."""
        path = self.path(projects, **where)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in self.lines))
        os.utime(path, (START.timestamp() + 60 * minutes,) * 2)
        if trusted:
            self.trust(projects)
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write a session as the contract of all adapters wants it."""
    session = CursorSession(cwd, seed=cwd)
    session.message(
        "user", f"{BLOCK}\n<system_reminder>{ENVELOPE}</system_reminder>\n<user_query>\n{PROMPT}\n</user_query>"
    )
    session.assistant(tool_use(TOOL, path="gate.toml"))
    session.message("user", {"type": "tool_result", "content": RESULT})
    session.record({"type": "hologram"})
    session.assistant(REPLY)
    return Contract(session.write(root / "cursor"), frozenset(), "hologram@")
