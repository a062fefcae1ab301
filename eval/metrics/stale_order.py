"""Stale order: how often an outdated statement stands above the current one.

Formula: mean over superseded queries of [a stale item stands above the first hit, or is there without a hit]
Range:   [0, 1]; lower is better.
"""

from eval.outcome import Outcome, first


def stale_order(outcome: Outcome) -> float | None:
    """Return 1.0 when a stale item comes before the first hit, else 0.0; None for other types."""
    if outcome.type != "superseded":
        return None
    only_stale = tuple(stale and not hit for stale, hit in zip(outcome.stale, outcome.hits, strict=True))
    stale, hit = first(only_stale), outcome.first_hit
    return float(stale is not None and (hit is None or stale < hit))
