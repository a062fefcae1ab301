"""opencode: sessions in its database (1.2 and newer), in its older tree of JSON files, and as `opencode export` writes.

All three hold sessions of messages of parts. The view of one gives a line for the session, one for each message, one
for each of its parts, and one when a message is done; what still changes (a running tool, a growing text) is held
back, so that what was given stays as it is. A fork copies messages under new ids and names no parent; what it keeps
is the time each message was made, so an event's id is made of that, its role and what was said: the copies are
sightings.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.jsonl import Line
from transcript.adapters.opencode_parts import HARNESS, VERSION, Parts
from transcript.adapters.opencode_store import (
    Session,
    database_sessions,
    is_database,
    read_database,
    read_tree,
    tree_sessions,
)
from transcript.adapters.opencode_view import records
from transcript.adapters.stream import Stream, StreamAdapter
from transcript.adapters.values import moment, text_of
from transcript.adapters.views import UnreadableSource, as_lines, document, head_of
from transcript.adapters.walk import find, home

_MESSAGES_TREE = frozenset({"message", "part", "session_diff", "todo", "project", "migration", "session_share"})


class OpenCode(StreamAdapter):
    """The adapter of opencode's exports, its database and its older storage tree."""

    harness = HARNESS
    version = VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return its data folder, under `XDG_DATA_HOME` or `~/.local/share`."""
        data = env.get("XDG_DATA_HOME")
        user = home(env)
        return [(Path(data) if data else user / ".local" / "share") / "opencode"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every session under roots: those of a database share its path."""
        found: dict[tuple[str, str], SourceFile] = {}
        paths, refused = find(roots, _may_be, _MESSAGES_TREE)
        for path in paths:
            for source in _sources(path, refused):
                found[str(source.path), source.identity] = source
        return [found[key] for key in sorted(found)], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a session as lines."""
        return as_lines(records(_session(source)))

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object is a line of the view."""
        return value.get("type") in ("session", "message", "part", "end")

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether these are lines of the view."""
        return any(value.get("type") == "session" and text_of(value.get("id")).startswith("ses_") for value in values)

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> "OpenCodeReader":
        """Return a reader that goes on where memory stands."""
        return OpenCodeReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (folder, time, session) of the session's line."""
        for value in values:
            if value.get("type") == "session":
                session = text_of(value.get("root")) or text_of(value.get("id"))
                return text_of(value.get("directory")), moment(value.get("created")), session
        return "", "", ""


class OpenCodeReader:
    """Reads the lines of one session's view."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self._out = Stream(HARNESS, VERSION, source, memory, options, self.counts)
        self._parts = Parts(self._out)

    def feed(self, line: Line) -> None:
        """Take in the next line."""
        for at, fields in enumerate(line.objects):
            if at in line.odd:
                self._out.odd(line.raw, text_of(fields.get("type")))
                continue
            kind = text_of(fields.get("type"))
            self.counts.records[kind or "?"] += 1
            if kind == "session":
                self._out.note(version=fields.get("version"), cwd=fields.get("directory"))
                self._out.belongs(fields.get("root") or fields.get("id"))
                self._out.at(moment(fields.get("created")))
            elif kind == "message":
                self._parts.begin(fields)
            elif kind == "part":
                self._parts.read(fields)
            elif kind == "end":
                self._parts.end(fields)
            else:
                self._parts.strange(kind, fields)

    def take(self) -> list[Taken]:
        """Return the events since the last call."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks."""
        self._out.finish()
        return self._out.take()


def _may_be(path: Path) -> bool:
    return path.suffix in (".json", ".db")


def _sources(path: Path, refused: Counter[str]) -> Iterator[SourceFile]:
    if path.suffix == ".db":
        if not is_database(path):
            return
        try:
            sessions = database_sessions(path)
        except UnreadableSource:
            refused["unreadable"] += 1
            return
        for session in sessions:
            yield _source(path, f"{path.name}/{session.id}", session)
    elif path.name.startswith("ses_") and path.parent.parent.name == "session":
        told = tree_sessions(path)
        if told is not None:
            messages = path.parent.parent.parent / "message" / told.id
            yield _source(path, f"storage/{told.id}", told, str(messages))
    elif _is_export(path):
        try:
            info = document(path)["info"]
            name, parent = info["id"], info.get("parentID") or ""
        except (OSError, KeyError, TypeError, AttributeError):
            refused["unreadable"] += 1
            return
        yield _source(path, f"{path.parent.name}/{path.name}", Session(name, parent, parent or name))


def _source(path: Path, identity: str, session: Session, companion: str = "") -> SourceFile:
    worker = session.id if session.parent else ""
    return SourceFile(HARNESS, path, identity, session.root, worker, companion)


def _is_export(path: Path) -> bool:
    head = head_of(path, 512).lstrip()
    return head.startswith(b"{") and b'"info"' in head and b'"ses_' in head


def _session(source: SourceFile) -> Any:
    """Return the session of a source with its messages and parts, as the export writes it."""
    wanted = source.worker or source.session
    if source.path.suffix == ".db":
        found = read_database(source.path, wanted or source.identity.rpartition("/")[2])
    elif source.identity.startswith("storage/"):
        found = read_tree(source.path)
    else:
        found = document(source.path)
    if not isinstance(found, dict) or not isinstance(found.get("info"), dict):
        raise UnreadableSource("no session of opencode")
    return {**found, "root": source.session}
