"""Builders of Gemini CLI sessions, as a document and as a journal.

talk = GeminiSession(cwd="/home/dev/shop")
talk.user("Which port?")
talk.model("8080.")
talk.write(home)                   # -> <home>/.gemini/tmp/<folder>/chats/session-<time>-<8 of the id>.jsonl
talk.write(home, journal=False)    # the same as one document, .json
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from support.claude import made_uuid, stamp


def text(words: str) -> dict[str, Any]:
    return {"text": words}


def project_hash(cwd: str) -> str:
    return hashlib.sha256(cwd.encode()).hexdigest()


class GeminiSession:
    """One session in the making: messages with their ids, and lines that change what stands before them."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one", kind: str = "main") -> None:
        self.cwd, self.seed = cwd, seed
        self.session = made_uuid("gemini", seed)
        self.header = {
            "sessionId": self.session, "projectHash": project_hash(cwd), "startTime": stamp(),
            "lastUpdated": stamp(), "kind": kind,
        }  # fmt: skip
        self.messages: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self.put(self.header)

    def put(self, fields: dict[str, Any]) -> dict[str, Any]:
        self.lines.append(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return fields

    def message(self, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
        n = len(self.lines)
        made = {"id": made_uuid(self.seed, n), "timestamp": stamp(n), "type": kind, "content": content, **fields}
        self.messages = [known for known in self.messages if known["id"] != made["id"]] + [made]
        self.put(made)
        return made

    def user(self, *parts: Any, **fields: Any) -> dict[str, Any]:
        content = [text(part) if isinstance(part, str) else part for part in parts]
        return self.message("user", content, **fields)

    def model(self, words: Any, **fields: Any) -> dict[str, Any]:
        return self.message("gemini", words, **{"model": "gemini-2.5-flash", "thoughts": [], **fields})

    def tool(self, call_id: str, arguments: dict[str, Any], output: str, **fields: Any) -> dict[str, Any]:
        """Add a call, then the same message again with its answer, as the client does."""
        answer = {"functionResponse": {"id": call_id, "name": "run_shell_command", "response": {"output": output}}}
        call = {"id": call_id, "name": "run_shell_command", "args": arguments, "status": "success", "result": [answer]}
        first = self.model("")
        made = self.model("", id=first["id"], toolCalls=[{**call, **fields}])
        self.user(answer)
        return made

    def change(self, **fields: Any) -> None:
        self.put({"$set": fields})

    def rewind(self, to: str) -> None:
        self.put({"$rewindTo": to})

    def document(self) -> bytes:
        return json.dumps({**self.header, "messages": self.messages}, indent=2).encode()

    def journal(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, home: Path, *, folder: str | None = None, journal: bool = True, under: str = "") -> Path:
        """Write the file where the client would; `under` is the parent's session of a sub-agent."""
        chats = home / ".gemini" / "tmp" / (folder or project_hash(self.cwd)) / "chats"
        name = f"session-2026-06-15T10-00-{self.session[:8]}" if not under else self.session
        path = chats / under / f"{name}.{'jsonl' if journal else 'json'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.journal() if journal else self.document())
        return path


def register(home: Path, **projects: str) -> None:
    """Write the client's map of projects: short name to folder."""
    (home / ".gemini").mkdir(exist_ok=True)
    entries = {path: name for name, path in projects.items()}
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": entries}))
