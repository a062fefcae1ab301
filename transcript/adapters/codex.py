"""Codex CLI: where its rollouts lie and which file is whose.

A rollout is the same source in `sessions/`, in `archived_sessions/` and compressed (`.jsonl.zst`): its name tells. Who
is a sub-agent stands in the first record.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.codex_content import content_of, envelope, working_folder
from transcript.adapters.codex_reader import ADAPTER_VERSION, HARNESS, CodexReader
from transcript.adapters.codex_types import RESPONSES
from transcript.adapters.jsonl import parse_line, raw_lines
from transcript.adapters.stream import StreamAdapter
from transcript.adapters.values import text_of
from transcript.adapters.views import UnreadableSource
from transcript.adapters.walk import HEAD_BYTES, begins, find, home
from transcript.paths import open_file

_ROLLOUT = re.compile(r"rollout-[^/\\]*?\.jsonl(?:\.zst)?$")
_ENVELOPED = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_NO_SESSIONS = frozenset({"history.jsonl", "session_index.jsonl"})
_ZSTD = ".zst"


class Codex(StreamAdapter):
    """The adapter of Codex CLI's rollouts, versions 0.2 to 0.171."""

    harness = HARNESS
    version = ADAPTER_VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folders of sessions, live and archived, under `CODEX_HOME` or `~/.codex`."""
        given = env.get("CODEX_HOME")
        base = Path(given) if given else home(env) / ".codex"
        return [base / "sessions", base / "archived_sessions"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every rollout under roots. Of a rollout that stands there compressed too, the plain one."""
        found = []
        paths, refused = find(roots, _wanted)
        for path in paths:
            if path.name.endswith(_ZSTD) and path.with_suffix("").exists():
                continue
            values = _first(path)
            if _ROLLOUT.search(path.name) or self.recognises(values):
                found.append(_source(path, values))
        return found, refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the rollout's lines; a compressed one is unpacked."""
        return _opened(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a record; parts of records have no payload of their own."""
        return isinstance(value.get("payload"), dict) and isinstance(value.get("type"), str)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records of a file are this harness's, with an envelope or, before, without."""
        return any(
            text_of(value.get("type")) in _ENVELOPED and isinstance(value.get("payload"), dict) for value in values
        ) or any(_bare_meta(value) for value in values[:1])

    def recalled(self, abandoned: list[str], rewound: dict[str, list[str]], marks: int) -> dict[str, Any]:
        """Return the memory to read a file from its first line with; marks that its records ask for have own ids."""
        return {"marks": marks}

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> CodexReader:
        """Return a reader that goes on where memory stands."""
        return CodexReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) of the first of these records that has each, "" where none has."""
        cwd = ts = session = ""
        for value in values:
            payload = value.get("payload")
            body: dict[str, Any] = payload if isinstance(payload, dict) else value
            ts = ts or text_of(value.get("timestamp")) or text_of(body.get("timestamp"))
            if value.get("type") == "session_meta" or _bare_meta(value):
                session = session or _parent(body) or text_of(body.get("id"))
            cwd = cwd or text_of(body.get("cwd")) or _noted_folder(body)
        return cwd, ts, session


def _wanted(path: Path) -> bool:
    name = path.name
    if name in _NO_SESSIONS:
        return False
    return name.endswith(".jsonl") or (name.endswith(_ZSTD) and _ROLLOUT.search(name) is not None)


def _opened(path: Path) -> BinaryIO:
    if not path.name.endswith(_ZSTD):
        return open_file(path)
    import zstandard

    with open_file(path) as packed:
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
                return io.BytesIO(reader.read())
        except zstandard.ZstdError:
            raise UnreadableSource("damaged zstd data") from None


def _first(path: Path) -> list[dict[str, Any]]:
    if not path.name.endswith(_ZSTD):
        return begins(path)
    try:
        with _opened(path) as file:
            start, end, raw, _ = next(raw_lines(file, 0, limit=HEAD_BYTES), (0, 0, b"", False))
            return parse_line(1, start, end, raw, lambda value: False).objects
    except OSError:
        return []


def _source(path: Path, values: list[dict[str, Any]]) -> SourceFile:
    name = _ROLLOUT.search(path.name)
    identity = name.group().removesuffix(_ZSTD) if name else f"{path.parent.name}/{path.name}"
    meta = next((value.get("payload") for value in values[:1] if value.get("type") == "session_meta"), None)
    if isinstance(meta, dict) and (parent := _parent(meta)):
        return SourceFile(HARNESS, path, identity, parent, text_of(meta.get("id")))
    own = text_of(meta.get("id")) if isinstance(meta, dict) else text_of(values[0].get("id")) if values else ""
    return SourceFile(HARNESS, path, identity, own)


def _parent(meta: dict[str, Any]) -> str:
    """Return the session that started this one as its sub-agent, "" for a session of its own and for a fork."""
    source = meta.get("source")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    if spawned is None and meta.get("thread_source") != "subagent":
        return ""
    inner = next(iter(spawned.values()), None) if isinstance(spawned, dict) else None
    parent = inner.get("parent_thread_id") if isinstance(inner, dict) else None
    return text_of(parent) or text_of(meta.get("parent_thread_id")) or text_of(meta.get("forked_from_id"))


def _bare_meta(value: dict[str, Any]) -> bool:
    return "type" not in value and {"id", "timestamp", "instructions"} <= value.keys()


def _noted_folder(item: dict[str, Any]) -> str:
    """Return the folder that an environment note names: the only place for it in the first rollouts."""
    if text_of(item.get("type")) not in RESPONSES and "role" not in item:
        return ""
    texts = content_of(item.get("content")).texts
    return next((working_folder(text) for text in texts if envelope(text) == "environment"), "")
