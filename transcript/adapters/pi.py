"""pi: `~/.pi/agent/sessions/--<cwd>--/<time>_<uuid>.jsonl`, versions 1 to 3 of its session files.

The first line names session and folder. Version 1 is a plain sequence without ids; from version 2 on every entry has
an id of 8 hex digits and names its parent, and the file is a tree in place: what the last entry does not descend from
was left behind. An entry's id is unique in its file only, so its time belongs to its identity; a fork copies both.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.pi_reader import PiReader
from transcript.adapters.tree_memory import TreeAdapter
from transcript.adapters.walk import begins, find, first, home
from transcript.paths import open_file, user_path

LETTA_FILE = "messages.jsonl"


class Pi(TreeAdapter):
    """The adapter of pi's session files."""

    harness = "pi"
    version = PiReader.adapter
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all sessions, under `PI_CODING_AGENT_DIR` or `~/.pi/agent`."""
        agent = env.get("PI_CODING_AGENT_DIR")
        return [(user_path(agent) if agent else home(env) / ".pi" / "agent") / "sessions"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every file that begins as a session of pi does."""
        found, refused = find(roots, lambda path: path.suffix == ".jsonl" and path.name != LETTA_FILE)
        mine = [path for path in found if self.recognises(begins(path, 1))]
        return [SourceFile(self.harness, path, f"{path.parent.name}/{path.name}", "") for path in mine], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the session's file: it is lines already."""
        return open_file(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is an entry: parts of one have no ISO time beside their type."""
        return isinstance(value.get("type"), str) and isinstance(value.get("timestamp"), str)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records of a file begin a session."""
        return bool(values) and is_session(values[0])

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> PiReader:
        """Return a reader that goes on where memory stands."""
        return PiReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) as the first line says them."""
        headers = [value for value in values if value.get("type") == "session"]
        return first(headers, "cwd"), first(headers, "timestamp"), first(headers, "id")


def is_session(value: dict[str, Any]) -> bool:
    """Return whether a record is the first line of a pi session."""
    return value.get("type") == "session" and all(isinstance(value.get(name), str) for name in ("id", "timestamp"))
