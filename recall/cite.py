"""Post-hoc recall: which sentences of a draft the record supports, and where.

A sentence is supported by a passage that says the same: it holds the sentence's numbers, identifiers and names, most of
its other content words, and denies what the sentence denies. All of that is computed from the words; nothing here
understands a paraphrase that shares no word, and such a sentence is listed as unsupported.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from indexer.segment import segment
from recall.facts import NUMBER, OPPOSITES, Facts, facts, fold, number, stem
from recall.turn import Candidate, Ranked

COVERAGE = 0.6  # share of a sentence's content words, facts counted double, that a passage must hold
NEAR_COVERAGE = 0.4  # enough where the vectors say that both mean the same
NEAR = 0.75  # cosine from which they do
LOOKED_AT = 12  # best results of a sentence that are held against it
LEAST_WORDS = 2  # content words without which a sentence claims nothing
SUPPORTED, CONTRADICTED, UNSUPPORTED, NO_CLAIM = "supported", "contradicted", "unsupported", "no_claim"

_FENCE = re.compile(r"^[ \t]{0,3}(```+|~~~+)")
_NOT_PROSE = re.compile(r"^[ \t]*(?:#{1,6}\s|\||<!--|={3,}\s*$|-{3,}\s*$|\[[^\]]+\]:)|^(?: {4}|\t)")
_BULLET = re.compile(r"^[ \t]*(?:>[ \t]*)*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]*_`]*(?:\s+|$)|(?<=[。！？])")
ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|mrs|z\.B|bzw|ca)\.|\b[A-Za-z]\.)$", re.I)
_CLAUSE = re.compile(r";|\s[—–-]\s|,?\s(?:but|whereas|while|aber|mais|pero)\s|,\s(?:and|because|since|which|und)\s")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a draft and where it stands there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Support:
    """What the record says to one sentence.

    `found` is the passage that supports or contradicts it, for an unsupported one the nearest miss. `missing` holds
    the sentence's facts that this passage does not hold; `coverage` is in [0, 1].
    """

    sentence: Sentence
    verdict: str
    found: Ranked | None = None
    coverage: float = 0.0
    missing: tuple[str, ...] = ()
    reason: str = ""


def sentences(draft: str) -> Iterator[Sentence]:
    """Yield the sentences of a Markdown text in order; headings, tables, code blocks and link targets are none."""
    fence, at, paragraph = "", 0, -1
    for line in [*draft.splitlines(keepends=True), ""]:
        opened = _FENCE.match(line)
        inside = bool(fence)
        if opened:
            fence = "" if inside and line.strip().startswith(fence) else fence or opened[1]
        bullet = _BULLET.match(line)
        breaks = inside or opened or not line.strip() or bullet or _NOT_PROSE.match(line)
        if breaks and paragraph >= 0:
            yield from _split(draft, paragraph, at)
            paragraph = -1
        if not (inside or opened or not line.strip()) and (bullet or not _NOT_PROSE.match(line)) and paragraph < 0:
            paragraph = at + (bullet.end() if bullet else 0)
        at += len(line)


def _split(draft: str, start: int, end: int) -> Iterator[Sentence]:
    begin = start
    for stop in [*(m for m in _SENTENCE_END.finditer(draft, start, end)), None]:
        last = end if stop is None else stop.start()
        if stop is not None and (
            ABBREVIATED.search(draft[begin : stop.start()]) or (stop.end() < end and (draft[stop.end()].islower()))
        ):
            continue
        close = last if stop is None else stop.start() + len(stop.group().rstrip())
        text = draft[begin:close].strip()
        if text:
            lead = len(draft[begin:close]) - len(draft[begin:close].lstrip())
            yield Sentence(begin + lead, begin + lead + len(text), text)
        begin = end if stop is None else stop.end()


def cite(draft: str, search: Callable[[str], Sequence[Ranked]]) -> list[Support]:
    """Hold every sentence of a draft against what search finds for it; best supported passage first of each."""
    return [support(sentence, search) for sentence in sentences(draft)]


def support(sentence: Sentence, search: Callable[[str], Sequence[Ranked]]) -> Support:
    """Return what the record says to one sentence."""
    claim = facts(sentence.text)
    if len(claim.words) + len(claim.named) < LEAST_WORDS or sentence.text.rstrip("\"'”’)*_ ").endswith(("?", "？")):
        return Support(sentence, NO_CLAIM)
    judged = [_judge(sentence, claim, ranked) for ranked in search(sentence.text)[:LOOKED_AT]]
    for verdict in (SUPPORTED, CONTRADICTED):
        # Of passages that say the same, the one with most of the sentence's words; the earlier in the list of equals.
        best = max((s for s in judged if s.verdict == verdict), key=lambda s: s.coverage, default=None)
        if best is not None:
            return best
    nearest = max(judged, key=lambda s: s.coverage, default=None)
    return nearest or Support(sentence, UNSUPPORTED, reason="nothing in the record is like it")


def _judge(sentence: Sentence, claim: Facts, ranked: Ranked) -> Support:
    """Hold one passage against a claim."""
    item = ranked.candidate
    whole = f"{item.head}\n{item.text}"
    held = frozenset(stem(w) for w in segment(whole))
    bare = fold(whole)
    missing = tuple(fact for fact in claim.named if fold(fact) not in bare)
    numbers = frozenset(number(m[0]) for m in NUMBER.finditer(whole)) | frozenset(re.findall(r"\d+", whole))
    lost = sorted(claim.numbers - numbers)
    weight = len(claim.words) + 2 * (len(claim.named) + len(claim.numbers))
    got = len(claim.words & held) + 2 * (len(claim.named) - len(missing) + len(claim.numbers) - len(lost))
    coverage = got / weight if weight else 0.0
    near = item.cosine is not None and item.cosine >= NEAR
    told = 2 * len(claim.words & held) >= len(claim.words)  # names alone say nothing of what is said about them
    same = told and coverage >= (NEAR_COVERAGE if near else COVERAGE)
    if same and not missing and not lost:
        against = _against(claim, item)
        verdict = CONTRADICTED if against else SUPPORTED
        return Support(sentence, verdict, ranked, coverage, (), against)
    reason = "the record has another value or none" if lost or missing else "it shares too few words"
    return Support(sentence, UNSUPPORTED, ranked, coverage, (*lost, *missing), reason)


def _against(claim: Facts, item: Candidate) -> str:
    """Why the statement of a passage that is most like the claim says the opposite, "" where it does not."""
    # What was recorded by a command has its statement and its reason on lines of their own.
    texts = item.text.splitlines() if item.source == "curated" else [item.text]
    parts = [facts(clause) for text in texts for s in sentences(text) for clause in _CLAUSE.split(s.text)]
    parts = parts or [facts(item.text)]
    best = max(parts, key=lambda part: (len(part.stems & claim.stems), -len(part.stems)))
    ours, theirs = claim.stems, best.stems
    for one, other in OPPOSITES:
        for a, b in ((stem(one), stem(other)), (stem(other), stem(one))):
            if a in ours and b in theirs and a not in theirs and b not in ours:
                return "" if claim.denies != best.denies else f"the record has '{b}' where the draft has '{a}'"
    if claim.denies != best.denies:
        return "one of the two denies what the other says"
    return ""
