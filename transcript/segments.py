"""The files of the record: the open segment, the sealed ones, and the head that witnesses their end.

`activity.jsonl` is always the open segment; segment n is called `activity.00000n.jsonl` once
sealed. The head is written after each batch. Readers take no lock and read nothing behind the
head.
"""

import contextlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from transcript.canonical import canonical
from transcript.errors import RecordError
from transcript.event import Position
from transcript.paths import NotPlainError, fsync_dir, open_file, read_file, sync, write_all, write_atomic

ACTIVITY = "activity.jsonl"
HEAD = "head"
HEAD_BYTES = 256
SEGMENT_BYTES = 256 * 1024 * 1024
BLOCK = 1 << 17
REWRITING = ".redaction-"  # how the name of a file begins that is to take another's place


@dataclass(frozen=True, slots=True)
class Head:
    """How far the record goes: open segment, last seq, that event's envelope hash, bytes of the segment."""

    segment: int
    seq: int
    hash: str
    length: int

    @property
    def position(self) -> Position:
        """The position behind the last event."""
        return Position(self.segment, self.length, self.seq, self.hash)


def sealed_path(log_dir: Path, segment: int) -> Path:
    """Return the name of a segment once it is sealed."""
    return log_dir / f"activity.{segment:06d}.jsonl"


def read_head(log_dir: Path) -> Head | None:
    """Return the head, None when there is none; RecordError when it cannot be read as one."""
    for pause in (0.0, 0.002, 0.01, 0.05):  # a writer may be in the middle of it
        if pause:
            time.sleep(pause)
        try:
            raw = read_file(log_dir / HEAD)
        except FileNotFoundError:
            return None
        except NotPlainError:
            raise RecordError(
                "log/head is no plain file; move what stands there away, then run 'recall verify'"
            ) from None
        head = _unpack_head(raw)
        if head is not None:
            return head
    if b'"v":1' in raw:
        raise RecordError("log/head is in the form of the first version; run 'recall migrate'")
    raise RecordError("log/head is damaged; run 'recall verify'")


def _unpack_head(raw: bytes) -> Head | None:
    try:
        fields = json.loads(raw)
        check = fields.pop("check")
        head = Head(**fields)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return head if check == zlib.crc32(canonical(fields)) and raw == _pack_head(head) else None


def _pack_head(head: Head) -> bytes:
    fields = {"hash": head.hash, "length": head.length, "segment": head.segment, "seq": head.seq}
    return canonical({**fields, "check": zlib.crc32(canonical(fields))}).ljust(HEAD_BYTES - 1) + b"\n"


def write_head(log_dir: Path, head: Head) -> None:
    """Overwrite the head where it stands and see it on the disk.

    It is shorter than a disk's sector and written at once, so a crash leaves the old or the new one; a
    checksum tells a reader that meets it half written.
    """
    data = _pack_head(head)
    try:
        descriptor = os.open(log_dir / HEAD, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        write_atomic(log_dir / HEAD, data)
        return
    try:
        write_all(descriptor, data)
        if os.fstat(descriptor).st_size != len(data):
            os.ftruncate(descriptor, len(data))
        sync(descriptor)
    finally:
        os.close(descriptor)


def open_segment(log_dir: Path, segment: int) -> IO[bytes]:
    """Open a segment for reading, sealed or not yet. RecordError when it is gone or may not be read."""
    try:
        return _opened(log_dir, segment)
    except FileNotFoundError:
        raise RecordError(f"segment {segment} of the record is missing from {log_dir}; run 'recall verify'") from None
    except OSError as error:
        raise RecordError(f"cannot read {error.filename} ({error.strerror}); mend that first") from error


def _opened(log_dir: Path, segment: int) -> IO[bytes]:
    sealed = sealed_path(log_dir, segment)
    with contextlib.suppress(FileNotFoundError):
        return open_file(sealed)
    handle = open_file(log_dir / ACTIVITY)
    try:  # sealed between the two looks: what we hold may be the next segment
        again = open_file(sealed)
    except FileNotFoundError:
        return handle
    handle.close()
    return again


def lines(log_dir: Path, head: Head, *, segment: int, offset: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield (segment, end offset, line with newline) from a line's start up to the head."""
    for number in range(segment, head.segment + 1):
        start = offset if number == segment else 0
        with open_segment(log_dir, number) as handle:
            limit = head.length if number == head.segment else os.fstat(handle.fileno()).st_size
            handle.seek(start)
            while start < limit:
                line = handle.readline()
                start += len(line)
                if not line.endswith(b"\n") or start > limit:
                    raise RecordError(
                        f"the record ends inside a line of segment {number}, before its head; run 'recall verify'"
                    )
                yield number, start, line


def lines_back(
    log_dir: Path, *, segment: int, offset: int, skip: Callable[[bytes], bool] | None = None
) -> Iterator[tuple[int, int, bytes]]:
    """Yield (segment, end offset, line with newline) backwards from the line that ends at offset.

    A block of lines that skip says True to is passed over whole.
    """
    for number in range(segment, 0, -1):
        with open_segment(log_dir, number) as handle:
            end = offset if number == segment else os.fstat(handle.fileno()).st_size
            start = end
            while start > 0:
                start -= min(BLOCK, start)
                handle.seek(start)
                block = handle.read(end - start)
                first = 0 if start == 0 else block.find(b"\n") + 1
                if start > 0 and (first == 0 or first == len(block)):
                    continue
                if skip is not None and skip(block):
                    end = start + first
                    continue
                for line in reversed(_split(block[first:])):
                    yield number, end, line
                    end -= len(line)


def append_bytes(log_dir: Path, old: Head, new: Head, data: bytes) -> None:
    """Write a batch behind old, see it on the disk, then replace the head. Only under the record's lock.

    A write that fails is taken back, so that the record ends where the head says.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    descriptor = os.open(log_dir / ACTIVITY, flags, 0o600)
    try:
        write_all(descriptor, data)
        sync(descriptor)
        write_head(log_dir, new)
    except OSError:
        with contextlib.suppress(OSError, RecordError):  # the next writer puts right what cannot be taken back
            if read_head(log_dir) == old:
                os.ftruncate(descriptor, old.length)
        raise
    finally:
        os.close(descriptor)


def seal(log_dir: Path, head: Head) -> Head:
    """Close the open segment and start the next one. Only under the record's lock."""
    (log_dir / ACTIVITY).replace(sealed_path(log_dir, head.segment))
    return start_segment(log_dir, head)


def start_segment(log_dir: Path, head: Head) -> Head:
    """Make an empty open segment behind the one that head closes, and move the head there."""
    os.close(os.open(log_dir / ACTIVITY, os.O_WRONLY | os.O_CREAT, 0o600))
    fsync_dir(log_dir)
    fresh = Head(head.segment + 1, head.seq, head.hash, 0)
    write_head(log_dir, fresh)
    return fresh


def starts_line(log_dir: Path, segment: int, offset: int) -> bool:
    """Say whether a line starts at a byte of a segment: after a redaction, places from before it may lie within one."""
    if offset == 0:
        return True
    with open_segment(log_dir, segment) as handle:
        handle.seek(offset - 1)
        return handle.read(1) == b"\n"


def rewrite_sealed(log_dir: Path, segment: int, change: Callable[[bytes], bytes]) -> None:
    """Write a sealed segment anew beside the old, line by line, see it on the disk and swap the two by a rename."""
    path = sealed_path(log_dir, segment)
    beside = path.with_name(f"{REWRITING}{path.name}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with open_file(path) as old, open(os.open(beside, flags, 0o600), "wb") as new:
        for line in old:
            new.write(change(line))
        new.flush()
        os.fsync(new.fileno())
    beside.replace(path)
    fsync_dir(log_dir)


def _split(block: bytes) -> list[bytes]:
    return [line + b"\n" for line in block.split(b"\n")[:-1]]
