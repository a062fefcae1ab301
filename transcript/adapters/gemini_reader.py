"""Reads one Gemini CLI session and turns its messages into events.

The file is a journal: a message stands there again whenever something was added to it, `$set.messages` lists the
conversation anew (a resume and a compression do), `$rewindTo` takes the end of it back. A text is identified by its
message and its words, a call and its answer by the call's id: whatever is listed again, in whatever shape, is known.
"""

import re
from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.gemini_parts import Media, Part, arguments_of, parts_of
from transcript.adapters.jsonl import Line
from transcript.adapters.stream import Stream
from transcript.adapters.values import items_of, text_of
from transcript.canonical import b32id, sha256_hex, utf8
from transcript.injected import has_block, strip_blocks

HARNESS = "gemini-cli"
ADAPTER_VERSION = "1"
VIEW = "$project"

_NOTICES = frozenset({"info", "warning", "error"})
_ENVELOPE = re.compile(r"\s*<(session_context|hook_context)>.*?</\1>", re.DOTALL)
_COMMAND = re.compile(r"\s*(?:/[a-z][\w:-]*(?=\s|$)|\?\s*$)")
# What the client adds to the conversation in the name of the user, each a message of its own.
_ADDED = (
    (
        re.compile(
            r"I ran the following shell command:\n```sh\n.*\n```\n\nThis produced the following result:\n```", re.DOTALL
        ),
        "shell_command",
    ),
    (re.compile(r"Here is (?:the|a summary of changes in the) user's editor context\b"), "ide_context"),
    (re.compile(r"- \*\*Workspace Directories:\*\*\n"), "directories"),
    (re.compile(r"Background execution update:\n<background_output>\n"), "background_output"),
    (re.compile(r"User has manually exited Plan Mode\. Switching to "), "plan_mode"),
)
_STEERED = re.compile(r"User steering update:\n<user_input>\n(.*)\n</user_input>\nInternal instruction: ", re.DOTALL)
_FILES_HEAD = "--- Content from referenced files ---"
_FILES_END = "--- End of content ---"
_SNAPSHOT = "<state_snapshot>"
_UUID_LENGTH = 36


class GeminiReader:
    """Reads one source on. `counts` is about the lines fed to this reader alone."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self._out = Stream(HARNESS, ADAPTER_VERSION, source, memory, options, self.counts)
        self._kept = memory
        memory.setdefault("listed", [])  # ids of the messages as the conversation now stands
        memory.setdefault("said", {})  # by message: its texts' events
        memory.setdefault("made", {})  # by message: all its events
        memory.setdefault("undone", [])
        memory.setdefault("rewinds", 0)

    def feed(self, line: Line) -> None:
        """Take in the records of the next line."""
        for at, fields in enumerate(line.objects):
            if at in line.odd:
                self._out.odd(line.raw, _kind(fields))
            else:
                self._record(fields)

    def take(self) -> list[Taken]:
        """Return the events since the last call, in the order of the file."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks that follow from the whole file so far."""
        self._out.finish()
        return self._out.take()

    def _record(self, fields: dict[str, Any]) -> None:
        kind = _kind(fields)
        self.counts.records[kind] += 1
        if kind == VIEW:
            self._out.note(cwd=fields[VIEW].get("cwd"))
        elif kind == "header":
            self._header(fields)
        elif kind == "$set":
            changes = fields["$set"]
            messages = changes.get("messages") if isinstance(changes, dict) else None
            if isinstance(messages, list):
                self._relisted(messages)
        elif kind == "$rewindTo":
            self._rewound(text_of(fields["$rewindTo"]))
        else:
            self._message(fields)

    def _header(self, fields: dict[str, Any]) -> None:
        if not self._out.worker:
            self._out.belongs(fields.get("sessionId"))
        self._out.note(cwd=fields.get("cwd"))
        if not self._kept["ts"]:
            self._out.at(fields.get("startTime"))

    def _relisted(self, messages: list[Any]) -> None:
        """Take in the conversation listed anew: what is not in the list stays in the record as it was said."""
        self._kept["listed"] = []
        for message in messages:
            if isinstance(message, dict):
                self._message(message, again=True)

    def _rewound(self, target: str) -> None:
        listed: list[str] = self._kept["listed"]
        at = listed.index(target) if target in listed else 0
        made: dict[str, list[str]] = self._kept["made"]
        held = {event for name in listed[:at] for event in made.get(name, [])}
        gone = list(dict.fromkeys(event for name in listed[at:] for event in made.get(name, []) if event not in held))
        del listed[at:]
        self._kept["rewinds"] += 1
        if gone:
            self._kept["undone"] += [event for event in gone if event not in self._kept["undone"]]
            mark = b32id("mark", "rewound", HARNESS, self._out.session, str(self._kept["rewinds"]), *gone)
            self._out.mark("rewound", gone, "taken back by the user", mark)

    # -- messages ------------------------------------------------------------------------------

    def _message(self, fields: dict[str, Any], *, again: bool = False) -> None:
        kind = text_of(fields.get("type")) or type(fields.get("type")).__name__
        if again:
            self.counts.records[kind] += 1
        out = self._out
        out.at(fields.get("timestamp"))
        name = text_of(fields.get("id"))
        said = _Said(out, name, fields)
        if kind == "user":
            self._user(said, fields)
        elif kind == "gemini":
            self._gemini(said, fields)
        elif kind in _NOTICES:
            text = "\n".join(part.text for part in parts_of(fields.get("content")))
            if text:
                said.system(kind, text)
        else:
            out.unknown(kind, fields, said.id("unknown", kind, str(sorted(fields))), native=name)
        self._settle(said)

    def _settle(self, said: "_Said") -> None:
        """Remember what a message came to; a text that its new form no longer has is left behind."""
        if not said.name:
            return
        kept = self._kept
        if said.name not in kept["listed"]:
            kept["listed"].append(said.name)
        before: list[str] = kept["said"].get(said.name, [])
        if said.texts and (old := [event for event in before if event not in said.texts]):
            mark = b32id("mark", "abandoned", HARNESS, self._out.session, said.name, *old, *said.texts)
            self._out.mark("abandoned", old, "a later form of the message stands", mark)
        kept["said"][said.name] = said.texts or before
        made: list[str] = kept["made"].setdefault(said.name, [])
        made += [event for event in said.events if event not in made]
        if back := [event for event in said.events if event in kept["undone"]]:
            kept["undone"] = [event for event in kept["undone"] if event not in back]
            mark = b32id("mark", "restored", HARNESS, self._out.session, str(kept["rewinds"]), *back)
            self._out.mark("restored", back, "the conversation holds the message again", mark)

    def _user(self, said: "_Said", fields: dict[str, Any]) -> None:
        shown = fields.get("displayContent")
        typed = {part.text for part in parts_of(shown) if part.kind == "text"}
        media: Media = []
        files = False
        for part in parts_of(fields.get("content")):
            if part.kind == "text":
                files = files or part.text.strip().startswith(_FILES_HEAD)
                if files or (typed and part.text not in typed and not _ENVELOPE.match(part.text)):
                    said.system("referenced_file" if files else "context", part.text)
                    files = files and part.text.strip() != _FILES_END
                else:
                    self._typed(said, part.text)
            elif part.kind == "media":
                media += part.media
            else:
                self._tool_part(said, part)
        if media:
            said.turn("", media=media)

    def _typed(self, said: "_Said", text: str) -> None:
        end = 0
        while (found := _ENVELOPE.match(text, end)) is not None:
            self.counts.notes[f"client text: {found.group(1)}"] += 1
            said.system(found.group(1), text[end : found.end()].strip())
            end = found.end()
        rest = text[end:].lstrip("\n") if end else text
        if not rest.strip():
            return
        if rest.lstrip().startswith(_SNAPSHOT):
            said.boundary()
            said.summary(rest)
        elif (subtype := _added(rest)) or _COMMAND.match(rest):
            said.system(subtype or "command", rest)
        elif has_block(rest) and not strip_blocks(rest).strip():
            said.system("injected", rest)
        elif (steered := _STEERED.match(rest)) is not None:
            said.turn(steered.group(1))
        else:
            said.turn(rest)

    def _gemini(self, said: "_Said", fields: dict[str, Any]) -> None:
        self._out.note(model=fields.get("model"))
        self._out.message = said.name
        for thought in items_of(fields.get("thoughts")):
            if isinstance(thought, dict):
                words = (text_of(thought.get("subject")), text_of(thought.get("description")))
                said.reasoning("\n".join(filter(None, words)))
        for part in parts_of(fields.get("content")):
            if part.kind == "text" and part.text:
                said.reply(part.text)
            elif part.kind == "thought":
                said.reasoning(part.text)
            elif part.kind != "text":
                self._tool_part(said, part)
        for at, call in enumerate(items_of(fields.get("toolCalls"))):
            if isinstance(call, dict):
                self._tool_call(said, call, at)

    def _tool_call(self, said: "_Said", call: dict[str, Any], at: int) -> None:
        name = text_of(call.get("id")) or f"{said.name}/{at}"
        said.call(name, text_of(call.get("name")), arguments_of(call))
        failed = call.get("status") in ("error", "cancelled")
        answers = list(parts_of(call.get("result")))
        texts = [part.text for part in answers if part.text]
        if answers:
            media = [medium for part in answers for medium in part.media]
            failed = failed or any(part.is_error for part in answers)
            said.result(name, "\n".join(texts), is_error=failed, media=media)

    def _tool_part(self, said: "_Said", part: Part) -> None:
        if part.kind == "call":
            said.call(part.id or f"{said.name}/0", part.name, part.arguments)
        elif part.kind == "result":
            said.result(part.id or f"{said.name}/0", part.text, is_error=part.is_error, media=part.media)
        elif part.kind == "unknown":
            said.unknown(part.name, part.raw)


class _Said:
    """One message in the making: its events' ids, and which of them are texts."""

    def __init__(self, out: Stream, name: str, fields: dict[str, Any]) -> None:
        self.name = name
        self.texts: list[str] = []
        self.events: list[str] = []
        self._out = out
        # Ids are UUIDs; what is shorter is unique in its session at best, and old lines may have none.
        whole = len(name) == _UUID_LENGTH or (name and fields.get("type") == "user" and len(name) > _UUID_LENGTH)
        self._scope = (name,) if whole else (out.session, name)
        if not name:
            said = {key: value for key, value in fields.items() if key != "timestamp"}
            self._scope = (out.options.identify(out.session, _kind(fields), said, 0),)

    def id(self, kind: str, *words: str) -> str:
        """Return the id of what this message says: its kind and its words make it."""
        return b32id(HARNESS, *self._scope, kind, *(sha256_hex(utf8(word))[:16] for word in words))

    def turn(self, text: str, *, media: Media | None = None) -> None:
        """Add what a person typed, or the task of a sub-agent."""
        worker = bool(self._out.worker)
        body = {"kind": "worker_prompt" if worker else "prompt", "text": text}
        event = self.id("prompt", text)
        self.texts.append(event)
        new = self._emit("conversation_turn", event, body, "assistant" if worker else "user", media=media)
        if new and not worker:
            self._out.counts.notes["prompt"] += 1

    def reply(self, text: str) -> None:
        """Add what the model said."""
        event = self.id("reply", text)
        self.texts.append(event)
        self._emit("conversation_turn", event, {"kind": "reply", "text": text}, "assistant")

    def summary(self, text: str) -> None:
        """Add what a compression left of the conversation."""
        self._out.flags.append("compact_summary")
        self._emit("conversation_turn", self.id("summary", text), {"kind": "summary", "text": text}, "assistant")

    def boundary(self) -> None:
        """Add the place of a compression."""
        self._emit("system", self.id("boundary"), {"subtype": "compact_boundary", "text": ""}, "system")

    def system(self, subtype: str, text: str) -> None:
        """Add what the client itself put there."""
        self._emit("system", self.id("system", subtype, text), {"subtype": subtype, "text": text}, "system")

    def reasoning(self, text: str) -> None:
        """Add an exposed thought when those are kept."""
        event = self.id("reasoning", text)
        self._out.reasoning(event, text, native=self.name)
        self.events.append(event)

    def call(self, call_id: str, tool: str, arguments: dict[str, Any]) -> None:
        """Add a tool call."""
        event = b32id(HARNESS, self._out.session, "call", call_id)
        self._emit("tool_call", event, {"tool": tool, "call_id": call_id, "input": arguments}, "assistant")

    def result(self, call_id: str, text: str, *, is_error: bool, media: Media) -> None:
        """Add what a tool answered."""
        body: dict[str, Any] = {"call_id": call_id, "text": text}
        if is_error:
            body["is_error"] = True
        event = b32id(HARNESS, self._out.session, "result", call_id)
        self._emit("tool_result", event, body, "tool", media=media)

    def unknown(self, name: str, raw: Any) -> None:
        """Keep and count a part that nobody knows."""
        event = self.id("unknown", name, str(raw))
        self._out.unknown(f"part/{name}", raw, event, native=self.name)
        self.events.append(event)

    def _emit(self, kind: str, event: str, body: dict[str, Any], actor: str, media: Media | None = None) -> bool:
        self.events.append(event)
        return self._out.emit(kind, event, body, actor, native=self.name, media=media)


def _added(text: str) -> str:
    """Return what kind of message of the client's own this is, "" for a person's."""
    return next((subtype for form, subtype in _ADDED if form.match(text)), "")


def _kind(fields: dict[str, Any]) -> str:
    """Return what a line is: a message's type, a change, the header."""
    for name in (VIEW, "$set", "$rewindTo"):
        if name in fields:
            return name
    if "sessionId" in fields and "type" not in fields:
        return "header"
    kind = fields.get("type")
    return kind if isinstance(kind, str) else type(kind).__name__
