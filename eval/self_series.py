"""The series of a project's own evaluation: one line a run, kept in a derived file that may be lost.

A line holds figures, and for each question its id with the reciprocal rank; no word of the record.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path

from eval.stats import Paired, paired
from eval.tables import table
from health.gather_quality import FILE, LEAST
from transcript.event import moment
from transcript.lock import FileLock
from transcript.paths import append_line, secure_dir
from transcript.workspace import Workspace

SHOWN = 6
DAYS = 30  # a run is held against the best of so many


@dataclass(frozen=True, slots=True)
class Entry:
    """One run: when, on what, its figures, and the reciprocal rank of every question.

    `interval` is that of the mean rank. `change` is the run minus the best of the 30 days before it, over the questions
    of both: mean, low, high, n, and against which. A figure that later runs repeat stays told for those days.
    """

    at: str
    commit: str
    settings_hash: str
    model: str
    questions_sha256: str
    figures: dict[str, float]
    ranks: dict[str, float]
    interval: tuple[float, float] | None = None
    change: dict[str, float | str] | None = None


def path(workspace: Workspace) -> Path:
    """Return where a project's series lies."""
    return workspace.run_dir / FILE


def read(file: Path) -> list[Entry]:
    """Return the runs, oldest first; a line that cannot be read, a torn one for instance, is passed over."""
    if not file.exists():
        return []
    found = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = Entry(**json.loads(line))
            moment(entry.at)
            found.append(entry)
        except (ValueError, TypeError):
            continue
    return found


def append(file: Path, entry: Entry) -> None:
    """Add one run and what it changed; a line that an interrupted run left open is closed first."""
    secure_dir(file.parent)
    with FileLock(file.with_suffix(".lock")):
        entry = replace(entry, change=_change(entry, read(file)))
        append_line(file, json.dumps(asdict(entry)))


def _change(now: Entry, earlier: Sequence[Entry]) -> dict[str, float | str] | None:
    """The run minus the best one before it, None where none of the last days shares enough questions."""
    since = moment(now.at) - timedelta(days=DAYS)
    recent = [one for one in earlier if since <= moment(one.at) and len(now.ranks.keys() & one.ranks.keys()) >= LEAST]
    if not recent:
        return None
    best = min(recent, key=lambda one: _mean_change(now, one))
    found = change(now, best)
    if found is None:
        return None
    figures = {"mean": found.mean, "low": found.low, "high": found.high}
    return {**{name: round(value, 4) for name, value in figures.items()}, "n": found.n, "against": best.at}


def _mean_change(now: Entry, before: Entry) -> float:
    both = now.ranks.keys() & before.ranks.keys()
    return sum(now.ranks[one] - before.ranks[one] for one in both) / len(both)


def change(now: Entry, before: Entry, *, samples: int = 2000) -> Paired | None:
    """Return now minus before in reciprocal rank, over the questions of both; None where they share none."""
    return paired(now.ranks, before.ranks, samples=samples)


def to_text(entries: Sequence[Entry]) -> str:
    """The newest runs, each against the one before it over the questions of both."""
    rows: list[list[object]] = []
    shown = entries[-SHOWN:]
    befores: list[Entry | None] = [entries[-SHOWN - 1] if len(entries) > SHOWN else None, *shown[:-1]]
    for entry, before in zip(shown, befores, strict=True):
        found = change(entry, before) if before is not None else None
        moved = found.points() if found else "-"
        rows.append([entry.at[:16], entry.commit, entry.settings_hash, entry.model, len(entry.ranks),
                     *_percents(entry.figures), moved, found.n if found else 0])  # fmt: skip
    names = list(shown[-1].figures) if shown else []
    return table(["run", "commit", "settings", "model", "n", *names, "MRR since the run before", "of"], rows)


def _percents(figures: Mapping[str, float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in figures.values()]
