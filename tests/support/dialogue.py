"""Builds a record of talk, calls and results, one session after the other, for what reads whole sessions."""

from pathlib import Path
from typing import Any

from support.record import NOW, make_draft, make_workspace
from transcript.event import Draft
from transcript.log import Log


class Dialogue:
    """Collects drafts; `log` writes them. Each session has a minute of its own."""

    def __init__(self, session: str = "s1") -> None:
        self.session = session
        self.drafts: list[Draft] = []
        self._calls = 0

    def begin(self, session: str) -> "Dialogue":
        """Go on in another session."""
        self.session = session
        return self

    def prompt(self, text: str, **body: Any) -> str:
        """Add what a person types; return the event's id."""
        return self._add("conversation_turn", {"kind": "prompt", "text": text, **body})

    def reply(self, text: str, **body: Any) -> str:
        """Add what the agent says."""
        return self._add("conversation_turn", {"kind": "reply", "text": text, **body}, actor="assistant")

    def edit(self, path: str, **body: Any) -> str:
        """Add an edit of a file that succeeds."""
        return self.call("Edit", {"file_path": path, "new_string": "x"}, "done", **body)

    def bash(self, command: str, output: str = "ok", *, fails: bool = False, **body: Any) -> str:
        """Add a command and what came of it; return the id of the call."""
        return self.call("Bash", {"command": command}, output, fails=fails, **body)

    def call(self, tool: str, given: Any, output: str, *, fails: bool = False, **body: Any) -> str:
        """Add a tool call and its result; return the id of the call."""
        self._calls += 1
        name = f"call-{self._calls}"
        made = self._add("tool_call", {"tool": tool, "call_id": name, "input": given, **body}, actor="assistant")
        self._add("tool_result", {"call_id": name, "text": output, "is_error": fails, **body}, actor="tool")
        return made

    def event(self, kind: str, body: dict[str, Any], **fields: Any) -> str:
        """Add an event of any kind."""
        return self._add(kind, body, **fields)

    def curated(self, draft: Draft) -> str:
        """Add a draft that a builder made."""
        self.drafts.append(draft)
        return draft.id

    def _add(self, kind: str, body: dict[str, Any], **fields: Any) -> str:
        number = len(self.drafts)
        stamp = f"2026-03-01T{10 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        draft = make_draft(f"{self.session}/{number}", kind, session=self.session, ts=stamp, body={}, **fields)
        draft.body.clear()
        draft.body.update(body)
        self.drafts.append(draft)
        return draft.id

    def log(self, folder: Path) -> Log:
        """Return a fresh record with all of it."""
        log = Log(make_workspace(folder))
        log.append(self.drafts, now=NOW)
        return log
