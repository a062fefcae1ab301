"""all@k: whether all of the gold is among the first k.

Formula: mean over questions of [the first k items together hold every gold id]
Range:   [0, 1]; higher is better; never above any@k. LongMemEval's own headline is this, over sessions.
"""

from collections.abc import Sequence


def all_at(found: Sequence[frozenset[str]], gold: frozenset[str], k: int) -> float | None:
    """Return 1.0 when the first k items hold all of the gold, else 0.0; None without gold."""
    return float(gold <= frozenset[str]().union(*found[:k])) if gold else None
