"""Where data lives, how folders and files are made (0700, 0600, replaced whole), and how derived files are read."""

import contextlib
import errno
import json
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from transcript.errors import WorkspaceError

# sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included.
SOCKET_PATH_BYTES = 103
SOCKET_NAME_BYTES = 32


_PLAIN = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotPlainError(OSError):
    """What was to be opened is a link, a folder, a pipe or a device."""


def data_home(env: Mapping[str, str]) -> Path:
    """Return the folder of all workspaces: `RECALL_HOME`, else the user data folder.

    WorkspaceError where no home folder is known that it is named by.
    """
    home = env.get("RECALL_HOME")
    if home:
        found = user_path(home)
        if home.startswith("~") and str(found).startswith("~"):
            raise WorkspaceError(f"RECALL_HOME is '{home}', and no such home is known here; set a whole path")
        return found.absolute()
    from platformdirs import user_data_path

    try:
        return user_data_path("recall", appauthor=False)
    except RuntimeError:  # a user without an entry and without HOME
        raise WorkspaceError("no home folder is known; set RECALL_HOME to the data folder's whole path") from None


def user_path(text: str) -> Path:
    """Return a path that a person wrote, `~` and `~name` read as homes; as it stands where no such home is known."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - pathlib's raises where it knows no home


def secure_dir(path: Path) -> Path:
    """Return path as a folder only its owner can enter; it and its missing parents are made so.

    Only for folders of ours: one that is open to others is closed.
    """
    path = Path(path)
    if not path.is_dir():
        if not path.parent.is_dir():
            secure_dir(path.parent)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            if not path.is_dir():
                raise
    elif os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077 and path.stat().st_uid == os.geteuid():
        path.chmod(0o700)
    return path


def fsync_dir(path: Path) -> None:
    """Make the names in a folder survive a power cut, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomic(path: Path, data: bytes, *, durable: bool = True, mode: int = 0o600) -> None:
    """Replace a file whole: a reader sees the old bytes or the new ones. The umask takes from mode."""
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        try:
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):  # a full disk says no name, a failed rename that of the part
            error.filename = str(path)
        raise
    if durable:
        fsync_dir(path.parent)


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """Return the descriptor of a file that somebody else may have put there; one that is made is 0600.

    NotPlainError for anything but a regular file, which is not opened: a link could show another one, a pipe would be
    waited for.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise NotPlainError(errno.EINVAL, "is no plain file", str(path))
    try:
        descriptor = os.open(path, flags | _PLAIN, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link was put there since
            raise NotPlainError(errno.EINVAL, "is no plain file", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # or something else was
        os.close(descriptor)
        raise NotPlainError(errno.EINVAL, "is no plain file", str(path))
    return descriptor


def open_file(path: Path) -> BinaryIO:
    """Return a file opened for reading, or the one that a link in its place leads to.

    NotPlainError for a pipe, which would be waited for, or a device, but for the empty one by which a person masks a
    file; IsADirectoryError for a folder.
    """
    descriptor = os.open(path, os.O_RDONLY | (_PLAIN & ~getattr(os, "O_NOFOLLOW", 0)))
    found = os.fstat(descriptor)
    kind = found.st_mode
    if stat.S_ISREG(kind) or (stat.S_ISCHR(kind) and os.path.samestat(found, os.stat(os.devnull))):  # noqa: PTH116
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise NotPlainError(errno.EINVAL, "is no plain file", str(path))


def read_file(path: Path) -> bytes:
    """Return the bytes of a file, or of one that a link in its place leads to; errors as those of `open_file`."""
    with open_file(path) as file:
        return file.read()


def read_derived(path: Path, *, version: int | None = None) -> dict[str, Any]:
    """Return the JSON object of a file that is made from the record; {} where it is missing, damaged or no object.

    With a version also where it was written for another one: whoever makes it makes it again. A number without end is
    damage, and a pipe in a file's place is not waited for.
    """
    try:
        held = json.loads(read_file(path), parse_float=_finite, parse_constant=_finite)
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(held, dict) or (version is not None and held.get("version") != version):
        return {}
    return held


def _finite(text: str) -> float:
    found = float(text)
    if not abs(found) <= sys.float_info.max:
        raise ValueError(f"{text} is no number")
    return found


def remove_parts(path: Path) -> None:
    """Remove what a process that was killed in `write_atomic` left beside a file; nobody may be writing it."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.\d+\.[0-9a-f]{{8}}")
    for part in path.parent.iterdir() if path.parent.is_dir() else ():
        if ours.fullmatch(part.name):
            part.unlink(missing_ok=True)


def sync(descriptor: int) -> None:
    """See a file's bytes and length on the disk; its other attributes may follow later."""
    getattr(os, "fdatasync", os.fsync)(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take fewer at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def append_line(path: Path, line: str) -> None:
    """Add a line to a file of one's own; a line that an interrupted run left open is closed first."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "rb+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        torn = end > 0 and file.read(1) != b"\n"
        write_all(file.fileno(), b"\n" * torn + line.encode("utf-8") + b"\n")


def write_once(path: Path, data: bytes) -> bytes:
    """Write a file that must never change; return what it holds, which may be another's bytes."""
    try:
        return read_file(path)
    except FileNotFoundError:
        pass
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    write_atomic(temporary, data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:  # no hard links here: the last writer wins, and both read the same afterwards
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    fsync_dir(path.parent)
    return read_file(path)


def runtime_dir(data: Path, env: Mapping[str, str], *, platform: str = sys.platform) -> Path:
    """Return the folder for sockets, made 0700: `$XDG_RUNTIME_DIR/recall`, else `<data>/run`, else `/tmp/recall-<uid>`.

    A folder whose path leaves no room for a socket's name, or has a line end, is passed over.
    """
    runtime = env.get("XDG_RUNTIME_DIR")
    candidates = [data / "run"]
    if runtime and Path(runtime).is_absolute() and Path(runtime).is_dir():
        candidates.insert(0, Path(runtime) / "recall")
    for folder in candidates:
        named = os.fsencode(folder)  # the file that says where the service listens has a path a line
        if len(named) + 1 + SOCKET_NAME_BYTES <= SOCKET_PATH_BYTES and b"\n" not in named:
            try:
                return secure_dir(folder)
            except OSError:
                continue
    if platform == "win32":
        return secure_dir(data / "run")
    return owned_dir(Path(f"/tmp/recall-{os.getuid()}"))


def owned_dir(path: Path) -> Path:
    """Return path as a folder of ours, 0700; refuse another user's folder or a link in its place."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise WorkspaceError(f"{path} belongs to somebody else; set XDG_RUNTIME_DIR to a folder of your own")
    if stat.S_IMODE(info.st_mode) & 0o077:
        path.chmod(0o700)
    return path
