"""When a turn stays silent: a calibrated gate in three parts, each of which can be switched off.

On the hook path: standard library only.

- evidence: the best evidence b of a candidate, half of it earned by the share c of the prompt's words, weighed by
  rarity, that its session's candidates hold together, and damped for a prompt of few content words n:

      max over candidates of b * (1 + c) / 2, times n / (n + 1)

  Recency and place say nothing about relevance and stay out of it. A very short prompt resembles everything, and a
  question of another subject resembles something by one word or by its tone: its other words are said nowhere near.
  Where only words were searched, or most passages have no vector yet, the threshold is that of words, and the score
  times the root of the share of those words that were ever said: a new word is a sign of a new subject. (With vectors
  that costs more than it gives: a prompt in another language is all new words.)
- item: an item needs a cosine at the similarity floor, or a rare word of the prompt. Equal to the floor passes.
- margin: an item far below the best one adds nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.lexical import idf
from recall.settings import GateSettings
from recall.turn import Candidate

NO_CANDIDATES = "no_candidates"
LOW_EVIDENCE = "low_evidence"
BELOW_FLOOR = "below_floor"
BELOW_MARGIN = "below_margin"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the gate knows of a prompt: its content words, how many were ever said, which are rare, and where."""

    words: int
    known: int
    words_only: bool
    rare: frozenset[str] = frozenset()
    covered: Mapping[str, float] = field(default_factory=dict)  # session -> share of the words, weighed by rarity


def asked(
    items: Iterable[Candidate],
    frequency: Mapping[str, int],
    *,
    passages: int,
    words_only: bool,
    settings: GateSettings,
) -> Asked:
    """Read a prompt's words; `frequency` says how many passages hold each of them, `items` which may be shown."""
    known = sum(1 for count in frequency.values() if count)
    rare = rare_terms(frequency, passages=passages, share=settings.rare_share)
    covered = session_cover(items, {term: idf(passages, holding) for term, holding in frequency.items()})
    return Asked(len(frequency), known, words_only, rare, covered)


def closed(items: Sequence[Candidate], prompt: Asked, settings: GateSettings) -> str:
    """Why nothing may be shown for this prompt; "" where the gate is open."""
    if max((item.evidence for item in items), default=0.0) <= 0.0:
        return NO_CANDIDATES
    if not settings.evidence:
        return ""
    return "" if gate_score(items, prompt) >= threshold(prompt, settings) else LOW_EVIDENCE


def threshold(prompt: Asked, settings: GateSettings) -> float:
    """What the gate's score is compared with."""
    return settings.threshold_words if prompt.words_only else settings.threshold


def gate_score(items: Iterable[Candidate], prompt: Asked) -> float:
    """Best evidence with what its session says of the prompt's words, damped for prompts of few words or new ones."""
    if not prompt.words:
        return 0.0
    damping = prompt.words / (prompt.words + 1)
    if prompt.words_only:
        damping *= math.sqrt(prompt.known / prompt.words)
    with_cover = (i.evidence * (1 + prompt.covered.get(i.pointer.session, 0.0)) / 2 for i in items)
    return max(with_cover, default=0.0) * damping


def session_cover(items: Iterable[Candidate], weight: Mapping[str, float]) -> dict[str, float]:
    """Session -> share, 0 to 1, of a prompt's weighed words that its items hold together."""
    held: dict[str, set[str]] = {}
    for item in items:
        held.setdefault(item.pointer.session, set()).update(item.matched)
    whole = math.fsum(weight.values()) or 1.0
    return {session: math.fsum(weight.get(term, 0.0) for term in terms) / whole for session, terms in held.items()}


def item_refused(candidate: Candidate, *, best: float, rare: frozenset[str], settings: GateSettings) -> str:
    """Why this item may not be shown; "" where it may."""
    if settings.item:
        near = candidate.cosine is not None and candidate.cosine >= settings.similarity_floor
        if not near and not (settings.rare and candidate.matched & rare):
            return BELOW_FLOOR
    if settings.margin and candidate.relevance < settings.margin_share * best:
        return BELOW_MARGIN
    return ""


def rare_terms(frequency: Mapping[str, int], *, passages: int, share: float) -> frozenset[str]:
    """Words of the prompt that at most this share of the passages hold; a small store counts as if it held 2,000."""
    most = share * max(passages, 2000)
    return frozenset(term for term, count in frequency.items() if 0 < count <= most)
