"""The marks a project carries: its workspace id in git's common folder and in `.recall/config.toml`, ignore rules."""

import re
from pathlib import Path

from transcript import git_exclude
from transcript.paths import open_file, read_file, write_atomic

IGNORED = (".recall/", ".coord/")
_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MAX_CONFIG = 1 << 20
_HEADER = "# Settings of recall for this project; see 'recall config'.\n"


def is_id(text: str) -> bool:
    """Say whether a text is a workspace's id."""
    return _ID.fullmatch(text) is not None


def read_id(path: Path) -> str | None:
    """Return the id in a one-line file, None when there is no proper one."""
    try:
        with open_file(path) as handle:
            text = handle.read(128).decode("ascii", "replace").strip()
    except OSError:
        return None
    return text if _ID.fullmatch(text) else None


def set_id(path: Path, name: str) -> None:
    """Make a one-line file hold the id; untouched when it does."""
    if read_id(path) != name:
        write_atomic(path, f"{name}\n".encode("ascii"))


def config_id(path: Path) -> str | None:
    """Return `id` of the `[workspace]` table of a config.toml, None when there is no proper one.

    Read line by line: this runs before each turn, where a TOML parser would cost too much.
    """
    try:
        with open_file(path) as handle:
            text = handle.read(_MAX_CONFIG).decode("utf-8", "replace")
    except OSError:
        return None
    place = _id_line(text.split("\n"))
    if place is None or place[1] is None:
        return None
    return place[1] if _ID.fullmatch(place[1]) else None


def set_config_id(path: Path, name: str) -> None:
    """Make a config.toml name the workspace; its other lines stay as they are, untouched when it does."""
    if config_id(path) == name:
        return
    try:
        text = read_file(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _HEADER
    lines = text.split("\n")
    place = _id_line(lines)
    entry = f'id = "{name}"'
    if place is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        text = f"{text}{gap}\n[workspace]\n{entry}\n"
    else:
        number, value = place
        lines[number : number + (value is not None)] = [entry]
        text = "\n".join(lines)
    write_atomic(path, text.encode("utf-8", "surrogateescape"))


def _id_line(lines: list[str]) -> tuple[int, str | None] | None:
    """Return (line number, value) of the id, (line to insert before, None) without one, None without its table."""
    section = ""
    insert = None
    for number, line in enumerate(lines):
        line = line.strip()
        if line.startswith("["):
            section = line.split("#")[0].strip()
            if section == "[workspace]":
                insert = number + 1
        elif section == "[workspace]" and line.partition("=")[0].strip() == "id":
            value = line.partition("=")[2].split("#")[0].strip()
            return number, value.strip("\"'")
    return None if insert is None else (insert, None)


def ignore(path: Path) -> None:
    """Add our folders to git's own exclude file; lines that are there stay, nothing is added twice."""
    for line in not_ignored(path):
        git_exclude.add(path, line)


def not_ignored(path: Path) -> tuple[str, ...]:
    """Return those of our lines that a git exclude file lacks."""
    return tuple(line for line in IGNORED if not git_exclude.holds(path, line))
