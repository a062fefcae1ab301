"""Views: what is no file of lines, read as one. One JSON object a line, in the record's order."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from transcript.paths import open_file, read_file

MAX_DOCUMENT_BYTES = 512 << 20
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


class UnreadableSource(OSError):
    """A source cannot be read as it stands now: a document half written, a database that is none."""

    def __init__(self, reason: str) -> None:
        super().__init__(None, reason)
        self.strerror = reason


def as_line(record: Any) -> bytes:
    """Return a record as a line, ended. A number that is not JSON stays what it is, for the reader to keep raw."""
    return _encode(record).encode("ascii") + b"\n"


def as_lines(records: Iterable[Any]) -> BinaryIO:
    """Return records as lines."""
    return io.BytesIO(b"".join(map(as_line, records)))


def document(path: Path) -> Any:
    """Return what a JSON file holds; UnreadableSource for one that is torn, too large or no JSON."""
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        raise UnreadableSource(f"longer than {MAX_DOCUMENT_BYTES >> 20} MiB")
    try:
        return json.loads(read_file(path).decode("utf-8", "surrogatepass").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise UnreadableSource("no whole JSON document (perhaps half written)") from None


def head_of(path: Path, size: int = 4096) -> bytes:
    """Return the first bytes of a file, nothing when it cannot be read."""
    try:
        with open_file(path) as file:
            return file.read(size)
    except OSError:
        return b""
