"""Token-budget recall: the share of the gold that is in the text that fits a budget.

Formula: mean over questions of |gold and the items that fit| / |gold|; items are taken in order until the next one
         would exceed the budget, each at the tokens of its text (cl100k) plus what its label costs
Range:   [0, 1]; higher is better.
"""

from collections.abc import Sequence

LABEL_TOKENS = 25  # pointer, source and date of an item, as the block prints them


def budget_recall(
    found: Sequence[frozenset[str]], tokens: Sequence[int], gold: frozenset[str], budget: int
) -> float | None:
    """Return the share of the gold that fits into budget tokens; None without gold."""
    if not gold:
        return None
    used, held = 0, frozenset[str]()
    for item, cost in zip(found, tokens, strict=True):
        used += cost + LABEL_TOKENS
        if used > budget:
            break
        held |= item
    return len(gold & held) / len(gold)
