"""S, semantic similarity: one fixed curve from fused relevance to [0, 1]."""

import math


def similarity(relevance: float, *, half_at: float, steepness: float) -> float:
    """Map fused relevance (cosine and words on fixed scales) to [0, 1] without changing its order.

    Formula: x ** p / (x ** p + m ** p), x the relevance, m = half_at, p = steepness
    Range:   [0, 1]; 0 without relevance, 1/2 at half_at; strictly rises with relevance.
    Source:  LCA 5.2.1. The two numbers are calibrated per embedder over the range that real hits have;
             the raw cosine travels beside the score and is shown with it.
    """
    if not 0 <= relevance < math.inf:
        raise ValueError(f"relevance is {relevance}, must be finite and not negative")
    if half_at <= 0 or steepness <= 0:
        raise ValueError(f"half_at is {half_at} and steepness {steepness}, both must be positive")
    risen = math.pow(relevance / half_at, steepness)
    return risen / (risen + 1.0)
