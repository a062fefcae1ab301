"""Reads files of JSON lines that other programs write, while they write them, after they crashed.

Lines end at the byte `\\n` and nowhere else: a JSON text may hold U+2028, U+0085 and the like unescaped, and text
splitters cut there. Whatever is wrong with a line, the next one is read.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 64 << 20
GLUED = "more than one record"  # why a line is named all of whose records were taken in
_MAX_ATTEMPTS = 200
_BLANK = re.compile(r"[ \t\r\n]*")
_OBJECT = re.compile(r'\{\s*"')
_NULS = re.compile(r"\x00+")


@dataclass(frozen=True, slots=True)
class Damage:
    """Something wrong at a place in a file, never its content."""

    line: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line: where it stands, its bytes without the line end, the objects in it and what was wrong.

    `odd` are the objects in which a number cannot be written as JSON (NaN, infinities), by place in `objects`.
    """

    number: int
    offset: int
    end: int
    raw: bytes
    objects: list[dict[str, Any]]
    damage: list[Damage] = field(default_factory=list)
    odd: frozenset[int] = frozenset()


class _Decoder:
    """json's decoder, with a note when a number was met that JSON does not have."""

    def __init__(self) -> None:
        self.odd = False
        self._decode = json.JSONDecoder(parse_constant=self._constant, parse_float=self._float).raw_decode

    def _constant(self, name: str) -> float:
        self.odd = True
        return float(name)

    def _float(self, digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            self.odd = True
        return number

    def decode(self, text: str, at: int) -> tuple[Any, int, bool]:
        """Return the value at a place, where it ends, and whether it holds an odd number."""
        self.odd = False
        value, end = self._decode(text, at)
        return value, end, self.odd


_decoder = _Decoder()
Accept = Callable[[dict[str, Any]], bool]


def raw_lines(file: BinaryIO, offset: int, *, limit: int | None = None) -> Iterator[tuple[int, int, bytes, bool]]:
    """Yield (start, end, bytes, ended) of each line from offset on; a line too long to hold comes as its first bytes.

    Reading stops at limit, an offset in the file, so that a file that grows meanwhile is read to a known place.
    """
    file.seek(offset)
    start, held, dropped = offset, bytearray(), 0
    at = offset
    while limit is None or at < limit:
        chunk = file.read(CHUNK_BYTES if limit is None else min(CHUNK_BYTES, limit - at))
        if not chunk:
            break
        at += len(chunk)
        pieces = chunk.split(b"\n")
        for piece in pieces[:-1]:
            held += piece
            end = start + len(held) + dropped + 1
            yield start, end, bytes(held), True
            start = end
            held.clear()
            dropped = 0
        held += pieces[-1]
        if len(held) > MAX_LINE_BYTES + CHUNK_BYTES:
            dropped += len(held) - MAX_LINE_BYTES - 1
            del held[MAX_LINE_BYTES + 1 :]
    if held:
        yield start, start + len(held) + dropped, bytes(held), False


def parse_line(number: int, offset: int, end: int, raw: bytes, accept: Accept) -> Line:
    """Return the line with every whole object in it; accept says which of those behind damage are records."""
    objects: list[dict[str, Any]] = []
    damage: list[Damage] = []
    odd: set[int] = set()

    def report(reason: str) -> None:
        damage.append(Damage(number, offset, reason))

    if len(raw) > MAX_LINE_BYTES:
        report(f"longer than {MAX_LINE_BYTES >> 20} MiB")
        return Line(number, offset, end, raw, objects, damage)
    text = _text(raw, report)
    if offset == 0:
        text = text.removeprefix("\ufeff")  # a mark that some editors put before the first line
    if "\x00" in text:
        report("zero bytes")
    for piece in _NULS.split(text) if "\x00" in text else (text,):
        _parse_piece(piece, objects, odd, accept, report)
    return Line(number, offset, end, raw, objects, damage, frozenset(odd))


def _text(raw: bytes, report: Callable[[str], None]) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        report("not UTF-8")
        return raw.decode("utf-8", "replace")


def _parse_piece(
    text: str, objects: list[dict[str, Any]], odd: set[int], accept: Accept, report: Callable[[str], None]
) -> None:
    at = _skip(text, 0)
    glued = False
    while at < len(text):
        try:
            value, end, is_odd = _decoder.decode(text, at)
        except (ValueError, RecursionError):
            report("unreadable JSON")
            _recover(text, at, objects, odd, accept)
            return
        if not isinstance(value, dict):
            report("not an object")
        else:
            if is_odd:
                odd.add(len(objects))
            objects.append(value)
        at = _skip(text, end)
        if at < len(text) and not glued:
            glued = True
            report(GLUED)


def _recover(text: str, at: int, objects: list[dict[str, Any]], odd: set[int], accept: Accept) -> None:
    """Add whole records behind a broken one. A part of the broken one must not pass for a record."""
    for _ in range(_MAX_ATTEMPTS):
        found = _OBJECT.search(text, at + 1)
        if found is None:
            return
        at = found.start()
        try:
            value, end, is_odd = _decoder.decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and accept(value):
            if is_odd:
                odd.add(len(objects))
            objects.append(value)
        at = end - 1


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
