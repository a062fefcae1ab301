"""Long texts outside the lines: content-addressed, compressed, referred to as `{"blob": sha256, "size": n}`."""

import os
import re
from pathlib import Path
from typing import Any

from transcript.canonical import canonical, sha256_hex, utf8
from transcript.errors import RecordError
from transcript.paths import read_file, secure_dir, write_atomic

INLINE_BYTES = 32 * 1024
INLINE_BODY_BYTES = 1 << 20
_SHA = re.compile("[0-9a-f]{64}")
_MAX_SIZE = 1 << 32


class BlobStore:
    """Blobs under one folder, named by the SHA-256 of their plain bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha: str) -> Path:
        """Return where a blob lies; ValueError when sha is no SHA-256."""
        if _SHA.fullmatch(sha) is None:
            raise ValueError("a blob is named by its SHA-256 in lower-case hex")
        return self.folder / sha[:2] / f"{sha}.zst"

    def put(self, data: bytes) -> str:
        """Store data once and return its name; on disk before this returns."""
        import zstandard

        sha = sha256_hex(data)
        path = self.path(sha)
        if not path.exists():
            secure_dir(path.parent)
            write_atomic(path, zstandard.ZstdCompressor(level=3, write_checksum=False).compress(data))
        return sha

    def get(self, sha: str) -> bytes:
        """Return a blob's bytes, checked against its name; RecordError when missing or damaged."""
        import zstandard

        try:
            packed = read_file(self.path(sha))
        except FileNotFoundError:
            raise RecordError(f"blob {sha[:12]} is missing from the record; run 'recall verify'") from None
        try:
            data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MAX_SIZE)
        except zstandard.ZstdError:
            data = b""
        if sha256_hex(data) != sha:
            raise RecordError(f"blob {sha[:12]} is damaged; run 'recall verify'")
        return data

    def __contains__(self, sha: str) -> bool:
        return self.path(sha).exists()

    def names(self) -> list[str]:
        """Return the names of all blobs, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(entry.name[:64] for entry in self.folder.glob("??/*.zst") if _SHA.fullmatch(entry.name[:64]))


def is_reference(value: object) -> bool:
    """Say whether a value of a body stands for a blob."""
    return (
        isinstance(value, dict)
        and {"blob", "size"} <= value.keys() <= {"blob", "size", "json"}
        and isinstance(value["blob"], str)
        and _SHA.fullmatch(value["blob"]) is not None
    )


def externalise(body: dict[str, Any], packed: bytes, store: BlobStore) -> tuple[dict[str, Any], bytes]:
    """Return body with long texts moved into blobs, and its canonical bytes.

    packed is body's canonical form: escaping never makes a text shorter than its UTF-8, so a
    short body holds no long text. What looks like a reference without being one goes into a
    blob itself; a body that is still too long loses its longest fields to blobs of JSON.
    """
    if len(packed) > INLINE_BYTES or b'"blob":' in packed:
        body = {name: _shorten(value, store) for name, value in body.items()}
        packed = canonical(body)
    if len(packed) > INLINE_BODY_BYTES:
        body = {name: _box(value, store) for name, value in body.items()}
        packed = canonical(body)
    return body, packed


def _shorten(value: Any, store: BlobStore) -> Any:
    if isinstance(value, str):
        if len(value) * 4 <= INLINE_BYTES:
            return value
        data = utf8(value)
        return {"blob": store.put(data), "size": len(data)} if len(data) > INLINE_BYTES else value
    if is_reference(value):
        data = canonical(value)
        return {"blob": store.put(data), "size": len(data), "json": True}
    if isinstance(value, dict):
        return {name: _shorten(item, store) for name, item in value.items()}
    if isinstance(value, list):
        return [_shorten(item, store) for item in value]
    return value


def _box(value: Any, store: BlobStore) -> Any:
    if not isinstance(value, dict | list) or is_reference(value):
        return value
    data = canonical(value)
    return {"blob": store.put(data), "size": len(data), "json": True} if len(data) > INLINE_BYTES else value


def resolve(value: Any, store: BlobStore) -> Any:
    """Return a value with every blob reference in it replaced by what it stands for."""
    import json

    if isinstance(value, dict):
        if is_reference(value):
            text = store.get(value["blob"]).decode("utf-8", "surrogatepass")
            if not value.get("json"):
                return text
            boxed = json.loads(text)
            return boxed if is_reference(boxed) else resolve(boxed, store)
        return {name: resolve(item, store) for name, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, store) for item in value]
    return value


def references(value: Any) -> list[str]:
    """Return the names of all blobs a body refers to, attached media (`{"blob", "mime"}`) included."""
    found: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            name = item.get("blob")
            if isinstance(name, str) and _SHA.fullmatch(name) and (is_reference(item) or "mime" in item):
                found.append(name)
            else:
                stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return found


def remove(store: BlobStore, sha: str) -> None:
    """Erase a blob that no event refers to any more; quiet when it is gone already."""
    store.path(sha).unlink(missing_ok=True)
    if os.name == "posix" and store.path(sha).parent.is_dir():
        from transcript.paths import fsync_dir

        fsync_dir(store.path(sha).parent)
