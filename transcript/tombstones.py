"""What was erased and must not come back: keyed hashes of source lines and of records, in `log/tombstones`.

The ids of erased events stay in the record, so reading a source again adds none of them. These hashes keep the rest
out: the source's own bytes from being kept again, and a record that another version of an adapter gives another id.
Each is an HMAC under the workspace's key, so that nothing can be guessed from it.
"""

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping
from typing import Any

from transcript.canonical import canonical, utf8
from transcript.paths import fsync_dir, read_file, write_all
from transcript.workspace import Workspace

FILE = "tombstones"
_SAID = ("call_id", "input", "kind", "raw", "subtype", "text", "tool")
_HEX = 32
LEAST = 4  # characters of a text that is worth a hash of its own


class Tombstones:
    """The hashes of one workspace. Falsy when nothing was ever erased."""

    def __init__(self, workspace: Workspace) -> None:
        self._path = workspace.log_dir / FILE
        self._held: set[bytes] = set()
        try:
            self._held = set(read_file(self._path).split(b"\n")) - {b""}
        except FileNotFoundError:
            return
        self._key = workspace.id_key()

    def __bool__(self) -> bool:
        return bool(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def line(self, raw: bytes) -> bool:
        """Say whether a source line was erased."""
        return bool(self._held) and line_hash(self._key, raw) in self._held

    def record(self, kind: str, ts: str, body: Mapping[str, Any]) -> bool:
        """Say whether what an event would say was erased."""
        return bool(self._held) and record_hash(self._key, kind, ts, body) in self._held

    def scrub(self, value: Any) -> Any:
        """Return what a reader remembers without texts that were erased: each becomes empty."""
        if not self._held:
            return value
        if isinstance(value, str):
            return "" if len(value) >= LEAST and text_hash(self._key, value) in self._held else value
        if isinstance(value, dict):
            return {name: self.scrub(item) for name, item in value.items()}
        return [self.scrub(item) for item in value] if isinstance(value, list) else value

    def mask(self, data: bytes) -> bytes:
        """Return whole lines of a source with the erased ones blanked, their length kept."""
        if not self._held:
            return data
        return b"\n".join(b" " * len(raw) if raw.strip() and self.line(raw) else raw for raw in data.split(b"\n"))


def line_hash(key: bytes, raw: bytes) -> bytes:
    """Return the hash of a source line without its end."""
    return _hash(key, b"line\x1f" + raw)


def text_hash(key: bytes, text: str) -> bytes:
    """Return the hash of one whole text, as a reader may remember it."""
    return _hash(key, b"text\x1f" + utf8(text))


def record_hash(key: bytes, kind: str, ts: str, body: Mapping[str, Any]) -> bytes:
    """Return the hash of what an event says and when, in any session; body has its blobs opened."""
    said = {name: body[name] for name in _SAID if name in body}
    return _hash(key, b"record\x1f" + canonical([kind, ts, said]))


def add(workspace: Workspace, hashes: Iterable[bytes]) -> int:
    """Add hashes, durable when it returns; return how many are new."""
    fresh = sorted(set(hashes) - Tombstones(workspace)._held)
    if not fresh:
        return 0
    path = workspace.log_dir / FILE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:  # the leading line end closes what a crash may have left unfinished
        write_all(descriptor, b"\n" + b"\n".join(fresh) + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fsync_dir(path.parent)
    return len(fresh)


def _hash(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).hexdigest()[:_HEX].encode("ascii")
