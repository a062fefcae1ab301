"""Reads opencode's database and its older tree of JSON files. Neither is ever written to.

The database is another program's, perhaps a running one's. Without a journal it is read as it lies; with one and its
shared index, as a reader beside the program; with a journal alone (a copy, a crash) a private copy of both is read,
because SQLite would make the missing index beside the original.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from transcript.adapters.views import UnreadableSource, document, head_of

if TYPE_CHECKING:
    import apsw

_MAGIC = b"SQLite format 3\0"
_ATTEMPTS = 3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """A session, the one it works for ("" when none), and the first of that line."""

    id: str
    parent: str
    root: str


def is_database(path: Path) -> bool:
    """Return whether a file is opencode's database: by its name and its first bytes."""
    return path.name.startswith("opencode") and head_of(path, 16) == _MAGIC


def database_sessions(path: Path) -> list[Session]:
    """Return every session of a database, by id."""

    def ask(db: "apsw.Connection") -> list[tuple[str, str]]:
        return [(name, parent or "") for name, parent in db.execute("SELECT id, parent_id FROM session ORDER BY id")]

    parents = dict(_read(path, ask))
    return [Session(name, parent, _root(name, parents)) for name, parent in parents.items()]


def read_database(path: Path, session: str) -> dict[str, Any]:
    """Return a session as an export writes it; `others` are its rows in tables that we do not know yet."""

    def ask(db: "apsw.Connection") -> dict[str, Any]:
        info = None
        for name, parent, directory, version, created in db.execute(
            "SELECT id, parent_id, directory, version, time_created FROM session WHERE id = ?", (session,)
        ):
            info = {"id": name, "parentID": parent, "directory": directory, "version": version}
            info["time"] = {"created": created}
        if info is None:
            raise UnreadableSource("the session is no longer in the database")
        parts: dict[str, list[Any]] = {}
        for name, message, data in db.execute(
            "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", (session,)
        ):
            parts.setdefault(message, []).append({**_json(data), "id": name})
        messages = [
            {"info": {**_json(data), "id": name}, "parts": parts.get(name, [])}
            for name, data in db.execute(
                "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session,)
            )
        ]
        return {"info": info, "messages": messages, "others": _others(db, session)}

    return _read(path, ask)


def tree_sessions(path: Path) -> Session | None:
    """Return the session of a file of the older tree, None when it is none."""
    parents: dict[str, str] = {}
    at = path
    while True:
        try:
            info = document(at)
            name, parent = info["id"], info.get("parentID") or ""
        except (OSError, KeyError, TypeError, AttributeError):
            break
        if name in parents:
            break
        parents[name] = parent
        at = path.with_name(f"{parent}.json")
        if not parent:
            break
    if not parents:
        return None
    first = next(iter(parents))
    return Session(first, parents[first], _root(first, parents))


def read_tree(path: Path) -> dict[str, Any]:
    """Return a session of the older tree as an export writes it. A message that is half written ends it for now."""
    storage = path.parent.parent.parent
    info = document(path)
    name = info.get("id") if isinstance(info, dict) else ""
    messages = []
    for file in sorted((storage / "message" / str(name)).glob("*.json")):
        try:
            found = document(file)
            parts = [document(part) for part in sorted((storage / "part" / file.stem).glob("*.json"))]
        except OSError:
            break
        messages.append({"info": found, "parts": parts})
    return {"info": info, "messages": messages}


def _root(name: str, parents: dict[str, str]) -> str:
    seen = {name}
    while (parent := parents.get(name, "")) and parent not in seen:
        seen.add(parent)
        name = parent
    return name


def _json(data: Any) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, TypeError, RecursionError):
        return {"type": "unreadable", "role": "unreadable", "data": data if isinstance(data, str) else str(type(data))}
    return found if isinstance(found, dict) else {"type": "unreadable", "role": "unreadable", "data": found}


def _others(db: "apsw.Connection", session: str) -> list[dict[str, Any]]:
    """Return rows of the table that newer versions prepare for messages."""
    import apsw

    try:
        rows = db.execute("SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq", (session,))
        return [{"id": name, "type": kind, "data": _json(data)} for name, kind, data in rows]
    except apsw.SQLError:
        return []


def _read(path: Path, ask: "Callable[[apsw.Connection], T]") -> T:
    """Return what ask finds, on one state of the database."""
    import apsw

    problem = "the database is being written"
    for _ in range(_ATTEMPTS):
        before = _state(path)
        try:
            with _opened(path) as (db, alone):
                db.execute("BEGIN")
                found = ask(db)
                db.execute("COMMIT")
        except apsw.Error as error:
            problem = f"no readable database ({type(error).__name__})"
            continue
        if not alone or _state(path) == before:
            return found
    raise UnreadableSource(problem)


@contextmanager
def _opened(path: Path) -> "Iterator[tuple[apsw.Connection, bool]]":
    """Open a database to read; say whether it is read without locks, so that its state must be compared."""
    journal, index = _beside(path)
    if not journal.exists() or not journal.stat().st_size:
        with _connect(path, "immutable=1") as db:
            yield db, True
    elif index.exists():
        with _connect(path, "mode=ro") as db:
            yield db, False
    else:
        with tempfile.TemporaryDirectory(prefix="recall-") as folder:
            copy = Path(folder) / "copy.db"
            shutil.copyfile(path, copy)
            shutil.copyfile(journal, f"{copy}-wal")
            with _connect(copy, "mode=rw") as db:
                yield db, True


@contextmanager
def _connect(path: Path, options: str) -> "Iterator[apsw.Connection]":
    import apsw

    flags = apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_READWRITE if options == "mode=rw" else apsw.SQLITE_OPEN_READONLY)
    db = apsw.Connection(f"file:{quote(str(path))}?{options}", flags=flags)
    try:
        db.set_busy_timeout(1000)
        yield db
    finally:
        db.close()


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _state(path: Path) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for file in (path, _beside(path)[0]):
        try:
            status = file.stat()
            found.append((status.st_size, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return found
