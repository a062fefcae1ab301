"""Drafts left by a process that could not wait for the lock: one file each, taken in by the next writer."""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from transcript.canonical import canonical
from transcript.event import Draft, validate_draft
from transcript.paths import read_file, secure_dir, write_atomic
from transcript.workspace import Workspace

FOLDER = "spool"
MOST_AT_ONCE = 256
MAX_BYTES = 16 << 20


def spool(run_dir: Path, draft: Draft) -> None:
    """Write a draft to its own file. Best effort: it is not forced to the disk."""
    folder = secure_dir(run_dir / FOLDER)
    fields = {name: getattr(draft, name) for name in Draft.__slots__}
    write_atomic(folder / f"{draft.id}.json", canonical(fields), durable=False)


def collect(run_dir: Path) -> tuple[list[tuple[Path, Draft]], list[Path]]:
    """Return the spooled drafts with their files, oldest first, and the files that hold none."""
    try:
        names = [path.name for path in (run_dir / FOLDER).iterdir() if path.suffix == ".json" and path.name[0] != "."]
    except FileNotFoundError:
        return [], []
    good: list[tuple[Path, Draft]] = []
    broken: list[Path] = []
    for name in sorted(names)[:MOST_AT_ONCE]:
        path = run_dir / FOLDER / name
        try:
            if path.stat().st_size > MAX_BYTES:
                raise ValueError("too long")
            draft = Draft(**json.loads(read_file(path)))
            validate_draft(draft)
        except FileNotFoundError:
            continue
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            broken.append(path)
        else:
            good.append((path, draft))
    good.sort(key=lambda item: (item[1].ts, item[1].id))
    return good, broken


def put_aside(workspace: Workspace, taken: Iterable[Path], broken: Iterable[Path]) -> None:
    """Remove files whose drafts are in the record; move those that hold none to `log/quarantine/`."""
    for path in taken:
        path.unlink(missing_ok=True)
    for path in broken:
        folder = secure_dir(workspace.log_dir / "quarantine")
        with contextlib.suppress(FileNotFoundError):
            path.replace(folder / f"spool-{path.name}")
