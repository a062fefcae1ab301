"""Whether the words that a claim rests on say it.

`quoted`: the claim is one or more whole sentences of a source. `covered`: it is a clause of one, cut where a clause
ends, with nothing before or behind it that denies, restricts or doubts it. Articles, fillers and marks of emphasis may
differ and nothing else may: a paraphrase is never covered. `partial` shares half of its words with a source, `none`
does not, or states a number, a name or a denial that the source does not have. None of it proves a claim.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from consolidation.align import Token, align, find_run, tokens, words_of
from consolidation.claims import Claim, claims
from consolidation.model import Support

LEAST_TOKENS = 4  # of a claim that is less than a whole sentence
PARTIAL = 0.5  # share of a claim's tokens that stand in a sentence in its order
LOOKED_BEHIND = 3  # tokens behind a clause in which a restriction still belongs to it
QUOTED, COVERED, SOME, NONE = "quoted", "covered", "partial", "none"
_BOUNDARY = re.compile(r"[,;:()\[\]—–]|\s-+\s|\n|(?<=etc)\.\s")
_REPORTS = words_of(
    "say says said claim claims claimed suggest suggests suggested comment comments report reports reported wonder "
    "check verify assume assumes assumed pretend hope hopes expect expects expected want wants ask asks asked wrote "
    "mention mentions mentioned feedback propose proposes proposed consider ensure sure unlike"
)
_TURNED = frozenset({"den", "cond", "hedge", "turn"})


def support(claim: str, sources: Sequence[str]) -> Support:
    """Return how far sources hold a claim, and which of them does best; a question is held by none."""
    words = tokens(claim)
    if not words or Claim(claim, 0, len(claim)).asks:
        return Support(NONE, reason="a question claims nothing" if words else "it has no word")
    best = Support(NONE, reason="no source shares half of its words in their order")
    for number, source in enumerate(sources):
        found = _held(words, _Source(source), number)
        if _RANK[found.kind] > _RANK[best.kind] or (found.missing and not best.missing and best.kind == NONE):
            best = found
        if best.kind == QUOTED:
            break
    return best


_RANK = {NONE: 0, SOME: 1, COVERED: 2, QUOTED: 3}


def says(text: str, claim: str) -> bool:
    """Whether a text says a claim: quotes or covers it."""
    words, source = tokens(claim), _source(text)
    return bool(words) and bool(_run(words, source))


class _Source:
    """A source as tokens, and where its sentences begin and end among them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.sentences: list[tuple[int, int, bool]] = []  # first token, behind the last, whether it is a question
        at = 0
        for claim in claims(text):
            first = at
            while first < len(self.tokens) and self.tokens[first].start < claim.start:
                first += 1
            at = first
            while at < len(self.tokens) and self.tokens[at].start < claim.end:
                at += 1
            if at > first:
                self.sentences.append((first, at, claim.asks))

    def breaks(self, left: int, right: int) -> bool:
        """Whether a clause ends between two neighbouring tokens."""
        return _BOUNDARY.search(self.text, self.tokens[left].end, self.tokens[right].start) is not None


@lru_cache(maxsize=256)
def _source(text: str) -> _Source:
    """A memory is asked whether it says one claim after the other: it is taken apart once."""
    return _Source(text)


def _run(words: Sequence[Token], source: _Source) -> str:
    """How a claim stands in a source, "" where it does not."""
    kind = ""
    for at in find_run(words, source.tokens):
        found = _standing(source, at, at + len(words))
        if found == QUOTED or (found == COVERED and len(words) >= LEAST_TOKENS):
            kind = QUOTED if QUOTED in (kind, found) else COVERED
    return kind


def _held(words: Sequence[Token], source: _Source, number: int) -> Support:
    kind = _run(words, source)
    return Support(kind, number) if kind else _shared(words, source, number)


def _standing(source: _Source, start: int, end: int) -> str:
    """How the run [start, end) stands in its sentences: quoted, covered, or "" where its surroundings turn it."""
    touched = [s for s in source.sentences if s[0] < end and s[1] > start]
    if not touched or any(asks for *_, asks in touched):
        return ""
    first, last = touched[0][0], touched[-1][1]
    if first == start and last == end:
        return QUOTED
    before, behind = source.tokens[first:start], source.tokens[end : min(last, end + LOOKED_BEHIND)]
    if before and not source.breaks(start - 1, start):
        return ""
    semicolon = source.text.rfind(";", before[0].start if before else 0, source.tokens[start].start)
    before = tuple(token for token in before if token.start > semicolon)  # what it ends is a statement of its own
    if behind and not source.breaks(end - 1, end):
        return ""
    if any(t.kind in _TURNED or t.text.lower() in _REPORTS for t in before):
        return ""
    if any(t.kind in ("cond", "hedge") or t.text.lower() in _REPORTS for t in behind):
        return ""
    return COVERED


def _shared(words: Sequence[Token], source: _Source, number: int) -> Support:
    """What a source that does not hold a claim has of it; facts and denials of its own make it `none`."""
    best: list[tuple[int, int]] = []
    ours = Counter(t.stem for t in words)
    window: tuple[int, int] = (0, 0)
    for at, (first, last, _) in enumerate(source.sentences):
        for end in {last, source.sentences[min(at + 1, len(source.sentences) - 1)][1]}:
            both = ours & Counter(t.stem for t in source.tokens[first:end])
            if both.total() <= max(len(best), PARTIAL * len(words) - 1):
                continue  # no more of it can stand there in order
            pairs = align(words, source.tokens[first:end])
            if len(pairs) > len(best):
                best, window = pairs, (first, end)
    if len(best) < PARTIAL * len(words):
        return Support(NONE, -1, reason="no source shares half of its words in their order")
    missing = tuple(t.text for t in words if t.is_fact and not any(t.same(other) for other in source.tokens))
    if missing:
        return Support(NONE, -1, missing, "the source has another value or none")
    inside = source.tokens[window[0] + best[0][1] : window[0] + best[-1][1] + 1]
    if (sum(t.kind == "den" for t in words) - sum(t.kind == "den" for t in inside)) % 2:
        return Support(NONE, -1, (), "one of the two denies what the other says")
    return Support(SOME, number, reason="the source says it in other words, or with more around it")
