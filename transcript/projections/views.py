"""Keeps the files under `.recall/views/` and `.recall/memory/` what the record says: writes, checks, restores them.

A snapshot of the fold in `run/` makes the next fold as short as what came since; losing it loses time only. It holds
words of the record, so a redaction that is found behind it throws it away, and `forget_snapshot` does so at once. The
short handoff and the facets lie beside it, for hooks, which fold nothing.
"""

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from transcript.canonical import sha256_hex
from transcript.errors import LockBusy, RecordError, WorkspaceError
from transcript.event import Event, Position
from transcript.lock import FileLock
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.paths import read_file, write_atomic
from transcript.projections import decisions, facets, handoff, memory_files, short, state, tasks
from transcript.projections.fold import CURATED, VERSION, empty, fold, position_dict
from transcript.projections.page import is_sealed, through
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

Fold = tuple[dict[str, Any], Position]  # what events up to a position add up to

VIEWS: tuple[ModuleType, ...] = (state, decisions, tasks, handoff)
NAMES = tuple(view.NAME for view in VIEWS)
SNAPSHOT = "projections.json"
ROOTS = "views.json"
LOCK_SECONDS = 10.0
_TURNS = Sieve(tuple(map(type_field, ("conversation_turn", "redaction"))))
CODES = {
    "view_missing": "a projection is gone; 'recall project' restores it",
    "view_edited": "a projection was changed by hand; 'recall project' restores it",
    "view_stale": "a projection is behind the record; 'recall project' renews it",
    **memory_files.CODES,
}


@dataclass(frozen=True, slots=True)
class Projected:
    """What one projection run did: files written, copies of edited memories, and how far the record was read."""

    folder: Path | None
    written: tuple[str, ...]
    seq: int
    from_snapshot: bool
    kept: tuple[str, ...] = ()


def folder_of(root: Path | None) -> Path | None:
    """Return the folder of a project's views, None where the project was never initialised."""
    return root / ".recall" / "views" if root is not None and (root / ".recall").is_dir() else None


def folded(log: Log, *, snapshot: bool = True) -> tuple[dict[str, Any], Position, bool]:
    """Return the folded record, the position it reaches, and whether a snapshot served."""
    held = read_snapshot(log) if snapshot else None
    if held is not None:
        folded_on = _fold_on(log, *held)
        if folded_on is not None:
            return *folded_on, True
    return *_folded_whole(log), False


def sessions(log: Log, held: Fold | None = None) -> Fold:
    """Return a fold of the sessions alone, and the position it reaches. RecordError where the record cannot be read.

    It goes on from a fold that was held, whose sessions it changes, and parses the turns of conversations alone.
    """
    made = None
    if held is not None:
        made = _fold_on(log, empty() | {"sessions": held[0]["sessions"]}, held[1], sieve=_TURNS)
    return made or _folded_whole(log, _TURNS)


def memory_folder(views: Path) -> Path:
    """Return the folder of the memories that lies beside one of views."""
    return views.parent / memory_files.FOLDER


def rendered(folded_state: dict[str, Any]) -> dict[str, bytes]:
    """Return every view by its name."""
    return {view.NAME: view.render(folded_state) for view in VIEWS}


def project(workspace: Workspace, *, snapshot: bool = True) -> Projected:
    """Write every view that is not what the record says; WorkspaceError where the project has no place for them."""
    if folder_of(workspace.root) is None:
        raise WorkspaceError("this project has no folder .recall; run 'recall init' first")
    return _project(workspace, snapshot=snapshot)


def refresh(workspace: Workspace) -> Projected | None:
    """Bring the views up to the record after a write; None where there is no place for them or another does it now.

    What cannot be written is left: `recall verify` finds it, `recall project` mends it.
    """
    with contextlib.suppress(OSError, RecordError, LockBusy):
        return _project(workspace, snapshot=True)
    return None


def forget_memories(workspace: Workspace) -> int:
    """Write every file of the memories anew, copies of edited ones go; return how many files were not made again."""
    folders = [folder for folder in map(memory_folder, _folders(workspace)) if folder.is_dir()]
    before = {path for folder in folders for path in folder.rglob("*.md")}
    for folder in folders:
        memory_files.purge(folder)
    if folders:
        refresh(workspace)
    return sum(not path.exists() for path in before)


def forget_snapshot(workspace: Workspace) -> None:
    """Remove the snapshot, the short handoff and the facets, which hold words of the record."""
    for name in (SNAPSHOT, short.NAME, facets.NAME):
        (workspace.run_dir / name).unlink(missing_ok=True)


def check(workspace: Workspace, report: Callable[[str, str], None]) -> None:
    """Report (code, file) for each view that is missing, edited or stale; nothing where none was ever written."""
    folder = folder_of(workspace.root)
    if folder is None or (os.fspath(folder.parents[1]) not in _roots(workspace) and not folder.is_dir()):
        return
    wanted = rendered(folded(Log(workspace), snapshot=False)[0])
    for name, data in wanted.items():
        held = _bytes(folder / name)
        if held is None:
            report("view_missing", f"views/{name}")
        elif held != data:
            report("view_stale" if is_sealed(held) else "view_edited", f"views/{name}")
    memory_files.check(memory_folder(folder), memory_pages(Log(workspace), snapshot=False), report)


def lag(workspace: Workspace) -> dict[str, int] | None:
    """Return how many events of its types each written view is behind the record, None where none was ever written."""
    folder = folder_of(workspace.root)
    if folder is None or not folder.is_dir():
        return None
    log = Log(workspace)
    return {view.NAME: _behind(log, view.TYPES, _bytes(folder / view.NAME)) for view in VIEWS}


def _behind(log: Log, types: frozenset[str], data: bytes | None) -> int:
    seen = through(data) if data else 0
    events = log.read_back(sieve=Sieve(tuple(map(type_field, sorted(types)))))
    return sum(event.type in types for event in takewhile(lambda event: event.seq > seen, events))


def differing(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of the views whose files are not what the record alone says, missing ones too. Reads only."""
    wanted = rendered(folded(Log(workspace), snapshot=False)[0])
    folder = folder_of(workspace.root)
    views = tuple(name for name, data in wanted.items() if folder is None or _bytes(folder / name) != data)
    files = memory_pages(Log(workspace), snapshot=False)
    memories = memory_files.differing(memory_folder(folder) if folder is not None else None, files)
    return (*views, *(f"{memory_files.FOLDER}/{name}" for name in memories))


def memory_pages(log: Log, *, snapshot: bool = True, keep: bool = False) -> dict[str, bytes]:
    """Return every file of the memories by its name; with keep the snapshot of their fold is brought up to date."""
    return memory_files.rendered(fold_memories(log, snapshot=snapshot, keep=keep))


def _project(workspace: Workspace, *, snapshot: bool) -> Projected:
    own = folder_of(workspace.root)
    log = Log(workspace)
    with FileLock(workspace.run_dir / "views.lock", timeout=LOCK_SECONDS):
        made, at, served = folded(log, snapshot=snapshot)
        remembered = fold_memories(log, snapshot=snapshot, keep=True)
        data, memories = rendered(made), memory_files.rendered(remembered)
        written: tuple[str, ...] = ()
        kept: tuple[str, ...] = ()
        wrong: OSError | None = None
        for folder in _folders(workspace):
            changed, copies, fault = _write(folder, data, memories)
            written, kept, wrong = changed if folder == own else written, (*kept, *copies), wrong or fault
        if own is not None:
            _note_root(workspace)
        _write_snapshot(workspace, made, at)
        _write_beside(workspace, short.NAME, short.short(made))
        _write_beside(workspace, facets.NAME, facets.render(remembered, made))
    if wrong is not None:
        raise wrong
    return Projected(own, written, at.seq, served, kept)


def _write(
    folder: Path, data: dict[str, bytes], memories: dict[str, bytes]
) -> tuple[tuple[str, ...], tuple[str, ...], OSError | None]:
    """Write what differs; return its names, copies of edited files, and the first fault: others are written still."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        return (), (), error
    written: list[str] = []
    kept: tuple[str, ...] = ()
    wrong: OSError | None = None
    for name, wanted in data.items():
        if _bytes(folder / name) == wanted:
            continue
        try:
            write_atomic(folder / name, wanted, durable=False)
            written.append(name)
        except OSError as error:
            wrong = wrong or error
    try:
        done = memory_files.write(memory_folder(folder), memories)
        written += [f"{memory_files.FOLDER}/{name}" for name in done.written]
        kept = tuple(os.fspath(memory_folder(folder) / name) for name in done.edited)
    except OSError as error:
        wrong = wrong or error
    return tuple(written), kept, wrong


def _folded_whole(log: Log, sieve: Sieve | None = None) -> Fold:
    made = _fold_on(log, empty(), log.start, whole=True, sieve=sieve)
    assert made is not None
    return made


def _fold_on(
    log: Log, made: dict[str, Any], at: Position, *, whole: bool = False, sieve: Sieve | None = None
) -> Fold | None:
    """Fold what stands behind a position; None when the fold before it cannot be trusted any more."""
    try:
        for event in log.read(at, sieve=sieve):
            if event.type == "redaction" and not whole:
                return None
            fold(made, event, _body(log, event))
            at = event.position
    except RecordError:
        if whole:
            raise
        return None
    return made, at


def _body(log: Log, event: Event) -> dict[str, Any]:
    return log.body(event) if event.type in CURATED else event.body


def read_snapshot(log: Log) -> Fold | None:
    """Return the fold that was kept and the position it reaches, None where there is none that can be used."""
    try:
        check, _, data = read_file(log.workspace.run_dir / SNAPSHOT).partition(b"\n")
        held = json.loads(data) if check == _check(data) else {}
        if held["version"] != VERSION or held["state"]["version"] != VERSION or held["of"] != log.workspace.id:
            return None
        return held["state"], Position(**held["position"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write_snapshot(workspace: Workspace, made: dict[str, Any], at: Position) -> None:
    held = {"version": VERSION, "of": workspace.id, "position": position_dict(at), "state": made}
    data = json.dumps(held, separators=(",", ":")).encode("ascii")
    write_atomic(workspace.run_dir / SNAPSHOT, _check(data) + b"\n" + data, durable=False)


def _check(data: bytes) -> bytes:
    """Return what tells that no byte of a snapshot was changed: views made from it would hide the change."""
    return sha256_hex(data).encode("ascii")


def _write_beside(workspace: Workspace, name: str, made: dict[str, Any]) -> None:
    data = json.dumps(made, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    if _bytes(workspace.run_dir / name) != data:
        write_atomic(workspace.run_dir / name, data, durable=False)


def _roots(workspace: Workspace) -> list[str]:
    try:
        held = json.loads(read_file(workspace.run_dir / ROOTS))
    except (OSError, ValueError, RecursionError):
        return []
    return [root for root in held if isinstance(root, str)] if isinstance(held, list) else []


def _folders(workspace: Workspace) -> list[Path]:
    """Return the folders of views of every project folder that shares the record."""
    own = folder_of(workspace.root)
    return sorted({*filter(None, map(folder_of, map(Path, _roots(workspace)))), *([own] if own else [])})


def _note_root(workspace: Workspace) -> None:
    held, root = _roots(workspace), os.fspath(workspace.root or "")
    if root not in held:
        write_atomic(workspace.run_dir / ROOTS, json.dumps(sorted([*held, root])).encode("ascii"))


def _bytes(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return None
