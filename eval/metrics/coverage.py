"""coverage@k: how much of an answer that is spread over sessions is found.

Formula: mean over multi_session queries of (distinct evidence files hit in the first k) / (distinct evidence files)
Range:   [0, 1]; higher is better.
"""

from eval.outcome import Outcome


def coverage_at(outcome: Outcome, k: int) -> float | None:
    """Return the share of evidence files hit in the first k items; None for other types."""
    if outcome.type != "multi_session" or not outcome.evidence_files:
        return None
    found = frozenset[str]().union(*outcome.files[:k])
    return len(found & outcome.evidence_files) / len(outcome.evidence_files)
