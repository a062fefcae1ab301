"""Makes the dictionary that passages are packed with, from the passages themselves, and packs them with it.

It holds pieces of passages, so whoever takes passages out for good has it made anew from what is left.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from indexer.passage_text import MOST_BYTES, Execute, Texts

LEAST_CHUNKS = 1000  # below it the whole index is a megabyte, and too little to learn from
_GROWN = 8  # how many times as many chunks there are when a dictionary is made anew
_LEARNT = 5000  # chunks that it is made from: all 95,000 of a store gave one per cent more
_TABLES = 2000  # bytes before the content of what the trainer returns; deflate has no use for them
_BATCH = 500  # chunks of one transaction: the write lock is held for some tens of milliseconds


def is_due(execute: Execute, generation: int) -> bool:
    """Tell whether a generation has so many chunks that a dictionary, or a newer one, pays."""
    made = next(iter(execute("SELECT coalesce(max(chunks), 0) FROM dictionary", ())))[0]
    for (chunks,) in execute("SELECT n_chunks FROM generation WHERE id = ?", (generation,)):
        return bool(chunks >= max(LEAST_CHUNKS, _GROWN * made))
    return False


def renew(
    execute: Execute,
    texts: Texts,
    *,
    transaction: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> int:
    """Make a dictionary from what the index holds now, pack every passage with it and drop the older ones.

    Returns how many bytes the texts take then. In several transactions where `transaction` opens one: stopped between
    two of them, passages of both dictionaries can be read. An index of few chunks has plain texts and no dictionary.
    """
    generations = [row[0] for row in execute("SELECT id FROM generation", ())]
    older = texts.newest()
    chunks, made = _learn(execute, texts, generations)
    with transaction():
        if made:
            execute("INSERT INTO dictionary (id, chunks, bytes) VALUES (?, ?, ?)", (older + 1, chunks, made))
    taken = 0
    for g in generations:
        last = -1
        while True:
            with transaction():
                sql = f"SELECT id, text FROM chunk_{g} WHERE id > ? ORDER BY id LIMIT {_BATCH}"
                rows = list(execute(sql, (last,)))
                for number, held in rows:
                    text = texts.plain(held)
                    now = texts.packed(text) if made else text
                    taken += len(now if isinstance(now, bytes) else now.encode())
                    if now != held:
                        execute(f"UPDATE chunk_{g} SET text = ? WHERE id = ?", (now, number))
            if not rows:
                break
            last = rows[-1][0]
    with transaction():
        execute("DELETE FROM dictionary WHERE id <= ?", (older,))
    return taken


def _learn(execute: Execute, texts: Texts, generations: list[int]) -> tuple[int, bytes]:
    """Return from how many chunks the dictionary is, and the dictionary; b"" where there are too few."""
    sizes = {g: next(iter(execute(f"SELECT count(*) FROM chunk_{g}", ())))[0] for g in generations}
    g = max(sizes, key=lambda one: sizes[one], default=0)
    if sizes.get(g, 0) < LEAST_CHUNKS:
        return 0, b""
    import zstandard

    step = max(1, sizes[g] // _LEARNT)
    ids = [row[0] for row in execute(f"SELECT id FROM chunk_{g} ORDER BY id", ())][::step]
    one = f"SELECT text FROM chunk_{g} WHERE id = ?"
    samples: list[bytes | bytearray | memoryview[int]] = []
    for number in ids:
        samples += [texts.plain(held).encode() for (held,) in execute(one, (number,))]
    try:
        made = zstandard.train_dictionary(MOST_BYTES + _TABLES, samples).as_bytes()
    except zstandard.ZstdError:  # too little in common to learn from
        made = b"".join(samples)
    return sizes[g], bytes(made[-MOST_BYTES:])
