"""Whose words a Codex record repeats.

A fork's file, and a sub-agent's, begins with its own `session_meta`; then comes the parent's, and the parent's history
once more, written in one go with new times. What is repeated is identified as the parent's own, so that it becomes a
sighting of it; the child's own part begins with

- the first turn whose id is younger than the child (ids are UUIDv7: their order is that of time), or
- where turns have no ids, the child's own `task_started`, or
- a pause: what is copied is written without one.
"""

from datetime import datetime
from typing import Any

PAUSE_S = 2.0


class Lineage:
    """Follows a file from session to session. `kept` is the reader's memory."""

    def __init__(self, kept: dict[str, Any], own: str) -> None:
        self._kept = kept
        kept.setdefault("own", own)
        kept.setdefault("ancestors", [])  # ids, the nearest first
        kept.setdefault("replaying", False)
        kept.setdefault("origin", own)
        kept.setdefault("last", "")

    @property
    def origin(self) -> str:
        """The session whose words stand here."""
        return str(self._kept["origin"] or self._kept["own"])

    @property
    def replaying(self) -> bool:
        """Whether what stands here repeats another session."""
        return bool(self._kept["replaying"])

    def meta(self, session: str) -> bool:
        """Take in a `session_meta`; say whether it is the file's own."""
        kept = self._kept
        if not session or session == kept["own"] or not kept["own"]:
            kept["own"] = kept["own"] or session
            if not self.replaying:
                kept["origin"] = kept["own"]
            return True
        if session not in kept["ancestors"]:
            kept["ancestors"].append(session)
        kept["replaying"] = True
        kept["origin"] = session
        kept["last"] = ""
        return False

    def meet(self, ts: str, turn: str, *, starts_turn: bool) -> None:
        """Take in the next record: when it was written, the turn it names, whether it starts one."""
        kept = self._kept
        if not self.replaying:
            return
        paused = _seconds(kept["last"], ts) > PAUSE_S
        kept["last"] = ts
        owner = self._owner(turn)
        if owner == kept["own"] or paused or (starts_turn and not turn):
            kept["replaying"], kept["origin"] = False, kept["own"]
        elif owner:
            kept["origin"] = owner

    def _owner(self, turn: str) -> str:
        """Return the youngest session of the line that is older than a turn; "" where ids tell nothing."""
        line = [self._kept["own"], *self._kept["ancestors"]]
        if not _ordered(turn) or not all(map(_ordered, line)):
            return ""
        return max((session for session in line if session <= turn), default="")


def _ordered(name: str) -> bool:
    """Say whether an id is a UUIDv7."""
    return len(name) == 36 and name[14] == "7"


def _seconds(before: str, after: str) -> float:
    if not before or not after:
        return 0.0
    return (datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds()
