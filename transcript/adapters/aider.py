"""Aider: `.aider.chat.history.md` in the project, a text that every chat is appended to.

Each `# aider chat started at` begins a session. Prompts stand behind `#### `, what the program says behind `> `, both
ended by two blanks, and the rest is what the model answered. An answer may hold headings and quotations of its own:
they do not end in two blanks, or stand inside the answer. The only time is the one a chat began at, in local time
without a zone; it is taken as UTC, so that it is the same everywhere.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.aider_reader import HARNESS, VERSION, AiderReader
from transcript.adapters.base import Options, SourceFile
from transcript.adapters.stream import StreamAdapter
from transcript.adapters.values import text_of
from transcript.adapters.views import UnreadableSource, as_lines
from transcript.adapters.walk import find
from transcript.paths import read_file

NAME = ".aider.chat.history.md"
_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*")
# What the program itself says, should the two blanks have been cut off.
_SAYS = re.compile(
    r"(?:Applied edit to|Creating empty file|Did not apply edit|Skipping edits|Commit [0-9a-f]{6,}|Tokens: |Aider v"
    r"|Model: |Git repo: |Repo-map: |Added .* to the chat|Dropping |Running )"
)
_SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".recall"})


class Aider(StreamAdapter):
    """The adapter of Aider's chat histories."""

    harness = HARNESS
    version = VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the file that the environment names: Aider keeps nothing in a place of its own."""
        named = env.get("AIDER_CHAT_HISTORY_FILE")
        return [Path(named)] if named and Path(named).is_absolute() else []

    def in_project(self, root: Path) -> list[Path]:
        """Return the project's own history."""
        return [root / NAME]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every chat under roots: those of one file share its path."""
        found: list[SourceFile] = []
        paths, refused = find(roots, _may_be, _SKIPPED)
        for path in paths:
            try:
                chats = _chats(path)
            except OSError:
                refused["unreadable"] += 1
                continue
            for session, _ in chats:
                found.append(SourceFile(HARNESS, path, f"{path.parent.name}/{path.name}#{session}", session))
        return found, refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a chat as lines: one that says where and when, then one for each thing said."""
        for session, lines in _chats(source.path):
            if session == source.session or session == source.identity.rpartition("#")[2]:
                return as_lines(_records(session, lines, source.path.parent))
        raise UnreadableSource("the chat is no longer in the file")

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object is a line of the view."""
        return value.get("type") in ("chat", "prompt", "answer", "says")

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether these are lines of the view."""
        return bool(values) and values[0].get("type") == "chat"

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> AiderReader:
        """Return a reader that goes on where memory stands."""
        return AiderReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (folder of the file, time, session) of a chat."""
        for value in values:
            if value.get("type") == "chat":
                return text_of(value.get("cwd")), text_of(value.get("started")), text_of(value.get("session"))
        return "", "", ""


def _may_be(path: Path) -> bool:
    return path.name.endswith("aider.chat.history.md")


def _chats(path: Path) -> list[tuple[str, list[str]]]:
    """Return (session, lines) of every chat in a history, in order; an unfinished last line is left for later."""
    text = read_file(path).decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.split("\n")[:-1]
    chats: list[tuple[str, list[str]]] = []
    seen: Counter[str] = Counter()
    for line in lines:
        started = _STARTED.fullmatch(line)
        if started is not None:
            when = f"{started.group(1)}T{started.group(2)}"
            seen[when] += 1
            again = f".{seen[when]}" if seen[when] > 1 else ""
            name = re.sub(r"[^0-9T]", "", when)
            chats.append((f"aider-{name}-{path.parent.name}{again}", []))
        elif chats:
            chats[-1][1].append(line)
    return chats


def _records(session: str, lines: list[str], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a chat. Lines that say the same kind of thing belong together, what the program says not."""
    digits = session.split("-")[1]
    started = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[9:11]}:{digits[11:13]}:{digits[13:15]}.000Z"
    yield {"type": "chat", "session": session, "started": started, "cwd": str(folder)}
    kind = ""
    held: list[str] = []
    for line, what, text in _kinds(lines):
        if what != kind or what == "says":
            yield from _record(kind, held)
            kind, held = what, []
        held.append(text if what != "answer" else line)
    yield from _record(kind, held)


def _record(kind: str, held: list[str]) -> Iterator[dict[str, Any]]:
    text = "\n".join(held).strip("\n")
    if text.strip():
        yield {"type": kind, "text": text}


def _kinds(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (line, kind, its text) of each line."""
    kind = ""
    for line in lines:
        sure = line.endswith("  ")
        if line.startswith("####") and (sure or kind != "answer"):
            kind = "prompt"
            yield line, kind, line[4:].strip()
        elif line.startswith(">") and (sure or kind != "answer" or _SAYS.match(line[1:].strip())):
            kind = "says"
            yield line, kind, line[1:].strip()
        elif line.strip() or kind == "answer":
            kind = "answer"
            yield line, kind, line
        else:
            kind = ""
            yield line, kind, ""
