"""Counts what an index holds and whether its parts agree. Reads only; for `recall health`."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexer.queue import SET_ASIDE
from indexer.rows import IMPLAUSIBLE_TIME, SOURCE_CLASSES
from indexer.store import Store
from indexer.store_write import OPTED_OUT
from indexer.vectors import KINDS, NumpyVec
from transcript.telling import counted

MOST_VECTORS = 300_000  # above it their lengths are not looked at: all of them would have to be in memory
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages of the index's file: all, and those of them that hold nothing."""

    all: int
    free: int


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Rows by the state of their vector."""

    vectors: int
    failed: int
    set_aside: int
    truncated: int
    zero: int | None
    failures: tuple[str, ...]
    aside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Rows of one table that have no counterpart in another."""

    orphan_vectors: int
    orphan_pointers: int
    words_missing: int
    words_extra: int


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs of vectors that are nearly one: how many, among how many of the newest, out of how many."""

    pairs: int
    compared: int
    vectors: int


def near_pairs(store: Store, *, least: float = 0.98, newest: int = 2_000) -> NearPairs:
    """Count pairs of vectors at least this near: the newest vectors against each other and against all before them.

    Comparing all with all grows with the square of the store; the newest ones show a loop on the day it begins.
    """
    dimension = store.meta().dimension
    if not dimension:
        return NearPairs(0, 0, 0)
    ids, matrix = NumpyVec(store.run, store.generation, dimension).matrix()
    matrix = matrix[np.argsort(ids)]
    first = max(0, len(matrix) - newest)
    pairs = 0
    for at in range(first, len(matrix), 256):
        block = matrix[at : at + 256]
        near = block @ matrix[: at + len(block)].T >= least
        pairs += int(np.count_nonzero(np.tril(near, k=at - 1)))
    return NearPairs(pairs, len(matrix) - first, len(matrix))


def pages(store: Store) -> Pages:
    """Return how many pages the index's file has, those in the write-ahead log with them."""
    return Pages(_one(store, "PRAGMA page_count"), _one(store, "PRAGMA freelist_count"))


def by_class(store: Store) -> dict[str, int]:
    """Count chunks by source class."""
    sql = f"SELECT source_class, count(*) FROM chunk_{store.generation} GROUP BY source_class"
    return {SOURCE_CLASSES[number]: n for number, n in store.run(sql)}


def embeddings(store: Store, *, crashes: int = SET_ASIDE) -> Embeddings:
    """Count vectors, failures, rows set aside after crashes, cut texts, and vectors without a direction."""
    g = store.generation
    state = f"embed_state_{g}"
    sql = f"SELECT id, error FROM {state} WHERE error <> '' AND crashes < {crashes} ORDER BY id LIMIT {MOST_SHOWN}"
    failures = tuple(f"chunk {number}: {str(error)[:160]}" for number, error in store.run(sql))
    sql = f"SELECT id, crashes FROM {state} WHERE crashes >= {crashes} ORDER BY id LIMIT {MOST_SHOWN}"
    aside = tuple(
        f"chunk {number}: {counted(int(times), 'process', 'processes')} died on it" for number, times in store.run(sql)
    )
    ids = store.vectors.ids()
    return Embeddings(
        vectors=len(ids),
        failed=_one(store, f"SELECT count(*) FROM {state} WHERE error <> '' AND crashes < {crashes}"),
        set_aside=_one(store, f"SELECT count(*) FROM {state} WHERE crashes >= {crashes}"),
        truncated=_one(store, f"SELECT count(*) FROM {state} WHERE truncated <> 0"),
        zero=_without_direction(store) if len(ids) <= MOST_VECTORS else None,
        failures=failures,
        aside=aside,
    )


def agreement(store: Store) -> Agreement:
    """Count vectors, pointers and words that belong to no chunk, and chunks without pointer or words."""
    g = store.generation
    chunks = {row[0] for row in store.run(f"SELECT id FROM chunk_{g}")}
    pointed = {row[0] for row in store.run(f"SELECT DISTINCT chunk_id FROM pointer_{g}")}
    lost = {number // KINDS for number in store.vectors.ids()} - chunks
    missing = extra = 0
    if store.has_table(f"chunk_fts_{g}_docsize"):
        words = {row[0] for row in store.run(f"SELECT id FROM chunk_fts_{g}_docsize")}
        missing, extra = len(chunks - words), len(words - chunks)
    return Agreement(len(lost), len(pointed ^ chunks), missing, extra)


def session_hours(store: Store, *, longest_break_s: int = 1800) -> float:
    """Return the hours between what is indexed of one session, longer breaks left out."""
    sql = (
        "SELECT coalesce(sum(gap), 0) FROM (SELECT ts - lag(ts) OVER (PARTITION BY session ORDER BY ts) AS gap"
        f" FROM pointer_{store.generation}) WHERE gap <= {longest_break_s}"
    )
    return round(_one(store, sql) / 3600, 3)


def implausible_times(store: Store) -> int:
    """Count chunks said at a time that cannot be."""
    sql = f"SELECT count(DISTINCT chunk_id) FROM pointer_{store.generation} WHERE flags & {IMPLAUSIBLE_TIME}"
    return _one(store, sql)


@dataclass(frozen=True, slots=True)
class Writers:
    """Who wrote this index, and by how many the rows differ from those that our writer counted.

    Of each by its name: `version`, `host` ("" where it was not noted) and `last_write`.
    """

    seen: dict[str, dict[str, str]]
    unaccounted: int


def writers(store: Store) -> Writers:
    """Return who wrote the index; a program that registers nowhere shows as rows that no run accounts for."""
    g = store.generation
    noted = "host" in {name for (name,) in store.run("SELECT name FROM pragma_table_info('index_writers')")}
    sql = f"SELECT name, version, {'host' if noted else repr('')}, last_seen FROM index_writers ORDER BY name"
    named = ("version", "host", "last_write")
    seen = {str(name): dict(zip(named, map(str, held), strict=True)) for name, *held in store.run(sql)}
    # One statement, so that rows that come in meanwhile are in both counts or in neither.
    sql = f"SELECT (SELECT count(*) FROM chunk_{g}) - n_chunks FROM generation WHERE id = ?"
    return Writers(seen, _one(store, sql, (g,)))


def workers(store: Store) -> set[tuple[str, str]]:
    """Return (session, worker) of every sub-agent whose session was read, those included whose turn stays out."""
    g = store.generation
    sql = f"SELECT s.session, e.worker FROM exchange_{g} e JOIN session_{g} s ON s.id = e.session WHERE e.worker <> ''"
    return {(str(session), str(worker).removeprefix(f"{OPTED_OUT}/")) for session, worker in store.run(sql)}


def lacks(store: Store, pointers: Iterable[str]) -> set[str]:
    """Return those of these events, by the first characters of their ids, that the index has not taken in."""
    sql = f"SELECT 1 FROM event_{store.generation} WHERE event >= ? AND event < ? LIMIT 1"
    return {name for name in pointers if not list(store.run(sql, (name, f"{name}~")))}


def last_run(store: Store) -> str | None:
    """Return when the last run of the writer began, as it was written."""
    return next((str(row[0]) for row in store.run("SELECT started_at FROM run ORDER BY id DESC LIMIT 1")), None)


def longest_hold(store: Store) -> tuple[float, str] | None:
    """Return for how long a kept run held the write lock at most, in milliseconds, and what it was; None before any."""
    held = "json_extract(report, '$.longest_hold_ms')"
    sql = f"SELECT {held}, kind FROM run WHERE {held} IS NOT NULL ORDER BY {held} DESC, id DESC LIMIT 1"
    return next(((float(ms), str(kind)) for ms, kind in store.run(sql)), None)


def rebuild_begun(store: Store) -> str | None:
    """Return when the last rebuild was begun or gone on with, as it was written; None when that is not kept."""
    sql = "SELECT started_at FROM run WHERE kind = 'rebuild_begun' ORDER BY id DESC LIMIT 1"
    return next((str(row[0]) for row in store.run(sql)), None)


def watermark_seq(store: Store) -> int:
    """Return the number of the last event that the index has read."""
    try:
        return int(json.loads(store.meta().watermark or "{}").get("seq", 0))
    except (ValueError, AttributeError, TypeError):
        return 0


def _without_direction(store: Store) -> int:
    dimension = store.meta().dimension
    if not dimension:
        return 0
    _, matrix = NumpyVec(store.run, store.generation, dimension).matrix()
    lengths = np.linalg.norm(matrix, axis=1)
    return int(np.count_nonzero(~np.isfinite(lengths) | (lengths < 1e-6)))


def _one(store: Store, sql: str, values: tuple[Any, ...] = ()) -> int:
    for (value,) in store.run(sql, values):
        return int(value or 0)
    return 0
