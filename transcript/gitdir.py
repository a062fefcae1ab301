"""Git's files read without git: which work tree a folder lies in and where its common folder is."""

import os
from dataclasses import dataclass
from pathlib import Path

from transcript.paths import open_file

_MAX_FILE = 4096
_MAX_CONFIG = 1 << 20


@dataclass(frozen=True, slots=True)
class GitTree:
    """A work tree and the folder all its linked trees share.

    `owned` is false when the tree only claims that folder: a `.git` file or link that points
    outside it while nothing there points back. Such a claim proves nothing.
    """

    root: Path
    common: Path
    owned: bool


def git_tree_at(folder: Path) -> GitTree | None:
    """Return the work tree whose root is folder, None when it is not one."""
    dot_git = folder / ".git"
    if dot_git.is_dir():
        if not (dot_git / "HEAD").exists():
            return None
        real = Path(os.path.realpath(dot_git))
        return GitTree(folder, real, owned=real.parent == Path(os.path.realpath(folder)))
    text = _read(dot_git)
    if text is None or not text.startswith("gitdir:"):
        return None
    git_dir = _resolve(folder, text.removeprefix("gitdir:").strip())
    if git_dir is None or not (git_dir / "HEAD").exists():
        return None
    shared = _read(git_dir / "commondir")
    if shared is None:
        return GitTree(folder, git_dir, owned=_is_work_tree(git_dir, folder))
    common = _resolve(git_dir, shared.strip())
    back = _resolve(git_dir, (_read(git_dir / "gitdir") or "").strip())
    if common is None:
        return None
    inside = git_dir.parent == common / "worktrees"
    return GitTree(folder, common, owned=inside and back is not None and _same(back, dot_git))


def _is_work_tree(git_dir: Path, folder: Path) -> bool:
    """Say whether a git folder's own config names folder as its work tree, as a submodule's does."""
    section = ""
    for line in (_read(git_dir / "config", _MAX_CONFIG) or "").splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.lower()
        elif section == "[core]" and line.partition("=")[0].strip().lower() == "worktree":
            tree = _resolve(git_dir, line.partition("=")[2].strip().strip('"'))
            return tree is not None and _same(tree, folder)
    return False


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _resolve(base: Path, text: str) -> Path | None:
    if not text or "\0" in text:
        return None
    return Path(os.path.realpath(base / text))


def _read(path: Path, limit: int = _MAX_FILE) -> str | None:
    try:
        with open_file(path) as handle:
            return handle.read(limit).decode("utf-8", "surrogateescape")
    except OSError:
        return None
