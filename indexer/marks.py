"""Catches an older index up with what later versions note beside the passages: what was corrected, what was replaced.

Standing wishes and names that were replaced are found in the passages themselves, by the schema's migration. Which
event corrects or replaces which, the record alone can tell.
"""

from indexer.exchange import CURATED_TYPES, link
from indexer.schema import MARKS
from indexer.store import Store
from indexer.store_write import Rows
from transcript.log import Log


def catch_up(log: Log, store: Store, *, through: int) -> int:
    """Note what the record up to the event `through` says of other events; return how many events say so.

    For the caller that holds the index lock. The record is read before the transaction, so that the write lock is
    held for rows alone. Stopped at any moment, the next run does all of it.
    """
    g = store.generation
    if not g or store.marks(g) >= MARKS:
        return 0
    said = [event for event in log.read() if event.seq <= through and event.type in CURATED_TYPES]
    said = [event for event in said if event.body.get("supersedes") or event.body.get("of")]
    rows = Rows(store, g, store.has_table(f"chunk_fts_{g}") and store.backend.fts5)
    with store.transaction():
        for event in said:
            link(rows, event, rows.session(event.session).id)
        rows.flush()
        store.run("UPDATE generation SET marks = ? WHERE id = ?", (MARKS, g))
    return len(said)
