"""Turns the entries of a pi session file into events."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from transcript.adapters.entries import Entry, EntryReader
from transcript.adapters.prompts import pieces
from transcript.adapters.values import Media, Medium, blocks, inline, text_of, type_of

KNOWN = frozenset({"model_change", "thinking_level_change", "custom", "label", "session_info"})
_SUMMARIES = {"compactionSummary": "compact_summary", "branchSummary": "branch_summary"}
_HELD = ("text", "image")


class PiReader(EntryReader):
    """Reads one session file on; also those of harnesses that keep pi's format."""

    harness = "pi"
    tags: ClassVar[Mapping[str, str]] = {"skill": "skill", "file": "file"}

    def record(self, fields: dict[str, Any]) -> None:
        """Take in one entry."""
        kind = type_of(fields)
        self.counts.records[kind] += 1
        if kind == "session":
            self._header(fields)
            return
        place, entry = self._entry(fields)
        if kind == "message":
            self._message(entry, fields)
        elif kind == "custom_message":
            self._injected(entry, fields)
        elif kind == "compaction":
            more = {"first_kept": fields["firstKeptEntryId"]} if text_of(fields.get("firstKeptEntryId")) else {}
            self.system(entry, "compact_boundary", "", 0, **more)
            self.summary(entry, text_of(fields.get("summary")), 1, "compact_summary")
        elif kind == "branch_summary":
            self.summary(entry, text_of(fields.get("summary")), 0, "branch_summary")
        elif kind not in KNOWN:
            self.unknown(entry, kind, fields)
        parent = text_of(fields.get("parentId"))
        old = not text_of(fields.get("id"))
        self.join(entry, place, self.kept.get("alias", {}).get(parent, parent), linear=old)

    def _header(self, fields: dict[str, Any]) -> None:
        """Take in the first line; a version it does not name is 1."""
        kept = self.kept
        kept["session"] = kept["session"] or text_of(fields.get("id"))
        kept["cwd"] = text_of(fields.get("cwd"))
        kept["version"] = str(fields.get("version") or 1)

    def _entry(self, fields: dict[str, Any]) -> tuple[str, Entry]:
        """Return the place of an entry in the tree, and the entry.

        pi gives a version 1 file ids when it opens it again: an entry that the file held without one stays what it was.
        """
        kept = self.kept
        native_id, at = text_of(fields.get("id")), fields.get("timestamp")
        said = [at, fields.get("message") or {name: fields[name] for name in ("summary",) if name in fields}]
        identity: tuple[str, ...]
        if not native_id:
            place = self.identified(type_of(fields), said, scope=self.harness)
            identity = (place,)
        else:
            place, identity = native_id, (native_id, text_of(at))
            if kept["gone"] and (before := self._before(fields, said)):
                place, identity = before, (before,)
                kept.setdefault("alias", {})[native_id] = before
        message: Any = fields.get("message")
        message = message if isinstance(message, dict) else {}
        entry = self.entry(
            identity, native_id=native_id, at=at if isinstance(at, str) else message.get("timestamp"),
            parent=text_of(fields.get("parentId")),
        )  # fmt: skip
        if message.get("role") == "assistant":
            entry.message = native_id or place
            entry.model = text_of(message.get("model"))
        return place, entry

    def _before(self, fields: dict[str, Any], said: object) -> str:
        """Return the place that an entry had when the file gave it no id, "" for a new one."""
        place = self.options.identify(self.harness, type_of(fields), said, 0)
        if place not in self.kept["gone"]:
            return ""
        return self.identified(type_of(fields), said, scope=self.harness)

    def _message(self, entry: Entry, fields: dict[str, Any]) -> None:
        message = fields.get("message")
        if not isinstance(message, dict):
            self.unknown(entry, f"message/{type(message).__name__}", fields)
            return
        role = message.get("role")
        if role == "user":
            self._user(entry, message)
        elif role == "assistant":
            self._assistant(entry, message)
        elif role == "toolResult":
            text, media = self._content(entry, message.get("content"))
            failed = message.get("isError") is True
            self.result(entry, text_of(message.get("toolCallId")), text, 0, is_error=failed, media=media)
        elif role == "bashExecution":
            self._bash(entry, message)
        elif role in ("custom", "hookMessage"):
            self._injected(entry, message)
        elif isinstance(role, str) and role in _SUMMARIES:
            self.summary(entry, text_of(message.get("summary")), 0, _SUMMARIES[role])
        else:
            self.unknown(entry, f"message/{role if isinstance(role, str) else type(role).__name__}", fields)

    def _user(self, entry: Entry, message: dict[str, Any]) -> None:
        said: list[tuple[int, str, str]] = []
        media: Media = []
        for part, block in enumerate(blocks(message.get("content"))):
            if block.get("type") == "text":
                said += [(part, *piece) for piece in pieces(text_of(block.get("text")), self.tags)]
            elif (medium := _medium(block)) is not None:
                media.append(medium)
            else:
                self._odd_block(entry, "user", block, part)
        self.user(entry, said, media)

    def _assistant(self, entry: Entry, message: dict[str, Any]) -> None:
        part = -1
        for part, block in enumerate(blocks(message.get("content"))):
            kind = block.get("type")
            if kind == "text":
                self.reply(entry, text_of(block.get("text")), part)
            elif kind == "thinking":
                self.reasoning(entry, "" if block.get("redacted") else text_of(block.get("thinking")), part)
            elif kind == "toolCall":
                self.call(
                    entry, text_of(block.get("name")), text_of(block.get("id")), block.get("arguments"), part
                )  # fmt: skip
            else:
                self._odd_block(entry, "assistant", block, part)
        if text_of(message.get("errorMessage")):
            subtype = "interrupted" if message.get("stopReason") == "aborted" else "api_error"
            self.system(entry, subtype, message["errorMessage"], part + 1, "error")

    def _bash(self, entry: Entry, message: dict[str, Any]) -> None:
        """Take in a command that the person ran: the model saw it, nobody said it."""
        code = message.get("exitCode")
        more = {"exit_code": code} if isinstance(code, int) else {}
        self.system(
            entry, "bash_execution", f"$ {text_of(message.get('command'))}\n{text_of(message.get('output'))}", **more
        )

    def _injected(self, entry: Entry, message: dict[str, Any]) -> None:
        """Take in what an extension put before the model."""
        text, media = self._content(entry, message.get("content"))
        self.counts.notes["client text: custom_message"] += 1
        more = {"custom_type": message["customType"]} if text_of(message.get("customType")) else {}
        self.emit(entry, "system", {"subtype": "custom_message", "text": text, **more}, 0, media=media)

    def _content(self, entry: Entry, content: Any) -> tuple[str, Media]:
        """Return the text and media of a message; blocks nobody knows stand in the text as JSON and are counted."""
        texts: list[str] = []
        media: Media = []
        for block in blocks(content):
            if block.get("type") == "text":
                texts.append(text_of(block.get("text")))
            elif (medium := _medium(block)) is not None:
                media.append(medium)
            else:
                if text_of(block.get("type")) not in _HELD:
                    self.counts.unknown[f"content/{type_of(block)}@{entry.version}"] += 1
                texts.append(json.dumps(block, ensure_ascii=False))
        return "\n".join(texts), media

    def _odd_block(self, entry: Entry, role: str, block: dict[str, Any], part: int) -> None:
        self.unknown(entry, f"{role}/{type_of(block)}", block, part)


def _medium(block: dict[str, Any]) -> Medium | None:
    """Return (bytes, type) of an image block."""
    return inline(block.get("data"), block.get("mimeType")) if block.get("type") == "image" else None
