"""When a turn stays silent: a calibrated gate in three parts, each of which can be switched off.

On the hook path: standard library only.

- evidence: the best relevance b of any candidate, times n / (n + 1) for the prompt's n content words. Recency and
  place say nothing about relevance and stay out of it. A very short prompt resembles everything: n keeps it closed,
  unless a passage is near in meaning and holds half of the words, among them one that hardly any passage holds
  ("which ledger is used?").
  Where only words were searched, times the root of the share of those words that were ever said: a new word is a sign
  of a new subject. (With vectors that costs more than it gives: a prompt in another language is all new words.)
- item: an item needs a cosine at the similarity floor, or a rare word of the prompt. Equal to the floor passes.
- margin: an item far below the best one adds nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall.settings import GateSettings
from recall.turn import Candidate

NO_CANDIDATES = "no_candidates"
LOW_EVIDENCE = "low_evidence"
BELOW_FLOOR = "below_floor"
BELOW_MARGIN = "below_margin"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the gate knows of a prompt: its content words, how many of them were ever said, and which are rare."""

    words: int
    known: int
    words_only: bool
    rare: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()  # rarer still: a word that names the subject


def asked(frequency: Mapping[str, int], *, passages: int, words_only: bool, settings: GateSettings) -> Asked:
    """Read a prompt's words; `frequency` says how many passages hold each of them."""
    known = sum(1 for count in frequency.values() if count)
    rare = rare_terms(frequency, passages=passages, share=settings.rare_share)
    telling = rare_terms(frequency, passages=passages, share=settings.telling_share)
    return Asked(len(frequency), known, words_only, rare, telling)


def closed(items: Sequence[Candidate], prompt: Asked, settings: GateSettings) -> str:
    """Why nothing may be shown for this prompt; "" where the gate is open."""
    if max((item.evidence for item in items), default=0.0) <= 0.0:
        return NO_CANDIDATES
    if not settings.evidence:
        return ""
    return "" if gate_score(items, prompt, settings) >= threshold(prompt, settings) else LOW_EVIDENCE


def threshold(prompt: Asked, settings: GateSettings) -> float:
    """What the gate's score is compared with."""
    return settings.threshold_words if prompt.words_only else settings.threshold


def gate_score(items: Sequence[Candidate], prompt: Asked, settings: GateSettings) -> float:
    """Best relevance, damped for prompts of few content words and, by words alone, of new ones."""
    if not prompt.words:
        return 0.0
    damping = prompt.words / (prompt.words + 1)
    if prompt.words_only:
        damping *= math.sqrt(prompt.known / prompt.words)
    return max((i.evidence * (1.0 if _clear(i, prompt, settings) else damping) for i in items), default=0.0)


def _clear(item: Candidate, prompt: Asked, settings: GateSettings) -> bool:
    """Whether a passage answers a short prompt beyond doubt: near in meaning, and half of its words, one telling."""
    near = item.cosine is not None and item.cosine >= settings.similarity_floor
    return near and bool(item.matched & prompt.telling) and 2 * len(item.matched) >= prompt.words


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
