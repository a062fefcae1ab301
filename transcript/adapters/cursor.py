"""Cursor's agent transcripts: `~/.cursor/projects/<slug>/agent-transcripts/<uuid>/<uuid>.jsonl`, or `.txt`, or flat.

They hold neither ids nor times nor the project's folder: ids are made from what was said, the time is the file's when
its lines were first read, and the folder comes from what names it in full (`cursor_view`). Chats of the editor lie in
a database and are not read.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.cursor_reader import CursorReader
from transcript.adapters.cursor_view import FOLDER, VIEW, is_line, is_text, view
from transcript.adapters.tree_memory import TreeAdapter
from transcript.adapters.walk import begins, find, first, home
from transcript.paths import user_path

UNDATED = "undated"
_WORKERS = "subagents"


class Cursor(TreeAdapter):
    """The adapter of Cursor's agent transcripts."""

    harness = "cursor"
    version = CursorReader.adapter
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all projects, under `CURSOR_CONFIG_DIR` or `~/.cursor`."""
        given = env.get("CURSOR_CONFIG_DIR")
        return [(user_path(given) if given else home(env) / ".cursor") / "projects"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every transcript under roots; a sub-agent's belongs to the session that began it."""
        found, refused = find(
            roots, lambda path: path.suffix == ".jsonl" or (path.suffix == ".txt" and FOLDER in path.parts)
        )
        return [_source(path) for path in found if _is_transcript(path)], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a head that says where the session ran, then the transcript's records as lines."""
        return view(source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a whole record."""
        return is_line(value)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records are those of the view."""
        return any(value.get("view") == VIEW for value in values)

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> CursorReader:
        """Return a reader that goes on where memory stands."""
        return CursorReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, no time, session) as the head of the view says them; the word for the time sorts last."""
        heads = [value for value in values if value.get("view") == VIEW]
        return first(heads, "cwd"), UNDATED if heads else "", first(heads, "session")


def _is_transcript(path: Path) -> bool:
    if path.suffix == ".txt":
        return is_text(path)
    values = begins(path)
    if FOLDER in path.parts:
        return any(is_line(value) for value in values)
    return bool(values) and all(is_line(value) and set(value) == {"role", "message"} for value in values)


def _source(path: Path) -> SourceFile:
    folder = path.parent
    if folder.name == _WORKERS:
        parent = folder.parent
        return SourceFile(
            "cursor", path, f"{parent.name}/{folder.name}/{path.name}", parent.name, path.stem, str(parent)
        )  # fmt: skip
    beside = str(folder) if folder.name == path.stem else ""
    return SourceFile("cursor", path, path.name, path.stem, "", beside)
