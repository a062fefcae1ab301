"""Injected tokens: what the answers cost the model that reads them.

Mean and 95th percentile run over all queries, silent ones included; per hit divides the sum over all
queries by the number of queries with a hit.
"""

from collections.abc import Sequence

from eval.outcome import Outcome
from health.stats import percentile


def tokens_mean(outcomes: Sequence[Outcome]) -> float | None:
    """Return the mean tokens of a query's injected text."""
    return sum(o.tokens for o in outcomes) / len(outcomes) if outcomes else None


def tokens_p95(outcomes: Sequence[Outcome]) -> float | None:
    """Return the 95th percentile of the tokens, by nearest rank."""
    return percentile([float(o.tokens) for o in outcomes], 95) if outcomes else None


def tokens_per_hit(outcomes: Sequence[Outcome]) -> float | None:
    """Return tokens spent over all queries for each query that was answered; None without a hit."""
    hits = sum(o.first_hit is not None for o in outcomes)
    return sum(o.tokens for o in outcomes) / hits if hits else None
