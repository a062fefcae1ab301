"""Turns the records of an Aider chat into events."""

import re
from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.jsonl import Line
from transcript.adapters.stream import Stream
from transcript.adapters.values import text_of
from transcript.canonical import b32id
from transcript.injected import has_block

HARNESS = "aider"
VERSION = "1"
_COMMAND = re.compile(r"/([a-z][a-z-]*)(?:\s+(.*))?", re.DOTALL)
# Commands behind which a prompt stands.
_ASKING = frozenset({"ask", "code", "architect", "context", "help", "ok"})
_DONE = (
    ("edit", "file", re.compile(r"Applied edit to (.+)")),
    ("create", "file", re.compile(r"Creating empty file (.+)")),
    ("commit", "commit", re.compile(r"Commit ([0-9a-f]{6,} .+)")),
    ("run", "command", re.compile(r"Running (.+)")),
)
_VERSION = re.compile(r"Aider v(\S+)")
_MODEL = re.compile(r"(?:Main model|Model): (\S+)")


class AiderReader:
    """Reads the lines of one chat's view."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self._out = Stream(HARNESS, VERSION, source, memory, options, self.counts)
        memory.setdefault("started", "")

    def feed(self, line: Line) -> None:
        """Take in the next line."""
        for fields in line.objects:
            kind, text = text_of(fields.get("type")), text_of(fields.get("text"))
            self.counts.records[kind or "?"] += 1
            if kind == "chat":
                self._out.kept["started"] = text_of(fields.get("started"))
                self._out.note(cwd=fields.get("cwd"))
                self._out.belongs(fields.get("session"))
                self._at()
                continue
            self._at()
            event = self._out.options.identify(self._out.session, kind, text, self._out.count(kind, text))
            if kind == "prompt":
                self._prompt(event, text)
            elif kind == "answer":
                self._out.emit("conversation_turn", event, {"kind": "reply", "text": text}, "assistant")
            elif kind == "says":
                self._says(event, text)
            else:
                self._out.unknown(kind or "?", fields, event)

    def take(self) -> list[Taken]:
        """Return the events since the last call."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks."""
        self._out.finish()
        return self._out.take()

    def _at(self) -> None:
        self._out.at(self._out.kept["started"])
        self._out.ts_source = "file"

    def _prompt(self, event: str, text: str) -> None:
        command = _COMMAND.fullmatch(text)
        if command is not None and not (command.group(1) in _ASKING and command.group(2)):
            self._out.system(event, "command", text)
        else:
            self._out.emit("conversation_turn", event, {"kind": "prompt", "text": text}, "user")

    def _says(self, event: str, text: str) -> None:
        """Take in what the program said: that it did something is a call and its result."""
        version, model = _VERSION.match(text), _MODEL.match(text)
        self._out.note(version=version.group(1) if version else None, model=model.group(1) if model else None)
        for tool, name, pattern in _DONE:
            done = pattern.fullmatch(text)
            if done is not None:
                body = {"tool": tool, "call_id": event, "input": {name: done.group(1)}}
                self._out.emit("tool_call", b32id(HARNESS, event, "call"), body, "assistant")
                self._out.emit("tool_result", event, {"call_id": event, "text": text}, "tool", part=1)
                return
        self._out.system(event, "injected" if has_block(text) else "output", text)
