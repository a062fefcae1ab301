"""Turns the messages of a Cline session into events."""

import json
from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.claude_blocks import medium_of
from transcript.adapters.cline_text import NOTICE, RESULT, SPOKEN, answer_pieces, arguments, user_pieces
from transcript.adapters.jsonl import Line
from transcript.adapters.stream import Stream
from transcript.adapters.values import text_of
from transcript.canonical import b32id
from transcript.injected import has_block

HARNESS = "cline"
VERSION = "1"
Media = list[tuple[bytes, str]]


class ClineReader:
    """Reads the lines of one session's view."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self._out = Stream(HARNESS, VERSION, source, memory, options, self.counts)
        memory.setdefault("layout", "")
        memory.setdefault("calls", [])
        self._native = self._whose = ""

    def feed(self, line: Line) -> None:
        """Take in the next line."""
        for at, fields in enumerate(line.objects):
            if at in line.odd:
                self._out.odd(line.raw, text_of(fields.get("type")))
            elif fields.get("type") == "session":
                self.counts.records["session"] += 1
                self._out.note(version=fields.get("version"), cwd=fields.get("cwd"))
                self._out.belongs(fields.get("id"))
                self._out.kept["layout"] = text_of(fields.get("layout"))
            else:
                self.counts.records["message"] += 1
                self._message(fields)

    def take(self) -> list[Taken]:
        """Return the events since the last call."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks."""
        self._out.finish()
        return self._out.take()

    def _message(self, fields: dict[str, Any]) -> None:
        message = fields.get("message")
        said = message if isinstance(message, dict) else {}
        role = text_of(said.get("role"))
        content = said.get("content")
        self._native = text_of(said.get("id"))
        if self._native:
            self._whose = b32id(HARNESS, self._native, text_of(fields.get("time")))
        else:
            times = self._out.count("message", role, content)
            self._whose = self._out.options.identify(self._out.session, role, content, times)
        self._out.at(fields.get("time"))
        if fields.get("joined"):
            self._out.ts_source = "joined"
        self._out.message = self._native or self._whose
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if role not in ("user", "assistant") or not isinstance(blocks, list):
            self._out.unknown(f"message/{role or type(message).__name__}", message, self._id(0), native=self._native)
            return
        if role == "assistant":
            self._out.note(model=said.get("model"))
            for part, block in enumerate(blocks):
                self._answer_block(part, block)
        else:
            self._user_blocks(blocks, text_of(said.get("shown_as")))

    # -- what a user message holds -----------------------------------------------------------

    def _user_blocks(self, blocks: list[Any], shown_as: str) -> None:
        waiting = [medium for block in blocks if _kind(block) == "image" and (medium := medium_of(block))]
        tagged = any(
            piece.kind == "said"
            for block in blocks
            if _kind(block) == "text"
            for piece in user_pieces(text_of(block.get("text")))
        )
        for part, block in enumerate(blocks):
            kind = _kind(block)
            if kind == "text":
                if self._user_text(part, text_of(block.get("text")), shown_as, tagged, waiting):
                    waiting = []
            elif kind == "tool_result":
                self._result(part, block)
            elif kind != "image":
                self._out.unknown(f"user/{kind}", block, self._id(part), native=self._native, part=part)
        self._out.kept.pop("answers", None)
        if waiting:
            self._prompt(len(blocks), 0, "", waiting)

    def _user_text(self, part: int, text: str, shown_as: str, tagged: bool, media: Media) -> bool:
        """Emit a text of a user message; return whether a prompt took the media."""
        taken = False
        if shown_as == "system":
            pieces = user_pieces(text)
            self._client(part, 0, (pieces[0].name if pieces else "") or "client", text)
            return False
        header = RESULT.match(text) if self._out.kept["layout"] == "task" else None
        if header is not None:
            self._out.kept["answers"] = self._called(header.group(1))
            text = text[header.end() :]
        for number, piece in enumerate(user_pieces(text)):
            if piece.kind == "said":
                self._prompt(part, number, piece.text, [] if taken else media)
                taken = True
            elif piece.kind == "client":
                self._client(part, number, piece.name, piece.text)
            elif self._out.kept.get("answers"):
                call = self._out.kept.pop("answers")
                body = {"call_id": call, "text": piece.text}
                self._out.emit("tool_result", self._id(part, number), body, "tool", native=self._native, part=part)
            elif NOTICE.match(piece.text) or tagged:
                self._client(part, number, "client", piece.text)
            else:
                self._prompt(part, number, piece.text, [] if taken else media)
                taken = True
        return taken

    def _prompt(self, part: int, number: int, text: str, media: Media) -> None:
        kind, actor = ("worker_prompt", "assistant") if self._out.worker else ("prompt", "user")
        body = {"kind": kind, "text": text}
        event = self._id(part, number)
        self._out.emit("conversation_turn", event, body, actor, native=self._native, part=part, media=media)

    def _client(self, part: int, number: int, name: str, text: str) -> None:
        subtype = "injected" if has_block(text) else name
        self.counts.notes[f"client text: {subtype}"] += 1
        self._out.system(self._id(part, number), subtype, text, native=self._native, part=part)

    def _called(self, tool: str) -> str:
        """Return the id of the oldest call of a tool that has no result yet."""
        calls: list[list[str]] = self._out.kept["calls"]
        found = next((call for call in calls if call[0] == tool), None)
        if found is None:
            return f"{self._whose}:{tool}"
        calls.remove(found)
        return found[1]

    def _result(self, part: int, block: dict[str, Any]) -> None:
        text, failed, media = _output(block.get("content"))
        body: dict[str, Any] = {"call_id": text_of(block.get("tool_use_id")), "text": text}
        if failed or block.get("is_error"):
            body["is_error"] = True
        event = self._id(part)
        self._out.emit("tool_result", event, body, "tool", native=self._native, part=part, media=media)

    # -- what an answer holds ----------------------------------------------------------------

    def _answer_block(self, part: int, block: Any) -> None:
        kind = _kind(block)
        if kind == "text":
            for number, piece in enumerate(answer_pieces(text_of(block.get("text")))):
                if piece.kind == "reply":
                    self._reply(part, number, piece.text)
                elif piece.kind == "reasoning":
                    self._out.reasoning(self._id(part, number), piece.text, native=self._native, part=part)
                else:
                    call = f"{self._whose}:{part}.{number}"
                    self._out.kept["calls"].append([piece.name, call])
                    self._call(part, number, piece.name, call, arguments(piece.text))
        elif kind == "tool_use":
            given = block.get("input")
            given = given if isinstance(given, dict) else {} if given is None else {"": given}
            self._call(part, 0, text_of(block.get("name")), text_of(block.get("id")), given)
        elif kind in ("thinking", "redacted_thinking", "reasoning"):
            text = text_of(block.get("thinking")) or text_of(block.get("text"))
            self._out.reasoning(self._id(part), text, native=self._native, part=part)
        else:
            self._out.unknown(f"assistant/{kind}", block, self._id(part), native=self._native, part=part)

    def _reply(self, part: int, number: int, text: str, *names: str) -> None:
        body = {"kind": "reply", "text": text}
        event = self._id(part, number, *names)
        self._out.emit("conversation_turn", event, body, "assistant", native=self._native, part=part)

    def _call(self, part: int, number: int, tool: str, call: str, given: dict[str, Any]) -> None:
        body = {"tool": tool, "call_id": call, "input": given}
        self._out.emit("tool_call", self._id(part, number), body, "assistant", native=self._native, part=part)
        spoken = given.get(SPOKEN.get(tool, ""))
        if isinstance(spoken, str) and spoken.strip():
            self._reply(part, number, spoken, "spoken")

    def _id(self, part: int, number: int = 0, *names: str) -> str:
        return b32id(HARNESS, self._whose, str(part), str(number), *names)


def _kind(block: Any) -> str:
    if not isinstance(block, dict):
        return type(block).__name__
    return text_of(block.get("type")) or "?"


def _output(content: Any) -> tuple[str, bool, Media]:
    """Return (text, whether it failed, media) of a tool's result: a text, blocks, or one entry for each command."""
    if isinstance(content, str):
        return content, False, []
    texts: list[str] = []
    media: Media = []
    failed = False
    for item in content if isinstance(content, list) else [] if content is None else [content]:
        if isinstance(item, dict) and "result" in item:
            failed = failed or item.get("success") is False
            result = item["result"]
            texts.append(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))
        elif _kind(item) == "text" and isinstance(item.get("text"), str):
            texts.append(item["text"])
        elif _kind(item) == "image" and (medium := medium_of(item)) is not None:
            media.append(medium)
        else:
            texts.append(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False))
    return "\n".join(texts), failed, media
