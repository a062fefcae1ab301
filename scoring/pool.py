"""The six terms over a whole pool at once, in NumPy; equal to the scalar functions, which are the reference."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.applicability import applicability
from scoring.authority import authority
from scoring.experience import experience_value
from scoring.risk import risk
from scoring.score import TERMS, Features, Part, Score
from scoring.weights import Scales, Weights

Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)


def pool_terms(features: Sequence[Features], scales: Scales | None = None) -> dict[str, Array]:
    """Letter -> array of values, one per candidate and in their order; empty arrays for an empty pool."""
    s = scales or Scales()
    relevance = _column([f.relevance for f in features], "relevance")
    age = _column([f.age_days for f in features], "age_days")
    risen = (relevance / s.similarity_half_at) ** s.similarity_steepness
    proofs = [(f.raw_experience, f.hits) for f in features]
    experience = _by_value(proofs, lambda key: experience_value(*key, s))  # nearly all of a pool have none
    return {
        "S": risen / (risen + 1.0),
        "E": experience,
        "T": np.exp2(-age / (s.half_life_days * (1.0 + s.stretch * experience))),
        "A": _by_value([(f.source, f.verbatim) for f in features], lambda key: authority(key[0], verbatim=key[1])),
        "Q": _by_value([f.matches for f in features], applicability),
        "K": _by_value([f.risks for f in features], risk),
    }


def score_pool(features: Sequence[Features], weights: Weights, scales: Scales | None = None) -> list[Score]:
    """Score a whole pool; the same result as `score_all`."""
    columns = pool_terms(features, scales)
    shape = [(t.letter, weights.of(t.letter), t.sign, columns[t.letter].tolist()) for t in TERMS]
    return [
        Score(tuple(Part(letter, values[i], weight, sign) for letter, weight, sign, values in shape))
        for i in range(len(features))
    ]


def _column(values: list[float], name: str) -> Array:
    column = np.asarray(values, dtype=np.float64)
    strange = column[~((column >= 0) & np.isfinite(column))]
    if strange.size:
        raise ValueError(f"{name} is {strange[0]}, must be finite and not negative")
    return column


def _by_value(keys: Sequence[Key], term: Callable[[Key], float]) -> Array:
    """A term of few distinct inputs: computed once per input by the reference itself."""
    known = {key: term(key) for key in set(keys)}
    return np.asarray([known[key] for key in keys], dtype=np.float64)
