"""The files of a backup: only new bytes are written, and what the last manifest names stays readable until the next.

A file in a workspace (`path`) lies in the backup under a name of its own (`stored`). One that only grew is continued in
place: a manifest counts the bytes that are its own. One that changed gets another name, and the old one goes once a new
manifest stands.
"""

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from transcript.errors import BackupError
from transcript.paths import fsync_dir, open_file, open_plain, write_all
from transcript.telling import quoted

FILES = "files"
BLOCK = 1 << 20
# Where a file of a backup may belong: the workspace's own folder, the data folder, the project's `.recall`.
_PLACES = re.compile(
    r"log/(activity(\.\d{6,})?\.jsonl|tombstones|blobs/[0-9a-f]{2}/[0-9a-f]{64}\.zst|native/[a-z0-9-]+/[0-9a-f]+\.zst)"
    r"|id\.key|calibration\.json"
    r"|data/(config\.toml|excluded\.json|sessions-kept-out|identity/.+)"
    r"|project/(config\.toml|identity/.+|packs/.+)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A file of a backup: where it belongs, its name below `files/`, how many bytes of that are its own, their hash."""

    path: str
    stored: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to copy: the first `size` bytes of what `open` gives. `earlier` is the path it had in the last backup."""

    path: str
    size: int
    open: Callable[[], IO[bytes]]
    earlier: str = ""


@dataclass(slots=True)
class Mirror:
    """Copies files into the folder of a backup."""

    folder: Path
    before: Mapping[str, Stored]
    written: int = 0
    _used: set[str] = field(default_factory=set)
    _made: list[Path] = field(default_factory=list)
    _folders: set[Path] = field(default_factory=set)

    def take(self, wanted: Wanted) -> Stored:
        """Return a file's place in the backup, its new bytes written and on the disk."""
        with wanted.open() as source:
            old = self.before.get(wanted.earlier or wanted.path)
            digest = hashlib.sha256()
            if old is None or old.stored in self._used or not self._continues(old, source, wanted.size, digest):
                source.seek(0)
                digest, name, start = hashlib.sha256(), self._free(wanted.path), 0
            else:
                name, start = old.stored, old.size
            self._used.add(name)
            if start < wanted.size or old is None or name != old.stored:
                self._write(name, start, source, wanted, digest)
        return Stored(wanted.path, name, wanted.size, digest.hexdigest())

    def _continues(self, old: Stored, source: IO[bytes], size: int, digest: "hashlib._Hash") -> bool:
        """Say whether the copy holds the beginning of source, byte by byte; its bytes are then in digest."""
        if old.size > size:
            return False
        left = old.size
        with contextlib.suppress(OSError), os.fdopen(open_plain(self.folder / old.stored), "rb") as held:
            while left:
                data = source.read(min(BLOCK, left))
                if not data or held.read(len(data)) != data:
                    return False
                digest.update(data)
                left -= len(data)
            return True
        return False

    def _free(self, path: str) -> str:
        taken = self._used | {one.stored for one in self.before.values()}
        name, number = path, 1
        while name in taken or os.path.lexists(self.folder / name):
            number += 1
            name = f"{path}.{number}"
        return name

    def _write(self, name: str, start: int, source: IO[bytes], wanted: Wanted, digest: "hashlib._Hash") -> None:
        path = self.folder / name
        folder(path.parent)
        if not os.path.lexists(path):
            self._made.append(path)
        flags = os.O_WRONLY | os.O_CREAT | (0 if start else os.O_TRUNC)
        descriptor = open_plain(path, flags)
        try:
            os.ftruncate(descriptor, start)  # a backup that was killed may have left more
            os.lseek(descriptor, start, os.SEEK_SET)
            left = wanted.size - start
            while left:
                data = source.read(min(BLOCK, left))
                if not data:
                    raise BackupError(f"{wanted.path} became shorter while it was copied; run the backup again")
                write_all(descriptor, data)
                digest.update(data)
                left -= len(data)
                self.written += len(data)
            os.fsync(descriptor)
        except OSError as error:
            error.filename = error.filename or str(path)
            raise
        finally:
            os.close(descriptor)
        self._folders.add(path.parent)

    def take_back(self) -> None:
        """Remove the files that were made, those that were there before left as they are."""
        for path in self._made:
            path.unlink(missing_ok=True)

    def sync(self) -> None:
        """See the names of new files on the disk."""
        for path in sorted(self._folders):
            fsync_dir(path)


def folder(path: Path) -> Path:
    """Make a folder and its missing parents, its owner's alone where the file system knows owners."""
    for one in (*reversed(path.parents), path):
        if not one.is_dir():
            try:
                one.mkdir(mode=0o700, exist_ok=True)
            except FileExistsError:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(one)) from None
    return path


def purge(files: Path, kept: Iterable[Stored]) -> int:
    """Remove every file below a backup's `files/` that its manifest does not name; return how many went."""
    named = {files / one.stored for one in kept}
    gone = 0
    for path in below(files):
        if path not in named:
            path.unlink()
            gone += 1
    for path in sorted((one for one in files.rglob("*") if one.is_dir() and not one.is_symlink()), reverse=True):
        with contextlib.suppress(OSError):
            path.rmdir()
    return gone


def extra(files: Path, kept: Iterable[Stored]) -> int:
    """Return how many files lie below `files/` that the manifest does not name: what a killed backup left."""
    return sum(1 for path in below(files) if path not in {files / one.stored for one in kept})


def below(files: Path) -> Iterator[Path]:
    """Yield every file and link below a folder, sorted."""
    yield from (path for path in sorted(files.rglob("*")) if path.is_symlink() or not path.is_dir())


def plain(name: str) -> bool:
    """Say whether a name means the same file below a folder on every system."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half a character
        return False
    path = PurePosixPath(name)
    return not (path.is_absolute() or ".." in path.parts or set(name) & set("\\:\0") or path.as_posix() != name)


def check_names(kept: Iterable[Stored]) -> None:
    """BackupError where a manifest names a place that no backup of ours has: nothing may be read or written there."""
    seen: set[str] = set()
    for one in kept:
        for name in (one.path, one.stored):
            if not plain(name):
                raise BackupError(f"the manifest names {quoted(name)}, outside of the backup; nothing was restored")
        if _PLACES.fullmatch(one.path) is None or one.path in seen:
            raise BackupError(f"{quoted(one.path)} is a file that no backup holds; nothing was restored")
        seen.add(one.path)


def check_files(files: Path, kept: Iterable[Stored]) -> list[str]:
    """Return a sentence for each file that is missing, a link, or not the bytes that the manifest says."""
    real = Path(os.path.realpath(files))
    wrong = []
    for one in kept:
        path = files / one.stored
        if not os.path.lexists(path):
            wrong.append(f"{one.stored} is missing")
        elif Path(os.path.realpath(path)) != real / one.stored or not path.is_file():
            wrong.append(f"{one.stored} is a link or no file")
        elif _hash(path, one.size) != one.sha256:
            wrong.append(f"{one.stored} was changed or cut")
    return wrong


def _hash(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with open_file(path) as file:
        while size and (data := file.read(min(BLOCK, size))):
            digest.update(data)
            size -= len(data)
    return digest.hexdigest() if not size else ""


def copy_out(source: Path, one: Stored, target: Path) -> None:
    """Write one file of a backup to a new place, on the disk when this returns; BackupError when it changed since.

    Where that fails, no part of it is left.
    """
    folder(target.parent)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        _copied(source, one, descriptor)
        os.fsync(descriptor)
    except BaseException as error:
        with contextlib.suppress(OSError):
            target.unlink()
        if isinstance(error, OSError):
            error.filename = error.filename or str(target)
        raise
    finally:
        os.close(descriptor)


def _copied(source: Path, one: Stored, descriptor: int) -> None:
    digest, left = hashlib.sha256(), one.size
    with open_file(source / one.stored) as file:
        while left and (data := file.read(min(BLOCK, left))):
            write_all(descriptor, data)
            digest.update(data)
            left -= len(data)
    if left or digest.hexdigest() != one.sha256:
        raise BackupError(f"{one.stored} changed while it was read; nothing was restored")
