"""A devrecall run as the result that every set gives: to compare, to publish, to hold against the schema."""

from collections.abc import Mapping
from typing import Any

from eval.devrecall_report import DevRecallReport, Line
from eval.result import Engine, Result, against, engine_of
from eval.scorecard import values
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
SAMPLES = 2000
INJECTED = {
    "recall@6": ("injected", "an evidence record is injected"),
    "abstention_recall": ("silent", "nothing is injected where there is nothing to say"),
}


def as_result(report: DevRecallReport, settings: Settings, *, changed: Mapping[str, Any], command: str) -> Result:
    """Return a run's figures overall and by type, with the value of every query."""
    engines = {line.result.name: _engine(line) for line in report.lines}
    s = report.setting
    meanings = {**MEANINGS, **dict(INJECTED.values())}
    return Result(
        "devrecall", command, s.data_sha256, settings_hash(settings), dict(changed), s.model, s.machine,
        s.queries, s.chunks, s.vectors,
        {name: {"meaning": meaning, "kind": "computed"} for name, meaning in meanings.items()},
        engines, against(engines, samples=SAMPLES),
    )  # fmt: skip


def _engine(line: Line) -> Engine:
    ranked, injected = line.result.ranked, line.result.injected
    held = {name: values(ranked, name) for name in MEANINGS}
    held |= {shown: values(injected, name) for name, (shown, _) in INJECTED.items()}
    groups = {"all": [o.query for o in ranked]}
    groups |= {kind: [o.query for o in ranked if o.type == kind] for kind in dict.fromkeys(o.type for o in ranked)}
    return engine_of(held, groups, [o.tokens for o in injected], samples=SAMPLES)
