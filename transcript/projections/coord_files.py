"""The files below `.coord/`: the canonical memory, one item a line and only ever appended to, and the proposals.

Both are written from the record and held against it; losing them loses nothing that the record knows. A line is
`- ` with the item as JSON behind it, so that any YAML library reads the file as a list.
"""

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transcript.canonical import canonical, sha256_hex
from transcript.coord_codes import refused
from transcript.errors import CoordError, WorkspaceError
from transcript.paths import fsync_dir, secure_dir, write_all, write_atomic
from transcript.proposals import Applied, ProposalState
from transcript.roots import read_table
from transcript.strict_json import MOST_BYTES, strict_json
from transcript.workspace import Workspace

FOLDER, MEMORY, PROPOSALS = ".coord", "memory.yml", "memory-proposals"
MOST_FILES = 10_000
MOST_LINE = 1 << 20
NO_LINE = "0" * 64
_ERASED = frozenset({"erased", "event_id", "seq", "prev", "line_hash"})
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class Items:
    """What a memory.yml holds: its items in order, how many bytes of it are good, and the first fault (line, code)."""

    items: list[Mapping[str, Any]]
    good_bytes: int
    fault: tuple[int, str] | None = None


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


def yaml_text(value: object) -> str:
    """Return a JSON value as canonical text that every YAML library reads as the same value.

    A pair of surrogate escapes is no character to YAML, and DEL is none that it takes: the one is written itself, the
    other as an escape.
    """
    text = canonical(value).decode("ascii").replace("\x7f", "\\u007f")
    return _PAIR.sub(_character, text) if "\\ud" in text else text


def _character(found: re.Match[str]) -> str:
    high, low = (int(found.group(part), 16) for part in (2, 3))
    return found.group(1) + chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def line(item: Mapping[str, Any]) -> bytes:
    """Return the line of an item, newline included."""
    return b"- " + yaml_text(item).encode() + b"\n"


def line_hash(data: bytes) -> str:
    """Return the hash of a line that the next one names as `prev`."""
    return sha256_hex(data.rstrip(b"\n"))


def erased_item(applied: Applied, prev: str) -> dict[str, Any]:
    """Return what stands for an item whose words were erased: the chain goes on over the hash of the line it had."""
    held = {"event_id": applied.event_id, "seq": applied.place, "prev": prev, "line_hash": applied.line_hash}
    return {"erased": True, **held}


def read_items(data: bytes) -> Items:
    """Return the items of a memory.yml up to its first fault: a line that is not ours, altered, or torn."""
    items: list[Mapping[str, Any]] = []
    good, prev = 0, NO_LINE
    for number, raw in enumerate(data.split(b"\n")[:-1], 1):
        item = _item(raw)
        if item is None or item.get("seq") != number or item.get("prev") != prev:
            return Items(items, good, (number, "memory_edited"))
        items.append(item)
        good += len(raw) + 1
        prev = str(item["line_hash"]) if item.get("erased") is True else line_hash(raw)
    return Items(items, good, None if good == len(data) else (len(items) + 1, "memory_edited"))


def _item(raw: bytes) -> dict[str, Any] | None:
    """Return the item of a line, None unless it is written exactly as we write it."""
    if not raw.startswith(b"- "):
        return None
    try:
        value = strict_json(raw[2:], most_bytes=MOST_LINE)
    except CoordError:
        return None
    if not isinstance(value, dict) or yaml_text(value).encode() != raw[2:]:
        return None
    if "erased" in value:
        return value if value.keys() == _ERASED and value["erased"] is True else None
    return value if isinstance(value.get("event_id"), str) else None


def coord_root(workspace: Workspace) -> Path:
    """Return the project folder whose `.coord` is the workspace's: the first recorded root that is there.

    Other worktrees and roots of the workspace share it. WorkspaceError where there is no project folder.
    """
    entry = read_table(workspace.home.parents[1]).get(workspace.id)
    roots = [Path(root) for root in entry.roots] if entry is not None else []
    found = next((root for root in roots if root.is_dir()), workspace.root)
    if found is None:
        raise WorkspaceError("this workspace has no project folder; run recall inside one")
    return found


def memory_path(root: Path) -> Path:
    """Return where a project's canonical memory lies."""
    return root / FOLDER / MEMORY


def proposal_path(root: Path, name: str) -> Path:
    """Return where a proposal's file lies."""
    return root / FOLDER / PROPOSALS / f"{name}.json"


def memory_bytes(root: Path) -> bytes | None:
    """Return a project's memory.yml, None where there is none; `memory_link` for anything but a plain file."""
    path = memory_path(root)
    _no_links(root, path)
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFE)
    except FileNotFoundError:
        return None
    except OSError:
        raise refused("memory_link", MEMORY) from None
    with open(descriptor, "rb") as handle:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise refused("memory_link", MEMORY)
        return handle.read()


_SAFE = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def append(root: Path, data: bytes) -> None:
    """Append whole lines, or the rest of one, to a project's memory.yml, on disk when this returns.

    `memory_link` where it, or its folder, is no plain one.
    """
    path = memory_path(root)
    folder = coord_folder(root)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _SAFE, 0o600)
    except OSError as error:
        if path.is_symlink() or path.is_dir():
            raise refused("memory_link", MEMORY) from None
        raise error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise refused("memory_link", MEMORY)
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
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def write_document(root: Path, document: Mapping[str, Any]) -> Path:
    """Write a proposal's file whole and return where it lies."""
    folder = coord_folder(root, PROPOSALS)
    path = folder / f"{document['proposal_id']}.json"
    write_atomic(path, document_bytes(document))
    return path


def read_folder(root: Path) -> Folder:
    """Return the proposal files of a project: plain files named *.json of at most 64 KiB, the first 10,000 by name."""
    folder = root / FOLDER / PROPOSALS
    if folder.is_symlink() or folder.parent.is_symlink():
        return Folder({}, (f"{PROPOSALS}/",))
    files: dict[str, bytes] = {}
    not_read: list[str] = []
    for name in sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ():
        if name.startswith("."):  # being written
            continue
        data = _small_file(folder / name) if name.endswith(".json") and len(files) < MOST_FILES else None
        if data is None:
            not_read.append(name)
        else:
            files[name] = data
    return Folder(files, tuple(not_read))


def _small_file(path: Path) -> bytes | None:
    """Return a plain file's bytes, None where it is none, is too large or cannot be read. A pipe is not opened."""
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        descriptor = os.open(path, os.O_RDONLY | _SAFE)
        with open(descriptor, "rb") as handle:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES:
                return handle.read(MOST_BYTES + 1)
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
