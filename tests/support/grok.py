"""Builders of Grok Build session folders.

session = GrokSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.write(folder)      # -> <folder>/<url-encoded cwd>/<session id>/chat_history.jsonl and what lies beside it
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from support.claude import START, made_uuid, stamp
from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract


def call(call_id: str, name: str = "run_terminal_command", **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": json.dumps(arguments)}


class GrokSession:
    """One folder in the making; each row that the client would show gets its update, a minute after the last."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one", **summary: Any) -> None:
        self.cwd = cwd
        self.session = made_uuid("grok", seed)
        self.summary = {
            "info": {"id": self.session, "cwd": cwd}, "created_at": stamp(), "generated_title": "Ports",
            "chat_format_version": 1, "head_branch": "main", **summary,
        }  # fmt: skip
        self.lines: list[bytes] = []
        self.updates: list[dict[str, Any]] = []
        self.points: list[dict[str, Any]] = []
        self.prompts = 0
        self.minutes = 0

    def row(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Add a row exactly as given."""
        made = {"type": kind, **fields}
        self.lines.append(json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return made

    def update(self, kind: str, /, *, meta: dict[str, Any] | None = None, **fields: Any) -> None:
        """Add an update of the stream."""
        self.minutes += 1
        ms = int((START.timestamp() + 60 * self.minutes) * 1000)
        event = f"{self.session}-{len(self.updates)}"
        self.updates.append(
            {
                "timestamp": ms // 1000 + 500,
                "method": "session/update",
                "params": {
                    "sessionId": self.session,
                    "update": {"sessionUpdate": kind, **fields},
                    "_meta": {"eventId": event, "agentTimestampMs": ms, **(meta or {})},
                },
            }
        )

    def user(self, words: str, *, wrapped: bool = True, **fields: Any) -> dict[str, Any]:
        """Add a prompt."""
        number, self.prompts = self.prompts, self.prompts + 1
        self.update("user_message_chunk", content={"type": "text", "text": words}, _meta={"promptIndex": number})
        self.points.append({"prompt_index": number, "created_at": stamp(self.minutes)})
        text = f"<user_query>\n{words}\n</user_query>" if wrapped else words
        return self.row("user", content=[{"type": "text", "text": text}], prompt_index=number, **fields)

    def assistant(self, words: str = "", *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Add an answer, its text in two chunks of one stream."""
        stream = {"promptId": str(self.prompts), "streamStartMs": self.minutes}
        for chunk in (words[:3], words[3:]) if words else ():
            self.update("agent_message_chunk", content={"type": "text", "text": chunk}, meta=stream)
        for made in calls:
            self.update("tool_call", toolCallId=made["id"], title=made["name"])
        made = {"content": words, "model_id": "grok-4.5", **fields}
        return self.row("assistant", **made, **({"tool_calls": list(calls)} if calls else {}))

    def result(self, call_id: str, output: str) -> dict[str, Any]:
        self.update("tool_call_update", toolCallId=call_id, status="in_progress")
        self.update("tool_call_update", toolCallId=call_id, status="completed")
        return self.row("tool_result", tool_call_id=call_id, content=output)

    def fork(self, seed: str) -> "GrokSession":
        """Return a session that goes on from this one in a folder of its own, as the client forks."""
        made = GrokSession(
            self.cwd, seed=seed, parent_session_id=self.session, session_kind="fork", forked_at=stamp(self.minutes)
        )
        made.lines, made.updates = list(self.lines), list(self.updates)
        made.prompts, made.minutes = self.prompts, self.minutes
        return made

    def folder(self, sessions: Path) -> Path:
        return sessions / quote(self.cwd, safe="") / self.session

    def write(self, sessions: Path, *, updates: bool = True) -> Path:
        """Write the folder where the client would and return the path of its history."""
        folder = self.folder(sessions)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.json").write_text(json.dumps(self.summary))
        if updates:
            (folder / "updates.jsonl").write_text("".join(json.dumps(item) + "\n" for item in self.updates))
        (folder / "rewind_points.jsonl").write_text("".join(json.dumps(item) + "\n" for item in self.points))
        path = folder / "chat_history.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in self.lines))
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write a session as the contract of all adapters wants it."""
    session = GrokSession(cwd, seed=cwd)
    session.row("user", content=[{"type": "text", "text": f"<system-reminder>{ENVELOPE}</system-reminder>"}])
    session.row("user", content=[{"type": "text", "text": BLOCK}], synthetic_reason="hook_context")
    session.user(PROMPT)
    session.row("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "A port."}])
    session.assistant("", call("t1", TOOL, path="gate.toml"))
    session.result("t1", RESULT)
    session.row("hologram")
    session.assistant(REPLY)
    return Contract(session.write(root / "grok"), frozenset(), "hologram@chat-v1")
