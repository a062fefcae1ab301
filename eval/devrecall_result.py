"""A devrecall run as the result that every set gives: to compare, to publish, to hold against the schema."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eval.dataset_run import OURS
from eval.devrecall_report import DevRecallReport, Line
from eval.outcome import Outcome, mean
from eval.result import Engine, Figure, Result
from eval.scorecard import PER_QUERY
from eval.stats import interval, paired
from recall.settings import Settings, settings_hash

MEANINGS = {
    "recall@1": "an evidence record comes first",
    "recall@3": "an evidence record among the first 3",
    "recall@6": "an evidence record among the first 6",
    "recall@10": "an evidence record among the first 10",
    "mrr": "reciprocal rank of the first evidence record",
    "score": "1 / log2(1 + rank of the first evidence record)",
    "strict@6": "a passage among the first 6 shows quoted words",
    "coverage@6": "of answers spread over sessions: share of the sessions among the first 6",
    "stale_order": "of what changed: something outdated stands above the current (lower is better)",
}
INJECTED = {
    "recall@6": ("injected", "an evidence record is injected"),
    "abstention_recall": ("silent", "nothing is injected where there is nothing to say"),
}
Metric = Callable[[Outcome], float | None]


def as_result(report: DevRecallReport, settings: Settings, *, changed: Mapping[str, Any], command: str) -> Result:
    """Return a run's figures overall and by type, with the value of every query."""
    engines = {line.result.name: _engine(line) for line in report.lines}
    ours = engines[OURS]
    pairs = {
        name: {m: d for m in ours.values if (d := paired(ours.values[m], engine.values[m], samples=2000))}
        for name, engine in engines.items()
        if name != OURS
    }
    s = report.setting
    meanings = {**MEANINGS, **dict(INJECTED.values())}
    return Result(
        "devrecall", command, s.data_sha256, settings_hash(settings), dict(changed), s.model, s.machine,
        s.queries, s.chunks, s.vectors,
        {name: {"meaning": meaning, "kind": "computed"} for name, meaning in meanings.items()}, engines, pairs,
    )  # fmt: skip


def _engine(line: Line) -> Engine:
    ranked, injected = line.result.ranked, line.result.injected
    values = {name: {o.query: PER_QUERY[name](o) for o in ranked} for name in MEANINGS}
    values |= {shown: {o.query: PER_QUERY[name](o) for o in injected} for name, (shown, _) in INJECTED.items()}
    groups: dict[str, Sequence[Outcome]] = {"all": ranked}
    groups |= {kind: [o for o in ranked if o.type == kind] for kind in dict.fromkeys(o.type for o in ranked)}
    figures = {
        group: {name: _figure([held[o.query] for o in members]) for name, held in values.items()}
        for group, members in groups.items()
    }
    tokens = line.injected.tokens
    return Engine(figures, tokens["mean"] or 0.0, tokens["p95"] or 0.0, values)


def _figure(each: list[float | None]) -> Figure:
    low, high = interval(each, samples=2000) or (None, None)
    return Figure(mean(each), low, high, sum(value is not None for value in each))
