"""Abstention: saying nothing when there is nothing to say.

Precision: of the queries where nothing was injected, the share that asked for silence.
Recall:    of the queries that asked for silence, the share where nothing was injected.
Range:     [0, 1] each; higher is better. Both only mean something over the injected list.
"""

from eval.outcome import Outcome


def abstention_precision(outcome: Outcome) -> float | None:
    """Return whether the silence was right; None where something was injected."""
    return None if outcome.hits else float(not outcome.answerable)


def abstention_recall(outcome: Outcome) -> float | None:
    """Return whether nothing was injected; None for queries that have an answer."""
    return None if outcome.answerable else float(not outcome.hits)
