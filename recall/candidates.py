"""Finds the passages that may answer: words and vectors, the exchanges around them, relevance on fixed scales.

On the hook path: standard library only.

For one passage, with b its own evidence and x its relevance:

    b  = bm25 / (bm25 + 20) + 0.6 * max(0, cosine)
    x  = b * class * form + link * b(prompt of the exchange) [final answers]
       + session + place [sessions of an agent]
       + neighbour * b(turns before and after) + asked * b(question before) + speaker + session [talk between people]
       + when [said in the time that the prompt names] + wish [standing wish, for a prompt that is about to act]

Every number is fixed: nothing is scaled by what else was found, so that a score means the same tomorrow.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from indexer.lexical import Cut
from indexer.reader import Reader
from indexer.rows import TALK, ExchangeRow, PointerRow, RowFilter
from recall import neighbours
from recall.cues import Cues
from recall.forms import is_announcement, is_pasted, is_question
from recall.nearest import nearest
from recall.query import Query
from recall.settings import RetrievalSettings
from recall.standing import MOST_WISHES, about_to_act
from recall.turn import Candidate, Pointer, Standing, Vectors
from recall.typos import respelled

# Kind of a pointer (indexer.rows.KIND_NAMES, in its order) -> source class.
SOURCES = ("prompt", "final", "narration", "summary", "tool", "tool", "reasoning", "worker", "curated", "memory")
_EXTERNAL, _SUPERSEDED, _PRIVATE, _PROJECT_FILE = 8, 32, 64, 16384  # indexer.rows
_RISK_FLAGS = ((1, "abandoned"), (2, "rewound"), (_EXTERNAL, "external"), (_SUPERSEDED, "superseded"))
LEAST_PASSAGES = 2000
_HEADLESS = ("prompt", "memory", "project")
_SAID_BY_AGENT = ("narration", "final", "worker")


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, best relevance first, and what the gate wants to know of the search."""

    candidates: tuple[Candidate, ...]
    allowed: RowFilter | None
    frequency: Mapping[str, int]  # passages that hold each word of the prompt
    passages: int  # passages in the index
    words_only: str = ""  # why no vectors were used
    few_vectors: bool = False  # most passages have none yet, so that their evidence is that of words


@dataclass(frozen=True, slots=True)
class _Evidence:
    words: Mapping[int, float]
    cosine: Mapping[int, float]
    matched: Mapping[int, set[int]]

    def of(self, chunk: int, s: RetrievalSettings) -> float:
        bm25, cosine = self.words.get(chunk), self.cosine.get(chunk)
        if bm25 is None and cosine is None:
            return 0.0  # most of an exchange's passages: found by neither search
        bm25 = bm25 or 0.0
        return bm25 / (bm25 + s.words_half_at) + s.dense_weight * max(0.0, cosine or 0.0)


class _Seen(NamedTuple):
    """A passage's places, and the one that speaks for it. Its text is read only when it may win."""

    chunk: int
    places: tuple[PointerRow, ...]
    pointer: PointerRow
    source: str


def candidates(
    query: Query,
    cues: Cues,
    reader: Reader,
    vectors: Vectors | None,
    s: RetrievalSettings,
    *,
    pruned: frozenset[str] = frozenset(),
    only: frozenset[int] | None = None,
) -> Found:
    """Return the best k passages by relevance; ties by chunk id.

    `pruned` events left the running session's window; `only` are the chunks that may be found at all, None: every one.
    """
    as_of = None if query.as_of is None else math.ceil(query.as_of.timestamp()) - 1
    allowed = reader.allowed(query.session or None, as_of, query.root, pruned=pruned)
    if only is not None:
        allowed = RowFilter(frozenset(chunk for chunk in only if allowed is None or chunk in allowed))
    cut = Cut(frequent_share=s.frequent_share, rarest_terms=s.rarest_terms)
    if s.respell:
        cues = respelled(cues, reader)
    wishes = reader.wishes() if s.wish > 0 and query.mode == "turn" and about_to_act(cues.text) else frozenset()
    lexical = reader.lexical(cues.terms, limit=s.lexical_limit, allowed=allowed, cut=cut, besides=wishes)
    near = nearest(cues, vectors, allowed) if vectors is not None else None
    evidence = _Evidence(dict(lexical.hits), dict(near or ()), lexical.matched)
    classes = s.class_weights()
    seen = _Rows(reader, as_of, classes)
    seen.read([chunk for chunk, _ in lexical.hits])
    by_meaning = seen.read([chunk for chunk, _ in (near or ())[: s.arm]])
    laid_down = [c for c, _ in (*lexical.hits, *(near or ())) if c in wishes][: 2 * MOST_WISHES]
    seeds = dict.fromkeys([*seen.strongest(lexical.hits, s), *by_meaning, *seen.read(laid_down)])
    beside = neighbours.beside(seen[c].pointer for c in seeds) if s.neighbour > 0 or s.asked > 0 else set()
    exchanges = reader.exchange(sorted({seen[c].pointer.exchange_id for c in seeds} | beside))
    lift = _Lift(cues, wishes, s)
    passages = reader.meta().n_chunks
    names = neighbours.names(seen[c].pointer for c in seeds)
    idf = [0.0 if t in names else w for t, w in zip(cues.terms, _idf(cues.terms, lexical.df, passages), strict=True)]
    known = _session_cover(seen.hits(lexical.hits), evidence, idf)
    begun = [seen[c] for c in seeds]
    surely = _surely(begun, evidence, _session_cover(begun, evidence, idf), classes, s) - lift.most
    around = _around(exchanges, beside, evidence, seen, known, surely, s)
    around = seen.read([c for c in around if allowed is None or c in allowed])
    pool = [*begun, *(seen[c] for c in dict.fromkeys(around) if c not in seeds)]
    found = _Relevance(evidence, exchanges, cues.terms, idf, s, classes, lift).best(pool, reader.texts)
    return Found(
        tuple(found),
        allowed,
        _frequency(cues, lexical.df),
        passages,
        "" if near is not None else "no_vectors",
        near is not None and reader.has_few_vectors(),
    )


def _frequency(cues: Cues, df: Mapping[str, int]) -> dict[str, int]:
    """Passages that hold each word of the prompt; of a word and its English only what the record knows counts."""
    frequency = {term: df.get(term, 0) for term in cues.terms}
    for own, english in cues.glossed:
        said = [term for term in (*own, *english) if frequency.get(term)]
        for term in (own | english) - (frozenset(said) or own):
            frequency.pop(term, None)
    return frequency


def _idf(terms: Sequence[str], df: Mapping[str, int], passages: int) -> list[float]:
    """How much each word of the prompt tells apart; 0 for a word that no passage holds."""
    total = max(passages, LEAST_PASSAGES)
    held = [df.get(term, 0) for term in terms]
    return [math.log((total - n + 0.5) / (n + 0.5) + 1) if n else 0.0 for n in held]


def _session_cover(pool: Iterable[_Seen], evidence: _Evidence, idf: Sequence[float]) -> dict[str, float]:
    """Session -> share of the prompt's words, weighed by rarity, that its passages hold together."""
    whole = sum(idf)
    if whole <= 0:
        return {}
    held: dict[str, set[int]] = {}
    for seen in pool:
        matched = evidence.matched.get(seen.chunk)
        if matched:
            held.setdefault(seen.pointer.session, set()).update(matched)
    return {session: sum(idf[i] for i in numbers) / whole for session, numbers in held.items()}


def _surely(
    seeds: Iterable[_Seen],
    evidence: _Evidence,
    covered: Mapping[str, float],
    classes: Mapping[str, float],
    s: RetrievalSettings,
) -> float:
    """A relevance that k of the seeds reach whatever their form; below 0 where there are fewer."""
    lowest = {"prompt": min(1.0, s.question, s.pasted), **dict.fromkeys(_SAID_BY_AGENT, min(1.0, s.announcement))}
    reached = []
    for seen in seeds:
        least = evidence.of(seen.chunk, s) * classes[seen.source] * lowest.get(seen.source, 1.0)
        reached.append(least + _setting(seen.pointer, covered, s))
    reached.sort(reverse=True)
    return reached[s.k - 1] if len(reached) >= s.k else -1.0


def _setting(pointer: PointerRow, covered: Mapping[str, float], s: RetrievalSettings) -> float:
    """What a passage's session, and its place there, add: a talk between people concludes nowhere."""
    cover = covered.get(pointer.session, 0.0)
    return s.talk_session * cover if pointer.flags & TALK else s.session * cover + s.place * pointer.place


def _around(
    exchanges: Mapping[int, ExchangeRow],
    beside: AbstractSet[int],
    evidence: _Evidence,
    seen: "_Rows",
    covered: Mapping[str, float],
    least: float,
    s: RetrievalSettings,
) -> list[int]:
    """The prompts and final answers of exchanges, without those that cannot come among the best.

    Class and form only lower what a passage's own evidence is worth.
    """
    wanted: dict[int, None] = {}
    prompts = {n: max((evidence.of(c, s) for c in e.prompt_chunks), default=0.0) for n, e in exchanges.items()}
    for n, e in exchanges.items():
        near = 0.0
        cover = covered.get(e.session, 0.0)
        most = s.session * cover + s.place
        if n in beside:
            most = max(most, s.talk_session * cover + s.speaker)
            near = neighbours.passed_on(n, exchanges, prompts, neighbour=s.neighbour, asked=s.asked)
        for chunks, context in ((e.prompt_chunks, near), (e.final_chunks, s.link * prompts[n])):
            short = least - most - context
            wanted.update((c, None) for c in chunks if c in seen or evidence.of(c, s) >= short)
    return list(wanted)


class _Rows:
    """Passages by chunk id, each read once; both searches leave out what stands in the running session."""

    def __init__(self, reader: Reader, as_of: int | None, classes: Mapping[str, float]) -> None:
        self._reader, self._as_of, self._classes = reader, as_of, classes
        self._seen: dict[int, _Seen] = {}

    def __getitem__(self, chunk: int) -> _Seen:
        return self._seen[chunk]

    def __contains__(self, chunk: int) -> bool:
        return chunk in self._seen

    def read(self, chunks: Sequence[int]) -> list[int]:
        """Read these passages; return those that may be seen, in the given order."""
        new = [c for c in chunks if c not in self._seen]
        if new:
            places = self._reader.places(new, as_of=self._as_of)
            self._seen.update((chunk, self._look(chunk, rows)) for chunk, rows in places.items())
        return [c for c in chunks if c in self._seen]

    def hits(self, hits: Iterable[tuple[int, float]]) -> list[_Seen]:
        """The passages of a search that were read."""
        return [self._seen[c] for c, _ in hits if c in self._seen]

    def _look(self, chunk: int, places: tuple[PointerRow, ...]) -> _Seen:
        """The sighting that speaks for a chunk: one that may be shown, of its best class, the latest."""
        first = places[0] if len(places) == 1 else max(places, key=self._standing)
        return _Seen(chunk, places, first, _source(first))

    def _standing(self, p: PointerRow) -> tuple[bool, float, int, int, str]:
        barred = bool(p.flags & (_SUPERSEDED | _PRIVATE))
        return not barred, self._classes[_source(p)], p.ts, p.seq, p.event_id

    def strongest(self, hits: Sequence[tuple[int, float]], s: RetrievalSettings) -> list[int]:
        """The best of a word search after class: tool output holds many words and would crowd out what was said."""
        weighed = [
            (-score / (score + s.words_half_at) * self._classes[self._seen[chunk].source], chunk)
            for chunk, score in hits
            if chunk in self._seen
        ]
        return [chunk for _, chunk in sorted(weighed)[: s.arm]]


class _Lift:
    """What a prompt's time and its act add to passages that have something to do with it."""

    def __init__(self, cues: Cues, wishes: AbstractSet[int], s: RetrievalSettings) -> None:
        self._when, self._wishes, self._s = cues.when, wishes, s
        self.most = (s.when if cues.when else 0.0) + (s.wish if wishes else 0.0)

    def of(self, seen: _Seen) -> float:
        """Return what is added to the relevance of a passage."""
        lift = self._s.wish if seen.chunk in self._wishes else 0.0
        if self._when is not None and not seen.pointer.flags & TALK:  # there the day stands before the words
            begin, before = self._when
            lift += self._s.when * any(begin <= p.ts < before for p in seen.places)
        return lift


class _Relevance:
    """Puts x together for a pool of passages; what is costly is computed only for those that can still win."""

    def __init__(
        self,
        evidence: _Evidence,
        exchanges: Mapping[int, ExchangeRow],
        terms: Sequence[str],
        idf: Sequence[float],
        s: RetrievalSettings,
        classes: Mapping[str, float],
        lift: "_Lift",
    ) -> None:
        self._evidence, self._exchanges, self._terms, self._s, self._classes = evidence, exchanges, terms, s, classes
        self._lift, self._idf = lift, idf
        self._prompts = {
            e.id: max((evidence.of(c, s) for c in e.prompt_chunks), default=0.0) for e in exchanges.values()
        }

    def best(self, pool: Sequence[_Seen], read: Callable[[Sequence[int]], Mapping[int, str]]) -> list[Candidate]:
        """The k most relevant passages of a pool, best first; `read` returns texts by chunk id."""
        covered = _session_cover(pool, self._evidence, self._idf)
        open_ = []
        for seen in pool:
            b = self._evidence.of(seen.chunk, self._s)
            context = self._context(seen, covered)
            if b > 0 or context > self._s.place:
                context += self._lift.of(seen)
                open_.append((b * self._classes[seen.source] + context, b, context, seen))
        open_.sort(key=lambda entry: (-entry[0], entry[3].chunk))
        found: list[tuple[float, int, float, _Seen, tuple[str, ...]]] = []
        texts: dict[int, str] = {}
        least = -1.0
        for place, (most, b, context, seen) in enumerate(open_):
            if len(found) >= self._s.k and most < least:
                break  # form only lowers: nothing further down can come among the best
            if seen.chunk not in texts:
                texts.update(read([entry[3].chunk for entry in open_[place : place + self._s.k]]))
            weight, demoted = _form(seen.source, texts[seen.chunk], self._classes[seen.source], self._s)
            found.append((b * weight + context, seen.chunk, b, seen, demoted))
            if len(found) >= self._s.k:
                least = sorted((entry[0] for entry in found), reverse=True)[self._s.k - 1]
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        return [
            self._candidate(seen, texts[seen.chunk], b, x, demoted) for x, _, b, seen, demoted in found[: self._s.k]
        ]

    def _context(self, seen: _Seen, covered: Mapping[str, float]) -> float:
        """What surrounds a passage: its session, its place there, and the prompt that a final answer answers."""
        s, pointer = self._s, seen.pointer
        around = _setting(pointer, covered, s)
        if pointer.flags & TALK:
            near = neighbours.passed_on(
                pointer.exchange_id, self._exchanges, self._prompts, neighbour=s.neighbour, asked=s.asked
            )
            named = s.speaker if s.speaker and neighbours.is_named(pointer.worker, self._terms) else 0.0
            return around + near + named
        if seen.source == "final":
            around += s.link * self._prompts.get(pointer.exchange_id, 0.0)
        return around

    def _candidate(self, seen: _Seen, text: str, b: float, x: float, demoted: tuple[str, ...]) -> Candidate:
        first = seen.pointer
        exchange = self._exchanges.get(first.exchange_id)
        risks = tuple(name for flag, name in _RISK_FLAGS if first.flags & flag)
        return Candidate(
            chunk=seen.chunk,
            text=text,
            pointers=(_pointer(first), *(_pointer(p) for p in seen.places if p is not first)),
            head=exchange.prompt_head if exchange is not None and seen.source not in _HEADLESS else "",
            bm25=self._evidence.words.get(seen.chunk, 0.0),
            cosine=self._evidence.cosine.get(seen.chunk),
            matched=frozenset(self._terms[i] for i in self._evidence.matched.get(seen.chunk, ())),
            evidence=b * self._classes[seen.source],
            relevance=x,
            demoted=(*demoted, *risks),
            standing=Standing(
                private=bool(first.flags & _PRIVATE), superseded=bool(first.flags & _SUPERSEDED), risks=risks
            ),
        )


def _source(row: PointerRow) -> str:
    """Source class of a sighting: what came from outside is that, whatever else it is."""
    if row.flags & _EXTERNAL:
        return "external"
    return "project" if row.flags & _PROJECT_FILE else SOURCES[row.kind]


def _form(source: str, text: str, weight: float, s: RetrievalSettings) -> tuple[float, tuple[str, ...]]:
    """Weight of a passage by its class and form, with the reasons for anything below 1."""
    demoted = [source] if weight < 1 else []
    if source in _SAID_BY_AGENT and is_announcement(text):
        weight *= s.announcement
        demoted.append("announcement")
    elif source == "prompt" and is_question(text):
        weight *= s.question
        demoted.append("question")
    elif source == "prompt" and is_pasted(text):
        weight *= s.pasted
        demoted.append("pasted")
    return weight, tuple(demoted)


def _pointer(row: PointerRow) -> Pointer:
    return Pointer(
        row.event_id,
        row.start,
        row.end,
        row.session,
        row.ts,
        _source(row),
        row.exchange_id,
        row.place,
        row.flags,
        row.worker,
    )
