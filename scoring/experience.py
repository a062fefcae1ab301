"""E, experiential weight: how far an item has proved itself; orders, never admits."""

import math


def experience(raw: float, *, cap: float) -> float:
    """Squash accumulated evidence with a fixed cap, so that one item's fame does not shrink another's.

    Formula: log(1 + max(0, raw)) / log(1 + cap), at most 1
    Range:   [0, 1]; 0 without evidence, 1 from cap on; never falls with evidence.
    Source:  LCA 5.2.2 (option log, with a fixed cap in the place of the largest count).
    """
    if cap <= 0:
        raise ValueError(f"cap is {cap}, must be positive")
    return min(1.0, math.log1p(max(0.0, raw)) / math.log1p(cap))


def experience_by_hits(hits: float, *, max_hits: float) -> float:
    """Squash a hit count by the largest count in the store; 0 where nothing was ever hit.

    Formula: log(1 + hits) / log(1 + max_hits)
    Range:   [0, 1]; never falls with hits. Every new maximum lowers all others: `experience` is the default.
    Source:  LCA 5.2.2.
    """
    if max_hits <= 0 or hits <= 0:
        return 0.0
    return min(1.0, math.log1p(hits) / math.log1p(max_hits))
