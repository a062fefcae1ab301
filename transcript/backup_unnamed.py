"""What lies in a backup's folder when no manifest can be read: it may be the only copy, so it is gone on with."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from transcript.backup_files import Stored, below
from transcript.errors import RecordError
from transcript.event import from_line
from transcript.paths import open_file

_NUMBERED = re.compile(r"(.+)\.(\d{1,6})")  # how a name goes on where another file of a backup has it
_LAST = 1 << 22  # bytes from the end of a segment in which its last whole event is looked for


def found(files: Path) -> dict[str, Stored]:
    """Return path -> file as it lies there, without its hash: of several for one path the one that came last."""
    held: dict[str, Stored] = {}
    for number, base, name, path in sorted(_plain(files)):
        one = Stored(base, name, path.stat().st_size, "")
        if number:
            held.setdefault(name, Stored(name, name, one.size, ""))  # a person's own file may be called so
        held[base] = one
    return held


def last_event(files: Path) -> tuple[int, str] | None:
    """Return (seq, envelope hash) of the newest event in the segments that lie there; None for none."""
    ends = [end for _, _, name, path in _plain(files) if name.startswith("log/activity") if (end := _end(path))]
    return max(ends, default=None)


def _plain(files: Path) -> Iterator[tuple[int, str, str, Path]]:
    """Yield (number, path it was first for, name, file) of each plain file below the folder."""
    for path in below(files):
        if path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(files).as_posix()
        numbered = _NUMBERED.fullmatch(name)
        yield (int(numbered[2]), numbered[1], name, path) if numbered else (0, name, name, path)


def _end(path: Path) -> tuple[int, str] | None:
    with open_file(path) as file:
        file.seek(max(path.stat().st_size - _LAST, 0))
        lines = file.read().split(b"\n")[:-1]  # behind the last line end stands what a killed backup left
    for line in reversed(lines):
        with contextlib.suppress(RecordError):
            event = from_line(line, segment=0, end=0)
            return event.seq, event.position.hash
    return None
