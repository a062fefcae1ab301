"""Keeps this machine's settings file of a project out of its repository, by git's own local exclude list."""

from pathlib import Path

from transcript.gitdir import git_tree_at
from transcript.paths import write_atomic

LINE = "/.claude/settings.local.json"


def list_for(file: Path) -> Path | None:
    """Return the exclude list of the repository whose top holds `.claude`, None outside of one."""
    tree = git_tree_at(file.parent.parent)
    return tree.common / "info" / "exclude" if tree is not None and tree.owned else None


def holds(listed: Path, line: str = LINE) -> bool:
    """Say whether a line stands in an exclude list."""
    return listed.exists() and line in _text(listed).splitlines()


def exclude(file: Path) -> Path | None:
    """Add our line to the exclude list of the repository whose top holds `.claude`; return that list, if any."""
    listed = list_for(file)
    if listed is None or holds(listed):
        return listed
    text = _text(listed) if listed.exists() else ""
    listed.parent.mkdir(parents=True, exist_ok=True)
    _write(listed, f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{LINE}\n")
    return listed


def unexclude(listed: Path) -> None:
    """Take our line out again."""
    take_out(listed, LINE)


def take_out(listed: Path, ours: str) -> None:
    """Take one line out of an exclude list; the others stay byte for byte."""
    if not listed.exists():
        return
    text = _text(listed)
    kept = [line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != ours]
    if "".join(kept) != text:
        _write(listed, "".join(kept))


def _text(listed: Path) -> str:
    return listed.read_text(encoding="utf-8", errors="surrogateescape")


def _write(listed: Path, text: str) -> None:
    mode = listed.stat().st_mode & 0o7777 if listed.exists() else 0o644
    write_atomic(listed, text.encode("utf-8", "surrogateescape"))
    listed.chmod(mode)
