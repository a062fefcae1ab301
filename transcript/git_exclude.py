"""Keeps this machine's files of a project out of its repository, by git's own local exclude list."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from transcript.git_index import tracked_paths
from transcript.gitdir import git_tree_at
from transcript.paths import remove_parts, write_atomic


def list_for(root: Path, file: Path) -> tuple[Path | None, str]:
    """Return the exclude list of the repository that file lies in and file's line in it; None outside of one."""
    for folder in file.parents:
        tree = git_tree_at(folder)
        if tree is not None:
            line = f"/{file.relative_to(folder).as_posix()}"
            return (tree.common / "info" / "exclude" if tree.owned else None), line
        if folder == root:
            break
    return None, ""


def is_tracked(root: Path, file: Path) -> bool:
    """Whether file stands in the index of the work tree at root: then no exclude list hides it."""
    return (root / ".git").exists() and tracking(root)(file)


def tracking(root: Path) -> Callable[[Path], bool]:
    """Return a function that tells whether git tracks a file of the work tree at root; every one where there is none.

    An index that cannot be read tells of none.
    """
    dot_git = root / ".git"
    if not dot_git.exists():
        return lambda _: True
    try:
        folder = dot_git if dot_git.is_dir() else root / dot_git.read_text().removeprefix("gitdir:").strip()
        paths = tracked_paths(folder)
    except (OSError, ValueError):
        return lambda _: False
    return lambda file: os.fsencode(file.relative_to(root).as_posix()) in paths


def holds(listed: Path, line: str) -> bool:
    """Say whether a line stands in an exclude list; blanks behind it count for nothing, as for git."""
    return any(found.rstrip() == line for found in _text(listed).split("\n"))


def add(listed: Path, line: str) -> None:
    """Add one line to an exclude list, unless it stands there."""
    if holds(listed, line):
        return
    text = _text(listed)
    listed.parent.mkdir(parents=True, exist_ok=True)
    _write(listed, f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n")


def take_out(listed: Path, ours: str) -> None:
    """Take one line out of an exclude list; the others stay byte for byte."""
    remove_parts(listed)
    text = _text(listed)
    kept = [line for line in re.findall(r"[^\n]*\n|[^\n]+", text) if line.rstrip() != ours]
    if "".join(kept) != text:
        _write(listed, "".join(kept))


def _text(listed: Path) -> str:
    """Return what stands in a list, its line ends as they are, "" where there is none."""
    return listed.read_bytes().decode("utf-8", "surrogateescape") if listed.exists() else ""


def _write(listed: Path, text: str) -> None:
    """Replace the file behind a link, not the link, and keep its mode."""
    listed = listed.resolve()
    mode = listed.stat().st_mode & 0o7777 if listed.exists() else 0o644
    write_atomic(listed, text.encode("utf-8", "surrogateescape"))
    listed.chmod(mode)
