"""How SQLite is opened and spoken to: a connection, the vector extension in it, its faults as errors to act on."""

import contextlib
from pathlib import Path
from typing import Any

import apsw

from transcript.errors import IndexUnreadable, LockBusy, StoreError


def connect(path: Path, *, writable: bool, busy_ms: int) -> apsw.Connection:
    """Return a connection that waits busy_ms for others; a file made here is its owner's alone.

    Raises apsw.Error, and IndexUnreadable for a path that is no text: SQLite cannot be given it.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise IndexUnreadable(
            f"the index's path {str(path)!a} is not UTF-8; set RECALL_HOME to another folder"
        ) from None
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writable else apsw.SQLITE_OPEN_READONLY
    fresh = writable and not path.exists()
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(busy_ms)
    if fresh:
        path.chmod(0o600)
    return connection


def load_extension(connection: apsw.Connection) -> tuple[str, str]:
    """Load sqlite-vec into connection and return (reason why not, its version)."""
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(extension_path()))
        version = next(iter(connection.execute("SELECT vec_version()")))[0]
        return "", str(version)
    except (apsw.Error, AttributeError, ImportError, OSError) as error:
        return f"{type(error).__name__}: {error}", ""
    finally:
        with contextlib.suppress(apsw.Error, AttributeError):
            connection.enable_load_extension(False)


def extension_path() -> Path:
    """Return where sqlite-vec's shared library lies; importing the package would load more than that."""
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise ImportError("the package sqlite-vec is not installed")
    return Path(spec.origin).with_name("vec0")


def storable(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a statement's values with each half of a surrogate pair as U+FFFD: a text of SQLite takes none.

    A tool may write any session's name, folder or id; what is stored and what is looked up are replaced alike.
    """
    return tuple(
        one.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(one, str) else one
        for one in values
    )


def translated(error: apsw.Error, path: Path) -> StoreError | LockBusy:
    """Return the error a user can act on for one of SQLite's."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return LockBusy("the index is being written by another process; try again")
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return IndexUnreadable(f"the index {path.name} is damaged ({error}); run 'recall index rebuild'")
    if isinstance(error, apsw.CantOpenError | apsw.PermissionsError | apsw.ReadOnlyError | apsw.AuthError):
        return IndexUnreadable(
            f"the index {path} cannot be opened ({error}); check its permissions, and that its disk takes writes"
        )
    if isinstance(error, apsw.IOError):  # a full disk, too, where the file that readers share is made
        return IndexUnreadable(f"the index {path} cannot be used ({error}); check that its disk is whole and has room")
    if isinstance(error, apsw.FullError):
        return StoreError("the disk is full; the index is unchanged, free space and run 'recall index' again")
    return StoreError(f"the index cannot be used ({type(error).__name__}: {error}); try 'recall index rebuild'")
