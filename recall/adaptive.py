"""How much a turn injects: all that passed the gate, fewer items, one line that points at them, or nothing.

On the hook path: standard library only.

The signals are computed and recorded each turn, whatever `budget.mode` is; `adaptive` acts on them by this table, the
first line that applies. It never cuts a correction or a decision that passed the gate. Weak evidence alone is no
reason to cut: on LoCoMo the later items then hold as much of the answer as the first, and three of them instead of six
lost 4 points.

    nothing passed the gate                                                        skip     (the gate's reason)
    the session did not use what it was given last, and the prompt goes on
        about it, and the evidence is weak                                         skip     ignored_and_weak
    the session did not use what it was given last, and the prompt goes on
        about it or the evidence is weak                                           defer    ignored
    some items are far below the best one                                          shrink   far_below_best
    else                                                                           full     worth_it
"""

from collections.abc import Sequence
from dataclasses import replace

from indexer.rows import statement
from recall.turn import Before, BudgetDecision, Ranked, Signals

FIXED, ADAPTIVE = "fixed", "adaptive"
FULL, SHRINK, DEFER, SKIP = "full", "shrink", "defer", "skip"
MEMORIES = frozenset({"curated", "memory"})
BINDING = frozenset({"decision", "correction"})
CONTINUES = 0.5  # share of the prompt's words from which it goes on about what was injected last
WEAK = 1.2  # gate score over its threshold below which the evidence is weak
LEAST_ITEMS = 2  # items that stay however far they are below the best
FAR_SHARE = 0.7  # of the best item's relevance, below which an item is far below it
CUT = {DEFER: "deferred", SKIP: "skipped", SHRINK: "shrunk"}  # the verdict of an item that a branch leaves out


def read_signals(
    ranked: Sequence[Ranked], terms: Sequence[str], *, best: float, threshold: float, before: Before
) -> Signals:
    """Return what a turn's worth is estimated from: cheap, and known before anything is rendered."""
    memories = sum(1 for r in ranked if r.shown and r.candidate.source in MEMORIES)
    return Signals(best, threshold, round(before.goes_on(terms), 6), memories, before.used)


def decide(ranked: Sequence[Ranked], signals: Signals, mode: str, *, silent: str = "") -> BudgetDecision:
    """Return the branch for a turn and its reason; `silent` says why the gate shows nothing, "" where it does."""
    if not any(r.shown for r in ranked):
        return BudgetDecision(mode, SKIP, silent or "no_candidates", signals)
    if mode != ADAPTIVE:
        return BudgetDecision(mode, FULL, FIXED, signals)
    weak = signals.best < WEAK * signals.threshold
    goes_on = signals.continues >= CONTINUES
    if signals.used is False and (weak or goes_on):
        branch, reason = (SKIP, "ignored_and_weak") if weak and goes_on else (DEFER, "ignored")
        return BudgetDecision(mode, branch, reason, signals)
    if any(_far(ranked)):
        return BudgetDecision(mode, SHRINK, "far_below_best", signals)
    return BudgetDecision(mode, FULL, "worth_it", signals)


def cut_down(ranked: Sequence[Ranked], decision: BudgetDecision) -> list[Ranked]:
    """Return the list with what the branch leaves out marked as such; decisions and corrections stay."""
    if decision.mode != ADAPTIVE or decision.branch == FULL:
        return list(ranked)
    far = _far(ranked)
    return [
        replace(item, verdict=CUT[decision.branch])
        if item.shown and (is_far or decision.branch != SHRINK) and not is_binding(item)
        else item
        for item, is_far in zip(ranked, far, strict=True)
    ]


def is_binding(ranked: Ranked) -> bool:
    """Say whether an item is a recorded decision or a correction."""
    if ranked.candidate.source != "curated":
        return False
    return statement(ranked.candidate.pointer.flags) in BINDING


def _far(ranked: Sequence[Ranked]) -> list[bool]:
    """Say of each item whether it is shown and far below the best shown one; the first two and memories never are."""
    best = max((r.candidate.relevance for r in ranked if r.shown), default=0.0)
    found, place = [], 0
    for item in ranked:
        low = item.shown and item.candidate.relevance < FAR_SHARE * best
        found.append(low and place >= LEAST_ITEMS and item.candidate.source not in MEMORIES)
        place += item.shown
    return found
