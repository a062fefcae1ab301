"""Times the record's own work on ESAA's case study and a multiple of it: taking in, views, checks, windows.

The commands are timed as whole processes, as a person runs them; what runs inside a turn's background or behind a
prompt is timed as a function too, because the interpreter's start would hide it. Beside each time stands that of the
processors: on a machine that does other work at the same time it is the truer one.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
class Took:
    """Milliseconds by the clock and of the processors."""

    ms: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Timed:
    """What one piece of work took, and its command as a whole process; medians where it was repeated."""

    name: str
    work: Took | None
    command: Took | None


@dataclass(frozen=True, slots=True)
class Size:
    """All figures on one log."""

    events: int
    log_bytes: int
    took: tuple[Timed, ...]
    whole: Took  # sync, project and verify as commands, one after the other
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
            rows = [[timed.name, *_both(timed.work), *_both(timed.command)] for timed in size.took]
            lines += [
                "",
                f"{counted(size.events, 'event')}, {size.log_bytes / 1e6:,.1f} MB",
                table(["milliseconds", "work", "processor", "command", "processor"], rows),
                f"sync, project and verify as commands: {size.whole.ms / 1000:.1f} s together, "
                f"{size.whole.cpu_ms / 1000:.1f} s of the processors",
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
    whole = {
        "sync": shell.run("sync", "--adapter", "wire", "--from", str(folder / "sessions")),
        "project, from the whole record": shell.run("project", "--full"),
        "verify": shell.run("verify"),
    }
    tell("one more event, windows")
    one_more, ratio = _one_more(workspace, rounds)
    log = Log(workspace)
    windows = [
        Timed(
            f"context: {name}",
            _median([_timed(partial(context, log, wanted=wanted)) for _ in range(rounds)]),
            _median([shell.run("context", *words) for _ in range(rounds)]),
        )
        for name, (words, wanted) in WINDOWS.items()
    ]
    return Size(
        events=log.head().seq,
        log_bytes=sum(path.stat().st_size for path in workspace.log_dir.glob("*.jsonl")),
        took=(*(Timed(name, None, one) for name, one in whole.items()), one_more, *windows),
        whole=Took(sum(one.ms for one in whole.values()), sum(one.cpu_ms for one in whole.values())),
        snapshot_ratio=ratio,
    )


def _one_more(workspace: Workspace, rounds: int) -> tuple[Timed, float]:
    """Time the views after each of some more events, and how much slower a fold of the whole record is."""
    by, log = Author("bench", "human"), Log(workspace)
    whole = _timed(lambda: views.folded(log, snapshot=False))
    views.project(workspace)
    written, folded = [], []
    for number in range(rounds):
        now = datetime.now(UTC)
        made = decision(by, Setting(stamp(now), "recall:bench", str(number)), f"One more, number {number}")
        log.append([made], now=now)
        folded.append(_timed(lambda: views.folded(log)))
        written.append(_timed(lambda: views.project(workspace)))
    return Timed("project, after one more event", _median(written), None), whole.cpu_ms / _median(folded).cpu_ms


class _Shell:
    """Runs commands of this program in one project, as whole processes."""

    def __init__(self, project: Path, env: Mapping[str, str]) -> None:
        self._project, self._env = project, dict(env)

    def run(self, *words: str) -> Took:
        """Run a command and return what it took; one that fails ends the measurement."""
        command = [sys.executable, "-I", "-c", _START, str(SITE), *words]
        began, used = time.perf_counter(), _of_children()
        done = subprocess.run(command, cwd=self._project, env=self._env, capture_output=True, text=True, check=False)
        took = Took((time.perf_counter() - began) * 1000, (_of_children() - used) * 1000)
        if done.returncode:
            raise RuntimeError(f"recall {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return took


def _of_children() -> float:
    """Return the seconds of the processors that ended children have used; 0 where the system does not tell."""
    times = os.times()
    return times.children_user + times.children_system


def _timed(work: Callable[[], object]) -> Took:
    began, used = time.perf_counter(), time.process_time()
    work()
    return Took((time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000)


def _median(took: Sequence[Took]) -> Took:
    return Took(median([one.ms for one in took]), median([one.cpu_ms for one in took]))


def _both(took: Took | None) -> tuple[float | None, float | None]:
    return (None, None) if took is None else (took.ms, took.cpu_ms)
