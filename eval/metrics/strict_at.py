"""strict@k: recall@k where the passage itself must overlap the quoted evidence, not only stand in its record.

Formula: mean over answerable queries of [some item of rank <= k shows words of a quote]
Range:   [0, 1]; never above recall@k.
"""

from eval.outcome import Outcome


def strict_at(outcome: Outcome, k: int) -> float | None:
    """Return 1.0 when one of the first k items shows quoted words, else 0.0; None where there is no answer."""
    return float(any(outcome.strict[:k])) if outcome.answerable else None
