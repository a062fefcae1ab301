"""Turns the events of a Copilot CLI session into events of the record.

`user.message` holds what was typed (`content`) and what the model was sent (`transformedContent`: with reminders and
what hooks injected): only the first is a turn. A tool call stands in the message that asks for it and again when it
starts. A sub-agent's events stand among the session's and name the call that began it.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from transcript.adapters.copilot_types import COUNTED
from transcript.adapters.entries import Entry, EntryReader
from transcript.adapters.prompts import pieces
from transcript.adapters.values import text_of, type_of

# What the client says of itself: (kind, the fields that may hold its text).
_SAYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "session.error": ("api_error", ("message",)),
    "session.info": ("informational", ("message",)),
    "session.warning": ("informational", ("message",)),
    "session.handoff": ("handoff", ("summary", "context")),
    "session.task_complete": ("task_complete", ("summary",)),
    "session.custom_notification": ("notification", ("message", "content")),
    "system.notification": ("notification", ("content", "message")),
    "skill.invoked": ("skill", ("content",)),
    "subagent.failed": ("subagent_failed", ("error",)),
    "abort": ("interrupted", ("reason",)),
}
_HOOK_TEXTS = ("additionalContext", "modifiedTransformedPrompt", "modifiedPrompt")
_TYPED = ("", "user")


class CopilotReader(EntryReader):
    """Reads one session file on."""

    harness = "copilot-cli"
    tags: ClassVar[Mapping[str, str]] = {
        "system_reminder": "reminder",
        "system-reminder": "reminder",
        "system_notification": "notification",
        "current_datetime": "context",
        "skill-context": "skill",
    }

    def record(self, fields: dict[str, Any]) -> None:
        """Take in one event."""
        kind = type_of(fields)
        self.counts.records[kind] += 1
        data: Any = fields.get("data")
        data = data if isinstance(data, dict) else {}
        if kind in ("session.start", "session.resume", "session.context_changed"):
            self._context(data)
        entry = self._entry(fields, data, kind)
        reads: dict[str, Callable[[Entry, dict[str, Any]], None]] = {
            "user.message": self._user,
            "assistant.message": self._assistant,
            "assistant.reasoning": self._reasoning,
            "tool.user_requested": self._call,
            "tool.execution_start": self._call,
            "tool.execution_complete": self._result,
            "hook.end": self._hook,
            "session.compaction_complete": self._compacted,
            "session.snapshot_rewind": self._rewind,
            "subagent.started": self._worker,
        }
        if kind in reads:
            reads[kind](entry, data)
        elif kind in _SAYS:
            subtype, names = _SAYS[kind]
            self.system(entry, subtype, next((shown for name in names if (shown := _shown(data.get(name)))), ""))
        elif kind not in COUNTED and not kind.startswith(("session.start", "session.resume", "session.context_")):
            self.unknown(entry, kind, fields)
        self.join(entry, entry.identity[0])

    def _context(self, data: dict[str, Any]) -> None:
        """Note session, folder, branch and version from here on."""
        kept = self.kept
        kept["session"] = kept["session"] or text_of(data.get("sessionId"))
        kept["version"] = text_of(data.get("copilotVersion")) or kept["version"]
        context = data.get("context") if isinstance(data.get("context"), dict) else data
        if isinstance(context, dict) and text_of(context.get("cwd")):
            kept["cwd"], kept["branch"] = context["cwd"], text_of(context.get("branch"))

    def _entry(self, fields: dict[str, Any], data: dict[str, Any], kind: str) -> Entry:
        native_id = text_of(fields.get("id"))
        worker = text_of(fields.get("agentId")) or text_of(data.get("parentToolCallId"))
        entry = self.entry(
            (native_id or self.identified(kind, fields),), native_id=native_id, at=fields.get("timestamp"),
            parent=text_of(fields.get("parentId")), worker=worker,
        )  # fmt: skip
        if worker:
            entry.flags.append("sidechain")
            named = self.kept.get("workers", {}).get(worker)
            entry.extra = {"worker_type": named} if named else {}
        if kind.startswith("assistant."):
            entry.message = text_of(data.get("messageId")) or native_id
            entry.model = text_of(data.get("model"))
        return entry

    # -- what was said -----------------------------------------------------------------------

    def _user(self, entry: Entry, data: dict[str, Any]) -> None:
        typed, sent = text_of(data.get("content")), text_of(data.get("transformedContent"))
        source = text_of(data.get("source"))
        if source.lower() in _TYPED:
            self.user(entry, [(0, *piece) for piece in pieces(typed, self.tags)], [])
        else:
            subtype = "skill" if source.startswith("skill") else "injected"
            self.system(entry, subtype, typed, 0, source=source)
        if sent and sent != typed:
            self.system(entry, "transformed_prompt", sent, 1)

    def _assistant(self, entry: Entry, data: dict[str, Any]) -> None:
        thought = text_of(data.get("reasoningText"))
        if thought or any(data.get(name) for name in ("reasoningOpaque", "encryptedContent")):
            self._thought(entry, thought, 0)
        if text_of(data.get("content")):
            self.reply(entry, data["content"], 1)
        asked = data.get("toolRequests")
        for at, request in enumerate(asked if isinstance(asked, list) else []):
            if not isinstance(request, dict):
                self.unknown(entry, f"assistant.message/{type(request).__name__}", request, 2 + at)
                continue
            self._called(entry, request, text_of(request.get("name")), 2 + at)

    def _reasoning(self, entry: Entry, data: dict[str, Any]) -> None:
        self._thought(entry, text_of(data.get("content")), 0)

    def _thought(self, entry: Entry, text: str, part: int) -> None:
        """Take reasoning in once: it may stand in an event of its own and again in the message."""
        last = self.options.identify(self.session, "reasoning", text, 0)
        if not text or self.kept.get("thought") != last:
            self.reasoning(entry, text, part)
        self.kept["thought"] = last

    def _called(self, entry: Entry, data: dict[str, Any], name: str, part: int) -> None:
        call_id = text_of(data.get("toolCallId"))
        calls: dict[str, int] = self.kept.setdefault("calls", {})
        if call_id and call_id in calls:
            self.counts.notes["repeated tool call"] += 1
            return
        calls[call_id] = 1
        self.call(entry, name, call_id, data.get("arguments"), part)

    def _call(self, entry: Entry, data: dict[str, Any]) -> None:
        self._called(entry, data, text_of(data.get("toolName")), 0)

    def _result(self, entry: Entry, data: dict[str, Any]) -> None:
        result: Any = data.get("result")
        text = _shown(result.get("content")) if isinstance(result, dict) else _shown(result)
        failed = data.get("success") is False
        if failed and not text:
            error = data.get("error")
            text = _shown(error.get("message")) if isinstance(error, dict) else _shown(error)
        self.result(entry, text_of(data.get("toolCallId")), text, 0, is_error=failed)

    # -- what the client did -----------------------------------------------------------------

    def _hook(self, entry: Entry, data: dict[str, Any]) -> None:
        """Keep what a hook answered: it goes to the model, nobody said it."""
        output: Any = data.get("output")
        if isinstance(output, dict):
            text = next((output[name] for name in _HOOK_TEXTS if text_of(output.get(name))), "") or _shown(output)
        else:
            text = _shown(output)
        text = text or _shown(data.get("error"))
        if text:
            self.system(entry, "hook_output", text, 0, hook=text_of(data.get("hookType")))

    def _compacted(self, entry: Entry, data: dict[str, Any]) -> None:
        if data.get("success") is False:
            self.system(entry, "compact_failed", _shown(data.get("error")))
            return
        self.system(entry, "compact_boundary", "")
        if text_of(data.get("summaryContent")):
            self.summary(entry, data["summaryContent"], 1, "compact_summary")

    def _rewind(self, entry: Entry, data: dict[str, Any]) -> None:
        """Leave behind what stood from the named event on: the next event follows the one before it."""
        self.system(entry, "rewind", "")
        place = self.memory.places.get(text_of(data.get("upToEventId")))
        if place is not None:
            self.kept["last"] = self.memory.nodes[place - 1][0] if place else ""

    def _worker(self, entry: Entry, data: dict[str, Any]) -> None:
        """Note what kind of sub-agent a call began."""
        name, call_id = text_of(data.get("agentName")), text_of(data.get("toolCallId"))
        if name and call_id:
            self.kept.setdefault("workers", {})[call_id] = name


def _shown(value: Any) -> str:
    """Return a value as text: as it is, the texts of its blocks, else JSON; "" of nothing."""
    if isinstance(value, str):
        return value
    if not value:
        return ""
    if isinstance(value, list) and all(isinstance(item, dict) and "text" in item for item in value):
        return "\n".join(_shown(item["text"]) for item in value)
    return json.dumps(value, ensure_ascii=False)
