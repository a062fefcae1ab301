"""MRR: how far down the first hit stands.

Formula: mean over answerable queries of 1 / rank of the first hit, 0 without one
Range:   [0, 1]; higher is better.
"""

from eval.outcome import Outcome


def reciprocal_rank(outcome: Outcome) -> float | None:
    """Return 1 / rank of the first hit, 0.0 without one; None where there is no answer."""
    if not outcome.answerable:
        return None
    rank = outcome.first_hit
    return 1.0 / rank if rank else 0.0
