"""Copilot CLI: `~/.copilot/session-state/<uuid>/events.jsonl`, before that `<uuid>.jsonl` in the same folder.

Every line is an event with an id, a time and the event before it. The first one names session, folder and version.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.copilot_reader import CopilotReader
from transcript.adapters.tree_memory import TreeAdapter
from transcript.adapters.walk import begins, find, home
from transcript.paths import open_file, user_path

EVENTS_FILE = "events.jsonl"


class CopilotCli(TreeAdapter):
    """The adapter of Copilot CLI's session files."""

    harness = "copilot-cli"
    version = CopilotReader.adapter
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folders of all sessions, under `COPILOT_HOME` or `~/.copilot`."""
        given = env.get("COPILOT_HOME")
        base = user_path(given) if given else home(env) / ".copilot"
        return [base / "session-state", base / "history-session-state"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every file that begins with a session's start."""
        found, refused = find(roots, lambda path: path.suffix == ".jsonl")
        return [_source(path) for path in found if self.recognises(begins(path))], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the session's file: it is lines already."""
        return open_file(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is an event: parts of one have no data and time of their own."""
        return is_event(value)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records of a file are events, a session's start among them."""
        return any(value.get("type") in ("session.start", "session.resume") and is_event(value) for value in values)

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> CopilotReader:
        """Return a reader that goes on where memory stands."""
        return CopilotReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) as the session's start says them."""
        for value in values:
            data = value.get("data")
            if value.get("type") in ("session.start", "session.resume") and isinstance(data, dict):
                context = data.get("context")
                cwd = context.get("cwd") if isinstance(context, dict) else None
                given = (cwd, value.get("timestamp"), data.get("sessionId"))
                one, two, three = (item if isinstance(item, str) else "" for item in given)
                return one, two, three
        return "", "", ""


def is_event(value: dict[str, Any]) -> bool:
    """Return whether a record is an event of a session."""
    return isinstance(value.get("data"), dict) and all(
        isinstance(value.get(name), str) for name in ("type", "id", "timestamp")
    )


def _source(path: Path) -> SourceFile:
    if path.name == EVENTS_FILE:
        return SourceFile("copilot-cli", path, f"{path.parent.name}/{path.name}", "", "", str(path.parent))
    return SourceFile("copilot-cli", path, path.name, "")
