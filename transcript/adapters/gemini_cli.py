"""Gemini CLI: where its sessions lie, which file is whose, and one document as lines.

A session is one JSON document (to April 2026) or a journal of lines; a resumed one is migrated and both files stay, so
that they are two sources of one session. Its folder under `tmp/` was the project's SHA-256 and is now a short name;
a session is the same source in both. The views begin with the project's folder where that can be found.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.gemini_project import project_folder
from transcript.adapters.gemini_reader import ADAPTER_VERSION, HARNESS, VIEW, GeminiReader
from transcript.adapters.stream import StreamAdapter
from transcript.adapters.values import text_of
from transcript.adapters.views import UnreadableSource
from transcript.adapters.walk import begins, find, home, read_object
from transcript.paths import open_file, read_file

_MAX_DOCUMENT = 64 << 20
_PEEK = 4 << 10
_SESSION = re.compile(r"session-\d{4}-\d\d-\d\dT\d\d-\d\d-[0-9a-zA-Z-]+\.jsonl?$")
_NO_SESSIONS = re.compile(r"^(?:logs|projects|settings|checkpoint-.*)\.json$")
_NAMES = (b'"sessionId"', b'"projectHash"', b'"lastUpdated"')
_CHANGING = frozenset({"messages", "lastUpdated", "summary", "memoryScratchpad"})


class GeminiCli(StreamAdapter):
    """The adapter of Gemini CLI's sessions, documents and journals."""

    harness = HARNESS
    version = ADAPTER_VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all projects' sessions, under `GEMINI_CLI_HOME` or the home folder."""
        given = env.get("GEMINI_CLI_HOME")
        return [(Path(given) if given else home(env)) / ".gemini" / "tmp"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every session and sub-agent file under roots."""
        paths, refused = find(roots, _wanted)
        return [_source(path) for path in paths if _is_session(path)], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a view: the project's folder, then the journal as it is, or the document's messages a line each."""
        path = source.path
        raw = read_file(path)
        if path.suffix == ".jsonl":
            return io.BytesIO(_project_line(path, raw, begins(path)) + raw)
        try:
            document = json.loads(raw)
            messages = document["messages"]
            fixed = {name: value for name, value in document.items() if name not in _CHANGING}
            lines = [fixed, *(message for message in messages if isinstance(message, dict))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            # Half written: the next look finds it whole. Taken for empty, all it held would count as gone.
            raise UnreadableSource("no whole JSON document") from None
        return io.BytesIO(_project_line(path, raw, [document]) + b"".join(map(_line, lines)))

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a message or a change; parts of messages have no id and type."""
        if "$set" in value or "$rewindTo" in value:
            return True
        return all(isinstance(value.get(name), str) for name in ("id", "type", "timestamp"))

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records of a view are this harness's."""
        return any(VIEW in value or _is_header(value) for value in values)

    def recalled(self, abandoned: list[str], rewound: dict[str, list[str]], marks: int) -> dict[str, Any]:
        """Return the memory to read a file from its first line with; marks that its lines ask for have own ids."""
        return {"marks": marks}

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> GeminiReader:
        """Return a reader that goes on where memory stands."""
        return GeminiReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) of the first of these records that has each, "" where none has."""
        cwd = ts = session = ""
        for value in values:
            fields = value[VIEW] if isinstance(value.get(VIEW), dict) else value
            cwd = cwd or text_of(fields.get("cwd"))
            ts = ts or text_of(fields.get("startTime")) or text_of(fields.get("timestamp"))
            session = session or text_of(fields.get("sessionId"))
        return cwd, ts, session


def _wanted(path: Path) -> bool:
    return path.suffix in (".json", ".jsonl") and not _NO_SESSIONS.match(path.name)


def _is_session(path: Path) -> bool:
    if path.suffix == ".jsonl":
        return any(map(_is_header, begins(path)[:1]))
    if _SESSION.search(path.name):
        return True
    try:
        if path.stat().st_size > _MAX_DOCUMENT:
            return False
        with open_file(path) as file:
            head = file.read(_PEEK)
        if not head.lstrip().startswith(b"{") or not any(name in head for name in _NAMES):
            return False
    except OSError:
        return False
    document = read_object(path)
    return _is_header(document) and isinstance(document.get("messages"), list)


def _is_header(value: dict[str, Any]) -> bool:
    return "type" not in value and all(isinstance(value.get(name), str) for name in ("sessionId", "projectHash"))


def _source(path: Path) -> SourceFile:
    if path.parent.parent.name == "chats":  # a sub-agent's, in the folder named by its parent's session
        return SourceFile(HARNESS, path, f"{path.parent.name}/{path.name}", path.parent.name, path.stem)
    return SourceFile(HARNESS, path, path.name, "")


def _project_line(path: Path, raw: bytes, values: list[dict[str, Any]]) -> bytes:
    """Return the view's first line, b"" where nothing tells the project's folder."""
    folder = project_folder(path, raw[: 8 << 20].decode("utf-8", "replace"))
    if not folder:
        return b""
    first: dict[str, Any] = next(filter(_is_header, values), {})
    fields = {name: first[name] for name in ("sessionId", "startTime") if isinstance(first.get(name), str)}
    return _line({VIEW: {"cwd": folder, **fields}})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"
