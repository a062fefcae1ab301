"""What an index holds, told without the row numbers: two that were built in other steps from one record are equal."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer import vocabulary
from indexer.audit import agreement
from indexer.rows import IMPLAUSIBLE_TIME
from indexer.store import Store
from indexer.vectors import KINDS

_BATCH = 2000
# Whether a time is implausible depends on when it was looked at, so neither the flag nor what follows from it is told.
_PARTS = {
    "passages": "SELECT hex(key), source_class, role, n_tokens, plain_text(text) FROM chunk_{g} ORDER BY key",
    "places": "SELECT hex(c.key), v.event, p.start, p.end, s.session, p.kind, p.seq, p.flags & ~{implausible},"
    " p.worker, coalesce(o.session, ''), coalesce(x.ordinal, -1), coalesce(x.worker, '')"
    " FROM pointer_{g} p JOIN chunk_{g} c ON c.id = p.chunk_id JOIN event_{g} v ON v.id = p.event"
    " JOIN session_{g} s ON s.id = p.session LEFT JOIN exchange_{g} x ON x.id = p.exchange"
    " LEFT JOIN session_{g} o ON o.id = x.session ORDER BY 1, 2, 3, 5",
    "exchanges": "SELECT s.session, x.ordinal, x.worker, x.prompt_head FROM exchange_{g} x"
    " JOIN session_{g} s ON s.id = x.session ORDER BY 1, 2, 3, 4",
    # What consolidation adds to it depends on settings and is its own to compare (`indexer.standing.weights`).
    "standing": "SELECT event, valid_from, valid_to, label, recorded, barred, quotes, path FROM standing_{g}"
    " WHERE recorded OR barred OR valid_to IS NOT NULL ORDER BY event",
    "sessions": "SELECT session, cwd, exchanges, compaction_seq FROM session_{g} ORDER BY session",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an index: how many rows, and a hash over what they say."""

    rows: int
    sha256: str


def contents(store: Store) -> dict[str, Part]:
    """Return the parts of the serving generation by name, vectors left out."""
    parts = {
        name: _part(store, sql.format(g=store.generation, implausible=IMPLAUSIBLE_TIME)) for name, sql in _PARTS.items()
    }
    return {**parts, "words": _words(store, parts["passages"].rows)}


def vectors_differ(one: Store, other: Store, *, tolerance: float = 1e-4) -> tuple[int, int]:
    """Return how many vectors of one's passages other lacks or has another way, and how many one holds."""
    mine, its = _keys(one), _keys(other)
    held = sorted(one.vectors.ids())
    differ = 0
    for at in range(0, len(held), _BATCH):
        part = held[at : at + _BATCH]
        pairs = {number: _twin(number, mine, its) for number in part}
        here = one.vectors.get(part)
        there = other.vectors.get([twin for twin in pairs.values() if twin is not None])
        differ += sum(not _same(here.get(a), there.get(-1 if b is None else b), tolerance) for a, b in pairs.items())
    return differ, len(held)


def _words(store: Store, passages: int) -> Part:
    """Return how many passages have words, and a hash over all stems and their counts."""
    found = agreement(store)
    digest = hashlib.sha256(f"{found.words_missing + found.words_extra}\n".encode())
    if store.backend.fts5 and store.has_table(f"chunk_fts_{store.generation}"):
        for row in vocabulary.counts(store.run, store.generation):
            digest.update(json.dumps(row).encode("ascii") + b"\n")
    return Part(passages - found.words_missing, digest.hexdigest())


def _part(store: Store, sql: str) -> Part:
    digest, rows = hashlib.sha256(), 0
    for row in store.run(sql):
        digest.update(json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n")
        rows += 1
    return Part(rows, digest.hexdigest())


def _keys(store: Store) -> tuple[dict[int, bytes], dict[bytes, int]]:
    rows = list(store.run(f"SELECT id, key FROM chunk_{store.generation}"))
    return dict(rows), {key: number for number, key in rows}


def _twin(
    number: int, mine: tuple[dict[int, bytes], dict[bytes, int]], its: tuple[dict[int, bytes], dict[bytes, int]]
) -> int | None:
    """Return the number that the same passage's vector of this kind has in the other index."""
    key = mine[0].get(number // KINDS)
    chunk = its[1].get(key) if key is not None else None
    return None if chunk is None else chunk * KINDS + number % KINDS


def _same(one: NDArray[np.float32] | None, other: NDArray[np.float32] | None, tolerance: float) -> bool:
    return one is not None and other is not None and bool(np.abs(one - other).max() <= tolerance)
