"""One signal explained: what was seen, where, what would be well, and the command that mends it."""

import difflib
from dataclasses import dataclass

from health.catalog import known
from health.known import Area
from health.report import Report
from health.signal import Signal

FIRST = ("migrate", "sync", "sync --full")  # what is taken in first lets the other remedies see it


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A signal with what is known of it.

    `why_never` says why it never fails, or never warns; "" where it does both. `command` is the whole line that mends
    it, "" where only a person can.
    """

    signal: Signal
    area: Area
    source: str
    warns: str
    fails: str
    why_never: str
    command: str
    safe: bool

    @property
    def can_run(self) -> bool:
        """Return whether the command may be run for the person who agrees to it: not where they do something first."""
        first = self.signal.action.startswith(f"run '{self.command}")
        return self.safe and bool(self.command) and bool(self.signal.level) and first

    def to_dict(self) -> dict[str, object]:
        """Return the diagnosis as plain JSON values."""
        return {
            **self.signal.to_dict(),
            "area": str(self.area),
            "source": self.source,
            "warns": self.warns,
            "fails": self.fails,
            "why_never": self.why_never,
            "command": self.command,
            "safe": self.safe,
        }


def diagnose(report: Report, id: str) -> Diagnosis:
    """Return the diagnosis of the signal with this id; KeyError where the report has none of that name."""
    signal = next((one for one in report.signals if one.id == id), None)
    if signal is None:
        raise KeyError(id)
    of = known(id)
    line = of.command(id)
    return Diagnosis(
        signal=signal,
        area=of.area,
        source=of.source,
        warns=of.warn,
        fails=of.fail,
        why_never=of.why_never,
        command=f"recall {line}" if line else "",
        safe=of.safe,
    )


def ailing(report: Report) -> list[Diagnosis]:
    """Return every signal that is not well, the worst first."""
    bad = sorted((one for one in report.signals if one.level), key=lambda one: -one.level)
    return [diagnose(report, one.id) for one in bad]


def named(report: Report, id: str) -> list[Diagnosis]:
    """Return the signal of this id, or each that it begins ("hook_installed"): none where it names none."""
    return [diagnose(report, one.id) for one in report.signals if one.id == id or one.id.startswith(f"{id}.")]


def near(report: Report, id: str) -> list[str]:
    """Return up to three ids that look like this one."""
    return difflib.get_close_matches(id, [one.id for one in report.signals], n=3, cutoff=0.5)


def next_remedy(diagnoses: list[Diagnosis], settled: set[str]) -> Diagnosis | None:
    """Return what to mend next: a safe remedy that is not settled yet, those that take things in before the others."""
    open_ = [one for one in diagnoses if one.can_run and one.command not in settled]
    return min(open_, key=lambda one: one.command.removeprefix("recall ") not in FIRST, default=None)
