"""Figures with bootstrap intervals, and two engines compared question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.outcome import mean


def interval(values: Sequence[float | None], *, samples: int, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of the mean, resampling queries.

    None in values are queries that do not count for the metric; they are left out before the draw.
    """
    counted = np.array([value for value in values if value is not None], dtype=np.float64)
    if not len(counted) or samples < 1:
        return None
    draws = np.random.default_rng(seed).integers(0, len(counted), size=(samples, len(counted)))
    low, high = np.percentile(counted[draws].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval, and how many questions it counts; None where none counts."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def percent(self) -> str:
        """The value in percent with its interval; a dash where no question counts."""
        if self.value is None:
            return "-"
        bounds = "" if self.low is None or self.high is None else f" [{100 * self.low:.1f}, {100 * self.high:.1f}]"
        return f"{100 * self.value:.1f}{bounds}"


def figure(values: Sequence[float | None], *, samples: int) -> Figure:
    """Return the figure of some questions' values; without samples it has no interval."""
    low, high = interval(values, samples=samples) or (None, None)
    return Figure(mean(values), low, high, sum(value is not None for value in values))


@dataclass(frozen=True, slots=True)
class Duel:
    """Two engines compared query by query; the ids of the queries each one wins."""

    wins: tuple[str, ...]
    losses: tuple[str, ...]
    ties: int


def duel(ours: dict[str, float | None], theirs: dict[str, float | None]) -> Duel:
    """Compare two engines over the queries that count for both; a higher value wins."""
    shared = [q for q in ours if ours[q] is not None and theirs.get(q) is not None]
    wins = tuple(q for q in shared if (ours[q] or 0.0) > (theirs[q] or 0.0))
    losses = tuple(q for q in shared if (ours[q] or 0.0) < (theirs[q] or 0.0))
    return Duel(wins, losses, len(shared) - len(wins) - len(losses))


@dataclass(frozen=True, slots=True)
class Paired:
    """The mean difference of two engines over the questions both count for, with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int
    wins: int
    losses: int

    def points(self) -> str:
        """The difference in points with its interval."""
        return f"{100 * self.mean:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"

    def better(self) -> str:
        """Whether the first is: yes where the interval lies above zero, "never worse" where it holds zero."""
        return "yes" if self.low > 0 else "never worse" if self.high >= 0 else "worse"


def paired(
    ours: Mapping[str, float | None], theirs: Mapping[str, float | None], *, samples: int, seed: int = 0
) -> Paired | None:
    """Return ours minus theirs by a paired bootstrap; None where no question counts for both."""
    differences: list[float | None] = [
        a - b for q, a in ours.items() if a is not None and (b := theirs.get(q)) is not None
    ]
    held = [d for d in differences if d is not None]
    if not held:
        return None
    low, high = interval(differences, samples=samples, seed=seed) or (0.0, 0.0)
    return Paired(sum(held) / len(held), low, high, len(held), sum(d > 0 for d in held), sum(d < 0 for d in held))
