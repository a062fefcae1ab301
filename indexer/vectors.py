"""Two ways to hold and search vectors behind one protocol: sqlite-vec's table, and NumPy where it cannot load.

A vector's id is chunk id * KINDS + kind; kind 0 is the passage itself. Vectors are of unit length, so that the cosine
is a product. What NumPy writes goes to a plain table and is moved over when the extension is back.
"""

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.rows import RowFilter
from indexer.schema import Execute

KINDS = 4
PASSAGE = 0
MAX_K = 4096  # sqlite-vec refuses more
_SPARE = 8  # rows beyond k, so that near ties at the end are decided by id in both backends
_SLACK = 1e-6  # what the products of two backends may differ by
DIGITS = 9  # of a cosine worked out in double precision: what lies behind them is rounding
_MANY_ALLOWED = 20_000  # above it a scan in NumPy is faster than handing the ids to the extension
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk near to the query; similarity is the cosine."""

    chunk_id: int
    similarity: float


class VectorBackend(Protocol):
    """Holds the vectors of one generation. Both implementations pass one contract test."""

    name: str

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Store unit vectors under these ids, inside the caller's transaction; an id that stands is replaced."""
        ...

    def remove(self, ids: Sequence[int]) -> None: ...

    def ids(self) -> set[int]: ...

    def get(self, ids: Sequence[int]) -> dict[int, Vectors]: ...

    def nearest(self, query: Vectors, k: int, allowed: RowFilter | None) -> list[Hit]:
        """Return the k allowed chunks nearest to the unit vector query, best first, ties by id."""
        ...


class SqliteVec:
    """The vec0 table, searched by the extension; the filter runs inside its scan."""

    name = "sqlite-vec"

    def __init__(self, execute: Execute, generation: int, dimension: int) -> None:
        self._execute = execute
        self._table = f"chunk_vec_{generation}"
        self._numpy = NumpyVec(execute, generation, dimension)

    def create(self, dimension: int) -> None:
        """Create the table where it is missing, inside the caller's transaction."""
        self._execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {self._table} USING vec0"
            f"(embedding float[{dimension}] distance_metric=cosine)"
        )

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        self.remove(ids)
        for number, vector in zip(ids, vectors, strict=True):
            self._execute(f"INSERT INTO {self._table} (rowid, embedding) VALUES (?, ?)", (number, pack(vector)))

    def remove(self, ids: Sequence[int]) -> None:
        for number in ids:
            if list(self._execute(f"SELECT 1 FROM {self._table}_rowids WHERE rowid = ?", (number,))):
                self._execute(f"DELETE FROM {self._table} WHERE rowid = ?", (number,))
        self._numpy.remove(ids)

    def ids(self) -> set[int]:
        return self._numpy.ids()

    def get(self, ids: Sequence[int]) -> dict[int, Vectors]:
        return self._numpy.get(ids)

    def nearest(self, query: Vectors, k: int, allowed: RowFilter | None) -> list[Hit]:
        k = clamp(k)
        wanted = min(MAX_K, k * self._kinds() + _SPARE) if k else 0
        spare = 0 if allowed is None else len(allowed.excluded) * self._kinds()
        only = None if allowed is None else allowed.only
        if k == 0:
            return []
        if (only is None and wanted + spare > MAX_K) or (only is not None and len(only) > _MANY_ALLOWED):
            return self._numpy.nearest(query, k, allowed)
        if self._numpy.has_plain():
            return self._numpy.nearest(query, k, allowed)
        sql = f"SELECT rowid, embedding FROM {self._table} WHERE embedding MATCH ? AND k = ?"
        values: tuple[Any, ...] = (pack(query), wanted + (spare if only is None else 0))
        if only is not None and allowed is not None:
            ids = sorted(c * KINDS + kind for c in only - allowed.excluded for kind in range(self._kinds()))
            sql += " AND rowid IN (SELECT value FROM json_each(?))"
            values += (json.dumps(ids),)
        rows = list(self._execute(sql, values))
        if not rows:
            return []
        vectors = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(len(rows), -1)
        return best_chunks(zip((number for number, _ in rows), cosines(vectors, query), strict=True), k, allowed)

    def _kinds(self) -> int:
        return self._numpy.kinds()


class NumpyVec:
    """Exact search over the stored vectors in NumPy: reads the shadow tables of vec0 and the plain table."""

    name = "numpy"

    def __init__(self, execute: Execute, generation: int, dimension: int) -> None:
        self._execute = execute
        self._generation = generation
        self._dimension = dimension
        self._vec = f"chunk_vec_{generation}"
        self._plain = f"vector_{generation}"
        self._cached: tuple[str, NDArray[np.int64], Vectors] | None = None

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        for number, vector in zip(ids, vectors, strict=True):
            self._execute(f"INSERT OR REPLACE INTO {self._plain} VALUES (?, ?)", (number, pack(vector)))

    def remove(self, ids: Sequence[int]) -> None:
        for number in ids:
            self._execute(f"DELETE FROM {self._plain} WHERE id = ?", (number,))

    def ids(self) -> set[int]:
        found = {row[0] for row in self._execute(f"SELECT id FROM {self._plain}")}
        if self._has_vec():
            found.update(row[0] for row in self._execute(f"SELECT rowid FROM {self._vec}_rowids"))
        return found

    def get(self, ids: Sequence[int]) -> dict[int, Vectors]:
        held, matrix = self.matrix()
        place = {int(number): at for at, number in enumerate(held)}
        return {number: matrix[place[number]] for number in ids if number in place}

    def nearest(self, query: Vectors, k: int, allowed: RowFilter | None) -> list[Hit]:
        k = clamp(k)
        ids, matrix = self.matrix()
        if not len(ids) or k == 0:
            return []
        similarity = matrix @ query
        kept = np.arange(len(ids))
        if allowed is not None and not allowed.is_all:
            kept = np.nonzero(mask(ids // KINDS, allowed))[0]
        top = kept[top_positions(similarity[kept], k * self.kinds())]
        return best_chunks(zip(ids[top].tolist(), cosines(matrix[top], query), strict=True), k, None)

    def has_plain(self) -> bool:
        """Tell whether vectors stand in the plain table, which the extension does not search."""
        return bool(list(self._execute(f"SELECT 1 FROM {self._plain} LIMIT 1")))

    def kinds(self) -> int:
        """Return how many kinds of vector a chunk may have; only passages are embedded so far."""
        return 1

    def matrix(self) -> tuple[NDArray[np.int64], Vectors]:
        """Return all ids, rising, and their vectors; kept until the data version of the index moves."""
        version = next((row[0] for row in self._execute("SELECT value FROM meta WHERE key = 'data_version'")), "")
        if self._cached is None or self._cached[0] != version:
            ids, vectors = self._read()
            order = np.argsort(ids, kind="stable")
            self._cached = (version, ids[order], vectors[order])
        return self._cached[1], self._cached[2]

    def _read(self) -> tuple[NDArray[np.int64], Vectors]:
        ids: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        vectors: list[Vectors] = [np.empty((0, self._dimension), np.float32)]
        if self._has_vec():
            sql = (
                f"SELECT c.size, c.validity, c.rowids, v.vectors FROM {self._vec}_chunks c"
                f" JOIN {self._vec}_vector_chunks00 v ON v.rowid = c.chunk_id ORDER BY c.chunk_id"
            )
            for size, validity, rowids, blob in self._execute(sql):
                bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[:size].astype(bool)
                ids.append(np.frombuffer(rowids, "<i8")[:size][bits].astype(np.int64))
                vectors.append(np.frombuffer(blob, "<f4").reshape(-1, self._dimension)[:size][bits])
        plain = list(self._execute(f"SELECT id, embedding FROM {self._plain}"))
        if plain:
            ids.append(np.array([number for number, _ in plain], np.int64))
            vectors.append(np.frombuffer(b"".join(blob for _, blob in plain), "<f4").reshape(len(plain), -1))
        return np.concatenate(ids), np.concatenate(vectors)

    def _has_vec(self) -> bool:
        return bool(list(self._execute("SELECT 1 FROM sqlite_master WHERE name = ?", (self._vec + "_rowids",))))


def pack(vector: Vectors) -> bytes:
    """Return a vector as the extension reads it: little-endian float32."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def clamp(k: int) -> int:
    """Return k within what the extension takes."""
    return min(max(k, 0), MAX_K)


def fault(vector: NDArray[Any], dimension: int) -> str:
    """Return why a vector must not be stored or searched with, "" when it is sound."""
    if vector.ndim != 1 or vector.shape[0] != dimension:
        return f"vector of length {vector.shape[-1] if vector.ndim else 0}, not {dimension}"
    if not bool(np.isfinite(vector).all()):
        return "vector is not finite"
    if float(np.abs(vector).max()) < 1e-12:
        return "vector is zero"
    return ""


def unit(vector: NDArray[Any]) -> Vectors:
    """Return vector scaled to length one."""
    wide = vector.astype(np.float64)
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def mask(chunk_ids: NDArray[np.int64], allowed: RowFilter) -> NDArray[np.bool_]:
    """Return which of chunk_ids are allowed."""
    keep = np.ones(len(chunk_ids), dtype=bool)
    if allowed.only is not None:
        keep &= np.isin(chunk_ids, np.fromiter(allowed.only, np.int64, len(allowed.only)))
    if allowed.excluded:
        keep &= ~np.isin(chunk_ids, np.fromiter(allowed.excluded, np.int64, len(allowed.excluded)))
    return keep


def cosines(vectors: Vectors, query: Vectors) -> list[float]:
    """Return the products of unit vectors in double precision, the same whichever backend found them."""
    products: list[float] = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1).tolist()
    return products


def top_positions(values: NDArray[Any], wanted: int) -> NDArray[np.int64]:
    """Return the positions of the wanted highest values and of all that tie with the last of them."""
    if wanted >= len(values):
        return np.arange(len(values))
    least = np.partition(values, len(values) - wanted)[len(values) - wanted]
    return np.nonzero(values >= least - _SLACK)[0]


def best_chunks(rows: Iterable[tuple[int, float]], k: int, allowed: RowFilter | None) -> list[Hit]:
    """Return the k best chunks of (vector id, cosine) rows, each by its best kind, ties by id."""
    best: dict[int, float] = {}
    for number, cosine in rows:
        chunk_id, similarity = number // KINDS, round(cosine, DIGITS)
        if (allowed is None or chunk_id in allowed) and similarity > best.get(chunk_id, -2.0):
            best[chunk_id] = similarity
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k]
    return [Hit(chunk_id, similarity) for chunk_id, similarity in ranked]


def unpack(blob: bytes) -> tuple[float, ...]:
    """Return the numbers of a stored vector without NumPy."""
    return struct.unpack(f"<{len(blob) // 4}f", blob)
