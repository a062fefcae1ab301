"""Other ways to score, run through the same pipeline as ours: candidates, selection, gate and budget stay as they are.

genagents  Park et al. 2023: recency + importance + relevance, each scaled to [0, 1] over the candidates at hand.
           Importance is a language model's estimate when a thing is written; there is none here, so it is the same
           for all. Recency should count from the last retrieval; what a turn shows is no evidence, so it counts from
           when the thing was said.
actr       ours, with E as ACT-R's base-level activation, as odds: e^B / (1 + e^B), B = ln of the sum of age_hours^-0.5
           over the presentations: the saying itself, and one for each session that cited it, all taken to be as old.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recall.turn import Scorer
from scoring.score import Features, Part, Score, score_all
from scoring.weights import Scales, Weights

DECAY_AN_HOUR = 0.995
ACTIVATION_DECAY = 0.5


def genagents(features: Sequence[Features], weights: Weights, scales: Scales | None = None, /) -> list[Score]:
    """Score as the Generative Agents do; a score depends on the other candidates, ours never do."""
    relevance = scaled([f.relevance for f in features])
    recency = scaled([DECAY_AN_HOUR ** (24 * f.age_days) for f in features])
    return [
        Score((Part("S", s, 1.0, 1), Part("T", t, 1.0, 1), Part("importance", 1.0, 1.0, 1)))
        for s, t in zip(relevance, recency, strict=True)
    ]


def actr(features: Sequence[Features], weights: Weights, scales: Scales | None = None, /) -> list[Score]:
    """Score as ours, with base-level activation in the place of evidence."""
    return [
        Score(
            tuple(replace(p, value=activation(f.age_days, 1 + f.hits)) if p.letter == "E" else p for p in score.parts)
        )
        for f, score in zip(features, score_all(features, weights, scales), strict=True)
    ]


def activation(age_days: float, presentations: int = 1) -> float:
    """Return the activation of some presentations of one age, in (0, 1); the first hour counts as one hour."""
    strength = presentations * float(max(24 * age_days, 1.0) ** -ACTIVATION_DECAY)
    return strength / (1 + strength)


def scaled(values: Sequence[float]) -> list[float]:
    """Return values moved to [0, 1]; all 0.5 where they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


SCORERS: Mapping[str, Scorer] = {"genagents": genagents}
WEIGHT_MODELS: Mapping[str, Scorer] = {"actr": actr}
