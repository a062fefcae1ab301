"""any@k: whether any of the gold is among the first k.

Formula: mean over questions of [gold and the first k of the list share an id]
Range:   [0, 1]; higher is better. Over distinct sessions this is what most published "R@k" figures are.
"""

from collections.abc import Sequence


def any_at(found: Sequence[frozenset[str]], gold: frozenset[str], k: int) -> float | None:
    """Return 1.0 when one of the first k items holds some of the gold, else 0.0; None without gold."""
    return float(any(item & gold for item in found[:k])) if gold else None
