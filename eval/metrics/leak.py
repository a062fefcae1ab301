"""Leak: items that the asker could not have seen, or has in front of them already.

Formula: items from a record at or after the query's `now`, or from the session the query is typed in
Range:   0 and up; must be 0.
"""

from collections.abc import Sequence

from eval.outcome import Outcome


def leaks(outcomes: Sequence[Outcome]) -> int:
    """Return how many leaked items all lists hold together."""
    return sum(outcome.leaks for outcome in outcomes)
