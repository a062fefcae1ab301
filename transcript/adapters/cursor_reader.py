"""Turns the records of a Cursor transcript into events."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.cursor_view import VIEW, is_line
from transcript.adapters.entries import Entry, EntryReader
from transcript.adapters.prompts import asked
from transcript.adapters.values import blocks, moment, text_of, type_of
from transcript.canonical import b32id

COUNTED = frozenset({"turn_started", "turn_ended", "status"})
_CALL_ID_CHARACTERS = 12


class CursorReader(EntryReader):
    """Reads the view of one transcript on."""

    harness = "cursor"
    tags: ClassVar[Mapping[str, str]] = {
        "user_info": "context",
        "timestamp": "context",
        "external_links": "context",
        "attached_files": "context",
        "open_and_recently_viewed_files": "context",
        "git_status": "context",
        "rules": "context",
        "agent_skills": "skill",
        "manually_attached_skills": "skill",
        "cursor_commands": "command",
        "system_reminder": "reminder",
        "system-reminder": "reminder",
        "system_notification": "notification",
    }

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        super().__init__(source, memory, options)
        try:
            self._written = moment(source.path.stat().st_mtime)
        except OSError:
            self._written = ""
        self.kept.setdefault("waiting", [])

    def record(self, fields: dict[str, Any]) -> None:
        """Take in the head of the view, or one record."""
        if fields.get("view") == VIEW:
            self.kept["session"] = self.kept["session"] or text_of(fields.get("session"))
            self.kept["cwd"] = text_of(fields.get("cwd"))
            return
        kind = text_of(fields.get("role")) or type_of(fields)
        self.counts.records[kind] += 1
        if kind in COUNTED:
            return
        place = self.identified(kind, fields)
        entry = self.entry((place,), at=self._written)
        entry.ts_source = "file" if self._written else entry.ts_source
        if entry.worker:
            entry.flags.append("sidechain")
        if not is_line(fields):
            self.unknown(entry, kind, fields)
        elif kind == "user":
            self._user(entry, fields["message"])
        else:
            entry.message = place
            entry.model = text_of(fields["message"].get("model"))
            self._assistant(entry, fields["message"])
        self.join(entry, place)

    def _user(self, entry: Entry, message: dict[str, Any]) -> None:
        said: list[tuple[int, str, str]] = []
        for part, block in enumerate(blocks(message["content"])):
            kind = block.get("type")
            if kind == "text":
                said += [(part, *piece) for piece in asked(text_of(block.get("text")), self.tags)]
            elif kind == "tool_result":
                self._result(entry, block, part)
            elif kind == "image":
                self.counts.notes["image without data"] += 1
            else:
                self.unknown(entry, f"user/{type_of(block)}", block, part)
        self.user(entry, said, [])

    def _assistant(self, entry: Entry, message: dict[str, Any]) -> None:
        for part, block in enumerate(blocks(message["content"])):
            kind = block.get("type")
            if kind == "text":
                self.reply(entry, text_of(block.get("text")), part)
            elif kind == "tool_use":
                call_id = text_of(block.get("id")) or f"made-{b32id(*entry.identity, str(part))[:_CALL_ID_CHARACTERS]}"
                self.kept["waiting"].append(call_id)
                self.call(entry, text_of(block.get("name")), call_id, block.get("input"), part)
            elif kind == "tool_result":
                self._result(entry, block, part)
            elif kind in ("thinking", "redacted_thinking", "reasoning"):
                self.reasoning(entry, text_of(block.get("thinking")) or text_of(block.get("text")), part)
            else:
                self.unknown(entry, f"assistant/{type_of(block)}", block, part)

    def _result(self, entry: Entry, block: dict[str, Any], part: int) -> None:
        """Take in a tool's output; one that does not say whose it is belongs to the first call that waits."""
        waiting: list[str] = self.kept["waiting"]
        call_id = text_of(block.get("tool_use_id")) or (waiting[0] if waiting else "")
        if call_id in waiting:
            waiting.remove(call_id)
        content = block.get("content")
        texts = [
            text_of(item.get("text")) if item.get("type") == "text" else json.dumps(item, ensure_ascii=False)
            for item in blocks(content)
        ]
        self.result(entry, call_id, "\n".join(texts), part, is_error=block.get("is_error") is True)
