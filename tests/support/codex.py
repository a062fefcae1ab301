"""Builders of Codex rollouts of every era.

rollout = Rollout(cwd="/home/dev/shop")
rollout.user("Which port?")            # in the forms of its era
rollout.assistant("8080.")
rollout.write(home)                    # -> <home>/sessions/YYYY/MM/DD/rollout-<time>-<session id>.jsonl
"""

import json
from pathlib import Path
from typing import Any

from support.claude import made_uuid, stamp

ERAS = ("bare", "events", "paginated", "items")


def session_id(seed: str, hour: int = 10) -> str:
    """Return a UUIDv7 of an hour: ids of later hours sort behind it."""
    return f"0198{hour:04x}-0000-7000-8000-{made_uuid(seed)[-12:]}"


def part(words: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": kind, "text": words}


class Rollout:
    """One file in the making. `bare`: no envelopes; `items`: response items alone; `paginated`: items completed."""

    def __init__(
        self,
        cwd: str = "/home/dev/shop",
        *,
        seed: str = "one",
        era: str = "events",
        hour: int = 10,
        version: str = "0.142.5",
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.cwd, self.seed, self.era, self.hour = cwd, seed, era, hour
        self.session = session_id(seed, hour)
        self.lines: list[bytes] = []
        self.second = 0.0
        if era == "bare":
            self.put({"id": self.session, "timestamp": self.time(), "instructions": None, "git": {"branch": "main"}})
            self.response("message", role="user", content=[part(f"<environment_context>\n  <cwd>{cwd}</cwd>\n")])
            return
        fields = {
            "id": self.session, "timestamp": self.time(), "cwd": cwd, "cli_version": version,
            "originator": "codex_cli_rs", "source": "cli", "git": {"branch": "main"}, **(meta or {}),
        }  # fmt: skip
        self.record("session_meta", fields)

    def time(self) -> str:
        return stamp((self.hour - 10) * 60 + self.second / 60)

    def put(self, fields: dict[str, Any]) -> dict[str, Any]:
        self.lines.append(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return fields

    def record(self, kind: str, payload: dict[str, Any], *, after: float = 5.0) -> dict[str, Any]:
        """Add an enveloped record so many seconds after the one before."""
        self.second += after
        return self.put({"timestamp": self.time(), "type": kind, "payload": payload})

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self.record("event_msg", {"type": kind, **fields})

    def response(self, kind: str, **fields: Any) -> dict[str, Any]:
        item = {"type": kind, **fields}
        return self.put(item) if self.era == "bare" else self.record("response_item", item)

    def turn(self, number: int = 1) -> None:
        """Start a turn as newer versions do."""
        turn = session_id(f"{self.seed}/turn/{number}", self.hour + number)
        self.event("task_started", turn_id=turn, model_context_window=1)
        self.record("turn_context", {"cwd": self.cwd, "model": "gpt-5-codex", "turn_id": turn})

    def user(self, words: str, **fields: Any) -> None:
        """Add a prompt in every form its era writes."""
        self.response("message", role="user", content=[part(words)])
        if self.era == "events":
            self.event("user_message", message=words, images=[], **fields)
        elif self.era == "paginated":
            item = {
                "type": "UserMessage",
                "id": made_uuid(self.seed, len(self.lines)),
                "content": [part(words, "text")],
            }
            self.event("item_completed", item=item)

    def assistant(self, words: str, **fields: Any) -> None:
        """Add an answer in every form its era writes."""
        if self.era == "events":
            self.event("agent_message", message=words, **fields)
        elif self.era == "paginated":
            item = {"type": "AgentMessage", "id": f"msg_{len(self.lines)}", "content": [part(words, "Text")]}
            self.event("item_completed", item=item)
        self.response("message", role="assistant", content=[part(words, "output_text")], **fields)

    def tool(self, call_id: str, arguments: dict[str, Any], output: Any, name: str = "exec_command") -> None:
        self.response("function_call", name=name, arguments=json.dumps(arguments), call_id=call_id)
        self.response("function_call_output", call_id=call_id, output=output)

    def copies(self, parent: "Rollout") -> None:
        """Repeat another rollout with new times, written in one go, as forks and sub-agents do."""
        for line in parent.lines:
            self.record(**_parts(json.loads(line)), after=0.001)

    def to_bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    @property
    def name(self) -> str:
        return f"rollout-2026-06-15T{self.hour:02}-00-00-{self.session}.jsonl"

    def write(self, home: Path, *, archived: bool = False, packed: bool = False) -> Path:
        """Write the file where the client would and return its path."""
        folder = home / "archived_sessions" if archived else home / "sessions" / "2026" / "06" / "15"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (self.name + (".zst" if packed else ""))
        data = self.to_bytes()
        if packed:
            import zstandard

            data = zstandard.ZstdCompressor().compress(data)
        path.write_bytes(data)
        return path


def _parts(fields: dict[str, Any]) -> dict[str, Any]:
    return {"kind": fields["type"], "payload": fields["payload"]}
