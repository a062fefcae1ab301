"""A lock between processes: one file, held by the system, freed by it when its holder dies."""

import contextlib
import os
import sys
import time
from pathlib import Path
from types import TracebackType

from transcript.errors import LockBusy
from transcript.paths import secure_dir

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # a byte far behind the pid, which stays readable
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _free(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _free(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """An exclusive lock on a file that carries its holder's pid. Not re-entrant.

    `stale_pid` is the holder that died without letting go, found when the lock was taken
    over; the system freed the lock, so nothing waits for it. None after an orderly release.
    """

    def __init__(self, path: Path, *, timeout: float = 30.0) -> None:
        self.path = path
        self.timeout = timeout
        self.stale_pid: int | None = None
        self._descriptor: int | None = None

    def acquire(self, timeout: float = 0.0) -> bool:
        """Take the lock within timeout seconds; say whether it was got."""
        if self._descriptor is not None:
            raise ValueError(f"{self.path.name} is already held by this object")
        deadline = time.monotonic() + timeout
        descriptor = self._open()
        pause = 0.0005
        while True:
            try:
                _take(descriptor)
            except OSError:
                left = deadline - time.monotonic()
                if left <= 0:
                    os.close(descriptor)
                    return False
                time.sleep(min(pause, left))
                pause = min(pause * 2, 0.01)
            else:
                if _names(self.path, descriptor):
                    break
                os.close(descriptor)  # its folder was put aside meanwhile: that lock keeps nobody out here
                descriptor = self._open()
        self._descriptor = descriptor
        self.stale_pid = _dead(_read_pid(descriptor))
        _write_pid(descriptor, str(os.getpid()).encode("ascii"))
        return True

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            secure_dir(self.path.parent)
            return os.open(self.path, flags, 0o600)

    def release(self) -> None:
        """Let go; does nothing when the lock is not held."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            _write_pid(descriptor, b"")
            _free(descriptor)
        finally:
            os.close(descriptor)

    @property
    def held(self) -> bool:
        """Say whether this object holds the lock."""
        return self._descriptor is not None

    def __enter__(self) -> "FileLock":
        if not self.acquire(self.timeout):
            raise LockBusy(f"{self.path.name} is held by process {holder(self.path) or '?'}; try again when it is done")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder(path: Path) -> int | None:
    """Return the pid written in a lock file, None when nobody's is."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return _read_pid(descriptor)
    finally:
        os.close(descriptor)


def _names(path: Path, descriptor: int) -> bool:
    """Say whether a path names the file that a descriptor is of; it cannot be moved away where it is open elsewhere."""
    if os.name != "posix":
        return True
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _dead(pid: int | None) -> int | None:
    """Return pid unless that process lives (or is ourselves)."""
    if pid is None or pid == os.getpid():
        return None
    if os.name == "posix":  # elsewhere signal 0 is a real signal
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return pid
        except (OSError, OverflowError):
            return None
        return None
    return pid


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, 32).strip()
    return int(text) if text.isdigit() else None


def _write_pid(descriptor: int, text: bytes) -> None:
    with contextlib.suppress(OSError):  # a full disk must not keep anybody from locking
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text)
