"""The health report: every signal over the facts, in one model with a human and a JSON rendering."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from health.catalog import BROKEN, CATALOG, known
from health.facts import Facts, Point
from health.known import Area, Known
from health.series import Changes, changes
from health.signal import Level, Signal
from transcript.telling import counted, minute

FIRST_SCREEN = ("duplicate_ratio", "embeddings_failed", "capture_lag", "unindexed", "vector_search", "embedder")


@dataclass(frozen=True, slots=True)
class Report:
    """All signals of one moment; the worst of them is the verdict."""

    workspace: str
    at: float
    signals: tuple[Signal, ...]
    series: tuple[Point, ...] = ()

    @property
    def changes(self) -> Changes:
        """Return what is other than in the last kept report."""
        return changes(self.signals, self.series)

    @property
    def level(self) -> Level:
        """Return the worst level of all signals."""
        return max((signal.level for signal in self.signals), default=Level.FAIL)

    @property
    def exit_code(self) -> int:
        """Return 0 for ok, 1 for warn, 2 for fail."""
        return int(self.level)

    def area(self, area: Area) -> Level:
        """Return the worst level of an area's signals, OK for none."""
        return max((signal.level for signal in self.signals if known(signal.id).area is area), default=Level.OK)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(
            {
                "workspace": self.workspace,
                "at": _stamp(self.at),
                "level": self.level.name.lower(),
                "signals": [signal.to_dict() for signal in self.signals],
            },
            ensure_ascii=False,
            sort_keys=False,
        )

    def to_text(self, *, every: bool = False) -> str:
        """Return the report for people: verdict, problems, the first screen, and on request the rest."""
        bad = sorted((s for s in self.signals if s.level), key=lambda s: -s.level)
        shown = {s.id for s in bad}
        first = [s for s in self.signals if _is_first(s) and s.id not in shown]
        shown |= {s.id for s in first}
        rest = [s for s in self.signals if s.id not in shown]
        lines = [f"{self.level.name.lower()}  workspace {self.workspace}  {minute(self.at)}", ""]
        for signal in bad:
            lines += _block(signal)
        lines += [_line(signal) for signal in first]
        if every:
            lines += ["", *(_line(signal) for signal in rest)]
        else:
            lines += ["", f"{counted(len(rest), 'more signal is', 'more signals are')} ok; --all shows them"]
        return "\n".join(lines)


def assess(facts: Facts) -> Report:
    """Return every signal over the facts; an empty store is never well, and a signal that cannot be read fails."""
    return Report(
        facts.workspace,
        facts.now,
        tuple(signal for one in CATALOG for signal in _read(one, facts)),
        facts.series.points,
    )


def _read(one: Known, facts: Facts) -> Iterable[Signal]:
    try:
        return tuple(one.of(facts))
    except Exception as error:  # the rest of the report is needed most when something is wrong
        return (
            Signal(
                id=BROKEN + one.id,
                value=type(error).__name__,
                unit="name",
                level=Level.FAIL,
                text=f"the signal {one.id} cannot be read: {type(error).__name__}",
                meaning="A fault of recall: the figures it is made of are such as nobody foresaw.",
                action="report it, with 'recall health --json'",
            ),
        )


def _is_first(signal: Signal) -> bool:
    return signal.id in FIRST_SCREEN or signal.id.startswith("hook_last_fired.")


def _line(signal: Signal) -> str:
    return f"{signal.level.name.lower():<5} {signal.id:<28} {signal.text}"


def _block(signal: Signal) -> list[str]:
    lines = [_line(signal), f"{'':<6}{signal.meaning}"]
    lines += [f"{'':<8}{detail}" for detail in signal.details[:5]]
    if len(signal.details) > 5:
        lines.append(f"{'':<8}and {len(signal.details) - 5} more; --json lists them")
    return [*lines, f"{'':<6}-> {signal.action}", ""] if signal.action else [*lines, ""]


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
