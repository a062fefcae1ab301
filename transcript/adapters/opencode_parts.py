"""Turns the parts of opencode's messages into events."""

import re
from typing import Any

from transcript.adapters.stream import Stream
from transcript.adapters.values import data_url, moment, text_of
from transcript.canonical import b32id, canonical, sha256_hex
from transcript.injected import has_block

HARNESS = "opencode"
VERSION = "1"
# Parts that say nothing: counted, kept in the native bytes.
_COUNTED = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent"})
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class Parts:
    """Reads the parts of one message after the other. Which message that is stands in the memory."""

    def __init__(self, out: Stream) -> None:
        self._out = out

    def begin(self, fields: dict[str, Any]) -> None:
        """Take in the line of a message."""
        info = fields.get("info")
        info = info if isinstance(info, dict) else {}
        role = text_of(info.get("role"))
        where = info.get("path")
        model = info.get("model")
        self._out.kept["open"] = {
            "id": text_of(info.get("id")),
            "role": role,
            "created": fields.get("created"),
            "parent": text_of(info.get("parentID")),
            "summary": info.get("summary") is True or info.get("mode") == "compaction",
            "said": {},
        }
        self._out.note(
            cwd=where.get("cwd") if isinstance(where, dict) else None,
            model=info.get("modelID") or (model.get("modelID") if isinstance(model, dict) else None),
        )
        self._at(None)
        if role not in ("user", "assistant"):
            self._unknown(f"message/{role or '?'}", info)

    def read(self, fields: dict[str, Any]) -> None:
        """Take in the line of a part."""
        part = fields.get("part")
        part = part if isinstance(part, dict) else {}
        kind = text_of(part.get("type"))
        self._out.counts.records[f"part/{kind or '?'}"] += 1
        message = self._message()
        native = text_of(part.get("id")) or message["id"]
        self._at(part.get("time"))
        if kind == "text":
            self._text(part, native)
        elif kind == "reasoning":
            self._out.reasoning(self._id("reasoning", part.get("text")), text_of(part.get("text")), native=native)
        elif kind == "tool":
            self._tool(part, native)
        elif kind == "compaction":
            self._out.system(self._id("compaction"), "compact_boundary", "", native=native)
        elif kind == "subtask":
            self._out.system(
                self._id("subtask", part.get("prompt")), "subtask", text_of(part.get("prompt")), native=native
            )
        elif kind == "retry":
            self._out.system(
                self._id("retry", part.get("error")), "api_error", _error(part.get("error")), native=native
            )
        elif kind == "file":
            self._file(part, native)
        elif kind not in _COUNTED:
            self._unknown(f"part/{kind or '?'}", part, native)

    def end(self, fields: dict[str, Any]) -> None:
        """Take in the line of a message's end: an error is all it tells."""
        error = fields.get("error")
        if error:
            self._at({"start": fields.get("completed")})
            self._out.flags = ["api_error"]
            name = self._message()["id"]
            self._out.system(self._id("error", error), "api_error", _error(error), native=name)

    def strange(self, kind: str, fields: dict[str, Any]) -> None:
        """Take in a line of a kind that nobody knows."""
        raw = fields.get("record", fields)
        name = text_of(raw.get("type")) if isinstance(raw, dict) else ""
        event = self._out.options.identify(self._out.session, kind, raw, self._out.count(kind, raw))
        native = text_of(raw.get("id")) if isinstance(raw, dict) else ""
        self._out.unknown(f"{kind or '?'}/{name}" if name else kind or "?", raw, event, native=native)

    # -- parts -------------------------------------------------------------------------------

    def _text(self, part: dict[str, Any], native: str) -> None:
        text = text_of(part.get("text"))
        if not text:
            self._out.counts.notes["empty text"] += 1
            return
        message = self._message()
        event = self._id("text", text)
        hidden = next((name for name in ("synthetic", "ignored") if part.get(name)), "")
        if hidden:
            self._out.flags = [hidden]
            self._out.system(event, "injected" if has_block(text) else hidden, text, native=native)
        elif message["role"] == "assistant":
            kind = "summary" if message["summary"] else "reply"
            self._out.flags = ["compact_summary"] if message["summary"] else []
            self._out.emit("conversation_turn", event, {"kind": kind, "text": text}, "assistant", native=native)
        elif message["role"] == "user":
            whole = _QUOTED.fullmatch(text)
            if whole is not None:
                # `opencode run "a b"` keeps the shell's quotation marks.
                self._out.flags = ["quoted"]
                text = text[1:-1].replace('\\"', '"')
            kind, actor = ("worker_prompt", "assistant") if self._out.worker else ("prompt", "user")
            self._out.emit("conversation_turn", event, {"kind": kind, "text": text}, actor, native=native)
        else:
            self._unknown(f"text/{message['role'] or '?'}", part, native)

    def _tool(self, part: dict[str, Any], native: str) -> None:
        state = part.get("state")
        state = state if isinstance(state, dict) else {}
        times = state.get("time")
        times = times if isinstance(times, dict) else {}
        call = text_of(part.get("callID"))
        given = state.get("input")
        if not isinstance(given, dict):
            given = {} if given is None else {"": given}
        self._at({"start": times.get("start")})
        body: dict[str, Any] = {"tool": text_of(part.get("tool")), "call_id": call, "input": given}
        self._out.emit("tool_call", self._id("call", call, given), body, "assistant", native=native)
        status = text_of(state.get("status"))
        if status not in ("completed", "error"):
            self._out.counts.notes["tool call without an end"] += 1
            return
        self._at({"start": times.get("end")})
        failed = status == "error"
        body = {"call_id": call, "text": text_of(state.get("error" if failed else "output"))}
        if failed:
            body["is_error"] = True
        attached = state.get("attachments")
        urls = [item.get("url") for item in attached if isinstance(item, dict)] if isinstance(attached, list) else []
        media = [medium for url in urls if (medium := data_url(url)) is not None]
        event = self._id("result", call, body["text"])
        self._out.emit("tool_result", event, body, "tool", native=native, part=1, media=media)

    def _file(self, part: dict[str, Any], native: str) -> None:
        medium = data_url(part.get("url"))
        name = text_of(part.get("filename"))
        event = self._id("file", part.get("url"), name)
        body = {"subtype": "attachment", "text": name}
        self._out.emit("system", event, body, "system", native=native, media=[medium] if medium else None)

    # -- where reading stands ----------------------------------------------------------------

    def _message(self) -> dict[str, Any]:
        empty: dict[str, Any] = {"id": "", "role": "", "created": None, "parent": "", "summary": False, "said": {}}
        found: dict[str, Any] = self._out.kept.setdefault("open", empty)
        return found

    def _at(self, times: Any) -> None:
        """Move to the time of a part, else of its message."""
        message = self._message()
        start = times.get("start") if isinstance(times, dict) else None
        self._out.at(moment(start) or moment(message["created"]))
        self._out.message, self._out.parent = message["id"], message["parent"]

    def _id(self, kind: str, *said: Any) -> str:
        """Return the id of an event: a copy of the message in another session has the same."""
        message = self._message()
        what = sha256_hex(canonical([kind, *said]))
        times = message["said"].get(what[:16], 0)
        message["said"][what[:16]] = times + 1
        made = message["created"]
        whose = str(made) if made is not None else message["id"]
        return b32id(HARNESS, message["role"], whose, what, str(times))

    def _unknown(self, name: str, raw: Any, native: str = "") -> None:
        self._out.unknown(name, raw, self._id("unknown", raw), native=native or self._message()["id"])


def _error(error: Any) -> str:
    """Return what an error says."""
    if isinstance(error, dict):
        data = error.get("data")
        said = text_of(data.get("message")) if isinstance(data, dict) else ""
        return f"{text_of(error.get('name'))}: {said}".strip(": ")
    return text_of(error)
