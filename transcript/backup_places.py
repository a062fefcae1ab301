"""Which backups of a workspace are known, and where words may lie that an erasure here does not reach."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from transcript.event import moment, stamp
from transcript.lock import FileLock
from transcript.paths import read_derived, secure_dir, write_atomic
from transcript.workspace import Workspace

LIST = "backups.json"  # in the data folder's run/
BEFORE = ".before-"  # what follows the id in the name of a folder that a restored workspace took the place of
MOST = 20


def remember(data: Path, name: str, place: Path, *, at: datetime, files: int, size: int, events: int) -> None:
    """Note a verified backup of a workspace; the newest MOST are kept, one a folder."""
    with FileLock(secure_dir(data / "run") / "backups.lock"):
        table = read_derived(data / "run" / LIST)
        rows = [row for row in _rows(table, name) if row.get("path") != str(place)]
        rows.append({"path": str(place), "at": stamp(at), "files": files, "bytes": size, "events": events})
        table[name] = rows[-MOST:]
        write_atomic(data / "run" / LIST, json.dumps(table).encode("ascii"))


def known(data: Path, name: str) -> list[dict[str, Any]]:
    """Return what is known of a workspace's backups, oldest first; the folders may be gone since."""
    return _rows(read_derived(data / "run" / LIST), name)


def _rows(table: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = table.get(name, [])
    return [row for row in rows if _whole(row)] if isinstance(rows, list) else []


def _whole(row: object) -> bool:
    try:
        return (
            isinstance(row, dict)
            and isinstance(row["path"], str)
            and bool(moment(row["at"]))
            and all(type(row[key]) is int for key in ("files", "bytes", "events"))
        )
    except (KeyError, TypeError, ValueError):
        return False


def set_aside(data: Path, name: str) -> list[Path]:
    """Return the folders whose place a restored workspace took, oldest first."""
    return sorted(path for path in (data / "workspaces").glob(f"{name}{BEFORE}*") if path.is_dir())


def out_of_reach(workspace: Workspace) -> list[str]:
    """Return a sentence for each backup and each folder set aside that may hold what is erased here."""
    data = workspace.data
    found = []
    for row in known(data, workspace.id):
        place = Path(str(row["path"]))
        if place.is_dir():
            found.append(f"the backup in {place}, until the next 'recall backup {place.parent}'")
    return found + [f"{path}, which a restored record replaced; remove it" for path in set_aside(data, workspace.id)]
