"""Which project and which workspace a folder belongs to. Reads only.

The id is found in `<git common dir>/recall-id` (shared by all work trees), then in
`.recall/config.toml`, then in the table of known roots. An id that a folder merely carries
counts only when the table agrees: a copied checkout has the id of the original, and gets its
own.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from transcript.gitdir import GitTree, git_tree_at
from transcript.marks import config_id, read_id
from transcript.roots import Entry, is_lonely, longest_root, read_table, same_place

ID_FILE = "recall-id"
CONFIG = Path(".recall") / "config.toml"


@dataclass(frozen=True, slots=True)
class Belonging:
    """The project a folder is part of, its work tree, and the id of its workspace.

    status says how that is known: `known` (the table agrees), `unlisted` (the table has nothing), `moved`, `copied`
    (the id is that of an original still in its place), `new` (no id), `root_gone` (the folder is no more), `refused`.
    """

    status: str
    root: Path | None = None
    tree: GitTree | None = None
    id: str | None = None


def belonging(cwd: Path, data: Path) -> Belonging:
    """Return what the folder cwd belongs to. Reads only."""
    text = os.fspath(cwd)
    if "\0" in text:
        return Belonging("refused")
    real = os.path.realpath(text)
    table = read_table(data)
    if not Path(real).is_dir():
        name, at = longest_root(table, real, former=True)
        return Belonging("known", Path(at), None, name) if name else Belonging("root_gone")
    root, tree = _project_at(Path(real))
    carried = read_id(tree.common / ID_FILE) if tree is not None and tree.owned else None
    carried = carried or config_id(root / CONFIG)
    if carried is not None:
        found = _judge(table, data, carried, root, tree)
        if found.status != "copied":
            return found
        name, _ = longest_root(table, os.fspath(root), inside=os.fspath(root))
        return Belonging("known", root, tree, name) if name else found
    name, at = longest_root(table, real, inside=None if tree is None else os.fspath(root))
    if name:
        return Belonging("known", Path(at) if tree is None else root, tree, name)
    return Belonging("new", root, tree)


def _project_at(real: Path) -> tuple[Path, GitTree | None]:
    """Return the project folder that holds real and its work tree: the nearest marked one, else real itself."""
    for folder in (real, *real.parents):
        if folder != real and is_lonely(os.fspath(folder)):
            break
        tree = git_tree_at(folder)
        if tree is not None or config_id(folder / CONFIG) is not None:
            return folder, tree
    return real, None


def _judge(table: dict[str, Entry], data: Path, name: str, root: Path, tree: GitTree | None) -> Belonging:
    """Decide whether the id that a project carries is its own, has moved with it, or was copied."""
    entry = table.get(name)
    owned = tree is not None and tree.owned
    if entry is None:  # git's folder cannot be sent around with the files; config.toml can
        trusted = owned or not (data / "workspaces" / name).exists()
        return Belonging("unlisted" if trusted else "copied", root, tree, name)
    if any(same_place(item, os.fspath(root)) for item in entry.roots):
        return Belonging("known", root, tree, name)
    if tree is not None and owned and entry.common is not None and same_place(entry.common, os.fspath(tree.common)):
        return Belonging("known", root, tree, name)
    if owned and entry.common is not None:
        # Git's folder alone tells: other work trees of a moved project stay in their place, with its id in them.
        originals = [read_id(Path(entry.common) / ID_FILE)]
    else:
        originals = [config_id(Path(item) / CONFIG) for item in entry.roots]
        if entry.common is not None:
            originals.append(read_id(Path(entry.common) / ID_FILE))
    return Belonging("copied" if name in originals else "moved", root, tree, name)
