"""Times the record's own work on ESAA's case study and a multiple of it: taking in, views, checks, windows.

The commands are timed as whole processes, as a person runs them; what runs inside a turn's background or behind a
prompt is timed as a function too, because the interpreter's start would hide it.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from eval import case_study
from eval.machine import Machine, load, machine
from eval.tables import table
from health.stats import median
from transcript.context import context
from transcript.curation import Author, Setting, decision
from transcript.event import stamp
from transcript.filters import Filter
from transcript.log import Log
from transcript.projections import views
from transcript.telling import counted
from transcript.workspace import Workspace, init

Progress = Callable[[str], None]
SITE = Path(__file__).resolve().parents[1]
_START = "import sys; sys.path.append(sys.argv.pop(1)); from recall.cli.main import main; sys.exit(main())"
WINDOWS = {
    "the newest turns": ((), Filter()),
    "one of four agents": (("--agent", "grok-build"), Filter(agent="grok-build")),
    "an agent of two turns": (("--agent", case_study.RARE_AGENT), Filter(agent=case_study.RARE_AGENT)),
    "a word said once": (("--topic", case_study.RARE_WORD), Filter(topic=case_study.RARE_WORD)),
    "words never said": (("--topic", "quokkas here"), Filter(topic="quokkas here")),
    "after the last turn": (("--since", "2100-01-01"), Filter(since="2100-01-01")),
}


@dataclass(frozen=True, slots=True)
class Timed:
    """What one piece of work took: the median in milliseconds, and that of its command as a whole process."""

    name: str
    work_ms: float | None
    command_ms: float | None


@dataclass(frozen=True, slots=True)
class Size:
    """All figures on one log."""

    events: int
    log_bytes: int
    took: tuple[Timed, ...]
    whole_s: float  # sync, project and verify as commands, one after the other
    snapshot_ratio: float  # a fold of the whole record over one of a snapshot and what came since


@dataclass(frozen=True, slots=True)
class RecordReport:
    """The case study and its multiple, with what they were measured on."""

    sizes: tuple[Size, ...]
    machine: Machine
    load_after: tuple[float, float, float]

    def to_text(self) -> str:
        """Return one table for each size, and the circumstances."""
        lines = [f"{self.machine.to_text()}, load after {'/'.join(f'{value:.1f}' for value in self.load_after)}"]
        for size in self.sizes:
            rows = [[timed.name, timed.work_ms, timed.command_ms] for timed in size.took]
            lines += [
                "",
                f"{counted(size.events, 'event')}, {size.log_bytes / 1e6:,.1f} MB",
                table(["milliseconds", "work", "command"], rows),
                f"sync, project and verify as commands: {size.whole_s:.1f} s together",
                f"a snapshot makes the fold {size.snapshot_ratio:,.0f} times as fast",
            ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(asdict(self), ensure_ascii=False)


def run(
    scratch: Path,
    *,
    times: tuple[int, ...] = (1, 100),
    rounds: int = 5,
    env: Mapping[str, str] = os.environ,
    progress: Progress | None = None,
) -> RecordReport:
    """Time everything on the case study, so many times over each; rounds is how often quick work is repeated."""
    if rounds < 1 or not times or min(times) < 1:
        raise ValueError("rounds and every multiple are at least 1")
    before = machine()
    tell = progress or (lambda _: None)
    sizes = tuple(_size(scratch / f"times-{number}", number, rounds, env, tell) for number in times)
    return RecordReport(sizes, before, load())


def _size(folder: Path, times: int, rounds: int, env: Mapping[str, str], tell: Progress) -> Size:
    project = folder / "project"
    project.mkdir(parents=True)
    workspace = init(project, folder / "data")
    tell(f"writing {counted(times * case_study.EVENTS, 'event')}")
    case_study.write(folder / "sessions", project, times=times)
    shell = _Shell(project, {**env, "RECALL_HOME": str(folder / "data")})
    tell("sync, project, verify")
    whole = [
        Timed("sync", None, shell.run("sync", "--adapter", "wire", "--from", str(folder / "sessions"))),
        Timed("project, from the whole record", None, shell.run("project", "--full")),
        Timed("verify", None, shell.run("verify")),
    ]
    tell("one more event, windows")
    one_more, ratio = _one_more(workspace, rounds)
    log = Log(workspace)
    windows = [
        Timed(
            f"context: {name}",
            _median(partial(context, log, wanted=wanted), rounds),
            median([shell.run("context", *words) for _ in range(rounds)]),
        )
        for name, (words, wanted) in WINDOWS.items()
    ]
    return Size(
        events=log.head().seq,
        log_bytes=sum(path.stat().st_size for path in workspace.log_dir.glob("*.jsonl")),
        took=(*whole, one_more, *windows),
        whole_s=sum(timed.command_ms or 0.0 for timed in whole) / 1000,
        snapshot_ratio=ratio,
    )


def _one_more(workspace: Workspace, rounds: int) -> tuple[Timed, float]:
    """Time the views after each of some more events, and how much slower a fold of the whole record is."""
    by, log = Author("bench", "human"), Log(workspace)
    whole_ms = _timed(lambda: views.folded(log, snapshot=False))
    views.project(workspace)
    written, folded = [], []
    for number in range(rounds):
        now = datetime.now(UTC)
        made = decision(by, Setting(stamp(now), "recall:bench", str(number)), f"One more, number {number}")
        log.append([made], now=now)
        folded.append(_timed(lambda: views.folded(log)))
        written.append(_timed(lambda: views.project(workspace)))
    return Timed("project, after one more event", median(written), None), whole_ms / median(folded)


class _Shell:
    """Runs commands of this program in one project, as whole processes."""

    def __init__(self, project: Path, env: Mapping[str, str]) -> None:
        self._project, self._env = project, dict(env)

    def run(self, *words: str) -> float:
        """Run a command and return its milliseconds; one that fails ends the measurement."""
        command = [sys.executable, "-I", "-c", _START, str(SITE), *words]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=self._project, env=self._env, capture_output=True, text=True, check=False)
        took = (time.perf_counter() - began) * 1000
        if done.returncode:
            raise RuntimeError(f"recall {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return took


def _median(work: Callable[[], object], rounds: int) -> float:
    return median([_timed(work) for _ in range(rounds)])


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000
