"""What a replayed stretch of work says of E and T: what each variant showed, what was used of it, and differences."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from eval.machine import Machine
from eval.month import FULL, Shown
from eval.stats import Figure, Paired, figure, paired
from eval.tables import table

SAMPLES = 2000
MEASURES: Mapping[str, Callable[[Shown], float | None]] = {
    "share used": lambda one: one.share,
    "used a turn": lambda one: float(one.used),
    "rank of the used": lambda one: one.rank,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One variant: items shown and used, its figures, and in how many turns it showed other items than the full one."""

    variant: str
    shown: int
    used: int
    named: int
    figures: Mapping[str, Figure]
    differs: int


@dataclass(frozen=True, slots=True)
class MonthReport:
    """A replay, with everything that decides its figures."""

    begin: str
    end: str
    turns: int
    spoken: int  # in which the full variant showed something
    lines: tuple[Line, ...]
    against: Mapping[str, Mapping[str, Paired | None]]  # variant -> measure -> full minus it, turn by turn
    model: str
    machine: Machine

    def to_json(self) -> str:
        """Return everything as one JSON object."""
        return json.dumps(asdict(self))

    def to_text(self) -> str:
        """Return the tables."""
        rows = [
            [
                line.variant,
                line.shown,
                line.used,
                *(_figure(name, line.figures[name]) for name in MEASURES),
                line.differs,
            ]
            for line in self.lines
        ]
        pairs = [
            [variant, *(_pair(name, measures[name]) for name in MEASURES)] for variant, measures in self.against.items()
        ]
        return "\n".join(
            [
                f"{self.turns:,} answered prompts from {self.begin} to {self.end}; "
                f"in {self.spoken:,} of them something was shown",
                "The answers were given without these blocks: a use is agreement with what was really said.",
                "",
                table(["variant", "shown", "used", *MEASURES, "turns that differ"], rows),
                "",
                f"{FULL} minus the other, turn by turn [95 % interval]",
                table(["variant", *MEASURES], pairs),
                "",
                f"model {self.model}; {self.machine.to_text()}",
            ]
        )


def report(found: Mapping[str, Sequence[Shown]], *, begin: str, end: str, model: str, machine: Machine) -> MonthReport:
    """Return the report of a replay; the first variant is what the others are compared with."""
    whole = found[FULL]
    values = {
        name: {measure: {one.prompt: of(one) for one in made} for measure, of in MEASURES.items()}
        for name, made in found.items()
    }
    lines = [
        Line(
            name,
            sum(len(one.events) for one in made),
            sum(one.used for one in made),
            sum(use.kind == "named" for one in made for use in one.uses),
            {measure: figure(list(held.values()), samples=SAMPLES) for measure, held in values[name].items()},
            sum(one.events != other.events for one, other in zip(made, whole, strict=True)),
        )
        for name, made in found.items()
    ]
    against = {
        name: {m: paired(values[FULL][m], held[m], samples=SAMPLES) for m in MEASURES}
        for name, held in values.items()
        if name != FULL
    }
    spoken = sum(bool(one.events) for one in whole)
    return MonthReport(begin, end, len(whole), spoken, tuple(lines), against, model, machine)


def _figure(name: str, one: Figure) -> str:
    if one.value is None:
        return "-"
    if name == "share used":
        return f"{one.percent()} %"
    return f"{one.value:.3f}" + ("" if one.low is None else f" [{one.low:.3f}, {one.high:.3f}]")


def _pair(name: str, one: Paired | None) -> str:
    if one is None:
        return "-"
    if name == "share used":
        return f"{one.points()} points"
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
