"""Source bytes as they were read, kept because harnesses delete their own after a while.

One file a source, append-only. Before each zstd frame stands a skippable frame that says
which bytes of which generation follow, so `zstd -d` opens the file as it is. A generation is
the source's life between two rewrites: it grows at the end only.
"""

import hashlib
import os
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from transcript.errors import RecordError
from transcript.lock import FileLock
from transcript.paths import fsync_dir, open_file, secure_dir, write_all
from transcript.segments import REWRITING
from transcript.workspace import Workspace

_MAGIC = 0x184D2A5C
_PREFIX = struct.Struct("<II")
_HEADER = struct.Struct("<QIQQ32s")  # offset, generation, plain length, packed length, SHA-256 of the plain bytes
_FRAME_BYTES = 16 << 20
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
_NAME = re.compile("[a-z0-9][a-z0-9-]*")
_SOURCE = re.compile("[0-9a-f]{16,64}")


@dataclass(frozen=True, slots=True)
class Frame:
    """What one frame holds and where its packed bytes lie."""

    offset: int
    generation: int
    length: int
    packed: int
    digest: bytes
    at: int


class NativeStore:
    """The native bytes of a workspace's sources."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.native_dir

    def path(self, harness: str, source_id: str) -> Path:
        """Return where a source's bytes lie; ValueError on names that are none of ours."""
        if _NAME.fullmatch(harness) is None or _SOURCE.fullmatch(source_id) is None:
            raise ValueError("a source is named by its harness and 16 to 64 hex digits")
        return self._folder / harness / f"{source_id}.zst"

    def append(self, harness: str, source_id: str, offset: int, data: bytes, generation: int = 0) -> int:
        """Keep bytes of a source, durable when it returns; return how many of them were new.

        What an earlier call of the same generation kept is left out, so reading a source again
        adds nothing.
        """
        path = self.path(harness, source_id)
        with FileLock(self._workspace.run_dir / "native.lock"):
            if not path.parent.is_dir():
                secure_dir(path.parent)
            end = self._mend(path).get(generation, 0)
            if offset < end:
                data, offset = data[end - offset :], end
            if not data:
                return 0
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
            try:
                for start in range(0, len(data), _FRAME_BYTES):
                    write_all(descriptor, _frame(data[start : start + _FRAME_BYTES], offset + start, generation))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            fsync_dir(path.parent)
        return len(data)

    def _mend(self, path: Path) -> dict[int, int]:
        """Cut a frame that a crash left unfinished; return the end of each generation."""
        ends: dict[int, int] = {}
        if not path.exists():
            return ends
        with path.open("r+b") as handle:
            size = os.fstat(handle.fileno()).st_size
            whole = 0
            for frame in _frames(handle, size):
                ends[frame.generation] = max(ends.get(frame.generation, 0), frame.offset + frame.length)
                whole = frame.at + frame.packed
            if whole < size:
                handle.truncate(whole)
        return ends

    def end(self, harness: str, source_id: str) -> tuple[int, int]:
        """Return (generation, offset) up to which a source is kept: (0, 0) when it is not."""
        try:
            with open_file(self.path(harness, source_id)) as handle:
                frames = list(_frames(handle, os.fstat(handle.fileno()).st_size))
        except FileNotFoundError:
            return 0, 0
        return max(((frame.generation, frame.offset + frame.length) for frame in frames), default=(0, 0))

    def read(self, harness: str, source_id: str) -> Iterator[tuple[int, int, bytes]]:
        """Yield (generation, offset, bytes) in the order they were kept; nothing for an unknown source."""
        import zstandard

        path = self.path(harness, source_id)
        if not path.exists():
            return
        with open_file(path) as handle:
            for frame in _frames(handle, os.fstat(handle.fileno()).st_size):
                handle.seek(frame.at)
                try:
                    data = zstandard.ZstdDecompressor().decompress(handle.read(frame.packed), frame.length)
                except zstandard.ZstdError:
                    data = b""
                if hashlib.sha256(data).digest() != frame.digest:
                    raise RecordError(
                        f"native bytes of {harness}/{source_id} are damaged at byte {frame.at} of the file"
                    )
                yield frame.generation, frame.offset, data
                handle.seek(frame.at + frame.packed)

    def lines(self, harness: str, source_id: str) -> Iterator[tuple[int, int, bytes, bool]]:
        """Yield (generation, offset, line without its end, whether it had one) of what is kept of a source.

        A line without an end stands at the end of a generation, or before bytes that were never kept.
        """
        held, start = b"", (0, 0)
        for generation, offset, data in self.read(harness, source_id):
            if held and (generation, offset) != (start[0], start[1] + len(held)):
                yield *start, held, False
                held = b""
            if not held:
                start = (generation, offset)
            *whole, held = (held + data).split(b"\n")
            at = start[1]
            for raw in whole:
                yield generation, at, raw, True
                at += len(raw) + 1
            start = (generation, at)
        if held:
            yield *start, held, False

    def sources(self) -> list[tuple[str, str]]:
        """Return (harness, source id) of everything kept, sorted."""
        if not self._folder.is_dir():
            return []
        return sorted(
            (path.parent.name, path.stem) for path in self._folder.glob("*/*.zst") if _SOURCE.fullmatch(path.stem)
        )

    def blank(self, harness: str, source_id: str, spans: Iterable[tuple[int, int, int]]) -> int:
        """Overwrite (generation, offset, length) of a source with blanks, in a new file beside the old, and swap them.

        Durable when it returns; return how many frames changed. Offsets and lengths stay as they were.
        """
        import zstandard

        path = self.path(harness, source_id)
        wanted = list(spans)
        changed = 0
        with FileLock(self._workspace.run_dir / "native.lock"):
            if not path.exists():
                return 0
            beside = path.with_name(f"{REWRITING}{path.name}")
            with open_file(path) as old, open(os.open(beside, _FRESH, 0o600), "wb") as new:
                for frame in _frames(old, os.fstat(old.fileno()).st_size):
                    old.seek(frame.at)
                    packed = old.read(frame.packed)
                    hit = [(at, size) for g, at, size in wanted if g == frame.generation and _meets(frame, at, size)]
                    data = zstandard.ZstdDecompressor().decompress(packed, frame.length) if hit else b""
                    changed += bool(hit)
                    new.write(
                        _frame(_blanked(data, frame.offset, hit), frame.offset, frame.generation)
                        if hit
                        else _header(frame) + packed
                    )
                    old.seek(frame.at + frame.packed)
                new.flush()
                os.fsync(new.fileno())
            beside.replace(path)
            fsync_dir(path.parent)
        return changed

    def torn_bytes(self, harness: str, source_id: str) -> int:
        """Return how many bytes at the end of a source's file belong to no whole frame."""
        with open_file(self.path(harness, source_id)) as handle:
            size = os.fstat(handle.fileno()).st_size
            whole = 0
            for frame in _frames(handle, size):
                whole = frame.at + frame.packed
            return size - whole


def _meets(frame: Frame, at: int, size: int) -> bool:
    return at < frame.offset + frame.length and frame.offset < at + size


def _blanked(data: bytes, offset: int, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return a frame's bytes with spans of its source as blanks."""
    whole = bytearray(data)
    for at, size in spans:
        start, end = max(0, at - offset), min(len(whole), at + size - offset)
        whole[start:end] = b" " * (end - start)
    return bytes(whole)


def _header(frame: Frame) -> bytes:
    packed = _HEADER.pack(frame.offset, frame.generation, frame.length, frame.packed, frame.digest)
    return _PREFIX.pack(_MAGIC, len(packed)) + packed


def _frame(data: bytes, offset: int, generation: int) -> bytes:
    import zstandard

    packed = zstandard.ZstdCompressor(level=3).compress(data)
    return _header(Frame(offset, generation, len(data), len(packed), hashlib.sha256(data).digest(), 0)) + packed


def _frames(handle: IO[bytes], size: int) -> Iterator[Frame]:
    """Yield the whole frames from the start; stop at the first that is none."""
    at = 0
    while at + _PREFIX.size + _HEADER.size <= size:
        handle.seek(at)
        raw = handle.read(_PREFIX.size + _HEADER.size)
        if _PREFIX.unpack_from(raw) != (_MAGIC, _HEADER.size):
            return
        offset, generation, length, packed, digest = _HEADER.unpack_from(raw, _PREFIX.size)
        start = at + len(raw)
        if start + packed > size:
            return
        yield Frame(offset, generation, length, packed, digest, start)
        at = start + packed
