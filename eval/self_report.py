"""What a project's own evaluation found: figures, what each proposal would change, and the series so far."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from eval.dataset_run import DatasetRun
from eval.lineup import OURS
from eval.measures import SELF
from eval.result import Result, result
from eval.self_series import Entry, to_text
from eval.stats import Figure, Paired, paired
from eval.tables import table
from recall.settings import Settings

RANK = "turn MRR"
SHOWN = ("turn any@6", RANK, "injected")
SAMPLES = 2000
LIMITS = {
    "model_family": "none: no language model asks, answers or judges",
    "context_size": "none",
    "reasoning_mode": "none",
    "says": "whether what one place of the record says is found, asked with its own words or words near them",
    "models": "a tried model reads the passages as they are cut for the model of now, at the gate's floor of now",
}


@dataclass(frozen=True, slots=True)
class SelfReport:
    """One run over a project's own questions; `changes` are each proposal minus now, measure by measure."""

    result: Result
    changes: dict[str, dict[str, Paired]]
    entry: Entry

    def to_json(self) -> str:
        """One JSON object: the result as every set has it, and the changes."""
        changes = {name: {m: asdict(pair) for m, pair in held.items()} for name, held in self.changes.items()}
        return json.dumps({**json.loads(self.result.to_json()), "changes": changes}, ensure_ascii=False)

    def to_text(self, series: Sequence[Entry]) -> str:
        """Tables for people."""
        parts = [self.result.to_text()]
        if self.changes:
            rows = [
                [name, measure, pair.n, pair.points(), pair.wins, pair.losses, verdict(pair)]
                for name, held in self.changes.items()
                for measure, pair in held.items()
            ]
            head = ["proposed", "measure", "n", "proposed - now, points", "wins", "losses", "verdict"]
            parts += ["", table(head, rows)]
        if series:
            parts += ["", "this project's series", to_text(series)]
        return "\n".join(parts)


def of_run(run: DatasetRun, settings: Settings, *, command: str, tried: Sequence[str], at: datetime) -> SelfReport:
    """Put the figures of a run together; `tried` are the engines that are proposals."""
    made = replace(result(run, SELF, settings, changed={}, command=command, samples=SAMPLES), limits=LIMITS)
    ours = made.engines[OURS]
    changes = {
        name: {
            measure: pair
            for measure in SHOWN
            if (pair := paired(made.engines[name].values[measure], ours.values[measure], samples=SAMPLES))
        }
        for name in tried
    }
    figures = {name: figure.value for name, figure in ours.figures["all"].items() if figure.value is not None}
    ranks = {question: round(value, 4) for question, value in ours.values[RANK].items() if value is not None}
    entry = Entry(
        at.isoformat(timespec="seconds"), made.machine.commit, made.settings_hash, made.model, made.data_sha256[:12],
        {name: round(value, 4) for name, value in figures.items()}, ranks, _interval(ours.figures["all"][RANK]),
    )  # fmt: skip
    return SelfReport(made, changes, entry)


def _interval(figure: Figure) -> tuple[float, float] | None:
    if figure.low is None or figure.high is None:
        return None
    return round(figure.low, 4), round(figure.high, 4)


def verdict(pair: Paired) -> str:
    """Say what an interval of differences, proposed minus now, means."""
    return "better" if pair.low > 0 else "worse" if pair.high < 0 else "no difference to be seen"
