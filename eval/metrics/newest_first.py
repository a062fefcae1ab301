"""Newest above stale: whether the current version stands above every outdated one.

Formula: mean over questions whose answer changed of [rank of the first current id < rank of the first stale id]
Range:   [0, 1]; higher is better. What is not in the list has the last rank; where neither is found it is 0.
"""

from collections.abc import Sequence


def newest_first(found: Sequence[str], current: frozenset[str], stale: frozenset[str]) -> float | None:
    """Return 1.0 when a current id comes before every stale one; None where nothing is outdated."""
    if not stale or not current:
        return None
    first = next((id for id in found if id in current or id in stale), None)
    return float(first is not None and first in current)
