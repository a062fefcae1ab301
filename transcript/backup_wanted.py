"""Which files a backup takes of a workspace, the data folder and the project, and which of a person's it cannot."""

import contextlib
import errno
import io
import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from transcript.backup_files import Stored, Wanted, plain
from transcript.kept_out import LIST
from transcript.lock import FileLock
from transcript.paths import open_file, read_file
from transcript.roots import EXCLUDED
from transcript.segments import ACTIVITY, Head, open_segment, sealed_path
from transcript.tombstones import FILE as TOMBSTONES
from transcript.workspace import Workspace

LOCK_SECONDS = 60.0


def wanted(workspace: Workspace, head: Head, *, was_open: int) -> Iterator[Wanted]:
    """Yield every file to copy, the record up to head; `was_open` is the segment that was open in the last backup."""
    for number in range(1, head.segment + 1):
        name = ACTIVITY if number == head.segment else sealed_path(workspace.log_dir, number).name
        with open_segment(workspace.log_dir, number) as file:
            size = head.length if number == head.segment else os.fstat(file.fileno()).st_size
        opened = partial(open_segment, workspace.log_dir, number)
        yield Wanted(f"log/{name}", size, opened, f"log/{ACTIVITY}" if number == was_open else "")
    for path in sorted(workspace.blobs_dir.glob("??/*.zst")):
        yield from _file(f"log/{path.relative_to(workspace.log_dir).as_posix()}", path)
    with locked(workspace.run_dir / "native.lock"):  # no frame is half written while their sizes are taken
        native = [(path, path.stat().st_size) for path in sorted(workspace.native_dir.glob("*/*.zst"))]
    for path, size in native:
        yield Wanted(f"log/{path.relative_to(workspace.log_dir).as_posix()}", size, partial(_open, path))
    workspace.id_key()
    for name in (f"log/{TOMBSTONES}", "id.key", "calibration.json"):
        yield from _file(name, workspace.home / name)
    for name, path in _personal(workspace):
        if plain(name):
            yield from _file(name, path)


def untaken(workspace: Workspace, taken: Iterable[Stored]) -> tuple[str, ...]:
    """Return the files of a person that are there and not among those taken, by their whole paths."""
    names = {one.path for one in taken}
    there = (path for name, path in _personal(workspace) if name not in names)
    return tuple(str(path) for path in there if path.is_symlink() or path.is_file())


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock of the workspace; on a disk that is read-only nobody writes, and none is needed."""
    lock = FileLock(path, timeout=LOCK_SECONDS)
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(lock)
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
        yield


def _personal(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """Yield what a person wrote for recall, whatever stands there: its name in a backup, and its path."""
    data = workspace.data
    for name in ("config.toml", EXCLUDED, LIST):
        yield f"data/{name}", data / name
    yield from _tree("data/identity", data / "identity")
    if workspace.root is not None:
        ours = workspace.root / ".recall"
        yield "project/config.toml", ours / "config.toml"
        for name in ("identity", "packs"):
            yield from _tree(f"project/{name}", ours / name)


def _tree(name: str, top: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(top.rglob("*")):
        relative = path.relative_to(top)
        if relative.parts[0] != ".staged":
            yield f"{name}/{relative.as_posix()}", path


def _file(name: str, path: Path) -> Iterator[Wanted]:
    """Yield a file as it is at this moment; nothing for what is missing or no plain file."""
    if path.is_symlink() or not path.is_file():
        return
    data = read_file(path)
    yield Wanted(name, len(data), partial(io.BytesIO, data))


def _open(path: Path) -> IO[bytes]:
    return open_file(path)
