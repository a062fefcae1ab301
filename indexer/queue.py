"""Fills in the vectors that are missing: most valuable first, resumable, one bad text never spoiling its batch.

A row is marked before the model sees it and the mark goes with the result, so that a text which kills the process is
known the next time: it is then tried alone, and after the second death last of all; after the third only on request.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from indexer.embedder import Embedder
from indexer.passage_words import headings
from indexer.rows import (
    CURATED,
    FINAL,
    MEMORY,
    NARRATION,
    PROMPT,
    REASONING,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
    WORKER,
)
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.vectors import KINDS, PASSAGE, fault, unit
from transcript.errors import EmbedderUnavailable, LockBusy
from transcript.lock import FileLock

Progress = Callable[[int, int, float, float], None]  # done, total, rows a second, seconds left
# What a model, its tokenizer or its runtime may raise for a text.
FAILURES = (
    RuntimeError,
    ValueError,
    TypeError,
    OSError,
    MemoryError,
    ArithmeticError,
    LookupError,
    AssertionError,
    EmbedderUnavailable,
)
SUSPECT, SET_ASIDE, LAST_TRY = 1, 2, 3  # deaths of the process with the row in flight
_TOOL_START = 600  # of a tool's text only the beginning is embedded, about 240 tokens
_WINDOW = 16  # batches sorted by length together


@dataclass(slots=True)
class EmbedReport:
    """What one run did."""

    total: int = 0  # rows without vector when it began
    embedded: int = 0
    failed: int = 0
    set_aside: int = 0
    truncated: int = 0
    failures: list[str] = field(default_factory=list)  # "chunk 12 (a1b2c3d4e5): reason", at most 100
    refused: str = ""  # why nothing was embedded
    stopped: bool = False
    seconds: float = 0.0
    model_seconds: float = 0.0
    longest_hold_ms: float = 0.0

    @property
    def remaining(self) -> int:
        return self.total - self.embedded


@dataclass(frozen=True, slots=True)
class _Row:
    chunk_id: int
    text: str
    alone: bool
    before: str = ""  # what the model reads in front of it: the heading of a talk's turn

    @property
    def read(self) -> str:
        return self.before + self.text


def embed(
    store: Store,
    embedder: Embedder,
    settings: IndexSettings | None = None,
    *,
    generation: int | None = None,
    limit: int | None = None,
    since: int | None = None,
    retry_set_aside: bool = False,
    progress: Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> EmbedReport:
    """Embed chunks that have no vector and commit batch by batch; return what came of it.

    Order: newest session first, prompts and final answers, then curated events and memories, then other text of the
    assistant and summaries; tools only with embed_tools. since (seconds) leaves older chunks out. Vectors of another
    model are never added to a generation: then `refused` says which command builds a new one. LockBusy when another
    process is embedding. Ctrl-C leaves everything committed that is done.
    """
    settings = settings or IndexSettings()
    generation = generation or store.generation
    report = EmbedReport()
    lock = FileLock(store.path.parent / "run" / "embed.lock")
    if not lock.acquire(0.0):
        raise LockBusy("another process is embedding this workspace; its vectors will be used")
    try:
        report.refused = _refusal(store, generation, embedder)
        if not report.refused:
            _Run(store, embedder, settings, generation, report, progress, should_stop).run(
                limit, since, retry_set_aside
            )
    finally:
        lock.release()
    return report


def pending(
    store: Store,
    generation: int,
    settings: IndexSettings,
    *,
    since: int | None = None,
    retry_set_aside: bool = True,
) -> list[tuple[int, int]]:
    """Return (chunk, deaths) of those that want a vector and have none, in the order they are to be embedded."""
    g = generation
    joins = f" LEFT JOIN vector_{g} v ON v.id = p.chunk_id * {KINDS} + {PASSAGE}"
    missing = "v.id IS NULL"
    if store.has_table(f"chunk_vec_{g}_rowids"):
        joins += f" LEFT JOIN chunk_vec_{g}_rowids r ON r.rowid = p.chunk_id * {KINDS} + {PASSAGE}"
        missing += " AND r.rowid IS NULL"
    rows = store.run(
        f"SELECT p.chunk_id, coalesce(max(s.crashes), 0), coalesce(max(s.attempts), 0),"
        f" min({_RANK}) AS rank, max(x.last_ts), max(p.seq)"
        f" FROM pointer_{g} p JOIN session_{g} x ON x.id = p.session"
        f" LEFT JOIN embed_state_{g} s ON s.id = p.chunk_id{joins}"
        f" WHERE {missing} AND {_wanted(settings)}" + (f" AND p.ts >= {int(since)}" if since is not None else "") +
        f" GROUP BY p.chunk_id ORDER BY coalesce(max(s.crashes), 0) >= {SUSPECT},"
        f" coalesce(max(s.crashes), 0) >= {SET_ASIDE}, coalesce(max(s.attempts), 0) > 0, rank,"
        f" max(x.last_ts) DESC, max(p.seq) DESC, p.chunk_id"
    )  # fmt: skip
    return [(row[0], row[1]) for row in rows if retry_set_aside or row[1] < LAST_TRY]


def wanted_chunks(store: Store, generation: int, settings: IndexSettings) -> int:
    """Return how many chunks of a generation are to have a vector."""
    sql = f"SELECT count(DISTINCT p.chunk_id) FROM pointer_{generation} p WHERE {_wanted(settings)}"
    return int(next(iter(store.run(sql)))[0])


_RANK = (
    f"CASE WHEN p.kind IN ({PROMPT}, {FINAL}) THEN 0 WHEN p.kind IN ({CURATED}, {MEMORY}) THEN 1"
    f" WHEN p.kind IN ({NARRATION}, {SUMMARY}, {REASONING}, {WORKER}) THEN 2 ELSE 3 END"
)


def _wanted(settings: IndexSettings) -> str:
    tools = f"p.kind IN ({TOOL_CALL}, {TOOL_RESULT})"
    return f"(NOT {tools} OR p.start < {_TOOL_START})" if settings.embed_tools else f"NOT {tools}"


def _refusal(store: Store, generation: int, embedder: Embedder) -> str:
    held = store.meta_of(generation)
    if held.max_tokens > embedder.max_tokens:
        return (
            f"the index has chunks of up to {held.max_tokens} tokens, {embedder.id} takes {embedder.max_tokens};"
            " run 'recall index rebuild'"
        )
    if not store.adopt_model(generation, embedder.id, embedder.revision, embedder.dimension):
        return (
            f"the index holds vectors of {held.model} ({held.revision}, {held.dimension}), not of {embedder.id}"
            f" ({embedder.revision}, {embedder.dimension}); run 'recall index rebuild'"
        )
    return ""


class _Run:
    """One pass over what is missing."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: IndexSettings,
        generation: int,
        report: EmbedReport,
        progress: Progress | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self._store, self._embedder, self._settings = store, embedder, settings
        self._g, self._report = generation, report
        self._progress, self._should_stop = progress, should_stop
        self._vectors = store.vectors_of(generation)
        self._done = 0
        self._began = time.perf_counter()

    def run(self, limit: int | None, since: int | None, retry_set_aside: bool) -> None:
        """Embed all that is pending, at most limit rows."""
        self._store.longest_hold_ms = 0.0
        self._count_deaths()
        queue = pending(self._store, self._g, self._settings, since=since)
        held_back = [] if retry_set_aside else [row for row in queue if row[1] >= LAST_TRY]
        self._report.total = len(queue)
        self._report.set_aside = len(held_back)
        left = [row for row in queue if retry_set_aside or row[1] < LAST_TRY][:limit]
        size = self._settings.embed_batch
        for at in range(0, len(left), size * _WINDOW):
            for batch in self._batches(left[at : at + size * _WINDOW], size):
                if self._should_stop is not None and self._should_stop():
                    self._report.stopped = True
                    return self._finish()
                self._batch(batch, len(left))
        self._finish()

    def _finish(self) -> None:
        self._report.seconds = time.perf_counter() - self._began
        self._report.longest_hold_ms = self._store.longest_hold_ms
        if self._report.embedded > 500:
            self._store.checkpoint()

    def _batches(self, rows: list[tuple[int, int]], size: int) -> list[list[_Row]]:
        """Return the rows in batches of like length; suspects alone, behind the others."""
        marks = ",".join("?" * len(rows))
        sql = f"SELECT id, plain_text(text) FROM chunk_{self._g} WHERE id IN ({marks})"
        texts = dict(self._store.run(sql, tuple(chunk_id for chunk_id, _ in rows)))
        talk = headings(self._store.run, self._g, [chunk_id for chunk_id, _ in rows])
        found = [_Row(c, texts[c], deaths >= SUSPECT, talk.get(c, "")) for c, deaths in rows if c in texts]
        plain = sorted((row for row in found if not row.alone), key=lambda row: (len(row.text), row.chunk_id))
        batches = [plain[at : at + size] for at in range(0, len(plain), size)]
        return batches + [[row] for row in found if row.alone]

    def _batch(self, batch: list[_Row], total: int) -> None:
        self._mark(batch)
        try:
            self._encode(batch)
        except BaseException:
            self._unmark(batch)  # Ctrl-C and the like: nobody died, nothing is held against these rows
            raise
        self._done += len(batch)
        if self._progress is not None:
            rate = self._done / max(time.perf_counter() - self._began, 1e-9)
            self._progress(self._done, total, rate, (total - self._done) / rate)

    def _encode(self, batch: Sequence[_Row]) -> None:
        """Embed and store a batch; when it fails, its halves, down to the one text that is to blame."""
        began = time.perf_counter()
        try:
            vectors = self._embedder.encode([row.read for row in batch])
            if len(vectors) != len(batch):
                raise ValueError(f"{len(vectors)} vectors for {len(batch)} texts")
        except FAILURES as error:
            self._report.model_seconds += time.perf_counter() - began
            if len(batch) == 1:
                self._store_batch([], [(batch[0], f"{type(error).__name__}: {error}")])
                return
            half = len(batch) // 2
            self._encode(batch[:half])
            self._encode(batch[half:])
            return
        self._report.model_seconds += time.perf_counter() - began
        good, bad = [], []
        for row, vector in zip(batch, vectors, strict=True):
            reason = fault(np.asarray(vector), self._embedder.dimension)
            if reason:
                bad.append((row, reason))
            else:
                good.append((row, np.asarray(vector)))
        self._store_batch(good, bad)

    def _store_batch(self, good: list[tuple[_Row, np.ndarray]], bad: list[tuple[_Row, str]]) -> None:
        cut = {row.chunk_id for row, _ in good if self._embedder.count(row.read) > self._embedder.max_tokens}
        with self._store.transaction():
            alive = [(row, vector) for row, vector in good if self._exists(row)]
            ids = [row.chunk_id * KINDS + PASSAGE for row, _ in alive]
            if ids:
                self._vectors.add(ids, np.stack([unit(vector) for _, vector in alive]))
            for row, _ in good:
                self._settle(row.chunk_id, truncated=row.chunk_id in cut)
            for row, reason in bad:
                self._store.run(
                    f"INSERT INTO embed_state_{self._g} (id, attempts, error) VALUES (?, 1, ?) ON CONFLICT (id)"
                    " DO UPDATE SET attempts = attempts + 1, in_flight = 0, error = excluded.error",
                    (row.chunk_id, reason[:300]),
                )
            self._store.run("UPDATE generation SET n_vectors = n_vectors + ? WHERE id = ?", (len(ids), self._g))
        self._report.embedded += len(ids)
        self._report.truncated += len(cut)
        for row, reason in bad:
            self._report.failed += 1
            if len(self._report.failures) < 100:
                self._report.failures.append(f"chunk {row.chunk_id} ({self._pointer(row.chunk_id)}): {reason}")

    def _exists(self, row: _Row) -> bool:
        sql = f"SELECT 1 FROM chunk_{self._g} WHERE id = ? AND plain_text(text) = ?"
        return bool(list(self._store.run(sql, (row.chunk_id, row.text))))

    def _settle(self, chunk_id: int, *, truncated: bool) -> None:
        if truncated:
            self._store.run(f"INSERT OR REPLACE INTO embed_state_{self._g} (id, truncated) VALUES (?, 1)", (chunk_id,))
        else:
            self._store.run(f"DELETE FROM embed_state_{self._g} WHERE id = ?", (chunk_id,))

    def _mark(self, batch: Sequence[_Row]) -> None:
        with self._store.transaction(changes=False):
            for row in batch:
                self._store.run(
                    f"INSERT INTO embed_state_{self._g} (id, in_flight) VALUES (?, 1)"
                    " ON CONFLICT (id) DO UPDATE SET in_flight = 1",
                    (row.chunk_id,),
                )

    def _unmark(self, batch: Sequence[_Row]) -> None:
        with self._store.transaction(changes=False):
            for row in batch:
                self._store.run(f"UPDATE embed_state_{self._g} SET in_flight = 0 WHERE id = ?", (row.chunk_id,))
            self._store.run(
                f"DELETE FROM embed_state_{self._g} WHERE in_flight = 0 AND attempts = 0 AND crashes = 0"
                " AND truncated = 0"
            )

    def _count_deaths(self) -> None:
        """Hold the death of an earlier process against the rows it had in flight."""
        table = f"embed_state_{self._g}"
        if list(self._store.run(f"SELECT 1 FROM {table} WHERE in_flight = 1 LIMIT 1")):
            with self._store.transaction(changes=False):
                self._store.run(
                    f"UPDATE {table} SET crashes = crashes + 1, in_flight = 0,"
                    " error = 'the process died while this text was embedded' WHERE in_flight = 1"
                )

    def _pointer(self, chunk_id: int) -> str:
        sql = (
            f"SELECT substr(v.event, 1, 10) FROM pointer_{self._g} p JOIN event_{self._g} v ON v.id = p.event"
            " WHERE p.chunk_id = ? ORDER BY p.seq LIMIT 1"
        )
        return next((row[0] for row in self._store.run(sql, (chunk_id,))), "?")
