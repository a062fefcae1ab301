"""Damages an index as faults and foreign programs were seen to do it: for replays of incidents, and nothing else."""

import contextlib
from collections.abc import Iterator
from itertools import islice

import apsw

from indexer.passage_words import words
from indexer.rows import SUPERSEDED
from indexer.store import Store
from indexer.vectors import Vectors

FUTURE = 99  # a schema that no version has


def write_newer_schema(store: Store) -> None:
    """Let a version of the future have written it."""
    store.run(f"UPDATE meta SET value = '{FUTURE}' WHERE key = 'schema'")


def drop_key(store: Store) -> None:
    """Take away what keeps equal passages from being stored twice."""
    store.run(f"DROP INDEX chunk_key_{store.generation}")


def add_foreign_rows(store: Store, rows: int, *, first: int = 0, texts: int = 1) -> None:
    """Add passages as a program does that knows no keys and no pointers: texts `first`, `first` + 1, … in turn."""
    store.run(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
        f" INSERT INTO chunk_{store.generation} (key, source_class, role, n_tokens, text)"
        " SELECT randomblob(12), 0, 0, 3, 'foreign ' || (? + i % ?) FROM n LIMIT ?",
        (first, texts, rows),
    )


def lose_worker(store: Store, worker: str) -> None:
    """Lose all that one sub-agent did."""
    store.run(f"DELETE FROM pointer_{store.generation} WHERE worker = ?", (worker,))
    store.run(f"DELETE FROM exchange_{store.generation} WHERE worker = ?", (worker,))


def pretend_read(store: Store, watermark: str) -> None:
    """Say that the record was read up to there, without having stored anything."""
    store.run("UPDATE generation SET watermark = ? WHERE id = ?", (watermark, store.generation))


def lose_words(store: Store, rows: int) -> None:
    """Take the words of the first passages out of the index of words."""
    g = store.generation
    taken = f"INSERT INTO chunk_fts_{g} (chunk_fts_{g}, rowid, tokens) VALUES ('delete', ?, ?)"
    for number, held in list(islice(words(store.run, store.packing, g), rows)):
        store.run(taken, (number, " ".join(held)))


def lose_passage(store: Store) -> None:
    """Lose the first passage and keep its vector, its words and its pointers."""
    store.run(f"DELETE FROM chunk_{store.generation} WHERE id = (SELECT min(id) FROM chunk_{store.generation})")


def kill_twice(store: Store) -> None:
    """Let the process have died twice over the first passage, so that it has no vector."""
    first = next(row[0] for row in store.run(f"SELECT min(id) FROM chunk_{store.generation}"))
    with store.transaction():
        store.remove_vectors(store.generation, [first])
        store.run(f"INSERT OR REPLACE INTO embed_state_{store.generation} (id, crashes) VALUES (?, 2)", (first,))


def forget_replacements(store: Store) -> None:
    """Lose what says that statements were replaced."""
    g = store.generation
    store.run(f"UPDATE pointer_{g} SET flags = flags & ~{SUPERSEDED}")
    store.run(f"UPDATE standing_{g} SET barred = 0, valid_to = NULL")


def put_vector(store: Store, vector: Vectors) -> None:
    """Give the first passage that has a vector this one."""
    first = min(store.vectors.ids())
    with store.transaction():
        store.vectors.add([first], vector)


@contextlib.contextmanager
def locked(store: Store) -> Iterator[None]:
    """Let another connection hold the write lock for as long as this lasts, and this store wait for nothing."""
    holder = apsw.Connection(str(store.path))
    holder.execute("BEGIN IMMEDIATE")
    store.run("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        holder.close()
