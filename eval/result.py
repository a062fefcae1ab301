"""The result of a run over a question set: figures with intervals, paired against ours, as text and JSON.

The JSON follows `eval/schema/result.schema.json`: a result without data hash, settings hash, model, commit, machine,
sample size and limits is none.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from eval.dataset_run import DatasetRun, Reply
from eval.lineup import OURS
from eval.machine import Machine, machine
from eval.measures import BESIDE, HEADLINE, Measure
from eval.stats import Figure, Paired, figure, paired
from eval.tables import table
from health.stats import percentile
from recall.settings import Settings, settings_hash

SCHEMA = "urn:lca-recall:eval-result:1"
LIMITS = {
    "model_family": "none: no language model answers or judges",
    "context_size": "none",
    "reasoning_mode": "none",
    "says": "what is retrieved, not whether an agent then answers well",
}


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: figures by group and measure, tokens injected, and the value of every question."""

    figures: dict[str, dict[str, Figure]]
    tokens_mean: float
    tokens_p95: float
    values: dict[str, dict[str, float | None]] = field(default_factory=dict)  # measure -> question -> value


@dataclass(frozen=True, slots=True)
class Result:
    """A whole run."""

    set: str
    command: str
    data_sha256: str
    settings_hash: str
    settings: dict[str, Any]
    model: str
    machine: Machine
    questions: int
    chunks: int
    vectors: int
    measures: dict[str, dict[str, str]]
    engines: dict[str, Engine]
    paired: dict[str, dict[str, Paired]]
    labels: str = ""
    limits: dict[str, str] = field(default_factory=lambda: dict(LIMITS))

    def to_json(self, *, summary: bool = False) -> str:
        """One JSON object. A summary has no values of single questions, and groups of ours alone."""
        held = asdict(self)
        if summary:
            for name, engine in held["engines"].items():
                engine["values"] = {}
                engine["figures"] = {g: f for g, f in engine["figures"].items() if g == "all" or name == OURS}
            held = _rounded(held)
        return json.dumps({"schema": SCHEMA, "commit": self.machine.commit, **held}, ensure_ascii=False, indent=None)

    def to_text(self) -> str:
        """Tables for people: overall, ours by group, ours against each other engine."""
        head = HEADLINE.get(self.set.partition("-")[0], "")
        head = head if head in self.measures else next(iter(self.measures), "")
        parts = [
            f"{self.set}: {self.questions:,} questions; {self.chunks:,} chunks, {self.vectors:,} vectors",
            f"model {self.model}, settings {self.settings_hash}, data {self.data_sha256[:12]}",
            *([f"labels {self.labels}"] if self.labels else []),
            self.machine.to_text(),
            "limits: " + "; ".join(f"{k.replace('_', ' ')} {v}" for k, v in self.limits.items()),
            "",
            "\n".join(f"{name}: {about['meaning']} ({about['kind']})" for name, about in self.measures.items()),
        ]
        for group in next(iter(self.engines.values())).figures:
            parts += ["", f"{group}, percent", self.group_table(group)]
        for name in (head, *BESIDE.get(self.set.partition("-")[0], ())) if head and self.paired else ():
            parts += ["", f"{OURS} minus the other, '{name}', points [95 % interval]", self.paired_table(name)]
        return "\n".join(parts)

    def group_table(self, group: str) -> str:
        """The figures of one group of questions: a line an engine."""
        names = [n for n in self.measures if any(e.figures[group][n].n for e in self.engines.values())]
        counted = next(iter(self.engines.values())).figures[group]
        rows = [
            [name, *(engine.figures[group][n].percent() for n in names), round(engine.tokens_mean)]
            for name, engine in self.engines.items()
        ]
        return table(["engine", *(f"{n} (n {counted[n].n})" for n in names), "tokens"], rows)

    def paired_table(self, measure: str) -> str:
        """Differences of one measure against each other engine."""
        rows = [
            [name, pair.n, pair.points(), pair.wins, pair.losses, pair.better()]
            for name, held in self.paired.items()
            if (pair := held.get(measure)) is not None
        ]
        return table(["against", "n", "difference", "wins", "losses", "better"], rows)


def _rounded(value: Any) -> Any:
    """The same with fractions of four digits."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def command_line(name: str, **options: object) -> str:
    """Return the command that a result names; of a path it names the last part."""
    return " ".join(["recall", "eval", name, *(flag(o, v) for o, v in options.items() if v)])


def flag(option: str, value: object) -> str:
    """Return an option as it is typed; one that may be repeated has a tuple of values."""
    name = "--" + option.replace("_", "-")
    if isinstance(value, tuple):
        return " ".join(f"{name} {one}" for one in value)
    return name if value is True else f"{name} {value.name if isinstance(value, Path) else value}"


def schema() -> dict[str, Any]:
    """The JSON schema of a result."""
    text = files("eval").joinpath("schema/result.schema.json").read_text(encoding="utf-8")
    held: dict[str, Any] = json.loads(text)
    return held


def result(
    run: DatasetRun,
    measures: Sequence[Measure],
    settings: Settings,
    *,
    changed: Mapping[str, Any],
    command: str,
    samples: int = 1000,
    groups: Mapping[str, Callable[[Reply], bool]] | None = None,
) -> Result:
    """Put figures, intervals and paired differences of a run together."""
    kinds = dict.fromkeys(q.type for q in run.dataset.questions)
    wanted: dict[str, Callable[[Reply], bool]] = {"all": lambda _: True, **(groups or {})}
    wanted |= {kind: _of_type(kind) for kind in kinds} if len(kinds) > 1 else {}
    engines = {name: _engine(replies, measures, wanted, samples) for name, replies in run.replies.items()}
    return Result(
        run.dataset.name, command, run.dataset.sha256, settings_hash(settings), dict(changed), run.model, machine(),
        len(run.dataset.questions), run.chunks, run.vectors,
        {m.name: {"meaning": m.meaning, "kind": m.kind} for m in measures}, engines, against(engines, samples=samples),
        run.dataset.labels,
    )  # fmt: skip


def _of_type(kind: str) -> Callable[[Reply], bool]:
    return lambda reply: reply.question.type == kind


def _engine(
    replies: Sequence[Reply], measures: Sequence[Measure], groups: Mapping[str, Callable[[Reply], bool]], samples: int
) -> Engine:
    values = {m.name: {r.question.id: m.of(r) for r in replies} for m in measures}
    members = {group: [r.question.id for r in replies if belongs(r)] for group, belongs in groups.items()}
    return engine_of(values, members, [r.tokens for r in replies], samples=samples)


def engine_of(
    values: dict[str, dict[str, float | None]],
    groups: Mapping[str, Sequence[str]],
    tokens: Sequence[int],
    *,
    samples: int,
) -> Engine:
    """Return the figures of each group of questions, from measure -> question -> value and the tokens injected."""
    figures = {
        group: {name: figure([held[q] for q in members], samples=samples) for name, held in values.items()}
        for group, members in groups.items()
    }
    return Engine(figures, sum(tokens) / max(1, len(tokens)), percentile(tokens, 95) if tokens else 0.0, values)


def against(engines: Mapping[str, Engine], *, samples: int) -> dict[str, dict[str, Paired]]:
    """Return ours minus each other engine, measure by measure; empty where ours was not asked."""
    ours = engines.get(OURS)
    return {
        name: {m: pair for m in ours.values if (pair := paired(ours.values[m], engine.values[m], samples=samples))}
        for name, engine in engines.items()
        if ours is not None and name != OURS
    }
