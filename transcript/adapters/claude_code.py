"""Claude Code: where its sessions lie and which file is whose.

Three layouts of sub-agents are read: `<session>/subagents/**/agent-<id>.jsonl` with a `.meta.json` beside it,
`agent-<id>.jsonl` beside the session's file, and records inside the session's file (`isSidechain`, and the
`agent_progress` records of 2.1.12 to 2.1.79). The folder's name is never decoded: two projects can share it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.claude_reader import ClaudeReader
from transcript.adapters.claude_record import ADAPTER_VERSION, HARNESS
from transcript.adapters.claude_types import KNOWN_TYPES
from transcript.adapters.tree_memory import TreeAdapter
from transcript.adapters.values import text_of
from transcript.adapters.walk import find, home
from transcript.paths import open_file

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SKIPPED_FOLDERS = frozenset({"tool-results", "memory"})
_NO_SESSIONS = frozenset({"history.jsonl", "journal.jsonl"})
_AGENT = "agent-"


class ClaudeCode(TreeAdapter):
    """The adapter of Claude Code's session files, versions 1.0 to 2.1."""

    harness = HARNESS
    version = ADAPTER_VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all projects, under `CLAUDE_CONFIG_DIR` or `~/.claude`."""
        config = env.get("CLAUDE_CONFIG_DIR")
        base = Path(config) if config else home(env) / ".claude"
        return [base / "projects"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every session and sub-agent file under roots, and what was refused by reason."""
        found, refused = find(roots, _is_session, _SKIPPED_FOLDERS)
        return [_source(path) for path in found], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the session's file: it is lines already."""
        return open_file(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a record; parts of records name no session and no folder."""
        return isinstance(value.get("type"), str) and any(
            isinstance(value.get(name), str) for name in ("sessionId", "session_id", "cwd")
        )

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> ClaudeReader:
        """Return a reader that goes on where memory stands."""
        return ClaudeReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) of the first of these records that has each, "" where none has."""
        first = {"cwd": "", "timestamp": "", "sessionId": ""}
        for value in values:
            for name, known in first.items():
                if not known and isinstance(value.get(name), str):
                    first[name] = value[name]
            if not first["sessionId"] and isinstance(value.get("session_id"), str):
                first["sessionId"] = value["session_id"]
        return first["cwd"], first["timestamp"], first["sessionId"]

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records of a file are this harness's (other programs write .jsonl too)."""
        return any(
            text_of(value.get("type")) in KNOWN_TYPES
            and any(name in value for name in ("uuid", "sessionId", "leafUuid", "snapshot"))
            for value in values
        )


def _is_session(path: Path) -> bool:
    return path.suffix == ".jsonl" and path.name not in _NO_SESSIONS


def _source(path: Path) -> SourceFile:
    folders = path.parts[:-1]
    if path.name.startswith(_AGENT):
        worker = path.stem[len(_AGENT) :]
        if "subagents" in folders:
            at = len(folders) - 1 - folders[::-1].index("subagents")
            session = folders[at - 1]
            identity = "/".join((*folders[max(at - 2, 0) :], path.name))
            return SourceFile(HARNESS, path, identity, session, worker, str(Path(*folders[:at])))
        return SourceFile(HARNESS, path, f"{path.parent.name}/{path.name}", "", worker)
    session = path.stem if _UUID.fullmatch(path.stem) else ""
    return SourceFile(HARNESS, path, f"{path.parent.name}/{path.name}", session, "", str(path.with_suffix("")))
