"""Which events the record holds and where: a derived file of fixed-size entries.

One entry an event (16 bytes of its id, segment, offset, length) and one more for the place it
stands in: `b32id("sighting", event id, session, source)`, the id a sighting of it there would
have. So reading a source again finds both the event and the sighting already present.

The writer extends the file under the record's lock; a reader catches up from the record's
tail in memory. A checksum over all entries stands in the header: what does not fit is built
anew from the record. What the file holds is mapped, not read: a service writes a row a turn,
several at once, and the file grows with the record.
"""

import contextlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transcript.canonical import ID_LENGTH, KEY_BYTES, b32id, event_key, prefix_bits
from transcript.errors import RecordError
from transcript.event import Position
from transcript.paths import open_file, read_file, secure_dir, write_all, write_atomic
from transcript.segments import Head, lines

ENTRY = struct.Struct(">16sIIQ")
HEADER = struct.Struct(">8sIIIQQ32sI")  # magic, entries, their crc, segment, offset, seq, hash, own crc
MAGIC = b"recids1\n"
PLACE = 0x8000_0000  # in the segment field: a place an event stands in, not an event
_DICT_AFTER = 16


def sighting_id(event_id: str, session: str, source: str) -> str:
    """Return the id of the sighting of an event in a session and source file."""
    return b32id("sighting", event_id, session, source)


def place_source(kind: str, native: dict[str, Any]) -> str:
    """Return the source file an event itself stands in, empty when it has none or only tells of another's."""
    return "" if kind == "sighting" else str(native.get("source", ""))


def keys_of(event_id: str, session: str, source: str) -> tuple[bytes, bytes | None]:
    """Return the key of an event and the one of the place it stands in, None when it has no source."""
    place = event_key(sighting_id(event_id, session, source)) if source else None
    return event_key(event_id), place


class IdMap:
    """The ids of a record up to `position`. Not for several threads at once."""

    def __init__(self, path: Path | None, start: Position) -> None:
        self.path = path
        self._start = start
        self._clear()
        if path is not None:
            with contextlib.suppress(OSError):
                self._load(_content(path))

    def _clear(self) -> None:
        self.position = self._start
        self._held: bytes | mmap.mmap = b""  # the file as it was found, header included
        self._held_bytes = 0  # of its entries
        self._fresh = bytearray()  # entries that came since
        self._crc = 0
        self._saved = 0
        self._index: dict[bytes, int] | None = None
        self._lookups = 0

    def _load(self, raw: bytes | mmap.mmap) -> None:
        if len(raw) < HEADER.size:
            return
        magic, count, crc, segment, offset, seq, digest, own = HEADER.unpack_from(raw)
        size = count * ENTRY.size
        if magic != MAGIC or own != zlib.crc32(raw[: HEADER.size - 4]) or len(raw) < HEADER.size + size:
            return
        if zlib.crc32(memoryview(raw)[HEADER.size : HEADER.size + size]) != crc:
            return
        self._held, self._held_bytes = raw, size
        self._crc = crc
        self._saved = size
        self.position = Position(segment, offset, seq, digest.hex())

    def catch_up(self, log_dir: Path, head: Head) -> None:
        """Read the record from where the map ends to the head; start over when they do not fit."""
        if self.position == head.position:
            return
        if self.position.seq > head.seq or not self._continue(log_dir, head):
            self._clear()
            if not self._continue(log_dir, head):
                raise RecordError("the record does not start with its first event; run 'recall verify'")

    def _continue(self, log_dir: Path, head: Head) -> bool:
        position = self.position
        expected = position.hash
        try:
            for segment, end, line in lines(log_dir, head, segment=position.segment, offset=position.offset):
                fields = json.loads(line)
                if expected and fields["prev"] != expected:
                    return False
                if fields["type"] == "redaction" and position != self._start:
                    return False  # lines before it have moved
                expected = ""
                start = end - len(line)
                source = place_source(fields["type"], fields["native"])
                self.add(fields["id"], fields["session"], source, segment, start, len(line))
        except FileNotFoundError:
            return False
        except RecordError:  # no line starts where the map ends
            if position != self._start:
                return False
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            if position != self._start:
                return False
            raise RecordError("the record has a damaged line; run 'recall verify'") from None
        self.position = head.position
        return True

    def add(self, event_id: str, session: str, source: str, segment: int, offset: int, length: int) -> None:
        """Note an event of the record; `position` is moved by the caller, once for a batch."""
        self.add_keys(keys_of(event_id, session, source), segment, offset, length)

    def add_keys(self, keys: tuple[bytes, bytes | None], segment: int, offset: int, length: int) -> None:
        """Note an event whose keys are known already."""
        self._put(keys[0], segment, offset, length)
        if keys[1] is not None:
            self._put(keys[1], segment | PLACE, offset, length)

    def _put(self, key: bytes, segment: int, offset: int, length: int) -> None:
        if self._index is not None:
            self._index.setdefault(key, self._bytes())
        self._fresh += ENTRY.pack(key, segment, length, offset)

    def save(self) -> None:
        """Write what is new to the file. Only for the holder of the record's lock."""
        if self.path is None:
            return
        if self._saved == 0 or not self.path.exists():
            data = self._data()
            self._saved = len(data)
            self._crc = zlib.crc32(data)
            secure_dir(self.path.parent)
            write_atomic(self.path, self._header() + data, durable=False)
            return
        fresh = bytes(self._fresh[self._saved - self._held_bytes :])
        self._crc = zlib.crc32(fresh, self._crc)
        descriptor = os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            os.lseek(descriptor, HEADER.size + self._saved, os.SEEK_SET)
            write_all(descriptor, fresh)
            self._saved = self._bytes()
            os.lseek(descriptor, 0, os.SEEK_SET)
            write_all(descriptor, self._header())
        finally:
            os.close(descriptor)

    def _header(self) -> bytes:
        at = self.position
        count = self._saved // ENTRY.size
        head = HEADER.pack(MAGIC, count, self._crc, at.segment, at.offset, at.seq, bytes.fromhex(at.hash), 0)[:-4]
        return head + struct.pack(">I", zlib.crc32(head))

    def __len__(self) -> int:
        """Return how many entries there are, places included."""
        return self._bytes() // ENTRY.size

    def _bytes(self) -> int:
        return self._held_bytes + len(self._fresh)

    def _data(self) -> bytes:
        """All entries in one piece."""
        return self._held[HEADER.size : HEADER.size + self._held_bytes] + self._fresh

    def __contains__(self, event_id: str) -> bool:
        return self.has_key(event_key(event_id))

    def has_key(self, key: bytes) -> bool:
        """Say whether an event or a place has this key."""
        return self._offset_of(key) is not None

    def prepare(self) -> None:
        """Prepare for many look-ups: one pass now, then each is a dictionary access."""
        if self._index is None:
            data = self._data()
            size = ENTRY.size
            index: dict[bytes, int] = {}
            for offset in range(len(data) - size, -1, -size):
                index[data[offset : offset + KEY_BYTES]] = offset
            self._index = index

    def _offset_of(self, key: bytes) -> int | None:
        if self._index is None:
            self._lookups += 1
            if self._lookups > _DICT_AFTER:
                self.prepare()
        if self._index is not None:
            return self._index.get(key)
        return next(self._scan(key), None)

    def _scan(self, prefix: bytes) -> Iterator[int]:
        for part, first, end, base in (
            (self._held, HEADER.size, HEADER.size + self._held_bytes, 0),
            (self._fresh, 0, len(self._fresh), self._held_bytes),
        ):
            at = part.find(prefix, first, end)
            while at >= 0:
                if (at - first) % ENTRY.size == 0:
                    yield base + at - first
                at = part.find(prefix, at + 1, end)

    def _entry(self, offset: int) -> tuple[bytes, int, int, int]:
        """Return (key, segment, length, offset in it) of the entry at a place that `_scan` or the index gave."""
        if offset < self._held_bytes:
            key, segment, length, at = ENTRY.unpack_from(self._held, HEADER.size + offset)
        else:
            key, segment, length, at = ENTRY.unpack_from(self._fresh, offset - self._held_bytes)
        return key, segment, length, at

    def locate(self, event_id: str) -> tuple[int, int, int] | None:
        """Return (segment, offset, length) of an event's line, None when the record has none."""
        key = event_key(event_id)
        offset = self._offset_of(key)
        if offset is None:
            return None
        _, segment, length, at = self._entry(offset)
        return None if segment & PLACE else (segment, at, length)

    def matching(self, prefix: str, limit: int = 2) -> list[tuple[int, int, int]]:
        """Return the lines of at most limit events whose id starts with prefix (at least 4 characters)."""
        if not 4 <= len(prefix) <= ID_LENGTH:
            raise ValueError(f"a pointer has 4 to {ID_LENGTH} characters")
        bits = 5 * len(prefix)
        spare = max(0, KEY_BYTES * 8 - bits)
        low = (prefix_bits(prefix) << spare) >> max(0, bits - KEY_BYTES * 8)
        whole = min(bits, KEY_BYTES * 8) // 8
        found = []
        for offset in self._scan(low.to_bytes(KEY_BYTES, "big")[:whole]):
            key, segment, length, at = self._entry(offset)
            if int.from_bytes(key, "big") >> spare == low >> spare and not segment & PLACE:
                found.append((segment, at, length))
                if len(found) == limit:
                    break
        return found


def _content(path: Path) -> bytes | mmap.mmap:
    """Return what a file holds, mapped where a mapped file can still be replaced by another process.

    Nothing of ours makes a mapped file shorter: it is written on at its end, replaced by a rename, or removed.
    """
    if os.name != "posix" or not path.stat().st_size:
        return read_file(path)
    with open_file(path) as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
