"""Search by words: FTS5 finds, our BM25 scores.

FTS5's own bm25 weighs a word by the number of chunks in the store, so that the same hit scores 0.000003 among two
chunks and 35 among 36,000. Here each word is asked for alone and quoted (text of a user is never syntax); from the
score that FTS5 gives, its own idf is divided out, and what is left, the part of term frequency and length, is weighed
by an idf over max(N, 2000) chunks.
"""

import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Any

from indexer.frequent import Word, add_up
from indexer.rows import TOOL_IDS, LexicalResult

Execute = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
Allowed = Container[int] | Callable[[int], bool] | None
Passes = Callable[[int], bool] | None
LEAST_CHUNKS = 2000
MOST_BESIDES = 20
_LEAST_IDF = 1e-6  # what FTS5 takes instead of an idf at or below zero


@dataclass(frozen=True, slots=True)
class Cut:
    """Which words of a query are left out in a large store, where each costs time in proportion to its chunks.

    A word that more than the frequent share holds is left out, the rarest stay, and together they may have at most
    most_rows chunks (the least terms excepted). What tools printed is most of a store and seldom the answer: there
    fewer and rarer words are asked for, and at most tool_limit chunks come back. Of a word that more than held_rows
    chunks hold, the rows are never held together (indexer.frequent), which changes no result.
    """

    from_chunks: int = 2000
    frequent_share: float = 0.15
    rarest_terms: int = 10
    least_terms: int = 2
    most_rows: int = 12_000
    held_rows: int = 4096
    tool_share: float = 0.01
    tool_terms: int = 4
    tool_limit: int = 60


def search(
    execute: Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]],
    generation: int,
    terms: Sequence[str],
    limit: int,
    allowed: Allowed,
    cut: Cut,
    besides: frozenset[int] = frozenset(),
) -> LexicalResult:
    """Return up to limit allowed chunks that hold one of terms, best first, then the best of those besides."""
    if not terms or limit < 1:
        return LexicalResult((), {}, {}, ())
    words = _Words(execute, generation, list(dict.fromkeys(terms)))
    passes = None if allowed is None else allowed if callable(allowed) else allowed.__contains__
    said = words.look(_Band(0, TOOL_IDS), cut, passes, limit, besides)
    tools = replace(cut, frequent_share=cut.tool_share, rarest_terms=cut.tool_terms)
    printed = words.look(_Band(TOOL_IDS, 1 << 62), tools, passes, min(limit, cut.tool_limit))
    best = sorted(said + printed, key=lambda hit: (-hit[1], hit[0]))[:limit]
    if besides:
        best += words.besides(besides.difference(chunk_id for chunk_id, _ in best))
    dropped = tuple(term for term in words.terms if term in words.left and term not in words.asked)
    return LexicalResult(tuple(best), words.df, {chunk_id: words.matched[chunk_id] for chunk_id, _ in best}, dropped)


@dataclass(frozen=True, slots=True)
class _Band:
    """Chunk ids from low to below high: what was said, or what tools were given and printed."""

    low: int
    high: int

    @property
    def sql(self) -> str:
        return f"rowid >= {self.low} AND rowid < {self.high}"


class _Words:
    """A search in the making: each band has its own count of chunks, its own frequencies and its own cut."""

    def __init__(self, execute: Execute, generation: int, terms: list[str]) -> None:
        self._execute, self._generation, self.terms = execute, generation, terms
        self._table = f"chunk_fts_{generation}"
        self._all = indexed_chunks(execute, generation)
        self._everywhere: dict[str, int] = {}
        self.matched: dict[int, set[int]] = {}
        self._held: dict[int, Container[int]] = {}  # what was said: the chunks that hold each term
        self._scores: dict[int, float] = {}
        self.df: dict[str, int] = {}
        self.left: set[str] = set()
        self.asked: set[str] = set()

    def look(
        self, band: _Band, cut: Cut, passes: Passes, limit: int, besides: frozenset[int] = frozenset()
    ) -> list[tuple[int, float]]:
        """Return the best hits of one band, and note which terms were asked for; `besides` are kept in any case."""
        chunks = self._chunks(band)
        if not chunks:
            return []
        scores: dict[int, float] = {}
        held: dict[int, Container[int]] = {}
        df: dict[str, int] = {}
        chosen = self.terms
        if chunks >= cut.from_chunks:
            chosen = _rarest(self._execute, self._table, self.terms, chunks, cut, df, band.sql)
        whole = chunks >= self._all
        sql = f"SELECT rowid, bm25({self._table}) FROM {self._table} WHERE {self._table} MATCH ? AND {band.sql}"
        many = [term for term in chosen if df.get(term, 0) > cut.held_rows]
        for number, term in enumerate(self.terms):
            if term not in chosen or term in many:
                continue
            rows: dict[int, float] = dict(self._execute(sql, (quoted(term),)))
            df[term] = len(rows)
            if not rows:
                continue
            weight = self._weight(term, chunks, len(rows), whole)
            for chunk_id, score in rows.items():
                scores[chunk_id] = scores.get(chunk_id, 0.0) + score * weight
            held[number] = rows
        if many:
            ordered = f"{sql} ORDER BY rowid"
            words = [
                Word(n, self._weight(t, chunks, df[t], whole), iter(self._execute(ordered, (quoted(t),))))
                for n, t in enumerate(self.terms)
                if t in many
            ]
            held.update(add_up(words, scores, besides, passes, limit))
        for term, count in df.items():
            self.df[term] = self.df.get(term, 0) + count
        self.asked.update(chosen)
        self.left.update(term for term in self.terms if term not in chosen)
        if passes is not None:
            scores = {chunk_id: score for chunk_id, score in scores.items() if passes(chunk_id)}
        best = nsmallest(limit, scores.items(), key=lambda hit: (-hit[1], hit[0]))
        self._note(best, held)
        if not band.low:
            self._scores, self._held = scores, held
        return best

    def besides(self, chunks: Iterable[int]) -> list[tuple[int, float]]:
        """Return the best MOST_BESIDES of these chunks among what was said."""
        hits = [(chunk_id, self._scores[chunk_id]) for chunk_id in chunks if chunk_id in self._scores]
        best = nsmallest(MOST_BESIDES, hits, key=lambda hit: (-hit[1], hit[0]))
        self._note(best, self._held)
        return best

    def _note(self, hits: Iterable[tuple[int, float]], held: dict[int, Container[int]]) -> None:
        for chunk_id, _ in hits:
            self.matched[chunk_id] = {number for number, chunks in held.items() if chunk_id in chunks}

    def _chunks(self, band: _Band) -> int:
        """How many chunks a band has: ids are given without gaps, and a few that were removed change no weight."""
        if not self._all:
            return 0
        sql = f"SELECT max(id) FROM chunk_{self._generation} WHERE id >= ? AND id < ?"
        for (last,) in self._execute(sql, (band.low, band.high)):
            return 0 if last is None else int(last) - max(band.low - 1, 0)
        return 0

    def _weight(self, term: str, chunks: int, holding: int, whole: bool) -> float:
        """What FTS5's score of a term is multiplied by. It weighs by the whole table, whatever range is asked for."""
        return idf(chunks, holding) / -fts_idf(self._all, holding if whole else self._holding(term))

    def _holding(self, term: str) -> int:
        """How many chunks of the whole table hold a term."""
        if term not in self._everywhere:
            sql = f"SELECT count(*) FROM {self._table} WHERE {self._table} MATCH ?"
            self._everywhere[term] = next(iter(self._execute(sql, (quoted(term),))))[0]
        return self._everywhere[term]


def idf(chunks: int, holding: int) -> float:
    """Return ln((N' - n + 0.5) / (n + 0.5) + 1) with N' = max(N, n, 2000); never negative."""
    total = max(chunks, holding, LEAST_CHUNKS)  # a writer may have added chunks since they were counted
    return math.log((total - holding + 0.5) / (holding + 0.5) + 1)


def fts_idf(chunks: int, holding: int) -> float:
    """Return the idf that FTS5's bm25() has multiplied in."""
    value = math.log((max(chunks, holding) - holding + 0.5) / (holding + 0.5))
    return value if value > 0 else _LEAST_IDF


def quoted(term: str) -> str:
    """Return term as an FTS5 string, so that nothing in it can be an operator, a column or a star."""
    return '"' + term.replace("\x00", " ").replace('"', '""') + '"'


def indexed_chunks(execute: Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]], generation: int) -> int:
    """Return how many rows FTS5 counts, which is what its bm25() uses: the first number of its averages record."""
    for (block,) in execute(f"SELECT block FROM chunk_fts_{generation}_data WHERE id = 1", ()):
        value = 0
        for position, byte in enumerate(bytes(block)[:9]):
            if position == 8:
                return value << 8 | byte
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value
    return 0


def _rarest(
    execute: Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]],
    table: str,
    terms: list[str],
    chunks: int,
    cut: Cut,
    df: dict[str, int],
    band: str,
) -> list[str]:
    """Return the rarest terms, those that more than the frequent share of chunks hold left out.

    Counting stops at a ceiling that rises until enough terms are known to be below it, so that a frequent word costs
    no more than the rare ones need. A word that no chunk holds takes no place.
    """
    ceiling = 256
    frequent = max(1, int(chunks * cut.frequent_share))
    unknown = terms
    known: list[str] = []
    while True:
        ceiling = min(ceiling, frequent)
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? AND {band} LIMIT {ceiling + 1})"
        for term in unknown:
            df[term] = next(iter(execute(sql, (quoted(term),))))[0]
        known = [term for term in terms if 0 < df[term] <= ceiling]
        unknown = [term for term in unknown if df[term] > ceiling]
        if len(known) >= cut.rarest_terms or not unknown or ceiling >= frequent:
            break
        ceiling *= 4
    if len(known) < cut.least_terms and unknown:
        sql = f"SELECT count(*) FROM {table} WHERE {table} MATCH ? AND {band}"
        for term in unknown:
            df[term] = next(iter(execute(sql, (quoted(term),))))[0]
        known += sorted(unknown, key=lambda term: (df[term], term))[: cut.least_terms - len(known)]
    keep: set[str] = set()
    rows = 0
    for term in sorted(known, key=lambda term: (df[term], terms.index(term)))[: cut.rarest_terms]:
        rows += df[term]
        if len(keep) >= cut.least_terms and rows > cut.most_rows:
            break
        keep.add(term)
    return [term for term in terms if term in keep]
