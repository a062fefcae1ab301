"""The plain rankings ours must beat, over the same chunks, filters and vectors.

They share no ranking code with the engine: words by SQLite's own bm25(), vectors by cosine, and simple sums.
The one SQL statement below stands here for that reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from eval.engines import Answer, Engine
from eval.judge import At, Item
from eval.labels import LabelledQuery
from eval.scorers import DECAY_AN_HOUR, scaled
from indexer.lexical import quoted
from indexer.rows import FINAL, NARRATION, PROMPT, PassageRow, RowFilter
from indexer.sample import newest_chunks
from indexer.segment import query_terms
from indexer.store import Store
from recall.turn import CountTokens, Vectors

Ids = list[int]
Execute = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
DEPTH = 400  # chunks each arm ranks
LISTED = 50  # records a list holds in the end
SHOWN = 6
ITEM_CHARS = 800
RRF_K = 60
TALK = frozenset({PROMPT, FINAL, NARRATION})


def rrf(lists: Sequence[Ids], k: int = RRF_K) -> Ids:
    """Fuse lists by reciprocal rank: the sum of 1 / (k + rank); ties by id."""
    scores: dict[int, float] = {}
    for ids in lists:
        for rank, id in enumerate(ids, 1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (k + rank)
    return sorted(scores, key=lambda id: (-scores[id], id))


def generative_agents(cosine: Mapping[int, float], age_hours: Mapping[int, float]) -> Ids:
    """Rank as Park et al. 2023: recency + relevance, each scaled to [0, 1] over the candidates.

    Importance needs a language model; it is the same for all here and changes nothing.
    """
    recency = scaled([DECAY_AN_HOUR ** age_hours[id] for id in cosine])
    relevance = scaled(list(cosine.values()))
    total = {id: r + s for id, r, s in zip(cosine, recency, relevance, strict=True)}
    return sorted(total, key=lambda id: (-total[id], id))


def fts5(execute: Execute, generation: int, terms: Sequence[str], allowed: RowFilter | None, limit: int) -> Ids:
    """Rank by SQLite's bm25() over all words of the prompt but stop words, as one query with OR."""
    if not terms:
        return []
    name = f"chunk_fts_{generation}"
    sql = f"SELECT rowid FROM {name} WHERE {name} MATCH ? ORDER BY bm25({name}), rowid"
    found: Ids = []
    for (id,) in execute(sql, (" OR ".join(quoted(term) for term in terms),)):
        if allowed is None or id in allowed:
            found.append(id)
            if len(found) == limit:
                break
    return found


class Baselines:
    """The baselines over one index. `talk_only` leaves tool calls, tool output, summaries and thinking out."""

    def __init__(self, store: Store, vectors: Vectors | None, count_tokens: CountTokens) -> None:
        self._store, self._vectors, self._count = store, vectors, count_tokens

    def engines(self) -> dict[str, Engine]:
        """Return the baselines by name; those that need vectors are missing without them."""
        words = {
            "FTS5": lambda q, a: self._words(q, a, talk=True),
            "FTS5, all text": lambda q, a: self._words(q, a, talk=False),
            "latest messages": self._latest,
        }
        dense = {
            "vectors": self._dense,
            "fusion (RRF)": lambda q, a: rrf([self._words(q, a, talk=True), self._dense(q, a)]),
            "generative agents": self._agents,
        }
        chosen = words | (dense if self._vectors is not None else {})
        return {name: self._engine(rank) for name, rank in chosen.items()}

    def _engine(self, rank: Callable[[LabelledQuery, RowFilter | None], Ids]) -> Engine:
        def answer(query: LabelledQuery) -> Answer:
            allowed = self._allowed(query)
            rows = self._passages(query, rank(query, allowed))
            items = tuple(_item(row) for row in _one_a_record(rows)[:LISTED])
            shown = items[:SHOWN]
            return Answer(items, shown, self._count("\n\n".join(item.text[:ITEM_CHARS] for item in shown)))

        return answer

    def _allowed(self, query: LabelledQuery) -> RowFilter | None:
        return self._store.allowed(query.session or None, _before(query))

    def _passages(self, query: LabelledQuery, ids: Ids) -> list[PassageRow]:
        rows = self._store.passages(ids, as_of=_before(query), session=query.session or None)
        return [rows[id] for id in ids if id in rows]

    def _words(self, query: LabelledQuery, allowed: RowFilter | None, *, talk: bool) -> Ids:
        found = fts5(self._store.run, self._store.generation, query_terms(query.query), allowed, 4 * DEPTH)
        return (self._talk(query, found) if talk else found)[:DEPTH]

    def _dense(self, query: LabelledQuery, allowed: RowFilter | None) -> Ids:
        return [id for id, _ in self._near(query, allowed)][:DEPTH]

    def _agents(self, query: LabelledQuery, allowed: RowFilter | None) -> Ids:
        cosine = dict(self._near(query, allowed))
        now = query.now.timestamp()
        ages = {
            row.chunk_id: max(0.0, (now - row.pointers[0].ts) / 3600) for row in self._passages(query, list(cosine))
        }
        return generative_agents({id: cosine[id] for id in ages}, ages)[:DEPTH]

    def _latest(self, query: LabelledQuery, allowed: RowFilter | None) -> Ids:
        found = newest_chunks(self._store, TALK, before=_before(query), limit=4 * DEPTH)
        return list(dict.fromkeys(id for id in found if allowed is None or id in allowed))[:DEPTH]

    def _near(self, query: LabelledQuery, allowed: RowFilter | None) -> Sequence[tuple[int, float]]:
        assert self._vectors is not None
        return self._vectors(query.query, allowed) or []

    def _talk(self, query: LabelledQuery, ids: Ids) -> Ids:
        return [row.chunk_id for row in self._passages(query, ids) if row.pointers[0].kind in TALK]


def _before(query: LabelledQuery) -> int:
    """The last whole second that lies before the query's now."""
    return -int(-query.now.timestamp() // 1) - 1


def _one_a_record(rows: list[PassageRow]) -> list[PassageRow]:
    seen: set[str] = set()
    kept = []
    for row in rows:
        if row.pointers[0].event_id not in seen:
            kept.append(row)
            seen.update(pointer.event_id for pointer in row.pointers)
    return kept


def _item(row: PassageRow) -> Item:
    return Item(tuple(At(p.event_id, p.start, p.end) for p in row.pointers), row.text)
