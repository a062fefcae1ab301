"""The score: six terms, their sum, and the explanation that cannot disagree with it.

R = alpha*S + beta*E + gamma*T + delta*A + epsilon*Q - lambda*K (LCA 5.2). `TERMS` is the registry: a further
term is one more entry, passed to `score`, with its weight in `Weights.extra`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scoring.applicability import applicability
from scoring.authority import authority
from scoring.experience import experience_value
from scoring.recency import temporal_salience
from scoring.risk import risk
from scoring.similarity import similarity
from scoring.weights import Scales, Weights


@dataclass(frozen=True, slots=True)
class Features:
    """What the terms know of one candidate. Defaults say "nothing known yet", never "good"."""

    relevance: float  # fused cosine and lexical evidence, not negative
    age_days: float = 0.0  # already clamped: see recency.age_days
    raw_experience: float = 0.0  # folded from events; transcript text has none until events say otherwise
    source: str = "final"  # key of authority.AUTHORITY
    matches: tuple[tuple[str, bool], ...] = ()  # (facet, agrees), facets of applicability.FACETS
    risks: tuple[str, ...] = ()  # keys of risk.RISKS
    verbatim: bool = False  # the prompt wants exact wording
    hits: int = 0  # sessions in which it was cited


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of the registry: a letter, a direction (+1 or -1) and a pure function into [0, 1]."""

    letter: str
    name: str
    sign: int
    of: Callable[[Features, Scales], float]


def _similarity(f: Features, s: Scales) -> float:
    return similarity(f.relevance, half_at=s.similarity_half_at, steepness=s.similarity_steepness)


def _experience(f: Features, s: Scales) -> float:
    return experience_value(f.raw_experience, f.hits, s)


def _recency(f: Features, s: Scales) -> float:
    return temporal_salience(f.age_days, _experience(f, s), half_life_days=s.half_life_days, stretch=s.stretch)


TERMS: tuple[Term, ...] = (
    Term("S", "similarity", 1, _similarity),
    Term("E", "experience", 1, _experience),
    Term("T", "recency", 1, _recency),
    Term("A", "authority", 1, lambda f, s: authority(f.source, verbatim=f.verbatim)),
    Term("Q", "applicability", 1, lambda f, s: applicability(f.matches)),
    Term("K", "risk", -1, lambda f, s: risk(f.risks)),
)


@dataclass(frozen=True, slots=True)
class Part:
    """A term's share of one score."""

    letter: str
    value: float
    weight: float
    sign: int

    @property
    def contribution(self) -> float:
        """What this term adds to the total; negative for risk."""
        return self.sign * self.weight * self.value


@dataclass(frozen=True, slots=True)
class Score:
    """The parts of one score; the total is derived, so an explanation cannot disagree with the rank."""

    parts: tuple[Part, ...]
    total: float = field(init=False)  # R: summed once, for a turn compares it thousands of times

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(part.sign * part.weight * part.value for part in self.parts))

    def value(self, letter: str) -> float:
        """The term with this letter, in [0, 1]."""
        for part in self.parts:
            if part.letter == letter:
                return part.value
        raise KeyError(letter)

    def terms(self) -> dict[str, float]:
        """Letter -> value, in the order of the registry."""
        return {part.letter: part.value for part in self.parts}

    def explain(self) -> str:
        """One line: every term with its weight, and their sum."""
        shown = [
            f"{'-' if part.sign < 0 else '+'} {part.weight:.2f}*{part.letter}({part.value:.3f})" for part in self.parts
        ]
        return f"R {self.total:.4f} = {' '.join(shown).removeprefix('+ ')}"


def score(
    features: Features, weights: Weights, scales: Scales | None = None, *, terms: tuple[Term, ...] = TERMS
) -> Score:
    """Score one candidate; it sees no other candidate."""
    curve = scales or Scales()
    return Score(tuple(Part(t.letter, t.of(features, curve), weights.of(t.letter), t.sign) for t in terms))


def score_all(features: Sequence[Features], weights: Weights, scales: Scales | None = None) -> list[Score]:
    """Score a pool one by one: the reference that `scoring.pool.score_pool` is tested against."""
    return [score(f, weights, scales) for f in features]
