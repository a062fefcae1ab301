"""One turn: find, score, select and render what the past says about a prompt.

On the hook path: standard library only. The same code serves the hook with and without the service, `recall query`,
the demo and the evaluation. Same index, query, settings and `now`: same bytes.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from indexer.reader import Reader
from indexer.rows import TALK, WISH
from recall.adaptive import SKIP, cut_down, decide, read_signals
from recall.audiences import PRIVATE, wide
from recall.candidates import Found, candidates
from recall.cues import Cues, read_cues
from recall.facets import NOTHING as NO_FACETS
from recall.facets import Facets, applied, disclosed
from recall.gate import Asked, asked, gate_score, threshold
from recall.governed import with_standing
from recall.heading import with_prompts
from recall.history import asks_for_history
from recall.injection import Rendered, inject, point
from recall.likeness import folded
from recall.opening import with_openings
from recall.phrases import lifted
from recall.policy import forbidden, with_secrets, withheld
from recall.query import Query
from recall.selection import MEMORY_SOURCES, POLICY, Scored, choose, diversified, sourced, unique
from recall.settings import Settings
from recall.since import annotated, behind
from recall.supersession import newest_first
from recall.time_words import stretch
from recall.turn import Before, Candidate, CountTokens, Ranked, Scorer, Turn, Vectors
from recall.verbatim import wants_exact_words
from scoring.recency import age_days
from scoring.score import Features, score_all
from scoring.weights import Scales

NOTHING_BEFORE = Before()
LEFT_FOR_ROOM = frozenset({"no_place", "shrunk", "deferred"})  # good enough, and the block says how many


def recall(
    query: Query,
    reader: Reader,
    vectors: Vectors | None,
    settings: Settings,
    *,
    now: datetime,
    count_tokens: CountTokens,
    scorer: Scorer = score_all,
    already: frozenset[str] = frozenset(),
    before: Before = NOTHING_BEFORE,
    pruned: frozenset[str] = frozenset(),
    facets: Facets = NO_FACETS,
) -> Turn:
    """Find, score, select and render what the past says about query.

    `vectors` is None, or returns None, where only words can be searched. `already` holds the ids of events that
    were injected into this session since its last compaction, `before` what became of the last injection, `pruned`
    the events of this session that its window no longer holds, `facets` what is known of items besides their words.
    Nothing is written.
    """
    clock = _Clock()
    sought = settings.retrieval
    cues = read_cues(query.prompt, mode=query.mode, gloss=sought.gloss, parts=sought.parts)
    if cues.reason:
        return Turn("", (), cues.reason, terms=cues.terms, stages=clock.stages)
    then = query.as_of or now
    named = stretch(cues.text, then, language=cues.language)
    searched = query.mode == "tool"
    history = query.history or asks_for_history(cues.text, now=then, when=named, searched=searched)
    query = replace(query, history=history)
    cues = replace(cues, history=history, verbatim=wants_exact_words(cues.text))
    if sought.when > 0:
        cues = replace(cues, when=named)
    only = frozenset(reader.chunks_of(*facets.open_to(query, now))) if wide(query.audience) else None
    found = candidates(query, cues, reader, vectors, sought, pruned=pruned, only=only)
    if sought.phrase > 0:
        lift = lifted(found.candidates, cues.text, found.frequency, found.passages, most=sought.phrase)
        found = replace(found, candidates=tuple(lift))
    open_ = disclosed(found.candidates, facets, query, now)
    held = applied(with_standing(open_, reader, query, now=now), facets, query)
    found = replace(found, candidates=tuple(held))
    if settings.selection.since and not wide(query.audience):
        as_of = None if query.as_of is None else int(query.as_of.timestamp())
        noted = annotated(found.candidates, reader, as_of=as_of, private=query.audience == PRIVATE)
        found = replace(found, candidates=tuple(noted))
    clock.lap("candidates")
    scales = settings.scales
    if scales.experience_form == "hits":
        scales = replace(scales, experience_cap=float(max(1, reader.most_hits())))
    scores = scorer(
        [features(c, now, scales, verbatim=cues.verbatim) for c in found.candidates], settings.weights, scales
    )
    scored = [Scored(c, score) for c, score in zip(found.candidates, scores, strict=True)]
    clock.lap("score")
    ranked, reason, prompt = select(scored, found, cues, query, settings, now=now, already=already)
    best = gate_score([r.candidate for r in ranked if r.verdict not in POLICY], prompt)
    signals = read_signals(ranked, cues.terms, best=best, threshold=threshold(prompt, settings.gate), before=before)
    budget = decide(ranked, signals, settings.budget.mode, silent=reason)
    ranked = cut_down(ranked, budget)
    if not wide(query.audience):  # there an item shows its own words alone
        ranked = with_openings(ranked, reader, query, settings.budget)
        ranked = with_prompts(ranked, reader, settings.budget.head_chars)
    clock.lap("select")
    ranked, rendered = render(
        ranked, query, settings, now=now, found=found, count_tokens=count_tokens, terms=cues.terms
    )
    clock.lap("render")
    return Turn(
        rendered.block,
        tuple(ranked),
        "" if rendered.block else reason or ("ignored_and_weak" if budget.branch == SKIP else "no_room"),
        found.words_only,
        cues.terms,
        rendered.tokens,
        len(found.candidates),
        best,
        clock.stages,
        budget,
    )


def features(candidate: Candidate, now: datetime, scales: Scales | None = None, *, verbatim: bool = False) -> Features:
    """What the six terms are computed from; a time after now counts as now.

    How old a turn of a talk between people is says nothing of its worth (LoCoMo): it counts as half faded, T = 1/2.
    """
    at = candidate.pointer
    half = (scales or Scales()).half_life_days
    return Features(
        relevance=candidate.relevance,
        age_days=half if at.flags & TALK else age_days(candidate.held, now),
        raw_experience=candidate.standing.raw_experience,
        source=candidate.voice,
        verbatim=verbatim,
        matches=candidate.standing.matches,
        risks=candidate.standing.risks,
        hits=candidate.standing.hits,
    )


def select(
    scored: Sequence[Scored],
    found: Found,
    cues: Cues,
    query: Query,
    settings: Settings,
    *,
    now: datetime,
    already: frozenset[str] = frozenset(),
) -> tuple[list[Ranked], str, Asked]:
    """Policy, near copies, diversity, gate, shares: every item with its verdict, what may be shown in rank order.

    Besides: why nothing is shown ("" where something is), and what the gate knew of the prompt.
    """
    prompt = folded(cues.text)
    secret = with_secrets([item.candidate for item in scored])
    passed: list[Scored] = []
    out: list[Ranked] = []
    for item in sorted(scored, key=lambda s: s.order):
        reason = forbidden(item.candidate, query, now=now, allowed=found.allowed, prompt=prompt)
        reason = reason or ("secret" if item.candidate.chunk in secret else "")
        if reason:
            out.append(Ranked(withheld(item.candidate), item.score, reason))
        elif any(event in already for event in _events(item.candidate)):
            out.append(Ranked(item.candidate, item.score, "already_injected"))
        elif cues.bare and settings.gate.bare_acts and not _governs(item.candidate):
            out.append(Ranked(item.candidate, item.score, "bare_command"))
        else:
            passed.append(item)
    passed, quoted = sourced(passed, settings.selection)
    kept, copies = unique(passed, settings.selection, head_chars=settings.budget.head_chars)
    ordered = diversified(kept, settings.selection)
    if not query.history:
        newest = settings.selection.newest_first and cues.when is None  # a named time asks for what was said then
        ordered = by_time(ordered, cues.text, found) if newest else ordered
        ordered = behind(ordered)
    read = asked(
        [*(item.candidate for item in passed), *(r.candidate for r in out if r.verdict not in POLICY)],
        found.frequency,
        passages=found.passages,
        words_only=bool(found.words_only) or found.few_vectors,
        settings=settings.gate,
    )
    ranked, reason = choose(ordered, settings.gate, settings.selection, read, places=settings.budget.items)
    if not ranked and out:
        reason = out[0].verdict
    return [*ranked, *quoted, *copies, *out], reason, read


def _events(candidate: Candidate) -> set[str]:
    """The events whose words an item shows, or quotes."""
    quotes = candidate.standing.quotes
    return {p.event for p in candidate.pointers} | ({quotes[0]} if quotes else set())


def _governs(candidate: Candidate) -> bool:
    """Whether an item says how work is done: curated memory, or what a person laid down for all of it."""
    return candidate.source in MEMORY_SOURCES or bool(candidate.pointer.flags & WISH)


def by_time(ordered: Sequence[Scored], prompt: str, found: Found) -> list[Scored]:
    """The list with equal statements newest first; a moved item keeps its score and says that it was moved."""

    def risk(item: Scored) -> float:
        return item.score.terms().get("K", 0.0)  # other systems' scores have none

    newest = newest_first(ordered, prompt, found.frequency, found.passages, risk)
    return [
        now if now is before else replace(now, candidate=replace(now.candidate, moved=True))
        for before, now in zip(ordered, newest, strict=True)
    ]


def render(
    ranked: Sequence[Ranked],
    query: Query,
    settings: Settings,
    *,
    now: datetime,
    found: Found,
    count_tokens: CountTokens,
    terms: Sequence[str] = (),
) -> tuple[list[Ranked], Rendered]:
    """Render what was chosen, with policy asked once more about each item; mark what had no room."""
    prompt = folded(query.prompt)
    secret = with_secrets([r.candidate for r in ranked if r.shown])
    result = list(ranked)
    for i, r in enumerate(ranked):
        if r.shown:
            reason = forbidden(r.candidate, query, now=now, allowed=found.allowed, prompt=prompt)
            reason = reason or ("secret" if r.candidate.chunk in secret else "")
            if reason:
                result[i] = replace(r, verdict=reason, candidate=withheld(r.candidate))
    places = [i for i, r in enumerate(result) if r.shown]
    deferred = [r.candidate for r in result if r.verdict == "deferred"]
    if deferred and not places:
        return result, point(deferred, terms, settings.budget, harness=query.harness, count_tokens=count_tokens)
    spare = sum(1 for r in result if r.verdict in LEFT_FOR_ROOM)
    rendered = inject(
        [_without_own_head(result[i].candidate, prompt) for i in places],
        settings.budget,
        harness=query.harness,
        count_tokens=count_tokens,
        missing=spare,
    )
    for number, i in enumerate(places):
        if number not in rendered.kept:
            result[i] = replace(result[i], verdict="no_room")
    return result, rendered


def _without_own_head(candidate: Candidate, prompt: str) -> Candidate:
    """Without the head of its prompt where that is the prompt now asked: a harness may not name its session."""
    head = folded(candidate.head).rstrip("…").rstrip(".")
    return replace(candidate, head="") if head and prompt.startswith(head) else candidate


class _Clock:
    """Milliseconds of each stage; they enter the ledger and no decision."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        at = time.perf_counter()
        self.stages[stage] = round((at - self._last) * 1000, 2)
        self._last = at
