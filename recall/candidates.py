"""Finds the passages that may answer: words and vectors, the exchanges around them, relevance on fixed scales.

On the hook path: standard library only.

For one passage, with b its own evidence and x its relevance:

    b  = bm25 / (bm25 + 20) + 0.6 * max(0, cosine)
    x  = b * class * form + link * b(prompt of the exchange) [final answers] + session + place

Every number is fixed: nothing is scaled by what else was found, so that a score means the same tomorrow.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.reader import Reader
from indexer.rows import ExchangeRow, LexicalResult, PassageRow, PointerRow, RowFilter
from recall.cues import Cues
from recall.forms import is_announcement, is_pasted, is_question
from recall.query import Query
from recall.settings import RetrievalSettings
from recall.turn import Candidate, Pointer, Standing, Vectors

# Kind of a pointer (indexer.rows.KIND_NAMES, in its order) -> source class.
SOURCES = (
    "prompt",
    "final",
    "narration",
    "summary",
    "tool",
    "tool",
    "reasoning",
    "worker",
    "curated",
    "memory",
)
_RISK_FLAGS = ((1, "abandoned"), (2, "rewound"), (8, "external"))
LEAST_PASSAGES = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, best relevance first, and what the gate wants to know of the search."""

    candidates: tuple[Candidate, ...]
    allowed: RowFilter | None
    frequency: Mapping[str, int]  # passages that hold each word of the prompt
    passages: int  # passages in the index
    words_only: str = ""  # why no vectors were used
    considered: int = 0  # passages that were scored before the best k were kept


@dataclass(frozen=True, slots=True)
class _Evidence:
    words: Mapping[int, float]
    cosine: Mapping[int, float]
    matched: Mapping[int, set[int]]

    def of(self, chunk: int, s: RetrievalSettings) -> float:
        bm25 = self.words.get(chunk, 0.0)
        return bm25 / (bm25 + s.words_half_at) + s.dense_weight * max(0.0, self.cosine.get(chunk, 0.0))


def candidates(query: Query, cues: Cues, reader: Reader, vectors: Vectors | None, s: RetrievalSettings) -> Found:
    """Return the best k passages by relevance; ties by chunk id."""
    as_of = None if query.as_of is None else math.ceil(query.as_of.timestamp()) - 1
    allowed = reader.allowed(query.session or None, as_of, query.root)
    lexical = reader.lexical(cues.terms, limit=s.lexical_limit, allowed=allowed)
    near = vectors(cues.text, allowed) if vectors is not None else None
    evidence = _Evidence(dict(lexical.hits), dict(near or ()), lexical.matched)
    rows = _rows(reader, [chunk for chunk, _ in lexical.hits], query, as_of)
    seeds = _seeds(lexical, rows, s) + [chunk for chunk, _ in (near or ())[: s.arm]]
    rows.update(_rows(reader, [c for c in seeds if c not in rows], query, as_of))
    exchanges = reader.exchange(sorted({_best(rows[c], s).exchange_id for c in seeds if c in rows}))
    around = [c for e in exchanges.values() for c in (*e.prompt_chunks, *e.final_chunks)]
    around = [c for c in dict.fromkeys(around) if allowed is None or c in allowed]
    rows.update(_rows(reader, [c for c in around if c not in rows], query, as_of))
    pool = [rows[c] for c in dict.fromkeys([*seeds, *around]) if c in rows]
    passages = reader.meta().n_chunks
    found = _scored(pool, exchanges, evidence, cues, lexical, passages, s)
    return Found(
        tuple(found[: s.k]),
        allowed,
        {term: lexical.df.get(term, 0) for term in cues.terms},
        passages,
        "" if near is not None else "no_vectors",
        len(found),
    )


def _rows(reader: Reader, chunks: Sequence[int], query: Query, as_of: int | None) -> dict[int, PassageRow]:
    return reader.passages(chunks, as_of=as_of, session=query.session or None) if chunks else {}


def _seeds(lexical: LexicalResult, rows: Mapping[int, PassageRow], s: RetrievalSettings) -> list[int]:
    """The best of the word search after class: tool output holds many words and would crowd out what was said."""
    weighed = [
        (-score / (score + s.words_half_at) * _class_weight(SOURCES[_best(rows[chunk], s).kind], s), chunk)
        for chunk, score in lexical.hits
        if chunk in rows
    ]
    return [chunk for _, chunk in sorted(weighed)[: s.arm]]


def _scored(
    pool: Iterable[PassageRow],
    exchanges: Mapping[int, ExchangeRow],
    evidence: _Evidence,
    cues: Cues,
    lexical: LexicalResult,
    passages: int,
    s: RetrievalSettings,
) -> list[Candidate]:
    rows = list(pool)
    prompt_evidence = {e.id: max((evidence.of(c, s) for c in e.prompt_chunks), default=0.0) for e in exchanges.values()}
    covered = _session_cover(rows, evidence, cues.terms, lexical.df, passages, s)
    found = []
    for row in rows:
        pointer = _best(row, s)
        exchange = exchanges.get(pointer.exchange_id)
        made = _candidate(row, exchange, evidence, cues.terms, s)
        x = made.relevance + s.session * covered.get(pointer.session, 0.0) + s.place * pointer.place
        if made.source == "final" and exchange is not None:
            x += s.link * prompt_evidence[exchange.id]
        if made.evidence > 0 or x > s.place:
            found.append(replace(made, relevance=x))
    return sorted(found, key=lambda c: (-c.relevance, c.chunk))


def _candidate(
    row: PassageRow, exchange: ExchangeRow | None, evidence: _Evidence, terms: Sequence[str], s: RetrievalSettings
) -> Candidate:
    first = _best(row, s)
    pointers = (_pointer(first), *(_pointer(p) for p in row.pointers if p is not first))
    b = evidence.of(row.chunk_id, s)
    weight, demoted = _form(pointers[0].source, row.text, s)
    risks = tuple(name for flag, name in _RISK_FLAGS if first.flags & flag)
    return Candidate(
        chunk=row.chunk_id,
        text=row.text,
        pointers=pointers,
        head=exchange.prompt_head if exchange is not None and pointers[0].source != "prompt" else "",
        bm25=evidence.words.get(row.chunk_id, 0.0),
        cosine=evidence.cosine.get(row.chunk_id),
        matched=frozenset(terms[i] for i in evidence.matched.get(row.chunk_id, ())),
        evidence=b * _class_weight(pointers[0].source, s),
        relevance=b * weight,
        demoted=(*demoted, *risks),
        standing=Standing(risks=risks),
    )


def _form(source: str, text: str, s: RetrievalSettings) -> tuple[float, tuple[str, ...]]:
    """Weight of a passage by its class and form, with the reasons for anything below 1."""
    weight = _class_weight(source, s)
    demoted = [source] if weight < 1 else []
    if source in ("narration", "final", "worker") and is_announcement(text):
        weight *= s.announcement
        demoted.append("announcement")
    elif source == "prompt" and is_question(text):
        weight *= s.question
        demoted.append("question")
    elif source == "prompt" and is_pasted(text):
        weight *= s.pasted
        demoted.append("pasted")
    return weight, tuple(demoted)


def _class_weight(source: str, s: RetrievalSettings) -> float:
    return {
        "prompt": s.prompt_weight,
        "final": s.final_weight,
        "narration": s.narration_weight,
        "summary": s.summary_weight,
        "tool": s.tool_weight,
        "worker": s.worker_weight,
        "reasoning": s.reasoning_weight,
    }.get(source, s.memory_weight)


def _best(row: PassageRow, s: RetrievalSettings) -> PointerRow:
    """The sighting that speaks for a chunk: of its best class, the latest."""
    return max(row.pointers, key=lambda p: (_class_weight(SOURCES[p.kind], s), p.ts, p.seq, p.event_id))


def _pointer(row: PointerRow) -> Pointer:
    return Pointer(
        row.event_id,
        row.start,
        row.end,
        row.session,
        row.ts,
        SOURCES[row.kind],
        row.exchange_id,
        row.place,
        row.flags,
    )


def _session_cover(
    rows: Sequence[PassageRow],
    evidence: _Evidence,
    terms: Sequence[str],
    df: Mapping[str, int],
    passages: int,
    s: RetrievalSettings,
) -> dict[str, float]:
    """Session -> share of the prompt's words, weighed by rarity, that its candidates hold together."""
    total = max(passages, LEAST_PASSAGES)
    idf = [math.log((total - df.get(t, 0) + 0.5) / (df.get(t, 0) + 0.5) + 1) if df.get(t) else 0.0 for t in terms]
    whole = sum(idf)
    if whole <= 0:
        return {}
    held: dict[str, set[int]] = {}
    for row in rows:
        held.setdefault(_best(row, s).session, set()).update(evidence.matched.get(row.chunk_id, ()))
    return {session: sum(idf[i] for i in numbers) / whole for session, numbers in held.items()}
