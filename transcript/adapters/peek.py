"""Looks for files under folders and at their first records, to know whose they are before they are claimed."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from transcript.adapters.jsonl import parse_line, raw_lines

PEEK_BYTES = 1 << 20
_LINES = 8


def walk(
    root: Path, wanted: Callable[[str], bool], refused: Counter[str], skipped: frozenset[str] = frozenset()
) -> Iterator[Path]:
    """Yield the files under a folder (or the file itself) that are called like wanted, in the order of their names.

    Links are not followed: they could lead out of the folder, or name one file twice.
    """
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except NotADirectoryError:
        if wanted(root.name):
            yield root
        return
    except FileNotFoundError:
        return
    except OSError:
        refused["unreadable"] += 1
        return
    for entry in entries:
        if entry.is_symlink():
            if entry.is_dir() or wanted(entry.name):
                refused["symlink"] += 1
        elif entry.is_dir(follow_symlinks=False):
            if entry.name not in skipped:
                yield from walk(Path(entry.path), wanted, refused, skipped)
        elif wanted(entry.name) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def first_records(
    path: Path, enough: Callable[[list[dict[str, Any]]], bool], *, lines: int = _LINES
) -> list[dict[str, Any]]:
    """Return the objects in the first lines of a file, as many as are enough; nothing when it cannot be read."""
    values: list[dict[str, Any]] = []
    try:
        with path.open("rb") as file:
            for number, (start, end, raw, _) in enumerate(raw_lines(file, 0, limit=PEEK_BYTES), 1):
                values += parse_line(number, start, end, raw, lambda value: False).objects
                if number >= lines or enough(values):
                    break
    except OSError:
        return []
    return values
