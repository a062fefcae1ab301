"""Brings the head that the first version wrote to the form of today, and back where the record disagrees."""

import json
from pathlib import Path

from transcript.errors import RecordError
from transcript.lock import FileLock
from transcript.paths import read_file, write_atomic
from transcript.segments import HEAD, Head, read_head, write_head
from transcript.verify import verify
from transcript.workspace import Workspace

FIRST, NOW = 1, 2  # forms of the head: fields and `v`; fields with a checksum, padded to one length
LOCK_SECONDS = 30.0


def held(log_dir: Path) -> int | None:
    """Return the form of a record's head; None where there is none or it is neither."""
    try:
        return NOW if read_head(log_dir) is not None else None
    except RecordError:
        return FIRST if _first(log_dir) is not None else None


def bring_up(workspace: Workspace) -> tuple[int, int]:
    """Write the head in today's form and return (form before, form now).

    RecordError where the record does not verify with it: the old head is then back in its place.
    """
    before = held(workspace.log_dir)
    if before is None:
        raise RecordError(f"{workspace.head_file} is missing or damaged; run 'recall verify'")
    if before == FIRST:
        with FileLock(workspace.run_dir / "log.lock", timeout=LOCK_SECONDS):
            head = _first(workspace.log_dir)
            if head is not None:  # somebody else may have been first
                kept = read_file(workspace.head_file)
                write_head(workspace.log_dir, head)
                report = verify(workspace, views=False)
                if not report.ok:
                    write_atomic(workspace.head_file, kept)
                    raise RecordError(f"the record is damaged ({', '.join(report.codes[:3])}); its head is unchanged")
    return before, NOW


def _first(log_dir: Path) -> Head | None:
    """Return what a head of the first form says; None for any other."""
    try:
        fields = json.loads(read_file(log_dir / HEAD))
        if fields.pop("v") != FIRST:
            return None
        head = Head(**fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    numbers = (head.segment, head.seq, head.length)
    sound = all(type(number) is int and number >= 0 for number in numbers) and isinstance(head.hash, str)
    return head if sound else None
