"""frac@k: the share of the gold that is among the first k.

Formula: mean over questions of |gold and the first k items| / |gold|
Range:   [0, 1]; higher is better; between all@k and any@k.
"""

from collections.abc import Sequence


def frac_at(found: Sequence[frozenset[str]], gold: frozenset[str], k: int) -> float | None:
    """Return the share of the gold that the first k items hold; None without gold."""
    return len(gold & frozenset[str]().union(*found[:k])) / len(gold) if gold else None
