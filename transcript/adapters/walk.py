"""Finds the files of a harness under a folder, and looks at how they begin.

Links are not followed: they could lead out of the folder, or name one file twice.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from transcript.paths import open_file, read_file, user_path

HEAD_BYTES = 1 << 20
LINES_LOOKED_AT = 5


def home(env: Mapping[str, str]) -> Path:
    """Return the user's home folder."""
    return user_path(env.get("HOME") or env.get("USERPROFILE") or "~")


def find(
    roots: Iterable[Path], wanted: Callable[[Path], bool], skipped: frozenset[str] = frozenset()
) -> tuple[list[Path], Counter[str]]:
    """Return every plain file under roots that is wanted, in the order of the paths, and what was refused by reason.

    Folders with a name in skipped are not entered.
    """
    found: set[Path] = set()
    refused: Counter[str] = Counter()
    for root in roots:
        found.update(_walk(Path(root).absolute(), wanted, refused, skipped))
    return sorted(found), refused


def _walk(
    folder: Path, wanted: Callable[[Path], bool], refused: Counter[str], skipped: frozenset[str]
) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except NotADirectoryError:
        if wanted(folder):
            yield folder
        return
    except FileNotFoundError:
        return
    except OSError:
        refused["unreadable"] += 1
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            if os.path.isdir(path) or wanted(path):  # noqa: PTH112 - no error, wherever the link leads
                refused["symlink"] += 1
        elif entry.is_dir(follow_symlinks=False):
            if entry.name not in skipped:
                yield from _walk(path, wanted, refused, skipped)
        elif entry.is_file(follow_symlinks=False) and wanted(path):
            yield path


def begins(path: Path, lines: int = LINES_LOOKED_AT) -> list[dict[str, Any]]:
    """Return the whole objects in the first lines of a file, [] when it cannot be read or holds none."""
    found: list[dict[str, Any]] = []
    try:
        with open_file(path) as file:
            for _ in range(lines):
                try:
                    value = json.loads(file.readline(HEAD_BYTES))
                except (ValueError, RecursionError):
                    continue
                if isinstance(value, dict):
                    found.append(value)
    except OSError:
        return []
    return found


def read_object(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds, {} when it is gone or holds none."""
    try:
        value = json.loads(read_file(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def first(values: Iterable[dict[str, Any]], *names: str) -> str:
    """Return the first text that stands under one of these names."""
    for value in values:
        for name in names:
            if isinstance(value.get(name), str) and value[name]:
                return str(value[name])
    return ""
