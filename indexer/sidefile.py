"""The vectors of the serving generation in mapped files, for a process that answers many queries.

Rebuilt from the store at any time and never the authority. Up to EXACT_ROWS rows the search is an exact product;
above, sign bits choose candidates, int8 rows order them, and the best get their exact cosine.
"""

import contextlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.rows import RowFilter
from indexer.store import Store
from indexer.vectors import KINDS, Hit, Vectors, best_chunks, clamp, cosines, mask, top_positions
from transcript.paths import read_file, secure_dir, write_atomic

EXACT_ROWS = 100_000
CANDIDATES = 1600  # rows that the sign bits hand on
STAMP = "stamp.json"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the files hold, and up to which slot of the vector table they have read."""

    generation: int
    model: str
    revision: str
    dimension: int
    count: int
    removals: int
    last_chunk: int
    last_offset: int
    token: str


class SideFile:
    """Mapped vectors of one store. Call `refresh` before a search; it costs one look at the index when nothing moved.

    `usable` is False where the vectors stand in the plain table (no extension): then the store itself searches.
    """

    def __init__(self, folder: Path, *, exact_rows: int = EXACT_ROWS, candidates: int = CANDIDATES) -> None:
        self.folder = folder
        self.usable = False
        self._exact_rows, self._candidates = exact_rows, candidates
        self._stamp: Stamp | None = None
        self._ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._bits: NDArray[np.uint64] = np.empty((0, 0), np.uint64)
        self._small: NDArray[np.int8] = np.empty((0, 0), np.int8)
        self._scale: NDArray[np.float32] = np.empty(0, np.float32)

    def refresh(self, store: Store) -> bool:
        """Bring the files up to the store; return whether they can be searched."""
        meta = store.meta()
        table = f"chunk_vec_{meta.generation}"
        plain = list(store.run(f"SELECT 1 FROM vector_{meta.generation} LIMIT 1"))
        self.usable = bool(meta.dimension and store.has_table(table + "_rowids") and not plain)
        if not self.usable:
            return False
        wanted = Stamp(
            meta.generation, meta.model, meta.revision, meta.dimension, meta.n_vectors, store.removals(), 0, -1, ""
        )
        held = self._stamp or self._read_stamp()
        if held is None or not _same(held, wanted) or held.count > wanted.count:
            self._write(store, table, wanted, None)
        elif held.count < wanted.count:
            self._write(store, table, wanted, held)
        elif self._stamp is None:
            self._map(held)
        return True

    def nearest(self, query: Vectors, k: int, allowed: RowFilter | None = None) -> list[Hit]:
        """Return the k allowed chunks nearest to the unit vector query, best first, ties by id."""
        k = clamp(k)
        rows = len(self._ids)
        if rows == 0 or k == 0:
            return []
        if rows <= self._exact_rows:
            at = _kept(self._ids, allowed)
            similarity = self._vectors @ query  # picking rows first would copy nearly all of them
            top = top_positions(similarity if at is None else similarity[at], k)
            return self._exact(query, top if at is None else at[top], k, None)
        spare = len(allowed.excluded) * KINDS if allowed is not None else 0
        at = self._by_bits(query, max(self._candidates, 4 * k) + spare, allowed)
        coarse = (self._small[at] @ query) * self._scale[at]
        at = at[top_positions(coarse, 2 * k + spare)]
        return self._exact(query, at, k, allowed)

    def _exact(self, query: Vectors, at: NDArray[np.int64], k: int, allowed: RowFilter | None) -> list[Hit]:
        pairs = zip(self._ids[at].tolist(), cosines(self._vectors[at], query), strict=True)
        return best_chunks(pairs, k, allowed)

    def _by_bits(self, query: Vectors, wanted: int, allowed: RowFilter | None) -> NDArray[np.int64]:
        bits = _sign_bits(query.reshape(1, -1))
        only = _kept(self._ids, allowed) if allowed is not None and allowed.only is not None else None
        held = self._bits if only is None else self._bits[only]
        distance = np.bitwise_count(held ^ bits).sum(axis=1, dtype=np.int32)
        top = top_positions(-distance.astype(np.float32), wanted)
        return top if only is None else only[top]

    # -- files -----------------------------------------------------------------------------

    def _write(self, store: Store, table: str, wanted: Stamp, held: Stamp | None) -> None:
        """Append what came after held, or write all anew; the stamp goes last and names the files."""
        secure_dir(self.folder)
        token = held.token if held else secrets.token_hex(4)
        done = held.count if held else 0
        last = (held.last_chunk, held.last_offset) if held else (0, -1)
        with contextlib.ExitStack() as stack:
            files = {
                name: stack.enter_context(_at(self._path(token, name), done * size))
                for name, size in _sizes(wanted.dimension).items()
            }
            for ids, vectors, place in _slots(store, table, wanted.dimension, last):
                for name, data in _forms(ids, vectors).items():
                    files[name].write(data)
                done += len(ids)
                last = place
        if done != wanted.count and held is not None:  # rows were taken out behind our back
            return self._write(store, table, wanted, None)
        made = Stamp(
            wanted.generation, wanted.model, wanted.revision, wanted.dimension, done, wanted.removals, *last, token
        )
        write_atomic(self.folder / STAMP, json.dumps(asdict(made)).encode(), durable=False)
        self._map(made)
        for path in self.folder.glob("*.*"):
            if path.name != STAMP and not path.name.startswith(token):
                with contextlib.suppress(OSError):  # another process may still have it mapped
                    path.unlink()
        return None

    def _map(self, stamp: Stamp) -> None:
        rows, dimension = stamp.count, stamp.dimension
        self._stamp = stamp
        self._ids = self._mapped(stamp.token, "ids", np.int64, (rows,))
        self._vectors = self._mapped(stamp.token, "f32", np.float32, (rows, dimension))
        if rows > self._exact_rows:
            self._bits = np.array(self._mapped(stamp.token, "bits", np.uint64, (rows, _words(dimension))))
            self._small = self._mapped(stamp.token, "i8", np.int8, (rows, dimension))
            self._scale = self._mapped(stamp.token, "scale", np.float32, (rows,))

    def _mapped(self, token: str, name: str, kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        if shape[0] == 0:
            return np.empty(shape, kind)
        return np.memmap(self._path(token, name), dtype=kind, mode="r", shape=shape)

    def _path(self, token: str, name: str) -> Path:
        return self.folder / f"{token}.{name}"

    def _read_stamp(self) -> Stamp | None:
        try:
            stamp = Stamp(**json.loads(read_file(self.folder / STAMP)))
            for name, size in _sizes(stamp.dimension).items():
                if self._path(stamp.token, name).stat().st_size < stamp.count * size:
                    return None
            return stamp
        except (OSError, ValueError, TypeError):
            return None


def _same(held: Stamp, wanted: Stamp) -> bool:
    names = ("generation", "model", "revision", "dimension", "removals")
    return all(getattr(held, name) == getattr(wanted, name) for name in names)


def _sizes(dimension: int) -> dict[str, int]:
    """Return the bytes a row takes in each file."""
    return {"ids": 8, "f32": 4 * dimension, "bits": 8 * _words(dimension), "i8": dimension, "scale": 4}


def _words(dimension: int) -> int:
    return (dimension + 63) // 64


def _forms(ids: NDArray[np.int64], vectors: Vectors) -> dict[str, bytes]:
    """Return rows in the form of each file."""
    largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-12)
    small = np.rint(vectors / largest[:, None] * 127).astype(np.int8)
    return {
        "ids": ids.astype("<i8").tobytes(),
        "f32": vectors.astype("<f4").tobytes(),
        "bits": _sign_bits(vectors).tobytes(),
        "i8": small.tobytes(),
        "scale": (largest / 127).astype("<f4").tobytes(),
    }


def _sign_bits(vectors: Vectors) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1)
    wide = np.zeros((len(vectors), _words(vectors.shape[1]) * 8), np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view(np.uint64)


def _slots(
    store: Store, table: str, dimension: int, after: tuple[int, int]
) -> Iterator[tuple[NDArray[np.int64], Vectors, tuple[int, int]]]:
    """Yield (ids, vectors, last place) of the vector table's chunks behind a place, in the order of insertion."""
    sql = (
        f"SELECT c.chunk_id, c.size, c.validity, c.rowids, v.vectors FROM {table}_chunks c"
        f" JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id WHERE c.chunk_id >= ? ORDER BY c.chunk_id"
    )
    for chunk_id, size, validity, rowids, blob in store.run(sql, (after[0],)):
        valid = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[:size].astype(bool)
        if chunk_id == after[0]:
            valid[: after[1] + 1] = False
        slots = np.nonzero(valid)[0]
        if len(slots):
            vectors = np.frombuffer(blob, "<f4").reshape(-1, dimension)[slots]
            yield np.frombuffer(rowids, "<i8")[slots].astype(np.int64), vectors, (int(chunk_id), int(slots[-1]))


@contextlib.contextmanager
def _at(path: Path, size: int) -> Iterator[Any]:
    """Open a file for writing at size, what stands behind it cut off."""
    path.touch(mode=0o600)
    with path.open("r+b") as file:
        file.truncate(size)
        file.seek(size)
        yield file


def _kept(ids: NDArray[np.int64], allowed: RowFilter | None) -> NDArray[np.int64] | None:
    """Return the positions of allowed rows, None when all are."""
    if allowed is None or allowed.is_all:
        return None
    return np.nonzero(mask(ids // KINDS, allowed))[0]
