"""What became of a session's hidden reasoning: remembered while reading, told once in a mark.

The memory of every reader holds `reasoning` (one of the states below) and `replies` (whether anything was answered).
"""

from typing import Any

from transcript.adapters.base import Counts
from transcript.canonical import b32id

_STATES = ("", "kept", "capture.reasoning is off", "withheld by the harness", "told")


def is_kept(text: str, kept: dict[str, Any], counts: Counts, *, wanted: bool) -> bool:
    """Return whether a trace goes into the record; count and remember what became of it."""
    if not text:
        counts.notes["reasoning withheld"] += 1
        _remember(kept, "withheld by the harness")
    elif not wanted:
        counts.notes["reasoning not kept"] += 1
        _remember(kept, "capture.reasoning is off")
    else:
        counts.notes["reasoning kept"] += 1
        _remember(kept, "kept")
    return bool(text) and wanted


def withheld_mark(kept: dict[str, Any], harness: str, session: str) -> tuple[str, dict[str, Any]] | None:
    """Return (id, body) of the mark that says once a session that its reasoning is not there, None when it is told."""
    if kept["reasoning"] in ("kept", "told") or not kept["replies"]:
        return None
    note = kept["reasoning"] or "none in the source"
    kept["reasoning"] = "told"
    body: dict[str, Any] = {"mark": "reasoning_withheld", "events": [], "note": note}
    return b32id("mark", "reasoning_withheld", harness, session), body


def _remember(kept: dict[str, Any], state: str) -> None:
    """Remember the most telling state."""
    if _STATES.index(state) > _STATES.index(kept["reasoning"]):
        kept["reasoning"] = state
