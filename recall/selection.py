"""From a scored list to what a turn shows: policy, near copies, diversity, gate, shares of the kinds, and reasons.

On the hook path: standard library only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recall.gate import Asked, closed, item_refused
from recall.likeness import folded, jaccard, tokens, without_ids
from recall.settings import GateSettings, SelectionSettings
from recall.turn import Candidate, Ranked
from scoring.score import Score

MEMORY_SOURCES = frozenset({"curated", "memory", "project"})
SHOWN = "shown"
DIVERSIFIED = 20  # only the head of the list is reordered: nothing behind it is shown

REASONS = {
    "own_session": "stands in the running session, or outside what was asked for",
    "private": "private, and somebody else may read along",
    "superseded": "replaced by something newer",
    "invalid": "outside its time of validity",
    "after_as_of": "recorded after the time that was asked for",
    "own_injection": "holds a block that recall itself injected",
    "same_as_prompt": "the prompt itself",
    "secret": "holds a credential",
    "shown_as_head": "stands on the head line of the answer to it, which carries its pointer",
    "near_copy": "the same text as a better item, which carries its pointer",
    "same_source": "the words that a memory quotes; it carries the pointer to them",
    "same_record": "another passage of a record that is already in the list",
    "already_injected": "already injected into this session since its last compaction",
    "bare_command": "the prompt is a bare command: only decisions, corrections and notes may answer it",
    "no_candidates": "nothing in the past shares a word or a meaning with the prompt",
    "low_evidence": "the best match is too weak for any item to be shown",
    "below_floor": "neither near enough in meaning nor holding a rare word of the prompt",
    "below_margin": "far weaker than the best item",
    "no_place": "all places are taken by better items",
    "no_room": "did not fit into the budget",
    "shrunk": "the adaptive budget left it out: it is far below the best item",
    "deferred": "the adaptive budget pointed at it instead",
    "skipped": "the adaptive budget showed nothing: what was injected last was not used, and this goes on about it",
}
POLICY = frozenset(
    {
        "own_session",
        "private",
        "superseded",
        "invalid",
        "after_as_of",
        "own_injection",
        "same_as_prompt",
        "secret",
    }
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score."""

    candidate: Candidate
    score: Score

    @property
    def order(self) -> tuple[float, str, int]:
        """Best first; ties by event id and place, never by chance."""
        return (-self.score.total, self.candidate.pointer.event, self.candidate.pointer.start)


def sourced(scored: Sequence[Scored], settings: SelectionSettings) -> tuple[list[Scored], list[Ranked]]:
    """Best first: a memory and a passage that holds the words it quotes are one item, at the better place.

    The memory speaks where it is the better one, or where its words are most of the passage and no inference; else
    the passage does, for it says more. Either carries the pointer of the other. What a memory is known to risk (stale,
    conflict) holds for the words that it quotes: then it speaks, at its own place.
    """
    ordered = sorted(scored, key=lambda s: s.order)
    dropped: list[Ranked] = []
    for memory in [item for item in ordered if settings.same_source and item.candidate.standing.quotes]:
        for passage in [item for item in ordered if _quotes(memory.candidate, item.candidate)]:
            better = min(memory, passage, key=lambda s: s.order)
            risky = bool(memory.candidate.standing.risks)
            speaks = risky or better is memory or _is_most_of(memory.candidate, passage.candidate)
            front, back = (memory, passage) if speaks else (passage, memory)
            joined = Scored(_both(front.candidate, back.candidate), memory.score if risky else better.score)
            ordered = [item for item in ordered if item is not memory and item is not passage]
            ordered = sorted([*ordered, joined], key=lambda s: s.order)
            dropped.append(Ranked(back.candidate, back.score, "same_source"))
            if not speaks:
                break
            memory = joined
    return ordered, dropped


def _is_most_of(memory: Candidate, passage: Candidate) -> bool:
    """Whether the words that a memory quotes are at least half of a passage, and the memory says what they say."""
    quoted = memory.standing.quotes
    half = quoted is not None and 2 * (quoted[2] - quoted[1]) >= len(passage.text)
    return half and memory.voice != "inference"


def _quotes(memory: Candidate, passage: Candidate) -> bool:
    """Whether a passage of the record holds words that a memory quotes."""
    if memory.standing.quotes is None or passage.standing.quotes is not None:
        return False
    event, start, end = memory.standing.quotes
    return any(p.event == event and p.start < end and start < p.end for p in passage.pointers)


def unique(
    scored: Sequence[Scored], settings: SelectionSettings, *, head_chars: int = 0
) -> tuple[list[Scored], list[Ranked]]:
    """Best first: one item a record, near copies collapsed into the better one, which takes over their pointers.

    A prompt of at most head_chars and the answer to it are one item, at the better place: the answer is shown, with
    the prompt on its head line.

    Two pasted texts are near copies also where they differ in ids and times alone: the same output, printed twice.
    Where two near copies differ in more than folding, the later one speaks: a restated value is the current one.
    """
    kept: list[Scored] = []
    dropped: list[Ranked] = []
    words: list[frozenset[str]] = []
    bare: list[frozenset[str]] = []  # the same of pasted texts without ids and times, empty for others
    folds: list[str] = []
    records: set[str] = set()
    exchanges: dict[int, int] = {}  # exchange -> its place among those kept
    for item in sorted(scored, key=lambda s: s.order):
        text = item.candidate.text
        if item.candidate.pointer.event in records:
            dropped.append(Ranked(item.candidate, item.score, "same_record"))
            continue
        fold, bag = folded(text), tokens(text)
        rest = tokens(without_ids(text)) if item.candidate.voice == "pasted" else frozenset()
        place = exchanges.get(item.candidate.pointer.exchange, -1)
        if place >= 0 and _asked_and_answered(kept[place].candidate, item.candidate, head_chars):
            leader = kept[place]
            front, back = (leader, item) if leader.candidate.source == "final" else (item, leader)
            kept[place] = Scored(_both(front.candidate, back.candidate), leader.score)
            records.update(p.event for p in item.candidate.pointers)
            dropped.append(Ranked(back.candidate, back.score, "shown_as_head"))
            continue
        twin = next((i for i, f in enumerate(folds) if f == fold), None)
        if twin is None:
            likest = (max(jaccard(bag, words[i]), jaccard(rest, bare[i])) for i in range(len(words)))
            twin = next((i for i, likeness in enumerate(likest) if likeness >= settings.near_copy), None)
        if twin is None:
            kept.append(item)
            words.append(bag)
            bare.append(rest)
            folds.append(fold)
            if item.candidate.pointer.exchange and item.candidate.source in ("prompt", "final"):
                exchanges.setdefault(item.candidate.pointer.exchange, len(kept) - 1)
            records.update(p.event for p in item.candidate.pointers)
            continue
        leader = kept[twin]
        later = folds[twin] != fold and item.candidate.pointer.said > leader.candidate.pointer.said
        front, back = (item, leader) if later else (leader, item)
        kept[twin] = Scored(_joined(front.candidate, back.candidate), leader.score)
        if later:
            words[twin], bare[twin], folds[twin] = bag, rest, fold
        records.update(p.event for p in item.candidate.pointers)
        dropped.append(Ranked(back.candidate, back.score, "near_copy"))
    return kept, dropped


def _asked_and_answered(one: Candidate, other: Candidate, head_chars: int) -> bool:
    """Whether two items of an exchange are its answer and a prompt so short that the answer's head line holds it."""
    if {one.source, other.source} != {"prompt", "final"}:
        return False
    prompt, answer = (one, other) if one.source == "prompt" else (other, one)
    return " ".join(prompt.text.split()) == answer.head.strip() and len(answer.head) <= head_chars


def _both(front: Candidate, back: Candidate) -> Candidate:
    """The one with the evidence of both: it shows the other's words as well."""
    cosines = [c for c in (front.cosine, back.cosine) if c is not None]
    return replace(
        _joined(front, back),
        bm25=max(front.bm25, back.bm25),
        cosine=max(cosines, default=None),
        matched=front.matched | back.matched,
        evidence=max(front.evidence, back.evidence),
        relevance=max(front.relevance, back.relevance),
    )


def _joined(front: Candidate, back: Candidate) -> Candidate:
    known = {(p.event, p.start) for p in front.pointers}
    more = tuple(p for p in back.pointers if (p.event, p.start) not in known)
    return replace(front, pointers=front.pointers + more)


def diversified(scored: Sequence[Scored], settings: SelectionSettings) -> list[Scored]:
    """Reorder by maximal marginal relevance: score - diversity * greatest Jaccard with what stands above.

    Every item stays in the list: the right session is usually one, and deserves several places.
    """
    ordered = sorted(scored, key=lambda s: s.order)
    if settings.diversity <= 0:
        return ordered
    rest, behind = ordered[:DIVERSIFIED], ordered[DIVERSIFIED:]
    bags = {id(item): tokens(item.candidate.text) for item in rest}
    worst = dict.fromkeys((id(item) for item in rest), 0.0)
    chosen: list[Scored] = []
    while rest:
        best = min(rest, key=lambda s: (settings.diversity * worst[id(s)] - s.score.total, *s.order[1:]))
        rest.remove(best)
        chosen.append(best)
        for item in rest:
            worst[id(item)] = max(worst[id(item)], jaccard(bags[id(item)], bags[id(best)]))
    return chosen + behind


def choose(
    ordered: Sequence[Scored], gate: GateSettings, settings: SelectionSettings, prompt: Asked, *, places: int
) -> tuple[list[Ranked], str]:
    """Give every item a verdict, in the order of the list; also say why nothing is shown, "" where something is.

    The kinds have shares, not walls: four places for memories and two for transcript, kept for items that are near
    the best one; what one kind leaves unused the other takes.
    """
    best = max((item.candidate.relevance for item in ordered), default=0.0)
    shut = closed([item.candidate for item in ordered], prompt, gate)
    verdicts = [shut or item_refused(item.candidate, best=best, rare=prompt.rare, settings=gate) for item in ordered]
    passing = [i for i, verdict in enumerate(verdicts) if not verdict]
    seated = _seated([ordered[i] for i in passing], settings, places)
    for place, i in enumerate(passing):
        verdicts[i] = SHOWN if place in seated else "no_place"
    ranked = [Ranked(item.candidate, item.score, verdict) for item, verdict in zip(ordered, verdicts, strict=True)]
    if passing:
        return ranked, ""
    return ranked, shut or (verdicts[0] if verdicts else "no_candidates")


def _seated(items: Sequence[Scored], settings: SelectionSettings, places: int) -> set[int]:
    """Indexes of the items that get a place: each kind's own share first, then the best of what is left.

    A share keeps no place for what is far below the best item: there a better item of the other kind says more.
    """
    shares = {True: settings.memory_items, False: settings.transcript_items}
    least = settings.reserve_share * max((item.candidate.relevance for item in items), default=0.0)
    seated: list[int] = []
    for index, item in enumerate(items):
        kind = item.candidate.source in MEMORY_SOURCES
        if shares[kind] > 0 and len(seated) < places and item.candidate.relevance >= least:
            shares[kind] -= 1
            seated.append(index)
    for index in range(len(items)):
        if len(seated) >= places:
            break
        if index not in seated:
            seated.append(index)
    return set(seated)
