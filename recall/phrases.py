"""Words that stand side by side in the prompt and in a passage: "function names" is not "function argument names".

On the hook path: standard library only.
"""

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from indexer.segment import segment
from recall.turn import Candidate

LEAST_PASSAGES = 2000
# Words that say how binding or how recent something is: they are of no subject.
_DIRECTIVE_WORDS = """
    always never must shall should please ensure sure make need needs want remember now currently current today anymore
    still again immer nie niemals muss müssen soll sollen bitte jetzt aktuell derzeit heute noch toujours jamais doit
    doivent maintenant actuellement encore siempre nunca debe deben ahora actualmente sempre mai deve devono adesso
    attualmente agora atualmente
"""
_DIRECTIVE = frozenset(_DIRECTIVE_WORDS.split())


def lifted(
    candidates: Sequence[Candidate], prompt: str, frequency: Mapping[str, int], passages: int, *, most: float
) -> list[Candidate]:
    """Return the candidates, best first, each lifted by up to `most` for the prompt's word pairs that it holds.

    A pair weighs as much as the more frequent of its words.
    """
    pairs = adjacent(prompt, word_weights(frequency, passages))
    whole = sum(pairs.values())
    if whole <= 0:
        return list(candidates)
    found = []
    for candidate in candidates:
        side = set(itertools.pairwise(map(stem_of, segment(candidate.text))))
        share = sum(weight for pair, weight in pairs.items() if pair in side) / whole
        found.append(replace(candidate, relevance=candidate.relevance + most * share) if share else candidate)
    return sorted(found, key=lambda c: (-c.relevance, c.chunk))


def word_weights(frequency: Mapping[str, int], passages: int) -> dict[str, float]:
    """Return stem -> idf of a prompt's words, directive ones left out; `frequency` is in how many passages each is."""
    weight: dict[str, float] = {}
    total = max(passages, LEAST_PASSAGES)
    for term, holding in frequency.items():
        if term not in _DIRECTIVE:
            idf = math.log((total - holding + 0.5) / (holding + 0.5) + 1)
            weight[stem_of(term)] = max(weight.get(stem_of(term), 0.0), idf)
    return weight


def adjacent(prompt: str, weight: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Return the pairs of weighed words that stand side by side in a prompt, each with the smaller weight."""
    words = [stem_of(word) for word in segment(prompt)]
    return {
        (a, b): min(weight[a], weight[b])
        for a, b in itertools.pairwise(words)
        if a != b and a in weight and b in weight
    }


@functools.lru_cache(maxsize=1 << 13)  # some turns' words: the service would keep every word it ever met
def stem_of(word: str) -> str:
    """Return a word without what inflects it in English: it only has to be the same for the forms of one word."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word.rstrip("e") if len(word) > 3 else word
