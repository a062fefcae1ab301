"""Which events the record holds and where: a derived file of fixed-size entries.

One entry an event (16 bytes of its id, segment, offset, length) and one more for the place it
stands in: `b32id("sighting", event id, session, source)`, the id a sighting of it there would
have. So reading a source again finds both the event and the sighting already present.

The writer extends the file under the record's lock; a reader catches up from the record's
tail in memory. A checksum over all entries stands in the header: what does not fit is built
anew from the record.
"""

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transcript.canonical import ID_LENGTH, KEY_BYTES, b32id, event_key, prefix_bits
from transcript.errors import RecordError
from transcript.event import Position
from transcript.paths import secure_dir, write_all, write_atomic
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
                self._load(path.read_bytes())

    def _clear(self) -> None:
        self.position = self._start
        self._data = bytearray()
        self._crc = 0
        self._saved = 0
        self._index: dict[bytes, int] | None = None
        self._lookups = 0

    def _load(self, raw: bytes) -> None:
        if len(raw) < HEADER.size:
            return
        magic, count, crc, segment, offset, seq, digest, own = HEADER.unpack_from(raw)
        data = raw[HEADER.size : HEADER.size + count * ENTRY.size]
        if magic != MAGIC or own != zlib.crc32(raw[: HEADER.size - 4]) or len(data) != count * ENTRY.size:
            return
        if zlib.crc32(data) != crc:
            return
        self._data = bytearray(data)
        self._crc = crc
        self._saved = len(data)
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
            self._index.setdefault(key, len(self._data))
        self._data += ENTRY.pack(key, segment, length, offset)

    def save(self) -> None:
        """Write what is new to the file. Only for the holder of the record's lock."""
        if self.path is None:
            return
        if self._saved == 0 or not self.path.exists():
            self._saved = len(self._data)
            self._crc = zlib.crc32(self._data)
            secure_dir(self.path.parent)
            write_atomic(self.path, self._header() + bytes(self._data), durable=False)
            return
        fresh = bytes(self._data[self._saved :])
        self._crc = zlib.crc32(fresh, self._crc)
        descriptor = os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            os.lseek(descriptor, HEADER.size + self._saved, os.SEEK_SET)
            write_all(descriptor, fresh)
            self._saved = len(self._data)
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
        return len(self._data) // ENTRY.size

    def __contains__(self, event_id: str) -> bool:
        return self.has_key(event_key(event_id))

    def has_key(self, key: bytes) -> bool:
        """Say whether an event or a place has this key."""
        return self._offset_of(key) is not None

    def prepare(self) -> None:
        """Prepare for many look-ups: one pass now, then each is a dictionary access."""
        if self._index is None:
            data = bytes(self._data)
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
        at = self._data.find(prefix)
        while at >= 0:
            if at % ENTRY.size == 0:
                yield at
            at = self._data.find(prefix, at + 1)

    def locate(self, event_id: str) -> tuple[int, int, int] | None:
        """Return (segment, offset, length) of an event's line, None when the record has none."""
        key = event_key(event_id)
        offset = self._offset_of(key)
        if offset is None:
            return None
        _, segment, length, at = ENTRY.unpack_from(self._data, offset)
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
            key, segment, length, at = ENTRY.unpack_from(self._data, offset)
            if int.from_bytes(key, "big") >> spare == low >> spare and not segment & PLACE:
                found.append((segment, at, length))
                if len(found) == limit:
                    break
        return found
