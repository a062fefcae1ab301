"""Our own format: a file of JSON lines that any tool can write (docs/wire.md), so that it need not have an adapter.

The first line says what the file is, whose session it holds and where that ran. Each line behind it is one thing that
was said or done. A record with an `id` is the same record wherever it stands again; one without gets an id from what
it says.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.jsonl import Line, parse_line
from transcript.adapters.stream import Stream, StreamAdapter
from transcript.adapters.values import inline, text_of
from transcript.adapters.views import head_of
from transcript.adapters.walk import find
from transcript.canonical import b32id
from transcript.injected import has_block
from transcript.paths import data_home, open_file

HARNESS = "wire"
VERSION = "1"
HEADER = "recall_wire"
FORMAT = 1
HEADER_BYTES = 64 << 10
UNITED = ("surface", "session_key")  # one session on several surfaces; all its events carry both
_TURNS = {"prompt": "user", "worker_prompt": "assistant", "reply": "assistant", "summary": "assistant"}


class Wire(StreamAdapter):
    """The adapter of files in our own format."""

    harness = HARNESS
    version = VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder `wire` beside the workspaces, where tools may put their files."""
        return [data_home(env) / "wire"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every `.jsonl` under roots whose first line says that it is one of ours."""
        paths, refused = find(roots, lambda path: path.suffix == ".jsonl")
        found = []
        for path in paths:
            head = _first(path)
            if HEADER in head:
                session, worker = _whose(head)
                found.append(SourceFile(HARNESS, path, f"{path.parent.name}/{path.name}", session, worker))
        return found, refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the file: it is lines already."""
        return open_file(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a record: it has a type, and words or a call to go with it."""
        return isinstance(value.get("type"), str) and any(name in value for name in ("text", "tool", "call_id", "of"))

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first record says that the file is ours."""
        return bool(values) and HEADER in values[0]

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> "WireReader":
        """Return a reader that goes on where memory stands."""
        return WireReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) of the first of these records that has each, "" where none has."""
        found = {"cwd": "", "ts": "", "session": ""}
        for value in values:
            for name, known in found.items():
                found[name] = known or text_of(value.get(name))
        return found["cwd"], found["ts"], found["session"]


class WireReader:
    """Reads one file on, line after line."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        memory.setdefault("tool", "")
        memory.setdefault("named", {})
        self._out = _Stream(HARNESS, VERSION, source, memory, options, self.counts)
        self._readers: dict[str, Callable[[dict[str, Any]], None]] = {
            **dict.fromkeys(_TURNS, self._turn),
            "tool_call": self._call,
            "tool_result": self._result,
            "reasoning": self._reasoning,
            "system": self._system,
            "compaction": self._compaction,
            "abandon": self._mark,
            "restore": self._mark,
        }

    def feed(self, line: Line) -> None:
        """Take in the records of the next line."""
        for at, fields in enumerate(line.objects):
            kind = text_of(fields.get("type"))
            if at in line.odd:
                self._out.odd(line.raw, kind or HEADER)
            elif HEADER in fields:
                self._header(fields)
            else:
                self.counts.records[kind or "?"] += 1
                self._record(kind, fields)

    def take(self) -> list[Taken]:
        """Return the events since the last call."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks."""
        self._out.finish()
        return self._out.take()

    def _header(self, fields: dict[str, Any]) -> None:
        self.counts.records["header"] += 1
        self._out.kept["tool"] = text_of(fields.get("tool"))
        self._out.kept["united"] = {name: value for name in UNITED if (value := text_of(fields.get(name)))}
        self._out.note(**{name: fields.get(name) for name in ("version", "cwd", "branch", "model")})
        self._out.belongs(fields.get("session"))
        self._out.at(fields.get("ts"))
        if fields[HEADER] != FORMAT:
            self._out.unknown(f"header/{fields[HEADER]}", fields, self._id(fields, 0))

    def _record(self, kind: str, fields: dict[str, Any]) -> None:
        self._out.at(fields.get("ts"))
        self._out.note(**{name: fields.get(name) for name in ("cwd", "branch", "model")})
        self._out.message, self._out.parent = text_of(fields.get("message")), text_of(fields.get("parent"))
        read = self._readers.get(kind)
        if read is None:
            self._out.unknown(kind or "?", fields, self._id(fields), native=text_of(fields.get("id")))
        else:
            read(fields)

    # -- records -----------------------------------------------------------------------------

    def _turn(self, fields: dict[str, Any]) -> None:
        kind = fields["type"]
        if kind == "prompt" and self._out.worker:
            kind = "worker_prompt"
        if kind == "summary":
            self._out.flags = ["compact_summary"]
        body = {"kind": kind, "text": text_of(fields.get("text"))}
        if kind == "prompt" and (speaker := text_of(fields.get("speaker"))):
            body["speaker"] = speaker
        self._emit("conversation_turn", fields, body, _TURNS[kind])

    def _call(self, fields: dict[str, Any]) -> None:
        given = fields.get("input")
        body = {"tool": text_of(fields.get("tool")), "call_id": text_of(fields.get("call_id"))}
        self._emit("tool_call", fields, {**body, "input": given if isinstance(given, dict) else {}}, "assistant")

    def _result(self, fields: dict[str, Any]) -> None:
        body: dict[str, Any] = {"call_id": text_of(fields.get("call_id")), "text": text_of(fields.get("text"))}
        if fields.get("is_error"):
            body["is_error"] = True
        self._emit("tool_result", fields, body, "tool")

    def _reasoning(self, fields: dict[str, Any]) -> None:
        native = text_of(fields.get("id"))
        self._out.reasoning(self._id(fields), text_of(fields.get("text")), native=native)

    def _system(self, fields: dict[str, Any]) -> None:
        text = text_of(fields.get("text"))
        subtype = "injected" if has_block(text) else text_of(fields.get("subtype")) or "notice"
        self._emit("system", fields, {"subtype": subtype, "text": text}, "system")

    def _compaction(self, fields: dict[str, Any]) -> None:
        self._emit("system", fields, {"subtype": "compact_boundary", "text": text_of(fields.get("text"))}, "system")

    def _mark(self, fields: dict[str, Any]) -> None:
        """Mark records as left behind, or taken up again: by their ids."""
        names = fields.get("of")
        known: dict[str, str] = self._out.kept["named"]
        events = [known[name] for name in names if name in known] if isinstance(names, list) else []
        mark = "abandoned" if fields["type"] == "abandon" else "restored"
        self._out.mark(mark, events, text_of(fields.get("note")), b32id("mark", mark, self._id(fields)))

    def _emit(self, kind: str, fields: dict[str, Any], body: dict[str, Any], actor: str) -> None:
        event = self._id(fields)
        native = text_of(fields.get("id"))
        if native:
            self._out.kept["named"][native] = event
        self._out.emit(kind, event, body, actor, native=native, media=_media(fields.get("media")))

    def _id(self, fields: dict[str, Any], part: int = 0) -> str:
        native = text_of(fields.get("id"))
        tool = self._out.kept["tool"]
        if native:
            return b32id(HARNESS, tool, native, str(part))
        kind = text_of(fields.get("type"))
        return self._out.options.identify(self._out.session, kind, fields, self._out.count(kind, fields))


class _Stream(Stream):
    """Events whose agent is the tool that wrote the file, under the name it gave itself."""

    def _draft(self, *args: Any, **options: Any) -> Any:
        draft = super()._draft(*args, **options)
        return replace(draft, agent=self.kept["tool"] or HARNESS, body={**draft.body, **self.kept.get("united", {})})


def _first(path: Path) -> dict[str, Any]:
    """Return the first record of a file, an empty one where there is none."""
    raw = head_of(path, HEADER_BYTES).partition(b"\n")[0]
    found = parse_line(1, 0, len(raw), raw, lambda value: False).objects
    return found[0] if found else {}


def _whose(header: dict[str, Any]) -> tuple[str, str]:
    """Return (session, worker): a sub-agent's file names the session it works for."""
    session, parent = text_of(header.get("session")), text_of(header.get("parent_session"))
    return (parent, session) if parent else (session, "")


def _media(given: Any) -> list[tuple[bytes, str]]:
    items = given if isinstance(given, list) else []
    found = (inline(item.get("data"), item.get("mime")) for item in items if isinstance(item, dict))
    return [medium for medium in found if medium is not None]
