"""The index of a workspace: one SQLite file, opened through APSW, read by many processes and written by few."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import apsw
import numpy as np
from numpy.typing import NDArray

from indexer import lexical, schema
from indexer.bm25_fallback import WordRanker
from indexer.connection import connect, load_extension, storable, translated
from indexer.passage_text import Texts
from indexer.passage_words import words
from indexer.reader import Reader
from indexer.rows import IndexMeta, LexicalResult, RowFilter
from indexer.vectors import KINDS, PASSAGE, Hit, NumpyVec, SqliteVec, VectorBackend, fault, unit
from indexer.words_table import refill
from transcript.errors import EmbedderUnavailable, IndexMissing, IndexUnreadable, LockBusy, StoreError
from transcript.places import require_local

WRITER_BUSY_MS = 60_000
READER_BUSY_MS = 250
WRITER = "recall-index"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a generation is built with. model is "" while no embedder has been loaded."""

    config_hash: str
    segmentation: int
    max_tokens: int
    model: str = ""
    revision: str = ""
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class Backend:
    """Which ways of searching this process has, and why."""

    vectors: str  # "sqlite-vec", "numpy"
    reason: str  # loader's error text, "" when the extension works
    extension: str  # its version
    sqlite: str
    fts5: bool


class Store(Reader):
    """An open index. Reading never takes a lock; every write is one short transaction."""

    def __init__(self, connection: apsw.Connection, path: Path, *, writable: bool, extension: bool, fts: bool) -> None:
        self._connection = connection
        self.path = path
        self.writable = writable
        self.longest_hold_ms = 0.0
        self.clamped = 0  # searches that asked for more than the extension gives
        reason, version = load_extension(connection) if extension else ("switched off", "")
        has_fts = fts and bool(list(self.run("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")))
        self.backend = Backend("numpy" if reason else "sqlite-vec", reason, version, apsw.sqlite_lib_version(), has_fts)
        self._ranker: WordRanker | None = None
        self._vectors: VectorBackend | None = None
        self.packing = Texts(self.run)
        connection.create_scalar_function("plain_text", cast(Any, self.packing.plain), 1, deterministic=True)
        if writable:
            self._prepare()
        try:
            super().__init__(self.run, packing=self.packing)
        except IndexMissing:
            if not writable:
                raise
            self.generation = 0

    @classmethod
    def open(cls, path: Path, mode: str = "r", *, extension: bool = True, fts: bool = True) -> "Store":
        """Open the index at path, for reading ("r") or writing ("w", created where missing).

        IndexMissing, IndexNewer and IndexUnreadable say what to do; WorkspaceError refuses to write where locks and
        memory maps cannot be trusted. extension and fts switch the fast paths off. Opening for reading changes nothing
        in the file.
        """
        writable = mode == "w"
        if writable:
            require_local(path.parent)
        if not writable and not path.exists():
            raise IndexMissing("no index for this workspace; run 'recall index' first")
        try:
            connection = connect(path, writable=writable, busy_ms=WRITER_BUSY_MS if writable else READER_BUSY_MS)
            try:
                return cls(connection, path, writable=writable, extension=extension, fts=fts)
            except BaseException:
                connection.close()
                raise
        except apsw.Error as error:
            raise translated(error, path) from error

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- reading ---------------------------------------------------------------------------

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> Any:
        """Run one statement and return its rows; failures become errors a user can act on."""
        try:
            return self._connection.execute(sql, values)
        except UnicodeEncodeError:
            return self.run(sql, storable(values))
        except apsw.Error as error:
            raise translated(error, self.path) from error

    def nearest(self, vector: NDArray[Any], k: int, allowed: RowFilter | None = None) -> list[Hit]:
        """Return the k allowed chunks nearest to vector, best first.

        EmbedderUnavailable when the vector cannot be searched with (zero, not finite, of another length): the caller
        goes on by words. Only vectors of one model are ever in a generation; see `serves`.
        """
        meta = self.meta()
        if not meta.dimension or not meta.n_vectors:
            return []
        reason = fault(np.asarray(vector), meta.dimension)
        if reason:
            raise EmbedderUnavailable(f"the query's {reason}; searched by words only")
        if not 0 <= k <= 4096:
            self.clamped += 1
        return self.vectors.nearest(unit(np.asarray(vector)), k, allowed)

    def serves(self, model: str, revision: str, dimension: int) -> bool:
        """Tell whether vectors of this model may be compared with those of the index."""
        meta = self.meta()
        return (meta.model, meta.revision, meta.dimension) == (model, revision, dimension)

    def lexical(
        self,
        terms: Any,
        *,
        limit: int,
        allowed: lexical.Allowed = None,
        cut: lexical.Cut | None = None,
        besides: frozenset[int] = frozenset(),
    ) -> LexicalResult:
        """Search by words; with rank-bm25 where this SQLite has no FTS5 or the index was written without."""
        if self.backend.fts5 and self.has_table(f"chunk_fts_{self.generation}"):
            return super().lexical(terms, limit=limit, allowed=allowed, cut=cut, besides=besides)
        if self._ranker is None or self._ranker.version != self.data_version():
            self._ranker = WordRanker(words(self.run, self.packing, self.generation), self.data_version())
        return self._ranker.search(terms, limit=limit, allowed=allowed)

    def unheld(self, terms: Sequence[str]) -> list[str]:
        """Return the terms that no chunk holds; none where this SQLite has no FTS5 to ask."""
        if not (self.backend.fts5 and self.has_table(f"chunk_fts_{self.generation}")):
            return []
        return super().unheld(terms)

    @property
    def vectors(self) -> VectorBackend:
        """The backend that holds the serving generation's vectors."""
        if self._vectors is None:
            self._vectors = self.vectors_of(self.generation)
        return self._vectors

    def vectors_of(self, generation: int) -> VectorBackend:
        """Return the backend over a generation's vectors."""
        dimension = self.meta_of(generation).dimension
        if self.backend.vectors == "sqlite-vec" and self.has_table(f"chunk_vec_{generation}"):
            return SqliteVec(self.run, generation, dimension)
        return NumpyVec(self.run, generation, dimension)

    def meta_of(self, generation: int) -> IndexMeta:
        """Return the facts of a generation, serving or in the making."""
        found = self._facts(generation)
        if found is None:
            raise IndexUnreadable(f"the index does not hold generation {generation}; run 'recall index rebuild'")
        return found

    def building(self) -> int | None:
        """Return the generation that a rebuild is filling, None when there is none."""
        for (generation,) in self.run("SELECT id FROM generation WHERE state = 'building'"):
            return int(generation)
        return None

    def data_version(self) -> int:
        return self._number("data_version")

    def has_table(self, name: str) -> bool:
        return bool(list(self.run("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))))

    def refresh(self) -> None:
        """Look again which generation serves (another process may have flipped it)."""
        before = self.generation
        super().refresh()
        if self.generation != before:
            self._vectors, self._ranker = None, None

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """See one state of the index for the body, whatever another process flips or drops meanwhile. Only to read."""
        self.run("BEGIN")
        try:
            self.refresh()
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    # -- writing ---------------------------------------------------------------------------

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._connection.changes()

    def last_row(self) -> int:
        """Return the number of the row inserted last."""
        return self._connection.last_insert_rowid()

    @contextlib.contextmanager
    def transaction(self, *, changes: bool = True) -> Iterator[None]:
        """Hold the write lock for the body: all of it is stored, or nothing. Raises the data version."""
        self.run("BEGIN IMMEDIATE")
        began = time.perf_counter()
        try:
            yield
            if changes:
                self.run("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'data_version'")
            self.run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self.longest_hold_ms = max(self.longest_hold_ms, (time.perf_counter() - began) * 1000)

    def ensure_generation(self, shape: Shape) -> int:
        """Return the serving generation, made from shape when there is none yet."""
        if self.generation == 0:
            with self.transaction():
                made = self._serving_or_zero()
                if made == 0:
                    made = self.new_generation(shape, serving=True)
            self.generation, self._vectors = made, None
        return self.generation

    def new_generation(self, shape: Shape, *, serving: bool) -> int:
        """Create the tables and the row of one more generation, inside the caller's transaction."""
        number = 1 + max((row[0] for row in self.run("SELECT id FROM generation")), default=self.generation)
        schema.create_generation(self.run, number, fts=self.backend.fts5)
        self.run(
            "INSERT INTO generation (id, state, model, revision, dimension, max_tokens, config_hash, segmentation,"
            " marks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                "serving" if serving else "building",
                shape.model,
                shape.revision,
                shape.dimension,
                shape.max_tokens,
                shape.config_hash,
                shape.segmentation,
                schema.MARKS,
            ),
        )
        if shape.dimension:
            self.create_vectors(number, shape.dimension)
        if serving:
            self.run("UPDATE meta SET value = ? WHERE key = 'generation'", (str(number),))
        return number

    def marks(self, generation: int) -> int:
        """Return which marks a generation holds of its passages; less than `schema.MARKS` is to be caught up with."""
        if self._number("schema") < 3:
            return 0
        return self._one(f"SELECT marks FROM generation WHERE id = {generation:d}")

    def adopt_model(self, generation: int, model: str, revision: str, dimension: int) -> bool:
        """Give a generation without vectors its model; tell whether the generation is now of this model."""
        held = self.meta_of(generation)
        if (held.model, held.revision, held.dimension) == (model, revision, dimension):
            return True
        if held.dimension:
            return False
        with self.transaction():
            self.run(
                "UPDATE generation SET model = ?, revision = ?, dimension = ? WHERE id = ? AND dimension = 0",
                (model, revision, dimension, generation),
            )
            self.create_vectors(generation, dimension)
        self._vectors = None
        return True

    def create_vectors(self, generation: int, dimension: int) -> None:
        """Create the vector table where the extension is there; without it the plain table serves."""
        if self.backend.vectors == "sqlite-vec":
            SqliteVec(self.run, generation, dimension).create(dimension)

    def checkpoint(self, *, truncate: bool = True) -> None:
        """Fold the write-ahead log into the file; quiet when readers are in the way."""
        mode = "TRUNCATE" if truncate else "PASSIVE"
        with contextlib.suppress(LockBusy):
            list(self.run(f"PRAGMA wal_checkpoint({mode})"))

    def vacuum(self) -> None:
        """Give free pages back; takes as long as copying the file."""
        self.run("VACUUM")
        self.checkpoint()

    def register_writer(self, name: str, version: str, now: datetime, *, host: str = "") -> None:
        """Note which program writes this index, and on which machine."""
        stamp = now.isoformat()
        self.run(
            "INSERT INTO index_writers (name, version, host, first_seen, last_seen) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET version = excluded.version, host = excluded.host,"
            " last_seen = excluded.last_seen",
            (name, version, host, stamp, stamp),
        )

    def note_run(self, kind: str, report: dict[str, Any], now: datetime) -> None:
        """Keep the last 100 runs for status and health, each with how long it held the write lock at most."""
        report = {**report, "longest_hold_ms": round(self.longest_hold_ms, 1)}
        with self.transaction(changes=False):
            values = (now.isoformat(), kind, json.dumps(report, sort_keys=True))
            self.run("INSERT INTO run (started_at, kind, report) VALUES (?, ?, ?)", values)
            self.run("DELETE FROM run WHERE id <= (SELECT max(id) FROM run) - 100")

    def remove_vectors(self, generation: int, chunk_ids: list[int]) -> None:
        """Take the vectors of chunks away, inside the caller's transaction."""
        self.vectors_of(generation).remove([c * KINDS + kind for c in chunk_ids for kind in range(PASSAGE, KINDS)])
        self.run("INSERT OR IGNORE INTO meta VALUES ('removals', '0')")
        self.run("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'removals'")

    def removals(self) -> int:
        """Return how often vectors were taken out; what copies them has to look again when it moves."""
        return self._number("removals")

    def recount(self, generation: int) -> None:
        """Count chunks and vectors from the tables, inside the caller's transaction."""
        vectors = len(self.vectors_of(generation).ids()) if self.meta_of(generation).dimension else 0
        self.run(
            f"UPDATE generation SET n_chunks = (SELECT count(*) FROM chunk_{generation}), n_vectors = ? WHERE id = ?",
            (vectors, generation),
        )

    def _prepare(self) -> None:
        """Bring schema and tables to what this process can write."""
        self._write_ahead()
        self.run("PRAGMA synchronous = NORMAL")
        if schema.migrate(self.run, now=datetime.now().astimezone().isoformat()):
            with contextlib.suppress(StoreError, LockBusy):  # no room for a second file: free pages are used up later
                self.vacuum()
        if list(self.run("SELECT 1 FROM generation WHERE state = 'retired'")):
            with self.transaction(changes=False):
                schema.drop_retired(self.run)
        if self.backend.vectors == "sqlite-vec":
            self._move_plain_vectors()
        if self.backend.fts5:
            for (generation,) in list(self.run("SELECT id FROM generation")):
                if not self.has_table(f"chunk_fts_{generation}"):
                    with self.transaction():
                        refill(self.run, self.packing, generation)

    def _write_ahead(self) -> None:
        """Turn the write-ahead log on. SQLite does not wait for another process's first write there, so this does."""
        until = time.monotonic() + WRITER_BUSY_MS / 1000
        while True:
            try:
                self.run("PRAGMA journal_mode = WAL")
                return
            except LockBusy:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _move_plain_vectors(self) -> None:
        """Hand vectors written without the extension over to its table, in short transactions."""
        if list(self.run("SELECT 1 FROM meta WHERE key = 'left_over'")):
            with self.transaction(changes=False):
                schema.drop_left_over(self.run)
        for generation, dimension in list(self.run("SELECT id, dimension FROM generation WHERE dimension > 0")):
            plain = f"vector_{generation}"
            while rows := list(self.run(f"SELECT id, embedding FROM {plain} ORDER BY id LIMIT 256")):
                with self.transaction():
                    SqliteVec(self.run, generation, dimension).create(dimension)
                    backend = SqliteVec(self.run, generation, dimension)
                    matrix = np.stack([np.frombuffer(blob, "<f4") for _, blob in rows])
                    backend.add([number for number, _ in rows], matrix)

    def _serving_or_zero(self) -> int:
        return self._number("generation")
