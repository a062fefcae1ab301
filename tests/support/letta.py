"""Builders of Letta Code conversations: a pi session file with what the local backend keeps beside it."""

import base64
import json
from pathlib import Path
from typing import Any

from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract
from support.pi import PiSession, tool_call

REMINDER = "<system-reminder>\nThis is an automated message about the user's environment.\n</system-reminder>"


class LettaConversation(PiSession):
    """One conversation in the making; every prompt comes behind reminders, as the client sends it."""

    def __init__(self, cwd: str = "/home/dev/shop", *, number: int = 1, agent: str = "agent-local-1") -> None:
        super().__init__(cwd, seed=f"{agent}/{number}")
        self.agent, self.conversation = agent, f"local-conv-{number}"
        self.entries[0]["id"] = self.conversation
        self.lines[0] = json.dumps(self.entries[0]).encode()

    def message(self, role: str, /, *, entry: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        metadata = {"agent_id": self.agent, "conversation_id": self.conversation}
        return super().message(role, entry=entry, **{"id": f"ui-msg-{len(self.lines)}", "metadata": metadata, **fields})

    def folder(self, conversations: Path) -> Path:
        name = base64.urlsafe_b64encode(f"conversation:{self.conversation}".encode()).rstrip(b"=").decode()
        return conversations / name

    def write(self, conversations: Path) -> Path:
        """Write the folder where the backend would and return the path of its messages."""
        folder = self.folder(conversations)
        folder.mkdir(parents=True, exist_ok=True)
        manifest = {"schema_version": 2, "message_format": "pi-session-entry-jsonl", "provider_stack": "pi-ai"}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        (folder / "conversation.json").write_text(json.dumps({"id": self.conversation, "agent_id": self.agent}))
        path = folder / "messages.jsonl"
        path.write_bytes(self.to_bytes())
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write a conversation as the contract of all adapters wants it."""
    session = LettaConversation(cwd, agent=f"agent-{Path(cwd).name}")
    native = [session.user(f"<system-reminder>{ENVELOPE}</system-reminder>", f"{BLOCK}", PROMPT)]
    native.append(session.assistant(tool_call("t1", TOOL, path="gate.toml")))
    native.append(session.result("t1", RESULT))
    native.append(session.entry("hologram"))
    native.append(session.assistant(REPLY))
    path = session.write(root / "letta" / Path(cwd).name)
    return Contract(path, frozenset(item["id"] for item in native), "hologram@3")
