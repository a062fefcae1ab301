"""What a writer puts right before it writes: torn tails, a half-done sealing, a lost head, stale locks.

Only bytes behind the head's length are a torn tail; they are moved to `log/quarantine/`. A
record that is shorter than its head was changed from outside: it is left alone and refused.
"""

import hashlib
import json
import os
from datetime import datetime
from pathlib import Path
from typing import IO

from transcript.canonical import b32id
from transcript.errors import RecordError
from transcript.event import Draft, envelope_hash, genesis, stamp
from transcript.paths import fsync_dir, secure_dir
from transcript.segments import ACTIVITY, Head, open_segment, read_head, sealed_path, start_segment
from transcript.workspace import Workspace

_COPY = 1 << 20


def recover(workspace: Workspace, run_id: str, stale_pid: int | None, now: datetime) -> tuple[Head, list[Draft]]:
    """Return the head to write behind and the events that tell what was put right. Only under the lock."""
    log_dir = workspace.log_dir
    secure_dir(log_dir)
    told: list[tuple[str, str, dict[str, str | int]]] = []
    if stale_pid is not None:
        told.append(("stale_lock", f"process {stale_pid} died while it held the record's lock", {"pid": stale_pid}))
    try:
        head = read_head(log_dir)
    except RecordError:
        head = None
    if head is None:
        head = _rebuild_head(workspace)
        if head.seq:
            told.append(("head_rebuilt", f"the head was lost; the record goes to event {head.seq}", {}))
    if sealed_path(log_dir, head.segment).exists():
        if sealed_path(log_dir, head.segment).stat().st_size != head.length:
            raise RecordError(f"segment {head.segment} does not end where the head says; run 'recall verify'")
        head = start_segment(log_dir, head)
    torn = _quarantine_tail(log_dir, head)
    if torn is not None:
        name, size, digest = torn
        text = f"{size} bytes of an unfinished write were moved to log/quarantine/{name}"
        told.append(("torn_tail", text, {"file": name, "bytes": size, "sha256": digest}))
    return head, [_note(workspace, run_id, head, now, *item) for item in told]


def _note(
    workspace: Workspace, run_id: str, head: Head, now: datetime, subtype: str, text: str, more: dict[str, str | int]
) -> Draft:
    return Draft(
        type="system",
        id=b32id("recall", subtype, workspace.id, run_id, str(head.seq)),
        ts=stamp(now),
        ts_source="capture",
        session=f"recall:{run_id}",
        agent="recall",
        actor="system",
        origin="internal",
        native={"harness": "recall"},
        body={"subtype": subtype, "text": text, **more},
    )


def _quarantine_tail(log_dir: Path, head: Head) -> tuple[str, int, str] | None:
    """Move bytes behind the head away; return (file name, size, SHA-256), None when there are none."""
    activity = log_dir / ACTIVITY
    size = activity.stat().st_size if activity.exists() else 0
    if size < head.length:
        raise RecordError(
            f"{ACTIVITY} has {size} bytes, its head witnesses {head.length}; nothing was written, run 'recall verify'"
        )
    if size == head.length:
        return None
    folder = secure_dir(log_dir / "quarantine")
    name = f"torn-{head.seq + 1}-{os.urandom(4).hex()}.bin"
    digest = hashlib.sha256()
    with open(activity, "r+b") as source:
        source.seek(head.length)
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as target:
            while block := source.read(_COPY):
                target.write(block)
                digest.update(block)
            target.flush()
            os.fsync(target.fileno())
        fsync_dir(folder)
        source.truncate(head.length)
        source.flush()
        os.fsync(source.fileno())
    return name, size - head.length, digest.hexdigest()


def _rebuild_head(workspace: Workspace) -> Head:
    """Return the head that the chain itself shows; RecordError when damage is not at the end."""
    log_dir = workspace.log_dir
    head = Head(1, 0, genesis(workspace.id), 0)
    while True:
        sealed = sealed_path(log_dir, head.segment).exists()
        if not sealed and not (log_dir / ACTIVITY).exists():
            return head
        with open_segment(log_dir, head.segment) as handle:
            head, clean = _follow(handle, head)
            if not clean and (sealed or b"\n" in handle.read()):
                raise RecordError(f"the record is damaged behind event {head.seq} and has no head; run 'recall verify'")
        if not sealed:
            return head
        head = Head(head.segment + 1, head.seq, head.hash, 0)


def _follow(handle: IO[bytes], head: Head) -> tuple[Head, bool]:
    """Return the head behind the last chained line, and whether the segment ends there."""
    while line := handle.readline():
        try:
            fields = json.loads(line)
            chained = line.endswith(b"\n") and fields["prev"] == head.hash and fields["seq"] == head.seq + 1
            digest = envelope_hash(line)
        except (ValueError, KeyError, TypeError, RecursionError):
            chained = False
        if not chained:
            return head, False
        head = Head(head.segment, head.seq + 1, digest, head.length + len(line))
    return head, True
