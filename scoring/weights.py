"""The weights of the six terms and the numbers of their curves, each checked."""

import math
from dataclasses import dataclass

EXPERIENCE_FORMS = ("log", "hits", "sigmoid", "cap")


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each term moves the score; `extra` holds (letter, weight) of terms registered besides the six."""

    alpha: float = 0.50  # S, LCA 5.2.1
    beta: float = 0.15  # E, LCA 5.2.2
    gamma: float = 0.10  # T, LCA 5.2.3
    delta: float = 0.10  # A, LCA 5.2.4
    epsilon: float = 0.15  # Q, LCA 5.2.5
    lambda_: float = 0.50  # K, LCA 5.2.6, subtracted
    extra: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        named = [(name, getattr(self, name)) for name in ("alpha", "beta", "gamma", "delta", "epsilon", "lambda_")]
        for name, value in [*named, *self.extra]:
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"weight {name} is {value}, must be finite and not negative")
        if self.alpha == 0:
            raise ValueError("weight alpha is 0: without relevance nothing can be ranked")

    def of(self, letter: str) -> float:
        """Weight of the term with this letter."""
        field = _FIELDS.get(letter)
        if field is not None:
            return float(getattr(self, field))
        for name, value in self.extra:
            if name == letter:
                return value
        raise ValueError(f"no weight for term {letter!r}: name it in extra")


_FIELDS = {"S": "alpha", "E": "beta", "T": "gamma", "A": "delta", "Q": "epsilon", "K": "lambda_"}


@dataclass(frozen=True, slots=True)
class Scales:
    """Numbers of the curves: fixed, never taken from the pool, so that a score means the same tomorrow."""

    similarity_half_at: float = 2.0  # relevance at which S is 1/2; from 0.5 to 2 S is nearly straight
    similarity_steepness: float = 2.0
    experience_cap: float = 50.0  # evidence at which E is 1
    experience_form: str = "log"  # one of EXPERIENCE_FORMS
    experience_k: float = 0.5  # of the form sigmoid: how steep it is
    experience_mu: float = 5.0  # and the evidence at which it is 1/2
    half_life_days: float = 14.0  # T halves in this time at E = 0
    stretch: float = 12.0  # and in (1 + stretch) times this at E = 1

    def __post_init__(self) -> None:
        above = ("similarity_half_at", "similarity_steepness", "experience_cap", "experience_k", "half_life_days")
        for name in above:
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value}, must be finite and positive")
        for name in ("stretch", "experience_mu"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value}, must be finite and not negative")
        if self.experience_form not in EXPERIENCE_FORMS:
            raise ValueError(
                f"experience_form is {self.experience_form!r}, must be one of {', '.join(EXPERIENCE_FORMS)}"
            )
