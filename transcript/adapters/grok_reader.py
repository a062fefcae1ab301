"""Turns the rows of a Grok Build session into events.

Rows have no ids: theirs are made from the session and prompt they were first said in and from what they say, so that a
fork's copies and a rewritten history are the same events.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from transcript.adapters.base import Options, SourceFile, Taken
from transcript.adapters.entries import Entry, EntryReader
from transcript.adapters.grok_view import NO_PROMPT, VIEW
from transcript.adapters.prompts import asked
from transcript.adapters.values import Media, Medium, data_url, inline, text_of
from transcript.adapters.walk import read_object

_TYPED = frozenset({"", "interjection"})


class GrokReader(EntryReader):
    """Reads the view of one session on."""

    harness = "grok-build"
    tags: ClassVar[Mapping[str, str]] = {
        "user_info": "context",
        "git_status": "context",
        "project_layout": "context",
        "project_instructions": "context",
        "rules": "context",
        "system-reminder": "reminder",
        "system_reminder": "reminder",
        "agent_skills": "skill",
    }

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        super().__init__(source, memory, options)
        for name in ("at", "facts"):
            memory.setdefault(name, {})
        self._summary = read_object(source.path.with_name("summary.json"))
        memory["branch"] = text_of(self._summary.get("head_branch")) or memory["branch"]

    def record(self, fields: dict[str, Any]) -> None:
        """Take in the head of the view, or one row."""
        if fields.get("view") == VIEW:
            kept = self.kept
            kept["session"] = kept["session"] or text_of(fields.get("session"))
            kept["cwd"], kept["version"] = text_of(fields.get("cwd")), text_of(fields.get("version"))
            kept["facts"] = {name: fields[name] for name in ("worker_type", "worker_task") if name in fields}
            return
        if isinstance(fields.get("row"), dict) and "owner" in fields:
            row: dict[str, Any] = fields["row"]
            self.kept["place"] = {name: fields[name] for name in ("owner", "prompt", "at", "from")}
        else:  # a row of a damaged line, which the view leaves as it is
            row, fields = fields, {"owner": self.session, "prompt": NO_PROMPT, **self.kept.get("place", {})}
        kind = text_of(row.get("type")) or text_of(row.get("role")) or type(row.get("type")).__name__
        self.counts.records[kind] += 1
        entry = self._entry(fields, row, kind)
        self._row(entry, row, kind)
        self.join(entry, entry.identity[0])
        prompt = fields["prompt"]
        self.kept["at"][entry.identity[0]] = prompt
        if prompt != NO_PROMPT:
            self.kept["low"] = min(prompt, self.kept.get("low", prompt))

    def finish(self) -> list[Taken]:
        """Return the rest, the session's title and the marks. What a compaction left out was not taken back."""
        gone: dict[str, list[str]] = self.kept["gone"]
        for place in [place for place in gone if self._left_out(self.kept["at"].get(place, NO_PROMPT))]:
            del gone[place]
            self.counts.notes["left out by a compaction"] += 1
        title = text_of(self._summary.get("generated_title")) or text_of(self._summary.get("session_summary"))
        if title and title != self.kept.get("title"):
            self.kept["title"] = title
            place = self.options.identify(f"{self.harness}/{self.session}/{self.source.worker}", "title", title, 0)
            self.system(self.entry((place,)), "title", title)
        return super().finish()

    def _left_out(self, prompt: int) -> bool:
        """Return whether a row that is gone stood before what is left, not behind: rewinding takes the last ones."""
        low: int | None = self.kept.get("low")
        compacted = bool(self.kept.get("compacted"))
        if prompt == NO_PROMPT or low is None:
            return compacted
        return prompt < low or (compacted and prompt == low)

    def _entry(self, fields: dict[str, Any], row: dict[str, Any], kind: str) -> Entry:
        scope = f"{self.harness}/{fields['owner']}/{fields['prompt']}"
        place = self.identified(kind, row, scope)
        at = fields.get("at")
        entry = self.entry((place,), native_id=text_of(row.get("id")), at=at)
        if at:
            entry.ts_source = text_of(fields.get("from")) or "joined"
        if kind == "assistant":
            entry.message = place
            entry.model = text_of(row.get("model_id"))
        if entry.worker:
            entry.flags.append("sidechain")
            entry.extra = dict(self.kept["facts"])
        return entry

    def _row(self, entry: Entry, row: dict[str, Any], kind: str) -> None:
        if kind == "user":
            self._user(entry, row)
        elif kind == "assistant":
            self._assistant(entry, row)
        elif kind in ("tool_result", "tool"):
            text, media = self._content(entry, row.get("content"))
            failed = row.get("is_error") is True
            self.result(entry, text_of(row.get("tool_call_id")), text, 0, is_error=failed, media=media)
        elif kind == "reasoning":
            self.reasoning(entry, _texts(row.get("summary")) or _texts(row.get("content")), 0)
        elif kind == "backend_tool_call":
            call: Any = row.get("kind")
            call = call if isinstance(call, dict) else {}
            self.call(entry, text_of(call.get("tool_type")), text_of(call.get("id")), call.get("action"), 0)
        elif kind != "system":
            self.unknown(entry, kind, row)

    def _user(self, entry: Entry, row: dict[str, Any]) -> None:
        reason = text_of(row.get("synthetic_reason"))
        text, media = self._content(entry, row.get("content"))
        if "compact" in reason or "summary" in reason:
            self.kept["compacted"] = True
            self.system(entry, "compact_boundary", "")
            self.summary(entry, text, 1, "compact_summary")
        elif reason not in _TYPED:
            self.counts.notes[f"client text: {reason}"] += 1
            self.emit(entry, "system", {"subtype": reason, "text": text}, 0, media=media)
        else:
            if reason:
                entry.flags.append(reason)
            self.user(entry, [(0, *piece) for piece in asked(text, self.tags)], media)

    def _assistant(self, entry: Entry, row: dict[str, Any]) -> None:
        if text_of(row.get("reasoning_content")):
            self.reasoning(entry, row["reasoning_content"], 0)
        text, _ = self._content(entry, row.get("content"))
        if text:
            self.reply(entry, text, 1)
        calls = row.get("tool_calls")
        for at, call in enumerate(calls if isinstance(calls, list) else []):
            if not isinstance(call, dict):
                self.unknown(entry, f"assistant/{type(call).__name__}", call, 2 + at)
                continue
            asks: Any = call.get("function") if isinstance(call.get("function"), dict) else call
            arguments = _arguments(asks.get("arguments"))
            self.call(entry, text_of(asks.get("name")), text_of(call.get("id")), arguments, 2 + at)

    def _content(self, entry: Entry, content: Any) -> tuple[str, Media]:
        """Return the text and media of a row; blocks nobody knows stand in the text as JSON and are counted."""
        if isinstance(content, str) or content is None:
            return content or "", []
        texts: list[str] = []
        media: Media = []
        for block in content if isinstance(content, list) else [content]:
            kind = block.get("type") if isinstance(block, dict) else type(block).__name__
            if kind == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif kind in ("image", "image_url") and (medium := _medium(block)) is not None:
                media.append(medium)
            else:
                self.counts.unknown[f"content/{kind}@{entry.version}"] += 1
                texts.append(json.dumps(block, ensure_ascii=False))
        return "\n".join(texts), media


def _medium(block: dict[str, Any]) -> Medium | None:
    """Return (bytes, type) of an image that stands in the block itself."""
    if "data" in block:
        return inline(block["data"], text_of(block.get("mime_type")) or block.get("mimeType"))
    url: Any = block.get("image_url", block.get("url"))
    return data_url(url.get("url") if isinstance(url, dict) else url)


def _texts(value: Any) -> str:
    """Return the texts of a list of blocks, or a text."""
    if isinstance(value, list):
        return "\n".join(text_of(item.get("text")) for item in value if isinstance(item, dict))
    return text_of(value)


def _arguments(given: Any) -> Any:
    """Return a call's arguments; they come as the text of an object."""
    if not isinstance(given, str):
        return given
    try:
        value = json.loads(given, parse_constant=str)
    except (ValueError, RecursionError):
        return given
    return value if isinstance(value, dict) else given
