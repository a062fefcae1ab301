"""Discounted first hit: the less jumpy companion of recall@k.

Formula: mean over answerable queries of 1 / log2(1 + rank of the first hit), 0 beyond the depth
Range:   [0, 1]; higher is better. With one relevant item a query this is nDCG@depth.
"""

import math

from eval.outcome import Outcome


def discounted(outcome: Outcome, depth: int = 30) -> float | None:
    """Return the discount of the first hit's rank, 0.0 beyond depth; None where there is no answer."""
    if not outcome.answerable:
        return None
    rank = outcome.first_hit
    return 1.0 / math.log2(1 + rank) if rank and rank <= depth else 0.0
