"""Turns the messages of Claude Code, block by block, into events."""

from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile
from transcript.adapters.claude_blocks import is_spilled, medium_of, output_of, read_spilled, worker_facts
from transcript.adapters.claude_envelopes import SUMMARY_HEAD, Envelope, envelope
from transcript.adapters.claude_output import Output
from transcript.adapters.claude_record import Record
from transcript.adapters.reasoning import is_kept
from transcript.adapters.tree_memory import Memory
from transcript.adapters.values import Media, media_entries, text_of
from transcript.canonical import canonical

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_MEDIA = ("image", "document")


class Messages:
    """Reads user and assistant records into an output."""

    def __init__(self, source: SourceFile, memory: Memory, options: Options, counts: Counts, out: Output) -> None:
        self._source, self._memory, self._options, self._counts, self._out = source, memory, options, counts, out
        self._facts: dict[str, str] | None = None

    def read(self, record: Record, fields: dict[str, Any]) -> None:
        """Emit the events of a record's message; `fields` says who wrote it and what it holds."""
        role = fields["type"]
        message = fields.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(message, dict) or not isinstance(content, list):
            self._unknown(record, f"{role}/content:{type(content).__name__}", fields, 0)
        elif role == "assistant":
            record.message = text_of(message.get("id"))
            record.model = text_of(message.get("model"))
            for part, block in enumerate(content):
                self._assistant_block(record, fields, part, block)
        else:
            self._user_blocks(record, fields, content)

    # -- what stands in a user record --------------------------------------------------------

    def _user_blocks(self, record: Record, fields: dict[str, Any], content: list[Any]) -> None:
        """Emit a user record's blocks; its images go with the first prompt in it, else with an event of their own."""
        waiting: Media = []
        for block in content:
            if isinstance(block, dict) and text_of(block.get("type")) in _MEDIA:
                medium = medium_of(block)
                if medium is None:
                    self._counts.notes[f"{block['type']} without data"] += 1
                else:
                    waiting.append(medium)
        for part, block in enumerate(content):
            kind = text_of(block.get("type")) if isinstance(block, dict) else None
            if kind == "text" and isinstance(block.get("text"), str):
                if self._user_text(record, fields, part, block["text"], waiting):
                    waiting = []
            elif kind == "tool_result":
                self._tool_result(record, part, block)
            elif kind not in _MEDIA:
                self._unknown_block(record, "user", part, block)
        if waiting:
            body = {"kind": "worker_prompt" if record.worker else "prompt", "text": "", "media": media_entries(waiting)}
            self._out.emit(record, "conversation_turn", body, len(content), actor=_speaker(record), media=waiting)

    def _user_text(self, record: Record, fields: dict[str, Any], part: int, text: str, media: Media) -> bool:
        """Emit a text of a user record; return whether it was a prompt, which takes the media with it."""
        if not text:
            self._counts.notes["empty text"] += 1
            return False
        if fields.get("isCompactSummary") or text.startswith(SUMMARY_HEAD):
            self._summary(record, part, text)
            return False
        found = _client_text(fields, text)
        if found is not None:
            self._counts.notes[f"client text: {found.subtype}"] += 1
            body: dict[str, Any] = {"subtype": found.subtype, "text": found.text}
            if found.end == len(text):
                self._out.emit(record, "system", body, part)
                return False
            self._out.emit(record, "system", body, part, "envelope")
            text = text[found.end :]
        if not record.worker:
            self._counts.notes["prompt"] += 1
            if "queued" not in record.flags:
                self._memory.end_messages()
        body = {"kind": "prompt", "text": text}
        if record.worker:
            body = {"kind": "worker_prompt", "text": text, **self._worker_facts()}
        if media:
            body["media"] = media_entries(media)
        self._out.emit(record, "conversation_turn", body, part, actor=_speaker(record), media=media)
        return True

    def _worker_facts(self) -> dict[str, str]:
        if not self._source.worker:
            return {}
        if self._facts is None:
            self._facts = worker_facts(self._source.path)
        return self._facts

    def _summary(self, record: Record, part: int, text: str) -> None:
        """Emit what a compaction left: a view on the turns before it, which all stay where they are."""
        record.flags.append("compact_summary")
        body: dict[str, Any] = {"kind": "summary", "text": text}
        if not record.worker and (covers := self._memory.covered()):
            body["covers"] = covers
        self._out.emit(record, "conversation_turn", body, part, actor="assistant")

    def _tool_result(self, record: Record, part: int, block: dict[str, Any]) -> None:
        content = output_of(block.get("content"))
        for name in content.unknown:
            self._counts.unknown[f"{name}@{record.version}"] += 1
        call_id = text_of(block.get("tool_use_id"))
        if call_id:
            record.tools.append(call_id)
        body: dict[str, Any] = {"call_id": call_id, "text": content.text}
        if is_spilled(content.text):
            whole = read_spilled(content.text, self._source.companion)
            self._counts.notes["spilled output" if whole is not None else "spilled output not at hand"] += 1
            if whole is not None:
                body.update(text=whole, stub=content.text)
        if block.get("is_error"):
            body["is_error"] = True
        if content.media:
            body["media"] = media_entries(content.media)
        self._out.emit(record, "tool_result", body, part, actor="tool", media=content.media)

    # -- what stands in an assistant record --------------------------------------------------

    def _assistant_block(self, record: Record, fields: dict[str, Any], part: int, block: Any) -> None:
        kind = text_of(block.get("type")) if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            self._assistant_text(record, fields, part, block["text"])
        elif kind in _CALLS and isinstance(block.get("id"), str):
            self._tool_call(record, part, block)
        elif kind in ("thinking", "redacted_thinking"):
            self._thinking(record, part, block)
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            self._tool_result(record, part, block)
        elif kind == "fallback":
            self._counts.notes["fallback"] += 1
        else:
            self._unknown_block(record, "assistant", part, block)

    def _assistant_text(self, record: Record, fields: dict[str, Any], part: int, text: str) -> None:
        if not text:
            self._counts.notes["empty text"] += 1
        elif fields.get("isApiErrorMessage"):
            record.flags.append("api_error")
            self._out.emit(record, "system", {"subtype": "api_error", "text": text}, part)
        elif record.model == "<synthetic>":
            record.flags.append("synthetic")
            self._out.emit(record, "system", {"subtype": "synthetic", "text": text}, part)
        else:
            if not record.worker:
                self._memory.kept["replies"] = True
            body = {"kind": "reply", "text": text}
            self._out.emit_block(record, "conversation_turn", body, part, family="text", said=text)

    def _tool_call(self, record: Record, part: int, block: dict[str, Any]) -> None:
        arguments = block.get("input")
        if not isinstance(arguments, dict):
            arguments = {} if arguments is None else {"": arguments}
        record.tools.append(block["id"])
        body = {"tool": text_of(block.get("name")), "call_id": block["id"], "input": arguments}
        said = canonical(arguments).decode("ascii")
        self._out.emit_block(record, "tool_call", body, part, family="tool", key=block["id"], said=said)

    def _thinking(self, record: Record, part: int, block: dict[str, Any]) -> None:
        text = text_of(block.get("thinking"))
        if is_kept(text, self._memory.kept, self._counts, wanted=self._options.reasoning):
            self._out.emit_block(record, "reasoning", {"text": text}, part, family="reasoning", said=text)

    # -- what nobody knows -------------------------------------------------------------------

    def _unknown_block(self, record: Record, role: str, part: int, block: Any) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        self._unknown(record, f"{role}/{kind if isinstance(kind, str) else type(block).__name__}", block, part)

    def _unknown(self, record: Record, name: str, raw: Any, part: int) -> None:
        self._counts.unknown[f"{name}@{record.version}"] += 1
        self._out.emit(record, "unknown", {"raw": raw}, part)


def _client_text(fields: dict[str, Any], text: str) -> Envelope | None:
    """Return what the client itself wrote at the head of a text, None for a person's words."""
    origin = fields.get("origin")
    if (isinstance(origin, dict) and origin.get("kind") == "task-notification") or fields.get(
        "promptSource"
    ) == "task-notification":
        return Envelope("task_notification", len(text), text)
    found = envelope(text)
    if fields.get("isMeta") and (found is None or found.end < len(text)):
        return Envelope(found.subtype if found else "meta", len(text), text)
    return found


def _speaker(record: Record) -> str:
    return "assistant" if record.worker else "user"
