"""Ranks by words in memory where SQLite has no FTS5: the same idf and the same result as `lexical`, slower."""

from collections.abc import Iterable, Sequence

from indexer.lexical import Allowed, idf
from indexer.rows import LexicalResult

K1, B = 1.2, 0.75  # FTS5's own


class WordRanker:
    """All chunks' words, held by rank-bm25; `version` is the data version they were read at.

    rank-bm25 keeps the frequencies and lengths; its own idf is below zero for words of more than half the chunks and
    it fails on an empty corpus, so that the idf of `lexical` and a test for shared words take their place.
    """

    def __init__(self, rows: Iterable[tuple[int, Sequence[str]]], version: int) -> None:
        from rank_bm25 import BM25Okapi

        self.version = version
        held = [(chunk_id, [_stem(token) for token in tokens]) for chunk_id, tokens in rows]
        self._ids = [chunk_id for chunk_id, _ in held]
        self._okapi = BM25Okapi([tokens for _, tokens in held], k1=K1, b=B) if any(t for _, t in held) else None
        self._holding: dict[str, list[int]] = {}
        for at, frequencies in enumerate(self._okapi.doc_freqs if self._okapi else ()):
            for token in frequencies:
                self._holding.setdefault(token, []).append(at)

    def search(self, terms: Sequence[str], *, limit: int, allowed: Allowed = None) -> LexicalResult:
        """Return up to limit allowed chunks that hold one of terms, best first, ties by id."""
        if self._okapi is None:
            return LexicalResult((), {}, {}, ())
        passes = None if allowed is None else allowed if callable(allowed) else allowed.__contains__
        scores: dict[int, float] = {}
        matched: dict[int, set[int]] = {}
        df: dict[str, int] = {}
        for number, term in enumerate(dict.fromkeys(terms)):
            holding = self._holding.get(_stem(term), [])
            df[term] = len(holding)
            weight = idf(len(self._ids), len(holding))
            for at in holding:
                chunk_id = self._ids[at]
                if passes is not None and not passes(chunk_id):
                    continue
                frequency = self._okapi.doc_freqs[at][_stem(term)]
                length = self._okapi.doc_len[at] / self._okapi.avgdl
                part = frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * part
                matched.setdefault(chunk_id, set()).add(number)
        best = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]
        return LexicalResult(tuple(best), df, {chunk_id: matched[chunk_id] for chunk_id, _ in best}, ())


def _stem(token: str) -> str:
    """Take the commonest English endings off; coarser than FTS5's porter, enough for a stand-in."""
    for ending in ("ingly", "edly", "ies", "ing", "ed", "es", "s", "ly"):
        if token.isascii() and token.endswith(ending) and len(token) - len(ending) >= 3:
            return token[: -len(ending)]
    return token
