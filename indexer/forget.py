"""Takes erased events out of the index: passages, words, vectors, headings, and the free pages they leave behind."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer import dictionary, schema, writer
from indexer.rows import PROMPT, WORKER
from indexer.store import Store
from indexer.vectors import KINDS
from indexer.words_table import refill
from transcript.canonical import ID_LENGTH
from transcript.errors import IndexMissing, LockBusy, StoreError
from transcript.lock import FileLock
from transcript.workspace import Workspace

CHECKPOINT_SECONDS = 30.0
LOCK_SECONDS = 120.0
_BATCH = 400


@dataclass(slots=True)
class Forgotten:
    """What went."""

    chunks: int = 0
    pointers: int = 0
    vectors: int = 0


def forget(workspace: Workspace, events: Sequence[str]) -> Forgotten:
    """Take events out of every generation of a workspace's index, the words and the pages included.

    Doing it again finds nothing. LockBusy when another process writes the index, or reads it for so long that the
    write-ahead log cannot be cut; the caller tries again later.
    """
    done = Forgotten()
    if not workspace.index_path.exists():
        return done
    with (
        _lock(writer.index_lock(workspace)),
        _lock(FileLock(workspace.run_dir / "embed.lock")),
        _open(workspace.index_path) as store,
    ):
        if store is None:
            return done
        for (generation,) in list(store.run("SELECT id FROM generation")):
            _generation(store, int(generation), events, done)
        dictionary.renew(store.run, store.packing, transaction=store.transaction)  # it holds pieces of passages
        _give_back(store)
    for path in (workspace.run_dir / "vectors").glob("*"):  # a service maps them; it makes them anew
        path.unlink(missing_ok=True)
    return done


@contextlib.contextmanager
def _open(path: Path) -> Iterator[Store | None]:
    """Open the index for writing; None where it cannot be read at all: then it is removed, and rebuilt later."""
    try:
        store = Store.open(path, "w")
    except IndexMissing:
        yield None
        return
    except StoreError:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        yield None
        return
    with store:
        yield store


@contextlib.contextmanager
def _lock(lock: FileLock) -> Iterator[None]:
    if not lock.acquire(LOCK_SECONDS):
        raise LockBusy("the index of this workspace is being written by another process; try again when it is done")
    try:
        yield
    finally:
        lock.release()


def _generation(store: Store, g: int, events: Sequence[str], done: Forgotten) -> None:
    for at in range(0, len(events), _BATCH):
        names = json.dumps(list(events[at : at + _BATCH]))
        with store.transaction():
            numbers = f"SELECT id FROM event_{g} WHERE event IN (SELECT value FROM json_each(?))"
            of_events = f"FROM pointer_{g} WHERE event IN ({numbers})"
            chunks = [int(row[0]) for row in store.run(f"SELECT DISTINCT chunk_id {of_events}", (names,))]
            store.run(
                f"UPDATE exchange_{g} SET prompt_head = '' WHERE prompt_head <> '' AND id IN"
                f" (SELECT exchange {of_events} AND kind IN ({PROMPT}, {WORKER}))",
                (names,),
            )
            store.run(f"DELETE {of_events}", (names,))
            done.pointers += store.changes()
            listed = "IN (SELECT value FROM json_each(?))"
            target = f"substr(event, 1, {ID_LENGTH})"  # a span may follow
            store.run(f"DELETE FROM corrected_{g} WHERE {target} {listed} OR by {listed}", (names, names))
            store.run(f"DELETE FROM standing_{g} WHERE event {listed}", (names,))
            _chunks(store, g, chunks, done)
    with store.transaction():
        if store.has_table(f"chunk_fts_{g}") and store.backend.fts5:
            refill(store.run, store.packing, g)
        elif store.has_table(f"chunk_fts_{g}"):
            raise StoreError("this SQLite has no FTS5 and the index has words of it; run 'recall index rebuild'")
        store.recount(g)


def _chunks(store: Store, g: int, chunks: list[int], done: Forgotten) -> None:
    """Take out the chunks of these that no pointer names any more."""
    listed = json.dumps(chunks)
    inside = "IN (SELECT value FROM json_each(?))"
    lost = [
        int(row[0])
        for row in store.run(
            f"SELECT id FROM chunk_{g} WHERE id {inside} AND id NOT IN (SELECT chunk_id FROM pointer_{g})", (listed,)
        )
    ]
    if not lost:
        return
    if store.meta_of(g).dimension:
        done.vectors += _vectors(store, g, lost)
    listed = json.dumps(lost)
    store.run(f"DELETE FROM embed_state_{g} WHERE id {inside}", (listed,))
    store.run(f"DELETE FROM replaced_{g} WHERE chunk_id {inside}", (listed,))
    store.run(f"DELETE FROM proposed_{g} WHERE one_chunk {inside} OR other_chunk {inside}", (listed, listed))
    store.run(f"DELETE FROM chunk_{g} WHERE id {inside}", (listed,))
    done.chunks += len(lost)


def _vectors(store: Store, g: int, chunks: list[int]) -> int:
    """Take vectors out and see that their bytes are gone: older versions of the extension only mark them."""
    table = f"chunk_vec_{g}"
    places: list[tuple[int, int]] = []
    held = store.vectors_of(g).ids()
    wanted = [chunk * KINDS + kind for chunk in chunks for kind in range(KINDS)]
    if store.has_table(f"{table}_rowids"):
        sql = f"SELECT chunk_id, chunk_offset FROM {table}_rowids WHERE rowid IN (SELECT value FROM json_each(?))"
        places = [(int(a), int(b)) for a, b in store.run(sql, (json.dumps(wanted),))]
        if places and store.backend.vectors != "sqlite-vec":
            raise StoreError("vectors cannot be erased without sqlite-vec; install it, or run 'recall index rebuild'")
    store.remove_vectors(g, chunks)
    size = 4 * store.meta_of(g).dimension
    for chunk, offset in places:
        sql = f"SELECT vectors FROM {table}_vector_chunks00 WHERE rowid = ?"
        for (blob,) in list(store.run(sql, (chunk,))):
            at = offset * size
            if any(blob[at : at + size]):
                cleared = blob[:at] + bytes(size) + blob[at + size :]
                store.run(f"UPDATE {table}_vector_chunks00 SET vectors = ? WHERE rowid = ?", (cleared, chunk))
    return len(held.intersection(wanted))


def _give_back(store: Store) -> None:
    """Write the file anew without its free pages, and cut the write-ahead log: both hold what was taken out."""
    if store.backend.vectors == "sqlite-vec" and list(store.run("SELECT 1 FROM meta WHERE key = 'left_over'")):
        with store.transaction(changes=False):
            schema.drop_left_over(store.run)
    store.run("VACUUM")
    until = time.monotonic() + CHECKPOINT_SECONDS
    while True:
        try:
            busy = next(iter(store.run("PRAGMA wal_checkpoint(TRUNCATE)")))[0]
        except LockBusy:
            busy = 1
        if not busy:
            return
        if time.monotonic() > until:
            raise LockBusy("another process reads the index, so its log cannot be cut; the redaction goes on next time")
        time.sleep(0.05)
