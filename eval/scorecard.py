"""All metrics of one list of outcomes, as rows of names and figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from eval.metrics.abstention import abstention_precision, abstention_recall
from eval.metrics.coverage import coverage_at
from eval.metrics.discounted import discounted
from eval.metrics.injected_tokens import tokens_mean, tokens_p95, tokens_per_hit
from eval.metrics.leak import leaks
from eval.metrics.recall_at import recall_at
from eval.metrics.reciprocal_rank import reciprocal_rank
from eval.metrics.stale_order import stale_order
from eval.metrics.strict_at import strict_at
from eval.outcome import Outcome
from eval.stats import Figure, figure

DEPTHS = (1, 3, 6, 10)
PER_TYPE = ("recall@1", "recall@3", "recall@6", "recall@10", "mrr")

PER_QUERY: Mapping[str, Callable[[Outcome], float | None]] = {
    **{f"recall@{k}": partial(recall_at, k=k) for k in (*DEPTHS, 30)},
    "mrr": reciprocal_rank,
    "score": discounted,
    "strict@6": partial(strict_at, k=6),
    "coverage@6": partial(coverage_at, k=6),
    "stale_order": stale_order,
    "abstention_precision": abstention_precision,
    "abstention_recall": abstention_recall,
}


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Every metric over one list, overall and by type."""

    overall: dict[str, Figure]
    by_type: dict[str, dict[str, Figure]]
    leaks: int
    tokens: dict[str, float | None]


def scorecard(outcomes: Sequence[Outcome], *, samples: int) -> Scorecard:
    """Return all metrics; intervals by bootstrap over queries, none when samples is 0."""
    of_type = {kind: [o for o in outcomes if o.type == kind] for kind in dict.fromkeys(o.type for o in outcomes)}
    return Scorecard(
        overall={name: figure(list(map(of, outcomes)), samples=samples) for name, of in PER_QUERY.items()},
        by_type={
            kind: {name: figure(list(map(PER_QUERY[name], held)), samples=0) for name in PER_TYPE}
            for kind, held in of_type.items()
        },
        leaks=leaks(outcomes),
        tokens={
            "mean": tokens_mean(outcomes),
            "p95": tokens_p95(outcomes),
            "per_hit": tokens_per_hit(outcomes),
        },
    )


def values(outcomes: Sequence[Outcome], name: str) -> dict[str, float | None]:
    """Return a metric query by query."""
    return {outcome.query: PER_QUERY[name](outcome) for outcome in outcomes}
