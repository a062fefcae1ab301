"""The files below `.coord/`: the canonical memory, one item a line and only ever appended to, and the proposals.

Both are written from the record and held against it; losing them loses nothing that the record knows.
"""

import contextlib
import json
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transcript.canonical import canonical, sha256_hex
from transcript.coord_codes import refused
from transcript.errors import CoordError, WorkspaceError
from transcript.paths import NotPlainError, fsync_dir, open_plain, secure_dir, write_all, write_atomic
from transcript.projections.coord_lines import NO_LINE, erased_item, line, line_hash, read_items
from transcript.proposals import ProposalState
from transcript.roots import read_table
from transcript.strict_json import MOST_BYTES, strict_json
from transcript.workspace import Workspace

FOLDER, MEMORY, PROPOSALS = ".coord", "memory.yml", "memory-proposals"
EDITED = "coord-edited"  # folder of run/ for copies of what `restore --replace` writes over
MOST_FILES = 10_000
MOST_MEMORY = 256 * 1024 * 1024  # bytes of memory.yml: two hundred thousand items
# As the skill's text and the schema write them; the record keeps no order.
DOCUMENT = (
    "schema_version", "proposal_id", "source_task", "action", "state", "created_at", "decision", "revises",
)  # fmt: skip
_ACTION = ("operation", "target_ref", "summary", "evidence_refs")
_DECISION = ("actor", "decision", "timestamp", "rationale", "affected_action_hash")


@dataclass(frozen=True, slots=True)
class Restored:
    """Names of files that were written, and of those that were left because they hold something else."""

    written: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Folder:
    """The proposal files that could be opened, by name, and the names of what was not."""

    files: dict[str, bytes]
    not_read: tuple[str, ...]


def coord_root(workspace: Workspace) -> Path:
    """Return the project folder whose `.coord` is the workspace's: the first recorded root that is there.

    Other worktrees and roots of the workspace share it. WorkspaceError where there is no project folder.
    """
    found = next((root for root in _roots(workspace) if root.is_dir()), workspace.root)
    if found is None:
        raise WorkspaceError("this workspace has no project folder; run recall inside one")
    return found


def coord_roots(workspace: Workspace) -> list[Path]:
    """Return every project folder of the workspace that has a `.coord` of its own, which may be an old one."""
    roots = [*_roots(workspace), *([workspace.root] if workspace.root is not None else [])]
    return [root for root in dict.fromkeys(roots) if (root / FOLDER).is_dir() and not (root / FOLDER).is_symlink()]


def _roots(workspace: Workspace) -> list[Path]:
    entry = read_table(workspace.data).get(workspace.id)
    return [Path(root) for root in entry.roots] if entry is not None else []


def memory_path(root: Path) -> Path:
    """Return where a project's canonical memory lies."""
    return root / FOLDER / MEMORY


def proposal_path(root: Path, name: str) -> Path:
    """Return where a proposal's file lies."""
    return root / FOLDER / PROPOSALS / f"{name}.json"


def memory_bytes(root: Path) -> bytes | None:
    """Return a project's memory.yml, None where there is none; `memory_link` for anything but a plain file.

    Of one larger than any of ours the beginning: it differs from what the record says, and takes no more room.
    """
    path = memory_path(root)
    _no_links(root, path)
    try:
        descriptor = open_plain(path)
    except FileNotFoundError:
        return None
    except OSError:
        raise refused("memory_link", MEMORY) from None
    with open(descriptor, "rb") as handle:
        return handle.read(MOST_MEMORY)


def append(root: Path, data: bytes) -> None:
    """Append whole lines, or the rest of one, to a project's memory.yml, on disk when this returns.

    `memory_link` where it, or its folder, is no plain one.
    """
    path = memory_path(root)
    folder = coord_folder(root)
    _no_links(root, path)
    try:
        descriptor = open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except NotPlainError:
        raise refused("memory_link", MEMORY) from None
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fsync_dir(folder)


def coord_folder(root: Path, *below: str) -> Path:
    """Return `.coord` or a folder below it, made 0700; `memory_link` where a link stands in its place."""
    folder = root / FOLDER
    for path in (folder, *(folder / name for name in below)):
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise refused("memory_link", path.relative_to(root).as_posix())
        secure_dir(path)
    return folder.joinpath(*below)


def _no_links(root: Path, path: Path) -> None:
    for one in (path.parent, path):
        if one.is_symlink():
            raise refused("memory_link", one.relative_to(root).as_posix())


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a proposal's file: readable JSON in the order of the schema."""
    whole = _ordered(document, DOCUMENT)
    for name, order in (("action", _ACTION), ("decision", _DECISION)):
        if isinstance(whole.get(name), dict):
            whole[name] = _ordered(whole[name], order)
    return json.dumps(whole, indent=2, ensure_ascii=False).encode() + b"\n"


def _ordered(held: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """Return an object with the names of order first, the others by their alphabet."""
    return {name: held[name] for name in (*order, *sorted(held.keys() - set(order))) if name in held}


def write_document(root: Path, document: Mapping[str, Any]) -> Path:
    """Write a proposal's file whole and return where it lies."""
    folder = coord_folder(root, PROPOSALS)
    path = folder / f"{document['proposal_id']}.json"
    write_atomic(path, document_bytes(document))
    return path


def read_folder(root: Path) -> Folder:
    """Return the proposal files of a project: plain files of at most 64 KiB, the first 10,000 by name.

    They are called *.json, in characters that are seen; other names are told escaped.
    """
    folder = root / FOLDER / PROPOSALS
    if folder.is_symlink() or folder.parent.is_symlink():
        return Folder({}, (f"{PROPOSALS}/",))
    files: dict[str, bytes] = {}
    not_read: list[str] = []
    for name in sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ():
        if name.startswith("."):  # being written
            continue
        plain = name.isprintable() and name.endswith(".json") and len(files) < MOST_FILES
        data = _small_file(folder / name) if plain else None
        if data is None:
            not_read.append(name if name.isprintable() else ascii(name)[1:-1])  # a line end in it would forge a line
        else:
            files[name] = data
    return Folder(files, tuple(not_read))


def _small_file(path: Path) -> bytes | None:
    """Return a plain file's bytes, None where it is none, is too large or cannot be read."""
    with contextlib.suppress(OSError), open(open_plain(path), "rb") as handle:
        data = handle.read(MOST_BYTES + 1)
        return data if len(data) <= MOST_BYTES else None
    return None


def rendered_memory(state: ProposalState) -> bytes:
    """Return the memory.yml that the record says."""
    lines: list[bytes] = []
    prev = NO_LINE
    for one in state.applied:
        lines.append(line(one.item if one.item is not None else erased_item(one, prev)))
        prev = one.line_hash
    return b"".join(lines)


def rendered(state: ProposalState) -> dict[str, bytes]:
    """Return every file below `.coord/` that the record knows, by its name there; erased proposals have none."""
    files = {
        f"{PROPOSALS}/{name}.json": document_bytes(known.file())
        for name, known in state.documents.items()
        if not known.erased
    }
    memory = rendered_memory(state)
    return {**files, MEMORY: memory} if memory else files


def same_document(held: bytes, wanted: bytes) -> bool:
    """Say whether a proposal's file holds what is wanted, however its JSON is laid out."""
    with contextlib.suppress(CoordError):
        return canonical(strict_json(held)) == canonical(strict_json(wanted))
    return False


def missing(root: Path, state: ProposalState) -> tuple[str, ...]:
    """Return the names of the files that the record knows and that are not there, or are only its beginning."""
    found: list[str] = []
    check(root, state, lambda code, where: found.append(where) if code in ("coord_missing", "coord_behind") else None)
    return tuple(name.partition(":")[0] for name in found)


def restore(root: Path, state: ProposalState, *, replace: bool = False, keep: Path | None = None) -> Restored:
    """Write what is missing from the record, and the rest of a memory.yml that is its beginning.

    Whatever else differs is left and named; with replace it is written as well, a copy of what stood there in `keep`.
    """
    written: list[str] = []
    left: list[str] = []
    for name, wanted in rendered(state).items():
        path = root / FOLDER / name
        held = memory_bytes(root) if name == MEMORY else _small_file(path)
        if held is not None and (held == wanted or (name != MEMORY and same_document(held, wanted))):
            continue
        if held is None and os.path.lexists(path) and not replace:
            left.append(name)
        elif name == MEMORY and wanted.startswith(held or b""):
            append(root, wanted[len(held or b"") :])
            written.append(name)
        elif held is None or replace:
            if held is not None and keep is not None:
                _kept(keep, name, held)
            _replaced(root, name, wanted)
            written.append(name)
        else:
            left.append(name)
    return Restored(tuple(written), tuple(left))


def _kept(folder: Path, name: str, data: bytes) -> None:
    path = folder / name
    secure_dir(path.parent)
    write_atomic(path.with_name(f"{path.stem}-{sha256_hex(data)[:12]}{path.suffix}"), data)


def _replaced(root: Path, name: str, data: bytes) -> None:
    path = coord_folder(root, *name.split("/")[:-1]) / name.rsplit("/", 1)[-1]
    write_atomic(path, data)


def check(
    root: Path, state: ProposalState, report: Callable[[str, str], None], *, present: Collection[str] = ()
) -> None:
    """Report (code, where) for each file that the record knows and that is missing, behind or edited.

    `present` are ids that files of another name hold. Codes: coord_missing, coord_behind (a beginning of what it
    should be), coord_edited (with the first bad line), store_behind (it holds more than the record), memory_link.
    """
    folder = read_folder(root)
    for known in state.documents.values():
        name = f"{known.id}.json"
        if not known.erased and known.id not in present and name not in folder.files:
            there = os.path.lexists(root / FOLDER / PROPOSALS / name)
            report("coord_edited" if there else "coord_missing", f"{PROPOSALS}/{name}")
    try:
        held = memory_bytes(root)
    except CoordError as fault:
        report(fault.code, fault.field)
        return
    code, where = memory_fault(held, rendered_memory(state))
    if code:
        report(code, where)


def memory_fault(held: bytes | None, wanted: bytes) -> tuple[str, str]:
    """Return (code, where) for the first thing wrong with a memory.yml, ("", "") for none."""
    if held is None:
        return ("coord_missing", MEMORY) if wanted else ("", "")
    if held == wanted:
        return "", ""
    if wanted.startswith(held):
        return "coord_behind", _place(held, wanted)
    if held.startswith(wanted) and read_items(held).fault is None:
        return "store_behind", _place(wanted, wanted)
    return "coord_edited", _place(held, wanted)


def _place(held: bytes, wanted: bytes) -> str:
    """Return the first line of held that is not what is wanted, with the event that should stand there."""
    ours = wanted.split(b"\n")[:-1]
    number = next(
        (at for at, pair in enumerate(zip(held.split(b"\n"), ours, strict=False)) if pair[0] != pair[1]), None
    )
    if number is None:
        return f"{MEMORY}:{len(ours) + 1}"
    return f"{MEMORY}:{number + 1} (event {json.loads(ours[number][2:])['event_id']})"


def erase(root: Path, state: ProposalState, proposals: Collection[str]) -> int:
    """Take proposals whose words were erased out of the files; return how many files and lines went.

    A memory.yml that somebody edited may hold the words anywhere, so it is written as the record says.
    """
    gone = 0
    for folder in (root / FOLDER, root / FOLDER / PROPOSALS):  # what a killed writer left half done
        for part in folder.glob(".*"):
            if part.is_file() or part.is_symlink():
                part.unlink(missing_ok=True)
    for name, data in read_folder(root).files.items():
        if _id_in(name, data) in proposals:
            (root / FOLDER / PROPOSALS / name).unlink(missing_ok=True)
            gone += 1
    erased = {one.line_hash for one in state.applied if one.item is None}
    held = memory_bytes(root)
    if held is None or not erased:
        return gone
    wanted = rendered_memory(state)
    lines = sum(line_hash(raw) in erased for raw in held.split(b"\n")[:-1])
    if held != wanted:
        _replaced(root, MEMORY, wanted)
    return gone + lines


def _id_in(name: str, data: bytes) -> str:
    with contextlib.suppress(CoordError):
        value = strict_json(data)
        if isinstance(value, dict) and isinstance(value.get("proposal_id"), str):
            return str(value["proposal_id"])
    return name.removesuffix(".json")
