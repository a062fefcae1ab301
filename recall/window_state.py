"""What the hook knows of a session's live window: which events left it, and what a compaction took away.

Small files a session under `run/window/`, all derived: what was pruned from the record's prune events, what a
compaction took from its boundaries. Losing one costs at most that a pruned event is found a compaction later, or that a
notice comes twice.

On the hook path: standard library only.
"""

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from recall.injection import POINTER_CHARS, frame
from transcript.paths import read_derived, secure_dir, write_atomic
from transcript.telling import counted

FOLDER = "window"
VERSION = 1
MOST_TOLD = 50  # remembered of a session


@dataclass(frozen=True, slots=True)
class Left:
    """What a compaction, or a harness that cut its file, takes out of a window: how much, from which event to which.

    `name` tells it from others, announced or done. `boundary` is its own number in the record, 0 while it is announced.
    """

    name: str
    messages: int
    prompts: int
    calls: int
    first: str
    last: str
    boundary: int = 0
    checkpoint: str = ""
    cut: bool = False


def key(session: str) -> str:
    """Return the name of a session's files."""
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def pruned_file(run_dir: Path, session: str) -> Path:
    """Return the file that says what left a session's window: for recall, and for a host that builds its prompts."""
    return run_dir / FOLDER / f"{key(session)}.json"


def pruned(run_dir: Path, session: str) -> frozenset[str]:
    """Return the events that were pruned from a session's window; none where nothing was, or the file is lost."""
    held = read_derived(pruned_file(run_dir, session), version=VERSION) if session else {}
    events = held.get("pruned", ())
    return frozenset(one for one in events if isinstance(one, str)) if isinstance(events, list) else frozenset()


def keep_left(run_dir: Path, session: str, left: Left) -> None:
    """Note what a compaction takes out of a session's window, for the hook to tell it."""
    _write(_left_file(run_dir, session), {"session": session, **asdict(left)})


def noted(run_dir: Path, session: str) -> Left | None:
    """Return what was noted last of a session, told or not; None where nothing was."""
    held = read_derived(_left_file(run_dir, session), version=VERSION) if session else {}
    try:
        return Left(**{one.name: held[one.name] for one in fields(Left)})
    except (KeyError, TypeError):
        return None


def left(run_dir: Path, session: str, *, announced: bool = False) -> Left | None:
    """Return what the session's last compaction took away, None once it was told.

    A compaction that was only announced counts with `announced`, where the harness says that it has happened.
    """
    found = noted(run_dir, session)
    if found is None or found.name in _told(run_dir, session):
        return None
    return found if announced or found.boundary else None


def tell(gone: Left) -> str:
    """Return the notice: what left the window, and how to get at it."""
    first, last = gone.first[:POINTER_CHARS], gone.last[:POINTER_CHARS]
    kept = f"; the last checkpoint is {gone.checkpoint[:POINTER_CHARS]}" if gone.checkpoint else ""
    what = "the harness cut this session's beginning" if gone.cut else "this session was compacted"
    return frame(
        f"{what}: at least {counted(gone.messages, 'message')} ({gone.prompts:,} of them the"
        f" user's) and {counted(gone.calls, 'tool call')}, from {first} to {last}, are no longer in your window.\n"
        f"Nothing is lost: recall context --around {first} (or {last}) shows a place, recall show POINTER the exact"
        f" words, recall query finds the rest{kept}"
    )


def note_told(run_dir: Path, session: str, gone: Left) -> None:
    """Remember that a compaction was told: each is told once."""
    _write(_told_file(run_dir, session), {"told": [*_told(run_dir, session), gone.name][-MOST_TOLD:]})


def forget_words(run_dir: Path) -> None:
    """Remove the handoffs that were written for full windows. What left a window, and what was told, are ids alone."""
    folder = run_dir / FOLDER
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.suffix != ".json":
            path.unlink(missing_ok=True)


def _left_file(run_dir: Path, session: str) -> Path:
    return run_dir / FOLDER / f"{key(session)}.left.json"


def _told(run_dir: Path, session: str) -> list[str]:
    told = read_derived(_told_file(run_dir, session), version=VERSION).get("told")
    return [str(one) for one in told] if isinstance(told, list) else []


def _told_file(run_dir: Path, session: str) -> Path:
    return run_dir / FOLDER / f"{key(session)}.told.json"


def write_pruned(run_dir: Path, session: str, held: dict[str, Any]) -> Path:
    """Write what left a session's window, whole; OSError when it cannot be written."""
    path = pruned_file(run_dir, session)
    secure_dir(path.parent)
    write_atomic(path, json.dumps({"version": VERSION, "session": session, **held}).encode("ascii"), durable=False)
    return path


def _write(path: Path, held: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        secure_dir(path.parent)
        write_atomic(path, json.dumps({"version": VERSION, **held}).encode("ascii"), durable=False)
