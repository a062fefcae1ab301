"""Sessions of processes that recall itself started (`RECALL_CHILD=1`): they are never captured.

A transcript does not say which environment it was made in, so whoever starts such a process gives its session an id
and writes that down here first. On the hook path: standard library only.
"""

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "RECALL_CHILD"
_FILE = "children"


def is_child(env: Mapping[str, str]) -> bool:
    """Return whether this process was started by recall itself."""
    return env.get(VARIABLE, "") not in ("", "0")


def note_child(data: Path, session: str) -> None:
    """Write down a session that must not be captured; one short append, safe against others at the same time."""
    line = session.strip().encode("utf-8", "replace")
    if not line or b"\n" in line or len(line) > 200:
        return
    descriptor = os.open(data / _FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line + b"\n")
    finally:
        os.close(descriptor)


def children(data: Path) -> frozenset[str]:
    """Return the ids of the sessions that must not be captured."""
    try:
        return frozenset((data / _FILE).read_text("utf-8", "replace").split("\n")) - {""}
    except FileNotFoundError:
        return frozenset()
