"""Builders of Claude Code transcript lines.

    session = ClaudeSession(cwd="/home/dev/shop")
    session.user("Which port?")
    session.assistant("8080.")
    session.write(home)          # -> <home>/.claude/projects/<slug>/<session id>.jsonl

Everything is derived from the seed, so that two builds give the same bytes.
"""

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 6, 15, 10, 0, tzinfo=UTC)


def made_uuid(*parts: object) -> str:
    """Return a UUID that depends on the parts alone."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, parts))))


def stamp(minutes: float = 0, start: datetime = START) -> str:
    """Return the time so many minutes after start, written as the client writes it."""
    return (start + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.") + "000Z"


def slug(cwd: str) -> str:
    """Return the name that the client gives the folder of a project."""
    return re.sub(r"[^a-zA-Z0-9]", "-", cwd)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "AAAA"}


def tool_use(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: str, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}


def image(data: str = "iVBORw0KGgo=", mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}


class ClaudeSession:
    """One session file in the making: each call adds one record behind the last and returns it.

    Every keyword of a call ends up in the record itself, so that `user("x", uuid="...", parentUuid=None)` or
    `assistant("x", message_id="msg_1")` build what the client really writes in odd cases.
    """

    def __init__(
        self,
        cwd: str = "/home/dev/shop",
        *,
        seed: str = "one",
        session: str | None = None,
        version: str = "2.1.197",
        branch: str = "main",
        start: datetime = START,
        agent: str | None = None,
    ) -> None:
        self.cwd, self.version, self.branch, self.start, self.agent = cwd, version, branch, start, agent
        self.seed = f"{seed}/{agent or ''}"
        self.session = session or made_uuid("session", seed)
        self.records: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self.last: str | None = None

    def record(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Add a record of any type with the fields that nearly all of them share."""
        n = len(self.lines)
        made: dict[str, Any] = {
            "parentUuid": self.last,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
            "type": kind,
            "uuid": made_uuid("record", self.seed, n),
            "timestamp": stamp(n, self.start),
        }
        if self.agent:
            made["agentId"] = self.agent
        made.update(fields)
        self.last = made["uuid"]
        return self.bare(made)

    def bare(self, made: dict[str, Any]) -> dict[str, Any]:
        """Add a record exactly as given (session metadata has no uuid and no parent)."""
        self.records.append(made)
        self.lines.append(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return made

    def raw(self, line: bytes) -> None:
        """Add a line that need not be a record."""
        self.lines.append(line)

    def user(self, content: Any, **fields: Any) -> dict[str, Any]:
        """Add what a person typed, or blocks as they are."""
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def assistant(
        self, *blocks: Any, message_id: str | None = None, model: str = "claude-opus-4-8", **fields: Any
    ) -> dict[str, Any]:
        """Add an assistant record; a bare string becomes a text block."""
        content = [text(block) if isinstance(block, str) else block for block in blocks]
        message = {
            "id": message_id or f"msg_{len(self.lines):04}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return self.record("assistant", message=message, **fields)

    def tool(self, call_id: str, name: str, arguments: dict[str, Any], output: Any, **fields: Any) -> None:
        """Add a tool call and its result."""
        self.assistant(tool_use(call_id, name, **arguments))
        self.user([tool_result(call_id, output)], toolUseResult={"stdout": output}, **fields)

    def attachment(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        return self.record("attachment", attachment={"type": kind, **fields})

    def compact(self, summary: str) -> None:
        """Add a compaction: the boundary, then the summary as the client writes it, a user record."""
        self.record(
            "system", subtype="compact_boundary", content="Conversation compacted", parentUuid=None,
            logicalParentUuid=self.last, compactMetadata={"trigger": "auto", "preTokens": 150_000},
        )  # fmt: skip
        self.user(
            "This session is being continued from a previous conversation that ran out of context. " + summary,
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )

    def to_bytes(self) -> bytes:
        """Return the file's bytes, every line ended."""
        return b"".join(line + b"\n" for line in self.lines)

    def path(self, config: Path) -> Path:
        """Return where the client keeps this file under its configuration folder."""
        folder = config / "projects" / slug(self.cwd)
        if self.agent:
            return folder / self.session / "subagents" / f"agent-{self.agent}.jsonl"
        return folder / f"{self.session}.jsonl"

    def write(self, config: Path) -> Path:
        """Write the file where the client would and return its path."""
        path = self.path(config)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.to_bytes())
        return path
