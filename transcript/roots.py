"""The table of known project roots, `<data>/roots.json`, and the excluded folders beside it.

Both are replaced whole under a lock. `roots` are where a workspace's projects lie; `former`
are where they once lay: they only place sessions whose folder no longer exists.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transcript.canonical import canonical
from transcript.errors import WorkspaceError
from transcript.lock import FileLock
from transcript.paths import read_file, secure_dir, user_path, write_atomic

TABLE = "roots.json"
VERSION = 1
EXCLUDED = "excluded.json"


@dataclass(slots=True)
class Entry:
    """What the table knows about one workspace."""

    roots: list[str] = field(default_factory=list)
    former: list[str] = field(default_factory=list)
    common: str | None = None


def read_table(data: Path) -> dict[str, Entry]:
    """Return the table, empty when there is none; WorkspaceError when it is damaged."""
    fields = _read_json(data / TABLE)
    try:
        return {
            name: Entry(list(item["roots"]), list(item.get("former", [])), item.get("common"))
            for name, item in fields.get("workspaces", {}).items()
        }
    except (AttributeError, KeyError, TypeError):
        raise WorkspaceError(_damaged(data / TABLE)) from None


def change_table(data: Path, change: Callable[[dict[str, Entry]], None]) -> None:
    """Apply a change to the table as it stands under the lock.

    A change that changes nothing takes no lock and writes nothing: it works on a read-only copy.
    """
    table = read_table(data)
    before = _pack(table)
    change(table)
    if _pack(table) == before and (data / TABLE).exists():
        return
    if not data.is_dir():
        secure_dir(data)
    with FileLock(data / "roots.lock"):
        table = read_table(data)
        before = _pack(table)
        change(table)
        after = _pack(table)
        if after != before or not (data / TABLE).exists():
            write_atomic(data / TABLE, after)


def _pack(table: dict[str, Entry]) -> bytes:
    items = {name: {"common": item.common, "former": item.former, "roots": item.roots} for name, item in table.items()}
    return canonical({"version": VERSION, "workspaces": items}) + b"\n"


def excluded_roots(data: Path) -> list[str]:
    """Return the folders that capture and recall keep away from."""
    paths = _read_json(data / EXCLUDED).get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise WorkspaceError(_damaged(data / EXCLUDED))
    return paths


def exclude(path: Path, data: Path, *, remove: bool = False) -> bool:
    """Exclude a folder and all below it (or take it in again); say whether anything changed."""
    real = os.path.realpath(path)
    if not data.is_dir():
        secure_dir(data)
    with FileLock(data / "roots.lock"):
        paths = excluded_roots(data)
        if (real in paths) != remove:
            return False
        paths = [item for item in paths if item != real] if remove else sorted([*paths, real])
        write_atomic(data / EXCLUDED, canonical({"paths": paths, "version": 1}) + b"\n")
    return True


def excluded(path: Path, data: Path) -> bool:
    """Say whether a folder is excluded, itself or by one above it."""
    roots = excluded_roots(data)
    return bool(roots) and any(contains(root, os.path.realpath(path)) for root in roots)


def contains(root: str, path: str) -> bool:
    """Say whether path is root or lies below it, by the letters of both."""
    root, path = os.path.normcase(root), os.path.normcase(path)
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def is_lonely(path: str) -> bool:
    """Say whether a folder is never a project that contains others: the home folder and the root."""
    return path in (os.path.realpath(user_path("~")), os.path.realpath(os.sep))


def longest_root(
    table: dict[str, Entry], path: str, *, former: bool = False, inside: str | None = None
) -> tuple[str, str]:
    """Return (workspace id, root) of the longest listed root that holds path, empty texts when none does.

    former counts places where projects once lay; inside leaves out roots above that folder.
    """
    best = ("", "")
    places = {
        root: name
        for name, entry in table.items()
        for root in entry.roots + (entry.former if former else [])
        if inside is None or contains(inside, root) or same_place(inside, root)
    }
    for root, name in places.items():
        if contains(root, path) and (path == root or not is_lonely(root)) and len(root) > len(best[1]):
            best = (name, root)
    if not best[0] and Path(path).exists():  # other letters for the same folder, as some file systems allow
        for folder in (path, *map(str, Path(path).parents)):
            for root, name in places.items():
                if same_place(root, folder) and (folder == path or not is_lonely(root)):
                    return name, root
    return best


def same_place(one: str, other: str) -> bool:
    """Say whether two paths are one place for the file system (letters decide where one is gone)."""
    if os.path.normcase(one) == os.path.normcase(other):
        return True
    try:
        return Path(one).samefile(other)
    except OSError:
        return False


def _read_json(path: Path) -> dict[str, Any]:
    try:
        fields = json.loads(read_file(path))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        raise WorkspaceError(_damaged(path)) from None
    if not isinstance(fields, dict):
        raise WorkspaceError(_damaged(path))
    return fields


def _damaged(path: Path) -> str:
    return f"{path.name} is damaged; restore or remove {path}, then run 'recall adopt' where projects are not found"
