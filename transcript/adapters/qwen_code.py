"""Qwen Code: where its sessions lie and which file is whose."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.qwen_reader import ADAPTER_VERSION, HARNESS, KNOWN_TYPES, QwenReader
from transcript.adapters.tree_memory import TreeAdapter
from transcript.adapters.values import text_of
from transcript.adapters.walk import begins, find, first, home
from transcript.paths import open_file

_AGENT = "agent-"


class QwenCode(TreeAdapter):
    """The adapter of Qwen Code's session files."""

    harness = HARNESS
    version = ADAPTER_VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all projects, under `QWEN_RUNTIME_DIR`, `QWEN_HOME` or `~/.qwen`."""
        given = env.get("QWEN_RUNTIME_DIR") or env.get("QWEN_HOME")
        return [(Path(given) if given else home(env) / ".qwen") / "projects"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every session and sub-agent file under roots."""
        paths, refused = find(roots, lambda path: path.suffix == ".jsonl")
        return [_source(path) for path in paths if self.recognises(begins(path))], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the session's file: it is lines already."""
        return open_file(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a record; parts of records name no session."""
        return isinstance(value.get("type"), str) and isinstance(value.get("sessionId"), str)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records of a file are this harness's: Claude Code's have no parts, no payload."""
        return any(
            text_of(value.get("type")) in KNOWN_TYPES
            and isinstance(value.get("sessionId"), str)
            and ("systemPayload" in value or "provenance" in value or _has_parts(value))
            for value in values
        )

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> QwenReader:
        """Return a reader that goes on where memory stands."""
        return QwenReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) of the first of these records that has each, "" where none has."""
        return first(values, "cwd"), first(values, "timestamp"), first(values, "sessionId")


def _has_parts(value: dict[str, Any]) -> bool:
    message = value.get("message")
    return isinstance(message, dict) and isinstance(message.get("parts"), list)


def _source(path: Path) -> SourceFile:
    folder = path.parent
    if path.name.startswith(_AGENT) and folder.parent.name == "subagents":
        return SourceFile(HARNESS, path, f"{folder.name}/{path.name}", folder.name, path.stem[len(_AGENT) :])
    return SourceFile(HARNESS, path, path.name, "")
