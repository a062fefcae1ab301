"""E, experiential weight: how far an item has proved itself; orders, never admits."""

import math

from scoring.weights import Scales

_STEEPEST = 700.0  # exp of more overflows


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


def experience_sigmoid(raw: float, *, k: float, mu: float) -> float:
    """Squash evidence by a curve that is steepest at mu.

    Formula: 1 / (1 + exp(-k * (raw - mu)))
    Range:   [0, 1]; never falls with evidence. Without any it is not 0 but 1 / (1 + exp(k * mu)).
    Source:  LCA 5.2.2.
    """
    if not (math.isfinite(k) and k > 0):
        raise ValueError(f"k is {k}, must be finite and positive")
    if not math.isfinite(mu):
        raise ValueError(f"mu is {mu}, must be finite")
    return 1.0 / (1.0 + math.exp(-max(-_STEEPEST, min(_STEEPEST, k * (max(0.0, raw) - mu)))))


def experience_capped(raw: float, *, cap: float) -> float:
    """Grow with evidence in a straight line up to the cap.

    Formula: min(max(0, raw), cap) / cap
    Range:   [0, 1]; 0 without evidence, 1 from cap on; never falls with evidence.
    Source:  LCA 5.2.2.
    """
    if cap <= 0:
        raise ValueError(f"cap is {cap}, must be positive")
    return min(max(0.0, raw), cap) / cap


def experience_value(raw: float, hits: float, scales: Scales) -> float:
    """Return E in the form that the scales name; the form `hits` counts citations and takes the cap as their most."""
    if scales.experience_form == "hits":
        return experience_by_hits(hits, max_hits=scales.experience_cap)
    if scales.experience_form == "sigmoid":
        return experience_sigmoid(raw, k=scales.experience_k, mu=scales.experience_mu)
    if scales.experience_form == "cap":
        return experience_capped(raw, cap=scales.experience_cap)
    return experience(raw, cap=scales.experience_cap)
