"""The health report: every signal over the facts, in one model with a human and a JSON rendering."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from health.catalog import BROKEN, CATALOG, known
from health.facts import Facts, Point
from health.facts_machine import MachineFacts
from health.known import Area, Known
from health.layout import rows
from health.series import Changes, changes
from health.signal import Level, Signal
from recall.version import VERSION

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Report:
    """All signals of one moment; the worst of them is the verdict."""

    workspace: str
    at: float
    signals: tuple[Signal, ...]
    series: tuple[Point, ...] = ()
    machine: MachineFacts = field(default_factory=MachineFacts)
    since: float | None = None
    project: str = ""

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
        return max((signal.level for signal in self.of_area(area)), default=Level.OK)

    def of_area(self, area: Area) -> tuple[Signal, ...]:
        """Return the signals of an area, in the order of the report."""
        return tuple(signal for signal in self.signals if known(signal.id).area is area)

    def to_json(self, *, series: bool = False) -> str:
        """Return the report as one JSON object, health/schema/report.schema.json; series adds the kept reports."""
        changes = self.changes
        held: dict[str, object] = {
            "schema_version": SCHEMA_VERSION,
            "version": VERSION,
            "workspace": self.workspace,
            "project": self.project,
            "at": _stamp(self.at),
            "since": None if self.since is None else _stamp(self.since),
            "machine": asdict(self.machine),
            "level": _name(self.level),
            "exit_code": self.exit_code,
            "areas": {str(area): _name(self.area(area)) for area in Area},
            "changes": {
                "failing_new": changes.failing_new,
                "warning_new": changes.warning_new,
                "mended": changes.mended,
                "against": None if changes.against is None else _stamp(changes.against),
            },
            "signals": [_signal(signal) for signal in self.signals],
        }
        if series:
            held["series"] = [
                {"at": _stamp(point.at), "level": point.level, "figures": dict(point.figures)} for point in self.series
            ]
        return json.dumps(_finite(held), ensure_ascii=False, allow_nan=False)

    def to_text(self, *, every: bool = False) -> str:
        """Return the report for people, in plain lines: health.layout says which."""
        return "\n".join(row.plain() for row in rows(self, every=every))


def assess(facts: Facts) -> Report:
    """Return every signal over the facts; an empty store is never well, and a signal that cannot be read fails."""
    signals = tuple(signal for one in CATALOG for signal in _read(one, facts))
    return Report(facts.workspace, facts.now, signals, facts.series.points, facts.machine, facts.since, facts.project)


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


def _signal(signal: Signal) -> dict[str, object]:
    of = known(signal.id)
    return {**signal.to_dict(), "area": of.area, "remedy": of.command(signal.id), "safe": of.safe}


def _finite(value: object) -> object:
    """A value of JSON in which what is no number is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _name(level: Level) -> str:
    return level.name.lower()


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
