"""Sessions of processes that recall itself started (`RECALL_CHILD=1`): they are never captured.

A transcript does not say which environment it was made in, so whoever knows a session for a child's (the hook that
ran inside it) writes its id down here. On the hook path: standard library only.
"""

import os
from pathlib import Path

VARIABLE = "RECALL_CHILD"
_FILE = "children"


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
