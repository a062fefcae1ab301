"""Reciprocal rank over sets of ids: 1 / rank of the first item that holds some of the gold.

Formula: mean over questions of 1 / rank, 0 where nothing is found
Range:   [0, 1]; higher is better.
"""

from collections.abc import Sequence


def first_reciprocal(found: Sequence[frozenset[str]], gold: frozenset[str]) -> float | None:
    """Return the reciprocal rank of the first item with gold, 0.0 without one; None without gold."""
    if not gold:
        return None
    return next((1.0 / rank for rank, item in enumerate(found, 1) if item & gold), 0.0)
