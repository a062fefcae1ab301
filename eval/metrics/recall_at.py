"""recall@k: the share of answerable queries with a hit among the first k items.

Formula: mean over answerable queries of [some item of rank <= k is a hit]
Range:   [0, 1]; higher is better. This is any@k at the level of records (BENCHMARKS: five definitions).
"""

from eval.outcome import Outcome


def recall_at(outcome: Outcome, k: int) -> float | None:
    """Return 1.0 when one of the first k items is a hit, else 0.0; None where there is no answer."""
    return float(any(outcome.hits[:k])) if outcome.answerable else None
