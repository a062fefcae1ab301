"""Vectors kept between runs, keyed by model, revision and text, so that only new texts reach the model.

Two files a model: `<name>.keys` (16-byte keys) and `<name>.f32` (rows), both append-only, written under a lock so that
several runs may share them; what a killed run left behind the shorter of the two is cut off by the next writer.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from indexer.embedder import Embedder
from transcript.lock import FileLock

KEY_BYTES = 16
Matrix = npt.NDArray[np.float32]


class CachedEmbedder:
    """An embedder in front of another one that remembers every vector it has seen."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self.id, self.revision = inner.id, inner.revision
        self.dimension, self.max_tokens = inner.dimension, inner.max_tokens
        self.encoded = 0  # texts that reached the model
        name = hashlib.sha256(f"{inner.id}\x1f{inner.revision}".encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        self._keys_path, self._rows_path = folder / f"{name}.keys", folder / f"{name}.f32"
        self._row_bytes = 4 * self.dimension
        self._lock = FileLock(folder / f"{name}.lock")
        with self._lock:
            self._rows = self._open()

    def count(self, text: str) -> int:
        """Return the model's own token count."""
        return self._inner.count(text)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one row for each text; unseen texts are encoded once and appended."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES] for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if new:
            self._append(list(new), self._inner.encode(list(new.values())))
        with self._rows_path.open("rb") as file:
            return np.stack([self._read(file, self._rows[key]) for key in keys]) if keys else self._empty()

    def _append(self, keys: list[bytes], rows: Matrix) -> None:
        """Write new rows, then their keys; another run may have written some of them meanwhile."""
        self.encoded += len(keys)
        with self._lock:
            known = self._open()
            fresh = [i for i, key in enumerate(keys) if key not in known]
            with self._rows_path.open("ab") as file:
                file.write(np.ascontiguousarray(rows[fresh], dtype="<f4").tobytes())
            with self._keys_path.open("ab") as file:
                file.write(b"".join(keys[i] for i in fresh))
            for i in fresh:
                known[keys[i]] = len(known)
            self._rows = known

    def _read(self, file: BinaryIO, row: int) -> Matrix:
        file.seek(row * self._row_bytes)
        return np.frombuffer(file.read(self._row_bytes), dtype="<f4")

    def _empty(self) -> Matrix:
        return np.zeros((0, self.dimension), dtype=np.float32)

    def _open(self) -> dict[bytes, int]:
        for path in (self._keys_path, self._rows_path):
            path.touch()
        whole = min(
            self._keys_path.stat().st_size // KEY_BYTES,
            self._rows_path.stat().st_size // self._row_bytes,
        )
        _cut(self._keys_path, whole * KEY_BYTES)
        _cut(self._rows_path, whole * self._row_bytes)
        raw = self._keys_path.read_bytes()
        return {raw[i * KEY_BYTES : (i + 1) * KEY_BYTES]: i for i in range(whole)}


def _cut(path: Path, size: int) -> None:
    if path.stat().st_size > size:
        with path.open("r+b") as file:
            file.truncate(size)
