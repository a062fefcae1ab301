"""How a health report is laid out for people, line by line, the same on a terminal, in a pipe and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from health.known import Area
from health.signal import Level, Signal
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from health.report import Report

CARD = ("duplicate_ratio", "embeddings_failed")  # told before everything else
FIRST_SCREEN = (*CARD, "capture_lag", "unindexed", "vector_search", "embedder")
MOST_DETAILS = 5
MOST_NAMED = 6
MOST_CHARS = 400  # of one text; --json has it whole
INDENT = 6
NAME_WIDTH = 28


@dataclass(frozen=True, slots=True)
class Row:
    """One line: with a level, it begins with that and with a name; without, it is indented."""

    text: str = ""
    level: Level | None = None
    name: str = ""
    indent: int = INDENT
    to_do: bool = False

    def plain(self) -> str:
        """Return the line as plain text."""
        if self.level is None:
            return f"{'':<{self.indent}}{self.text}" if self.text else ""
        if not self.name:
            return f"{self.level.name.lower():<5} {self.text}"
        return f"{self.level.name.lower():<5} {self.name:<{NAME_WIDTH}} {self.text}"


def rows(report: Report, *, every: bool = False) -> Iterator[Row]:
    """Yield the report's lines: verdict, the two figures, areas, what is new, problems, the first screen, the rest.

    Without every, signals that are well and not of the first screen are only counted.
    """
    bad = sorted((s for s in report.signals if s.level), key=lambda s: -s.level)
    first = [s for s in report.signals if not s.level and _is_first(s)]
    rest = [s for s in report.signals if not s.level and not _is_first(s)]
    name = f"{one_line(report.project)}  " if report.project else ""
    yield Row(f"{name}workspace {one_line(report.workspace)}  {minute(report.at)}", report.level)
    yield Row(card(report))
    yield Row(areas(report))
    if news := since(report):
        yield Row(news)
    yield Row()
    for signal in bad:
        yield from _problem(signal)
    yield from map(_line, first)
    yield Row()
    if every:
        yield from map(_line, rest)
    else:
        yield Row(f"{counted(len(rest), 'more signal is', 'more signals are')} ok; --all shows them", indent=0)
    if bad:  # what a terminal shows of a long report is its end
        yield Row(f"in short: {_named(bad)}", indent=0)


def card(report: Report) -> str:
    """Return the two figures that stand before everything else, or that they are not known."""
    held = {signal.id: one_line(signal.text) for signal in report.signals}
    if not all(id in held for id in CARD):
        return "duplicates and failed embeddings are not known: no index"
    copies, failed = (held[id] for id in CARD)
    return f"duplicates {copies.partition(' (')[0]}; {failed}"


def areas(report: Report) -> str:
    """Return the areas by their level, the worst first: `fail indexing; ok record, recall, …`."""
    named = {level: [area for area in Area if report.area(area) is level] for level in reversed(Level)}
    return "; ".join(f"{level.name.lower()} {', '.join(names)}" for level, names in named.items() if names)


def since(report: Report) -> str:
    """Return what is other than in the last kept report, "" where none was kept."""
    changes = report.changes
    if changes.against is None:
        return ""
    named = (("failing", changes.failing_new), ("warning", changes.warning_new), ("mended", changes.mended))
    told = [f"{what} {', '.join(map(one_line, ids))}" for what, ids in named if ids]
    return f"since the night of {minute(changes.against)}: {'; '.join(told) or 'nothing new'}"


def one_line(text: str) -> str:
    """Return a text on one line and not endless: what a file was called forges no line of the report."""
    folded = " ".join(text.splitlines())
    return folded if len(folded) <= MOST_CHARS else f"{folded[:MOST_CHARS]} … ({len(folded):,} characters)"


def _named(bad: Sequence[Signal]) -> str:
    """The names of what is wrong, the worst first; with many, how many are left out."""
    named = [f"{signal.level.name.lower()} {one_line(signal.id)}" for signal in bad[:MOST_NAMED]]
    left = f", and {len(bad) - MOST_NAMED:,} more" if len(bad) > MOST_NAMED else ""
    return f"{', '.join(named)}{left}"


def _is_first(signal: Signal) -> bool:
    return signal.id in FIRST_SCREEN or signal.id.startswith("hook_last_fired.")


def _line(signal: Signal) -> Row:
    return Row(one_line(signal.text), signal.level, one_line(signal.id))


def _problem(signal: Signal) -> Iterator[Row]:
    yield _line(signal)
    yield Row(one_line(signal.meaning))
    for detail in signal.details[:MOST_DETAILS]:
        yield Row(one_line(detail), indent=INDENT + 2)
    if len(signal.details) > MOST_DETAILS:
        yield Row(f"and {len(signal.details) - MOST_DETAILS} more; --json lists them", indent=INDENT + 2)
    if signal.action:
        yield Row(f"-> {one_line(signal.action)}", to_do=True)
    yield Row()
