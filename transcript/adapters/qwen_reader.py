"""Reads one Qwen Code session and turns its records into events.

A record has a uuid and names its parent, as Claude Code's do; its message is made of parts, as Gemini's are. What was
typed is `systemPayload.displayText`; the parts beside it are what the client and its hooks put there.
"""

from typing import Any

from transcript.adapters.entries import Entry, EntryReader
from transcript.adapters.gemini_parts import Part, parts_of
from transcript.adapters.prompts import pieces
from transcript.adapters.values import Media, items_of, text_of, type_of

HARNESS = "qwen-code"
ADAPTER_VERSION = "1"

KNOWN_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_TAGS = {
    "qwen:user-prompt-submit-context": "hook_context",
    "hook_context": "hook_context",
    "session_context": "session_context",
    "system-reminder": "reminder",
}
_COUNTED = frozenset(
    {
        "ui_telemetry",
        "attribution_snapshot",
        "file_history_snapshot",
        "at_command",
        "custom_title",
        "session_artifact",
        "rewind",
    }
)
_TYPED_BY = frozenset({"", "real_user", "user"})
_SNAPSHOT = "<state_snapshot>"
_FAILED = frozenset({"error", "cancelled"})


class QwenReader(EntryReader):
    """Reads one source on."""

    harness = HARNESS
    adapter = ADAPTER_VERSION

    def record(self, fields: dict[str, Any]) -> None:
        """Take in one record."""
        kind = type_of(fields)
        self.counts.records[kind] += 1
        entry = self._entry(fields, kind)
        if kind == "user":
            self._user(entry, fields)
        elif kind == "assistant":
            self._assistant(entry, fields)
        elif kind == "tool_result":
            self._results(entry, fields)
        elif kind == "system":
            self._system(entry, fields)
        else:
            self.unknown(entry, kind, fields)
        self.join(entry, entry.native_id or entry.identity[0], entry.parent, linear=not entry.native_id)

    def _entry(self, fields: dict[str, Any], kind: str) -> Entry:
        kept = self.kept
        kept["session"] = kept["session"] or text_of(fields.get("sessionId"))
        for name, given in (("version", "version"), ("cwd", "cwd"), ("branch", "gitBranch")):
            kept[name] = text_of(fields.get(given)) or kept[name]
        uuid = text_of(fields.get("uuid"))
        identity = uuid or self.identified(kind, {name: fields[name] for name in fields if name != "timestamp"})
        worker = self.source.worker or (text_of(fields.get("agentId")) if fields.get("isSidechain") else "")
        return self.entry(
            (identity,),
            native_id=uuid,
            at=fields.get("timestamp"),
            parent=text_of(fields.get("parentUuid")),
            message=uuid if kind == "assistant" else "",
            model=text_of(fields.get("model")),
            worker=worker,
        )

    def _user(self, entry: Entry, fields: dict[str, Any]) -> None:
        payload = _mapping(fields.get("systemPayload"))
        shown = text_of(payload.get("displayText"))
        source = text_of(fields.get("provenance"))
        notice = text_of(fields.get("subtype")) or (source if source not in _TYPED_BY else "")
        said: list[tuple[int, str, str]] = []
        media: Media = []
        typed = False
        for at, part in enumerate(self._parts(fields)):
            if part.kind == "text":
                for subtype, text in pieces(part.text, _TAGS):
                    if notice:
                        subtype = subtype or notice
                    elif not subtype and shown and text != shown:
                        subtype = "context"
                    typed = typed or not subtype
                    said.append((at, subtype, text))
            elif part.kind == "media":
                media += part.media
            else:
                self._other(entry, part, at)
        if shown and not notice and not typed:  # the client put something else in the place of what was typed
            said.insert(0, (len(said), "", shown))
        self.user(entry, said, media)

    def _assistant(self, entry: Entry, fields: dict[str, Any]) -> None:
        for at, part in enumerate(self._parts(fields)):
            if part.kind == "text":
                self.reply(entry, part.text, at)
            elif part.kind == "thought":
                self.reasoning(entry, part.text, at)
            else:
                self._other(entry, part, at)

    def _results(self, entry: Entry, fields: dict[str, Any]) -> None:
        outcome = _mapping(fields.get("toolCallResult"))
        media = [medium for part in self._parts(fields) if part.kind == "media" for medium in part.media]
        for at, part in enumerate(self._parts(fields)):
            if part.kind == "result":
                failed = part.is_error or text_of(outcome.get("status")) in _FAILED
                call_id = part.id or text_of(outcome.get("callId"))
                self.result(entry, call_id, part.text, at, is_error=failed, media=[*part.media, *media])
                media = []
            elif part.kind != "media":
                self._other(entry, part, at)

    def _system(self, entry: Entry, fields: dict[str, Any]) -> None:
        subtype = text_of(fields.get("subtype"))
        self.counts.records[f"system/{subtype}"] += 1
        payload = _mapping(fields.get("systemPayload"))
        if subtype == "chat_compression":
            self.system(entry, "compact_boundary", "", compact=_mapping(payload.get("info")))
            for message in items_of(payload.get("compressedHistory")):
                self._snapshot(entry, _mapping(message))
        elif subtype == "slash_command":
            if payload.get("phase") != "result" and text_of(payload.get("rawCommand")):
                self.system(entry, "command", payload["rawCommand"])
        elif subtype not in _COUNTED:
            self.unknown(entry, f"system/{subtype}", fields)

    def _snapshot(self, entry: Entry, message: dict[str, Any]) -> None:
        """Add the summary that a compression left; the rest of its list repeats what was said."""
        for part in parts_of(message.get("parts")):
            if part.kind == "text" and part.text.lstrip().startswith(_SNAPSHOT):
                self.summary(entry, part.text, 1, "compact_summary")
                return

    def _other(self, entry: Entry, part: Part, at: int) -> None:
        """Add a part that may stand in a message of any kind."""
        if part.kind == "call":
            self.call(entry, part.name, part.id, part.arguments, at)
        elif part.kind == "result":
            self.result(entry, part.id, part.text, at, is_error=part.is_error, media=part.media)
        elif part.kind == "text":
            self.system(entry, "context", part.text, at)
        elif part.kind == "unknown":
            self.unknown(entry, f"part/{part.name}", part.raw, at)

    def _parts(self, fields: dict[str, Any]) -> list[Part]:
        return list(parts_of(_mapping(fields.get("message")).get("parts")))


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
