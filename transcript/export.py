"""The record as a file that another tool can read, and back: one header, then one event a line, its words in full.

An import takes whole records into empty workspaces only. It keeps ids, salts and commits; under the workspace's old
name it keeps the chain too, so that every hash and every view is what it was.
"""

import base64
import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from transcript.blobs import externalise, references, resolve
from transcript.canonical import canonical, sha256_hex
from transcript.errors import RecordError
from transcript.event import Draft, commitment, envelope_parts, genesis, line_fault, to_line
from transcript.lock import FileLock
from transcript.log import Log
from transcript.paths import fsync_dir, sync
from transcript.segments import ACTIVITY, SEGMENT_BYTES, Head, sealed_path, write_head
from transcript.telling import quoted
from transcript.workspace import Workspace

FORMAT = 1
HEADER = "recall_export"
MEDIUM = "recall_medium"
IMPORTING = ".importing-"  # how the name of a file begins that is to become a segment
LOCK_SECONDS = 30.0
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
_ENVELOPE = ("v", "seq", "id", "type", "ts", "ts_source", "session", "agent", "actor", "origin", "native", "commit")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought; `chained` says whether the chain is the one that was exported."""

    events: int
    media: int
    chained: bool
    workspace: str


def export(workspace: Workspace) -> Iterator[bytes]:
    """Yield the lines of a whole record: header, media before the event that shows them, events in their order."""
    log = Log(workspace)
    head = log.head()
    through = {"seq": head.seq, "hash": head.hash}
    yield canonical({HEADER: FORMAT, "workspace": workspace.id, "events": head.seq, "through": through}) + b"\n"
    shown: set[str] = set()
    for event in log.read():
        body = resolve(event.body, log.blobs)
        for name in references(body):
            if name not in shown:
                shown.add(name)
                data = base64.b64encode(log.blobs.get(name)).decode("ascii")
                yield canonical({MEDIUM: name, "data": data}) + b"\n"
        line = {name: getattr(event, name) for name in _ENVELOPE}
        yield canonical({**line, "prev": event.prev, "salt": event.salt, "body": body}) + b"\n"


def header_of(lines: Iterable[bytes]) -> dict[str, Any]:
    """Return the header of an export; RecordError when it is none, or of a newer version."""
    first = next(iter(lines), b"")
    try:
        header = json.loads(first)
        version = header[HEADER]
        name, events, through = header["workspace"], header["events"], header["through"]
    except (ValueError, KeyError, TypeError):
        raise RecordError("this is no export of recall: its first line does not say so") from None
    if type(version) is not int or version != FORMAT:
        raise RecordError(f"the export is of version {quoted(version)}, this program reads {FORMAT}; upgrade recall")
    if not isinstance(name, str) or type(events) is not int or not isinstance(through, dict):
        raise RecordError("the header of the export is damaged; export the record again")
    found: dict[str, Any] = header
    return found


def import_record(workspace: Workspace, file: IO[bytes], *, segment_bytes: int = SEGMENT_BYTES) -> Imported:
    """Take an export into an empty workspace. Nothing is kept of one that is damaged or cut short."""
    header = header_of(file)
    log = Log(workspace)
    with FileLock(workspace.run_dir / "log.lock", timeout=LOCK_SECONDS):
        if log.head().seq:
            raise RecordError("the workspace has a record of its own; import into an empty one")
        checked = _check(log, file, header)
        file.seek(0)
        header_of(file)
        chained = workspace.id == header["workspace"]
        _write(log, file, chained=chained, segment_bytes=segment_bytes)
    (workspace.run_dir / "ids.bin").unlink(missing_ok=True)
    return Imported(header["events"], checked, chained, workspace.id)


def _check(log: Log, file: IO[bytes], header: dict[str, Any]) -> int:
    """Read an export to its end and see that it is whole: its own chain, its commits, its media. Return how many."""
    prev, seq, media = genesis(header["workspace"]), 0, set()
    emptied: dict[str, int] = {}
    erased: set[str] = set()
    for number, fields in _lines(file):
        if MEDIUM in fields:
            media.add(_store(log, fields, number, keep=False))
            continue
        packed = _packed(log, fields, number)
        if fields.get("prev") != prev or fields["seq"] != seq + 1:
            raise RecordError(f"line {number} of the export does not follow the one before; nothing was imported")
        lost = [name for name in references(fields["body"]) if name not in media]
        if lost:
            raise RecordError(f"line {number} of the export shows a medium that is missing; nothing was imported")
        prev, seq = to_line(_parts(fields), packed, seq=fields["seq"], prev=prev)[1], fields["seq"]
        if not fields["body"]:
            emptied[fields["id"]] = number
        if fields["type"] == "redaction" and isinstance(listed := fields["body"].get("events"), list):
            erased.update(map(str, listed))
    if (seq, prev) != (header["through"].get("seq"), header["through"].get("hash")) or seq != header["events"]:
        raise RecordError(f"the export ends at event {seq} of {header['events']}; nothing was imported")
    if lacking := [number for name, number in emptied.items() if name not in erased]:
        raise RecordError(f"line {lacking[0]} of the export lost its body without a redaction; nothing was imported")
    return len(media)


def _write(log: Log, file: IO[bytes], *, chained: bool, segment_bytes: int) -> None:
    """Write the record beside its place and put it there when it is whole: the head, without which it is none, last.

    What an import that was killed left is removed first.
    """
    _clear(log)
    head = log.head()
    parts: list[Path] = []
    try:
        with contextlib.ExitStack() as opened:
            out: IO[bytes] | None = None
            for number, fields in _lines(file):
                if MEDIUM in fields:
                    _store(log, fields, number, keep=True)
                    continue
                packed = _packed(log, fields, number, keep=True)
                line, digest = to_line(_parts(fields), packed, seq=fields["seq"], prev=head.hash)
                if chained and fields["prev"] != head.hash:
                    raise RecordError(f"line {number} of the export changed while it was read")
                if out is None or head.length >= segment_bytes:
                    parts.append(log.directory / f"{IMPORTING}{len(parts) + 1:06d}")
                    out = opened.enter_context(open(os.open(parts[-1], _FRESH, 0o600), "wb"))
                    head = Head(len(parts), head.seq, head.hash, 0)
                out.write(line)
                head = Head(head.segment, fields["seq"], digest, head.length + len(line))
        for part in parts:
            _sync(part)
    except BaseException:
        _clear(log)
        raise
    log.workspace.head_file.unlink(missing_ok=True)  # without one, whoever comes behind a crash reads the chain itself
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        part.replace(log.directory / ACTIVITY if last else sealed_path(log.directory, number))
    fsync_dir(log.directory)
    write_head(log.directory, head)


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        sync(file.fileno())


def _clear(log: Log) -> None:
    """Remove what an import that did not come to its end has written; only where there is no record yet."""
    for part in log.directory.glob(f"{IMPORTING}*"):
        part.unlink(missing_ok=True)
    shutil.rmtree(log.workspace.blobs_dir, ignore_errors=True)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, raw in enumerate(file, 2):
        try:
            fields = json.loads(raw)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise RecordError(f"line {number} of the export is no JSON object; nothing was imported")
        yield number, fields


def _packed(log: Log, fields: dict[str, Any], number: int, *, keep: bool = False) -> bytes:
    """Return an event's body as the record writes it; RecordError when it is not the one that was committed to."""
    body, salt = fields.get("body"), fields.get("salt")
    if not isinstance(body, dict) or not isinstance(salt, str):
        raise RecordError(f"line {number} of the export has no body; nothing was imported")
    line = {name: value for name, value in fields.items() if name != "salt"}
    problem = line_fault({**line, "body": {**body, "salt": salt} if body else {}})
    if problem is not None:
        raise RecordError(f"line {number} of the export is no event: {problem[1]}; nothing was imported")
    if not body:
        return b"{}"
    kept, _ = externalise(body, canonical(body), log.blobs if keep else _Dry())  # type: ignore[arg-type]
    packed = canonical({**kept, "salt": salt})
    if commitment(salt, packed) != fields["commit"]:
        raise RecordError(f"line {number} of the export was changed after it was written; nothing was imported")
    return packed


class _Dry:
    """Names long texts and keeps none."""

    def put(self, data: bytes) -> str:
        """Return the name that data would get."""
        return sha256_hex(data)


def _parts(fields: dict[str, Any]) -> tuple[bytes, bytes, bytes]:
    named = {name: fields[name] for name in _ENVELOPE if name not in ("v", "seq", "commit")}
    return envelope_parts(Draft(**named), fields["commit"])


def _store(log: Log, fields: dict[str, Any], number: int, *, keep: bool) -> str:
    try:
        data = base64.b64decode(fields["data"], validate=True)
    except (ValueError, KeyError, TypeError):
        data = b""
    name = str(fields[MEDIUM])
    if sha256_hex(data) != name:
        raise RecordError(f"line {number} of the export holds a damaged medium; nothing was imported")
    if keep:
        log.blobs.put(data)
    return name
