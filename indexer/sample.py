"""Parts of an index, and made-up vectors, for measurements. What writes here is for copies; a rebuild mends them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.store import Store
from indexer.vectors import KINDS, unit
from indexer.words_table import refill

BATCH = 2000
MARKS = 500  # values of one statement


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """A prompt of the store's own, with its session and the second it was said in."""

    text: str
    session: str
    said: int


def newest_prompts(store: Store, most: int) -> list[AskedPrompt]:
    """Return the newest prompts of sessions themselves, newest first, as recall would have met them."""
    g = store.generation
    sql = (
        f"SELECT e.prompt_head, s.session, e.ts FROM exchange_{g} e JOIN session_{g} s ON s.id = e.session"
        " WHERE e.worker = '' AND e.prompt_head <> '' ORDER BY e.ts DESC, e.id DESC LIMIT ?"
    )
    return [AskedPrompt(str(text), str(session), int(said)) for text, session, said in store.run(sql, (most,))]


def newest_chunks(store: Store, kinds: Iterable[int], *, before: int, limit: int) -> list[int]:
    """Return chunks of these kinds that were said at `before` or earlier, newest first; one may come twice."""
    wanted = ",".join(str(int(kind)) for kind in sorted(kinds))
    sql = (
        f"SELECT chunk_id FROM pointer_{store.generation} WHERE kind IN ({wanted}) AND ts <= ?"
        " ORDER BY ts DESC, seq DESC LIMIT ?"
    )
    return [int(row[0]) for row in store.run(sql, (before, limit))]


def keep_newest(store: Store, chunks: int) -> tuple[int, int]:
    """Drop all but the newest chunks; return how many stay, and how many of those have a vector."""
    g = store.generation
    newest = f"SELECT chunk_id FROM pointer_{g} GROUP BY chunk_id ORDER BY max(ts) DESC, chunk_id DESC LIMIT ?"
    keep = {row[0] for row in store.run(newest, (chunks,))}
    gone = [row[0] for row in store.run(f"SELECT id FROM chunk_{g}") if row[0] not in keep]
    with store.transaction():
        held = {number // KINDS for number in store.vectors.ids()}
        store.remove_vectors(g, [chunk_id for chunk_id in gone if chunk_id in held])
        _delete(store, gone)
        store.recount(g)
    store.vacuum()
    meta = store.meta()
    return meta.n_chunks, meta.n_vectors


def without_vector(store: Store) -> list[int]:
    """Return the chunks that have no vector, oldest first."""
    held = {number // KINDS for number in store.vectors.ids()}
    return [row[0] for row in store.run(f"SELECT id FROM chunk_{store.generation} ORDER BY id") if row[0] not in held]


def add_random_vectors(store: Store, chunk_ids: Sequence[int], *, seed: int) -> int:
    """Give each chunk a vector of random direction; return how many vectors there are then."""
    rng = np.random.default_rng(seed)
    dimension = store.meta().dimension
    for first in range(0, len(chunk_ids), BATCH):
        part = chunk_ids[first : first + BATCH]
        made = np.stack([unit(row) for row in rng.standard_normal((len(part), dimension))])
        with store.transaction():
            store.vectors.add([chunk_id * KINDS for chunk_id in part], made)
    with store.transaction():
        store.recount(store.generation)
    return store.meta().n_vectors


def _delete(store: Store, gone: list[int]) -> None:
    """Delete chunks with everything that hangs on them; the words are built anew from what is left."""
    g = store.generation
    for first in range(0, len(gone), MARKS):
        part = tuple(gone[first : first + MARKS])
        marks = ",".join("?" * len(part))
        for table, column in (("pointer", "chunk_id"), ("embed_state", "id"), ("chunk", "id")):
            store.run(f"DELETE FROM {table}_{g} WHERE {column} IN ({marks})", part)
    refill(store.run, store.packing, g)
