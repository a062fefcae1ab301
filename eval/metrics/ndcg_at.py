"""nDCG@k with the true ideal: every gold id found at once, whether it was retrieved or not.

Formula: sum over the first k ranks r of (gold ids new at r) / log2(1 + r), over the same sum of the best list there is
Range:   [0, 1]; higher is better. Dividing by the ideal of the retrieved list instead, as some do, inflates it.
"""

import math
from collections.abc import Sequence


def ndcg_at(found: Sequence[frozenset[str]], gold: frozenset[str], k: int) -> float | None:
    """Return nDCG of the first k items; a gold id counts where it is first seen. None without gold."""
    if not gold:
        return None
    seen: set[str] = set()
    gain = 0.0
    for rank, item in enumerate(found[:k], 1):
        new = (item & gold) - seen
        seen |= new
        gain += len(new) / math.log2(1 + rank)
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(len(gold), k) + 1))
    return min(1.0, gain / ideal)
