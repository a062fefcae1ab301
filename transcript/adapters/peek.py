"""Looks for files under folders by their names."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path


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
