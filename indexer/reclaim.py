"""Gives back what an index that grows bit by bit holds in vain: gaps in its pages, free pages, words in many pieces."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from indexer import writer
from indexer.store import WRITER_BUSY_MS, Store
from transcript.errors import LockBusy, StoreError
from transcript.workspace import Workspace

DONE, UNUSED, IN_USE, NO_ROOM, NO_TIME = "done", "unchanged", "in use", "no room", "no time"
LEAST_BYTES = 1 << 20  # below it nobody sees the difference
LEAST_SHARE = 0.02  # of the file: written anew it has under one per cent, grown in small pieces over ten
ROOM = 2.2  # times the file's size: SQLite writes a copy, then the pages into the write-ahead log
BYTES_A_SECOND = 8e6  # slower than any disk that was met
PATIENCE_MS = 1000  # for readers to leave


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """What became of it: done, unchanged (it would not pay) or why not; the file's bytes, and those held in vain."""

    state: str
    bytes_before: int = 0
    bytes_after: int = 0
    unused: int = 0


def unused_bytes(store: Store) -> int:
    """Return how many bytes of the file hold nothing. Reads every page's head: half a second for 80 MB.

    Where SQLite was built without `dbstat` only whole free pages are counted.
    """
    gaps = 0
    with contextlib.suppress(StoreError):
        gaps = _number(store, "SELECT coalesce(sum(unused), 0) FROM dbstat")
    return _number(store, "PRAGMA page_size") * _number(store, "PRAGMA freelist_count") + gaps


def _size(store: Store) -> int:
    return _number(store, "PRAGMA page_size") * _number(store, "PRAGMA page_count")


def _number(store: Store, sql: str) -> int:
    ((value, *_),) = store.run(sql)
    return int(value)


def reclaim(workspace: Workspace, store: Store, *, now: datetime, seconds: float = float("inf")) -> Reclaimed:
    """Write the file anew where that gives enough back; what is found stays the same.

    Nobody is waited for: while another writes the index, or reads it for long, nothing is done. Nor where the disk
    lacks room or `seconds` may be too few. Killed in the middle, the file is what it was. A second call finds nothing.
    """
    size, unused = _size(store), unused_bytes(store)
    if unused - _left(store) < max(LEAST_BYTES, LEAST_SHARE * size):
        return Reclaimed(UNUSED, size, size, unused)
    if size / BYTES_A_SECOND > seconds:
        return Reclaimed(NO_TIME, size, size, unused)
    if shutil.disk_usage(store.path.parent).free < ROOM * size:
        return Reclaimed(NO_ROOM, size, size, unused)
    lock = writer.index_lock(workspace)
    if not lock.acquire(0.0):
        return Reclaimed(IN_USE, size, size, unused)
    try:
        with _impatient(store):
            if _number(store, "PRAGMA wal_checkpoint(TRUNCATE)"):  # somebody still reads the pages of before
                return Reclaimed(IN_USE, size, size, unused)
            writer.settle(store)
            with store.transaction(changes=False):
                store.run("INSERT OR REPLACE INTO meta VALUES ('unused_left', ?)", (str(unused_bytes(store)),))
    except LockBusy:
        return Reclaimed(IN_USE, size, size, unused)
    finally:
        lock.release()
    done = Reclaimed(DONE, size, _size(store), unused)
    store.note_run("reclaim", {name: value for name, value in asdict(done).items() if name != "state"}, now)
    return done


def _left(store: Store) -> int:
    """What the file held in vain when it was last written anew: so much it will hold the next time as well."""
    for (value,) in store.run("SELECT value FROM meta WHERE key = 'unused_left'"):
        return int(value)
    return 0


@contextlib.contextmanager
def _impatient(store: Store) -> Iterator[None]:
    store.run(f"PRAGMA busy_timeout = {PATIENCE_MS}")
    try:
        yield
    finally:
        store.run(f"PRAGMA busy_timeout = {WRITER_BUSY_MS}")
