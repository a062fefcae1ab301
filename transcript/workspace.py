"""Workspaces: where the record, index and memories of a project lie, and how a project gets, follows or joins one.

Which one a folder belongs to is said by `transcript.belonging`.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from transcript.belonging import CONFIG, ID_FILE, Belonging, belonging
from transcript.errors import RecordError, WorkspaceError
from transcript.event import genesis
from transcript.gitdir import GitTree, git_tree_at
from transcript.marks import config_id, ignore, is_id, not_ignored, read_id, set_config_id, set_id
from transcript.paths import secure_dir, write_once
from transcript.places import unsafe_reason
from transcript.roots import (
    Entry,
    change_table,
    exclude,
    excluded,
    longest_root,
    read_table,
    same_place,
)
from transcript.segments import ACTIVITY, HEAD, Head, read_head, write_head

__all__ = [
    "USER",
    "Workspace",
    "adopt",
    "claim",
    "claimable",
    "exclude",
    "exclude_list",
    "excluded",
    "init",
    "is_marked",
    "locate",
    "open_workspace",
    "owner_root",
    "take_name",
    "user_workspace",
    "workspaces",
]

USER = "user"
KEY_BYTES = 32
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Workspace:
    """One unit of isolation. `root` is the project folder it was found from, None for `user`."""

    id: str
    home: Path
    root: Path | None = None

    @property
    def data(self) -> Path:
        """The data folder that it lies in, of all workspaces."""
        return self.home.parents[1]

    @property
    def log_dir(self) -> Path:
        """The folder of the record."""
        return self.home / "log"

    @property
    def activity(self) -> Path:
        """The open segment of the record."""
        return self.log_dir / ACTIVITY

    @property
    def head_file(self) -> Path:
        """The witness of the record's end."""
        return self.log_dir / HEAD

    @property
    def blobs_dir(self) -> Path:
        """The folder of long texts."""
        return self.log_dir / "blobs"

    @property
    def native_dir(self) -> Path:
        """The folder of source bytes as they were read."""
        return self.log_dir / "native"

    @property
    def index_path(self) -> Path:
        """The index."""
        return self.home / "index.sqlite"

    @property
    def run_dir(self) -> Path:
        """Locks, spool and derived files that may be lost."""
        return self.home / "run"

    @property
    def key_path(self) -> Path:
        """The key of ids and secret marks; outside the record, never exported."""
        return self.home / "id.key"

    def id_key(self) -> bytes:
        """Return the workspace's random key, made on first use."""
        secure_dir(self.home)
        key = write_once(self.key_path, os.urandom(KEY_BYTES))
        if len(key) != KEY_BYTES:
            raise WorkspaceError(f"{self.key_path} is damaged: {len(key)} bytes instead of {KEY_BYTES}; restore it")
        return key


def user_workspace(data: Path) -> Workspace:
    """Return the workspace of what is true in every project."""
    return Workspace(USER, data / "workspaces" / USER)


def workspaces(data: Path) -> list[Workspace]:
    """Return every workspace of the table, sorted by id, with its first root."""
    table = sorted(read_table(data).items())
    return [_workspace(data, name, Path(entry.roots[0]) if entry.roots else None) for name, entry in table]


def locate(cwd: Path, data: Path) -> Workspace | None:
    """Return the workspace a folder belongs to, None when it has none yet. Reads only."""
    found = belonging(cwd, data)
    if found.id is None or found.status == "copied":
        return None
    return _workspace(data, found.id, found.root)


def owner_root(cwd: Path | str, data: Path) -> tuple[Workspace | None, str]:
    """Return (workspace, reason) for the folder a session ran in. Reads only.

    The reason is `known` beside a workspace, else `excluded`, `root_gone` (the folder is no
    more and no known root held it), `refused` (relative, or with `..` in it) or `unknown_root`.
    """
    text = os.fspath(cwd)
    if not Path(text).is_absolute() or "\0" in text or ".." in re.split(r"[/\\]", text):
        return None, "refused"
    if excluded(Path(text), data):
        return None, "excluded"
    found = belonging(Path(text), data)
    if found.id is None or found.status == "copied":
        return None, "root_gone" if found.status == "root_gone" else "unknown_root"
    return _workspace(data, found.id, found.root), "known"


def open_workspace(
    cwd: Path, data: Path, *, create: str | None = None, notice: Notice = lambda message: None
) -> Workspace:
    """Return the workspace of a folder, ready for writing.

    create says what to do when there is none: `init` marks the project, `capture` only lists
    its root in the table, None raises WorkspaceError. A moved project is followed, a copied
    one gets a new id under `init` and `capture`; notice is told of either.
    """
    if create not in (None, "init", "capture"):
        raise ValueError("create is 'init', 'capture' or None")
    found = belonging(cwd, data)
    if found.status in ("refused", "root_gone") or found.root is None:
        raise WorkspaceError(f"{cwd} is no folder that can be a project; run recall inside one")
    fresh = found.id is None or found.status == "copied"
    if fresh and create is None:
        raise WorkspaceError(f"no workspace for {found.root}; run 'recall init' first")
    workspace = _workspace(data, _new_id() if fresh or found.id is None else found.id, found.root)
    if found.status == "copied":
        notice(f"{found.root} is a copy of a project that is still in its place; it gets a workspace of its own")
    try:
        workspace = _record_root(workspace, found, data, notice)
        _make_home(workspace, notice)
        if create == "init":
            _mark_project(workspace, found.tree)
        elif found.status == "copied":
            _mark_project(workspace, found.tree, anew=False)
    except OSError as error:
        where = error.filename or workspace.home
        raise WorkspaceError(f"cannot write {where} ({error.strerror}); mend that, then run 'recall init'") from error
    return workspace


def init(cwd: Path, data: Path, *, notice: Notice = lambda message: None) -> Workspace:
    """Give a project its workspace: home, marks, ignore rules. A second run changes no byte."""
    return open_workspace(cwd, data, create="init", notice=notice)


def exclude_list(root: Path) -> Path | None:
    """Return git's own exclude file of a project, which keeps our folders out of commits; None outside of git."""
    tree = git_tree_at(root)
    return tree.common / "info" / "exclude" if tree is not None and tree.owned else None


def is_marked(workspace: Workspace) -> bool:
    """Say whether the project carries every mark that init leaves. Reads only."""
    root = workspace.root
    if root is None or config_id(root / CONFIG) != workspace.id:
        return False
    listed = exclude_list(root)
    return listed is None or (read_id(listed.parent.parent / ID_FILE) == workspace.id and not not_ignored(listed))


def adopt(paths: Iterable[Path], cwd: Path, data: Path, *, notice: Notice = lambda message: None) -> Workspace:
    """Link projects that lay, or lie, at paths to the folder cwd, and return their workspace.

    When a path is a workspace's root that is gone, cwd's folder joins that workspace, unless it has
    a record of its own. Any other path becomes a further root of cwd's workspace.
    """
    table = read_table(data)
    wanted = [os.path.realpath(path) for path in paths]
    found = belonging(cwd, data)
    if found.root is None:
        raise WorkspaceError(f"{cwd} is no folder that can be a project; run recall inside one")
    own = None if found.status == "copied" else found.id
    joined = own
    for path in wanted:
        here = Path(path).exists()
        places = {item: name for name, entry in table.items() for item in entry.roots + ([] if here else entry.former)}
        owner = places.get(path)
        if owner is None or owner == joined:
            continue
        if here:
            raise WorkspaceError(f"{path} is a project with a workspace of its own; it cannot be adopted")
        if joined is not None and _has_record(data, joined):
            raise WorkspaceError(f"{found.root} has a record of its own; adopt {path} from a folder without one")
        joined = owner
    target = joined if joined is not None else _new_id()
    root = os.fspath(found.root)

    def change(table: dict[str, Entry]) -> None:
        if own is not None and own != target:
            table.pop(own, None)
        entry = table.setdefault(target, Entry())
        for path in [*wanted, root]:
            here = Path(path).exists()
            entry.roots = [item for item in entry.roots if not same_place(item, path)]
            entry.former = [item for item in entry.former if item != path]
            (entry.roots if here else entry.former).append(path)
        if found.tree is not None and found.tree.owned:
            entry.common = os.fspath(found.tree.common)

    change_table(data, change)
    workspace = _workspace(data, target, found.root)
    _make_home(workspace, notice)
    _mark_project(workspace, found.tree)
    return workspace


def take_name(
    workspace: Workspace, name: str, data: Path, *, notice: Notice = lambda message: None
) -> Workspace | None:
    """Give an empty workspace another's id, as an import does; None when that id has a record on this machine."""
    if name == workspace.id:
        return workspace
    root = workspace.root
    if root is None or not is_id(name) or _has_record(data, workspace.id) or _has_record(data, name):
        return None

    def change(table: dict[str, Entry]) -> None:
        table[name] = table.pop(workspace.id, Entry([os.fspath(root)]))

    change_table(data, change)
    taken = _workspace(data, name, root)
    _make_home(taken, notice)
    _mark_project(taken, git_tree_at(root))
    shutil.rmtree(workspace.home, ignore_errors=True)
    return taken


def claimable(name: str, root: Path, data: Path) -> Belonging:
    """Return what a folder belongs to, where it may become a root of a workspace that is put back; reads only.

    WorkspaceError where the folder has another workspace's record.
    """
    found = belonging(root, data)
    if found.root is None:
        raise WorkspaceError(f"{root} is no folder that can be a project")
    if found.id not in (None, name) and found.status != "copied" and _has_record(data, str(found.id)):
        raise WorkspaceError(f"{found.root} has a record of its own; name another folder, or move that record away")
    return found


def claim(name: str, root: Path, data: Path) -> Workspace:
    """Make a project's folder a root of a workspace that was put back, and mark it; return the workspace."""
    found = claimable(name, root, data)
    place = os.fspath(found.root or root)

    def change(table: dict[str, Entry]) -> None:
        if found.id is not None and found.id != name and found.status != "copied":
            table.pop(found.id, None)
        entry = table.setdefault(name, Entry())
        gone = [item for item in entry.roots if not Path(item).is_dir()]
        entry.former = sorted({*entry.former, *gone})
        entry.roots = [item for item in entry.roots if item not in gone and not same_place(item, place)] + [place]
        if found.tree is not None and found.tree.owned:
            entry.common = os.fspath(found.tree.common)

    change_table(data, change)
    workspace = _workspace(data, name, Path(place))
    _make_home(workspace, lambda message: None)
    _mark_project(workspace, found.tree)
    return workspace


def _workspace(data: Path, name: str, root: Path | None) -> Workspace:
    return Workspace(name, data / "workspaces" / name, root)


def _has_record(data: Path, name: str) -> bool:
    try:
        head = read_head(data / "workspaces" / name / "log")
    except RecordError:
        return True
    return head is not None and head.seq > 0


# -- writing -------------------------------------------------------------------------------


def _new_id() -> str:
    number = bytearray(os.urandom(16))
    number[6] = number[6] & 0x0F | 0x40
    number[8] = number[8] & 0x3F | 0x80
    text = number.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _record_root(workspace: Workspace, found: Belonging, data: Path, notice: Notice) -> Workspace:
    """List the root in the table and return the workspace, which is another's when that was quicker."""
    root = os.fspath(found.root or "")
    chosen = workspace.id

    def change(table: dict[str, Entry]) -> None:
        nonlocal chosen
        if found.status in ("new", "copied"):
            chosen = longest_root(table, root, inside=root)[0] or chosen
        entry = table.setdefault(chosen, Entry())
        if found.status == "moved":
            gone = [item for item in entry.roots if not Path(item).is_dir()]
            entry.former = sorted({*entry.former, *gone})
            entry.roots = [item for item in entry.roots if item not in gone]
        if Path(root).is_dir() and not any(same_place(item, root) for item in entry.roots):
            entry.roots.append(root)
        if found.tree is not None and found.tree.owned:
            entry.common = os.fspath(found.tree.common)

    change_table(data, change)
    if found.status == "moved":
        notice(f"the project moved to {root}; its record follows")
    return _workspace(data, chosen, found.root)


def _make_home(workspace: Workspace, notice: Notice) -> None:
    if not workspace.log_dir.is_dir():
        reason = unsafe_reason(workspace.home)
        if reason is not None:
            notice(f"the record lies on {reason}: locks may fail there; set RECALL_HOME to a local folder")
    secure_dir(workspace.home)
    secure_dir(workspace.log_dir)
    secure_dir(workspace.run_dir)
    workspace.id_key()
    if not workspace.head_file.exists() and not any(workspace.log_dir.glob("activity.*jsonl")):
        os.close(os.open(workspace.activity, os.O_WRONLY | os.O_CREAT, 0o600))
        write_head(workspace.log_dir, Head(1, 0, genesis(workspace.id), 0))


def _mark_project(workspace: Workspace, tree: GitTree | None, *, anew: bool = True) -> None:
    """Write the id into the project and keep its marks out of version control; anew=False only where one stands."""
    root = workspace.root
    if root is None:
        return
    if tree is not None and tree.owned:
        if anew or (tree.common / ID_FILE).exists():
            set_id(tree.common / ID_FILE, workspace.id)
        ignore(tree.common / "info" / "exclude")
    if anew or (root / CONFIG).exists():
        set_config_id(root / CONFIG, workspace.id)
