"""The result of a devrecall run: tables for people, one JSON object for machines."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from eval.engines import EngineResult
from eval.lineup import OURS
from eval.machine import Machine
from eval.outcome import Outcome
from eval.scorecard import Scorecard, values
from eval.stats import Duel, Figure, Paired, duel, paired
from eval.tables import table
from transcript.telling import counted

OVERALL = ("recall@1", "recall@3", "recall@6", "recall@10", "recall@30", "mrr", "score", "strict@6", "coverage@6")
NAMED = 12  # queries of a duel that the table names; the JSON has all
DEFINITION = (
    "recall@k: share of answerable queries with an evidence record among the first k items (any@k, by record).\n"
    "score: mean 1/log2(1 + rank of the first hit). strict: the passage overlaps the quote. Intervals: 95 %, bootstrap."
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the figures belong to."""

    data_sha256: str
    record_head: str
    settings_hash: str
    index_config: str
    model: str
    tokenizer: str
    chunks: int
    vectors: int
    queries: int
    answerable: int
    missing_evidence: tuple[str, ...]
    machine: Machine
    seconds: float


@dataclass(frozen=True, slots=True)
class Line:
    """One engine: its outcomes and its two scorecards."""

    result: EngineResult
    ranked: Scorecard
    injected: Scorecard


@dataclass(frozen=True, slots=True)
class DevRecallReport:
    """Every engine of one run over the same queries, index and clock."""

    setting: Setting
    lines: tuple[Line, ...]

    @property
    def ours(self) -> Line:
        """The shipped engine."""
        return next(line for line in self.lines if line.result.name == OURS)

    def duels(self, metric: str = "recall@6") -> dict[str, Duel]:
        """Return ours against each other engine, query by query, over the ranked lists."""
        mine = values(self.ours.result.ranked, metric)
        return {
            line.result.name: duel(mine, values(line.result.ranked, metric))
            for line in self.lines
            if line is not self.ours
        }

    def differences(self, metric: str = "recall@6") -> dict[str, Paired]:
        """Return ours minus each other engine over the ranked lists, with the interval of the mean."""
        mine = values(self.ours.result.ranked, metric)
        found = {
            line.result.name: paired(mine, values(line.result.ranked, metric), samples=2000)
            for line in self.lines
            if line is not self.ours
        }
        return {name: pair for name, pair in found.items() if pair is not None}

    def to_text(self) -> str:
        """Return the report as tables."""
        s = self.setting
        parts = [
            f"devrecall: {counted(s.queries, 'query', 'queries')}, {s.answerable} with an answer; "
            f"{counted(s.chunks, 'chunk')}, {counted(s.vectors, 'vector')}",
            f"model {s.model}, settings {s.settings_hash}, index {s.index_config}, data {s.data_sha256[:12]}, "
            f"tokens by {s.tokenizer}",
            s.machine.to_text(),
            DEFINITION,
            "",
            "Ranked lists (before gate and budget)",
            _overall(self.lines, lambda line: line.ranked),
            "",
            "Injected (after gate and budget; baselines inject their first six)",
            _injected(self.lines),
            "",
            f"{OURS} by type, ranked: recall@1 / @6 / @10, MRR",
            _by_type(self.ours.ranked),
            "",
            "Query by query at recall@6, ranked",
            _duels(self.duels(), self.differences()),
            "",
            f"95 % intervals of {OURS}: " + ", ".join(_bounds(self.ours.ranked, n) for n in ("recall@6", "mrr")),
            f"first hit of {OURS}: " + _ranks(self.ours.result.ranked),
        ]
        if s.missing_evidence:
            parts.append(f"not in the record at all: {', '.join(s.missing_evidence)}")
        return "\n".join(parts)

    def to_json(self) -> str:
        """Return the report as one JSON object, the outcome of every query included."""
        return json.dumps(
            {
                "setting": asdict(self.setting),
                "engines": {
                    line.result.name: {
                        "seconds": round(line.result.seconds, 3),
                        "ranked": asdict(line.ranked),
                        "injected": asdict(line.injected),
                        "queries": [
                            _query(ranked, injected)
                            for ranked, injected in zip(line.result.ranked, line.result.injected, strict=True)
                        ],
                    }
                    for line in self.lines
                },
                "duels": {name: asdict(duel) for name, duel in self.duels().items()},
                "differences": {name: asdict(pair) for name, pair in self.differences().items()},
            },
            ensure_ascii=False,
        )


def _overall(lines: Sequence[Line], card: Callable[[Line], Scorecard]) -> str:
    rows = [
        [
            line.result.name,
            *(_value(card(line).overall[n]) for n in (*OVERALL, "stale_order")),
            card(line).leaks,
            line.result.seconds,
        ]
        for line in lines
    ]
    return table(["engine", *(n.replace("recall@", "R@") for n in OVERALL), "stale", "leak", "seconds"], rows)


def _injected(lines: Sequence[Line]) -> str:
    names = ("recall@1", "recall@6", "strict@6", "coverage@6", "stale_order")
    silence = ("abstention_precision", "abstention_recall")
    rows = [
        [
            line.result.name,
            *(_value(line.injected.overall[n]) for n in (*names, *silence)),
            line.injected.leaks,
            *(line.injected.tokens[n] for n in ("mean", "p95", "per_hit")),
        ]
        for line in lines
    ]
    head = ["engine", "R@1", "R@6", "strict", "coverage", "stale", "abst. prec.", "abst. recall", "leak"]
    return table([*head, "tokens", "p95", "per hit"], rows)


def _by_type(card: Scorecard) -> str:
    rows = [
        [kind, figures["recall@6"].n, *(_value(figures[n]) for n in ("recall@1", "recall@6", "recall@10", "mrr"))]
        for kind, figures in card.by_type.items()
        if figures["recall@6"].n
    ]
    return table(["type", "n", "R@1", "R@6", "R@10", "MRR"], rows)


def _duels(duels: dict[str, Duel], differences: dict[str, Paired]) -> str:
    rows = [
        [name, len(d.wins), len(d.losses), d.ties, _between(differences.get(name)), _named(d.wins), _named(d.losses)]
        for name, d in duels.items()
    ]
    return table(["against", "wins", "losses", "ties", "difference", "won", "lost"], rows)


def _between(pair: Paired | None) -> str:
    return f"{pair.mean:+.2f} [{pair.low:+.2f}, {pair.high:+.2f}]" if pair else "-"


def _named(queries: Sequence[str]) -> str:
    more = f" and {len(queries) - NAMED} more" if len(queries) > NAMED else ""
    return " ".join(queries[:NAMED]) + more or "-"


def _bounds(card: Scorecard, name: str) -> str:
    figure = card.overall[name]
    return name if figure.low is None else f"{name} {figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"


def _ranks(outcomes: Sequence[Outcome]) -> str:
    return " ".join(f"{o.query}:{o.first_hit or '-'}" for o in outcomes if o.answerable)


def _value(figure: Figure) -> float | None:
    return figure.value


def _query(ranked: Outcome, injected: Outcome) -> dict[str, object]:
    return {
        "id": ranked.query,
        "type": ranked.type,
        "first_hit": ranked.first_hit,
        "hits": [rank for rank, hit in enumerate(ranked.hits, 1) if hit],
        "stale": [rank for rank, stale in enumerate(ranked.stale, 1) if stale],
        "injected": len(injected.hits),
        "injected_hits": [rank for rank, hit in enumerate(injected.hits, 1) if hit],
        "tokens": injected.tokens,
        "leaks": ranked.leaks + injected.leaks,
    }
