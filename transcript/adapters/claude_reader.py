"""Reads one Claude Code file line by line and turns its records into events.

The client writes one record per content block, repeats fields, copies history on resume, and mixes its own notices
with what people type. Events are one per block; their identity is the record's uuid and the block's place in it.
"""

from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.claude_blocks import joined
from transcript.adapters.claude_message import Messages
from transcript.adapters.claude_output import Output
from transcript.adapters.claude_record import Record
from transcript.adapters.claude_types import (
    ATTACHMENTS_COUNTED,
    BOOKKEEPING,
    HOOK_ATTACHMENTS,
    PROGRESS_COUNTED,
    SYSTEM_COUNTED,
    SYSTEM_KNOWN,
)
from transcript.adapters.jsonl import Line
from transcript.adapters.tree_memory import Memory
from transcript.adapters.values import type_of

_SHARED_WITH_WORKER = ("sessionId", "session_id", "cwd", "gitBranch", "version", "timestamp")


class ClaudeReader:
    """Reads one source on. `counts` is about the lines fed to this reader alone."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self._source = source
        self._options = options
        self._memory = Memory(memory)
        self._out = Output(source, self._memory, options, self.counts)
        self._messages = Messages(source, self._memory, options, self.counts, self._out)

    def feed(self, line: Line) -> None:
        """Take in the records of the next line."""
        for at, fields in enumerate(line.objects):
            if at in line.odd:
                raw = line.raw.decode("utf-8", "replace")
                self.counts.records[type_of(fields)] += 1
                self._unknown(self._met(fields, said=raw), "number that is not JSON", raw)
            else:
                self._record(fields)

    def take(self) -> list[Taken]:
        """Return the events since the last call, in the order of the file."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks that follow from the whole file so far."""
        self._out.marks()
        return self._out.take()

    def _met(self, fields: dict[str, Any], *, said: object = None, once: bool = False) -> Record:
        return Record(fields, self._source, self._memory, self._options, said=said, once=once)

    def _record(self, fields: dict[str, Any]) -> None:
        kind = type_of(fields)
        self.counts.records[kind] += 1
        if kind in BOOKKEEPING:
            return
        record = self._met(fields, once=kind == "pr-link")
        if kind in ("user", "assistant"):
            self._messages.read(record, fields)
        elif kind == "attachment":
            self._attachment(record, fields)
        elif kind == "progress":
            self._progress(record, fields)
        elif kind == "system":
            self._system(record, fields)
        elif kind == "pr-link":
            self._out.emit(record, "system", {"subtype": "pr_link", "text": joined(fields.get("prUrl"))}, 0)
        else:
            self._unknown(record, kind, fields)
        record.join_tree(kind)

    def _attachment(self, record: Record, fields: dict[str, Any]) -> None:
        attachment: Any = fields.get("attachment")
        kind = type_of(attachment)
        self.counts.records[f"attachment/{kind}"] += 1
        if kind == "queued_command":
            self._queued(record, attachment)
        elif kind in HOOK_ATTACHMENTS:
            text = joined(attachment.get("content")) or joined(attachment.get("stdout"))
            if text:
                self._out.emit(record, "system", {"subtype": kind, "text": text}, 0)
        elif kind not in ATTACHMENTS_COUNTED:
            self._unknown(record, f"attachment/{kind}", fields)

    def _queued(self, record: Record, attachment: dict[str, Any]) -> None:
        """Take in what was typed while the model was busy: it stands nowhere else as a user record."""
        record.flags.append("queued")
        mode = attachment.get("commandMode")
        asked = {
            "type": "user",
            "message": {"content": attachment.get("prompt")},
            "origin": {"kind": mode} if mode == "task-notification" else attachment.get("origin"),
            "isMeta": attachment.get("isMeta"),
        }
        self._messages.read(record, asked)

    def _progress(self, record: Record, fields: dict[str, Any]) -> None:
        data: Any = fields.get("data")
        kind = type_of(data)
        self.counts.records[f"progress/{kind}"] += 1
        if kind == "agent_progress":
            self._agent_progress(record, fields, data)
        elif kind not in PROGRESS_COUNTED:
            self._unknown(record, f"progress/{kind}", fields)

    def _agent_progress(self, record: Record, fields: dict[str, Any], data: dict[str, Any]) -> None:
        """Take in what a sub-agent said, wrapped in a progress record of its parent."""
        inner: Any = data.get("message")
        if type_of(inner) not in ("user", "assistant"):
            self._unknown(record, f"progress/agent_progress/{type_of(inner)}", fields)
            return
        said = {name: fields[name] for name in _SHARED_WITH_WORKER if name in fields}
        said.update(inner, isSidechain=True, agentId=data.get("agentId") or "worker")
        wrapped = self._met(said)
        self._messages.read(wrapped, said)
        record.events = wrapped.events

    def _system(self, record: Record, fields: dict[str, Any]) -> None:
        subtype = fields.get("subtype")
        name = subtype if isinstance(subtype, str) else type(subtype).__name__
        self.counts.records[f"system/{name}"] += 1
        if name in SYSTEM_COUNTED:
            return
        if name not in SYSTEM_KNOWN:
            self.counts.unknown[f"system/{name}@{record.version}"] += 1
        body: dict[str, Any] = {"subtype": name, "text": joined(fields.get("content") or fields.get("error"))}
        if isinstance(fields.get("compactMetadata"), dict):
            body["compact"] = fields["compactMetadata"]
        if name == "api_error":
            record.flags.append("api_error")
        self._out.emit(record, "system", body, 0)

    def _unknown(self, record: Record, name: str, raw: Any) -> None:
        self.counts.unknown[f"{name}@{record.version}"] += 1
        self._out.emit(record, "unknown", {"raw": raw}, 0)
