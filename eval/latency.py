"""Times whole turns: the installed hook line, run as a harness runs it, from process start to output.

Warm turns are answered by the resident service; cold ones find none and go by words, each with a service started
behind it that is ended before the next. All of it runs on a copy of the data folder, so that the user's record
gets no rows from it.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from eval.machine import Machine, load, machine
from eval.starts import standing_project
from eval.tables import table
from health.stats import median, percentile
from recall import launcher, ledger, service
from recall.hook_client import ADDRESS
from recall.spawn import SERVICE_STARTING, take_lock
from transcript.log import Log
from transcript.telling import counted
from transcript.workspace import Workspace, init

HARNESS = "claude-code"
WAIT_S = 60.0
FLOOR = "empty interpreter"
EVENTS = ("Stop", "SessionEnd")  # behind them a capture starts, which the harness must not wait for
LOG_FILES_LEFT_OUT = ("native", "blobs", "quarantine")
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Turns:
    """Times of one kind of turn in milliseconds, in the order they ran."""

    name: str
    output_ms: tuple[float, ...]
    exit_ms: tuple[float, ...]
    answered: int
    modes: dict[str, int]

    def row(self) -> list[object]:
        """Return n, answered, and median, p95, max to output and to exit."""
        return [self.name, len(self.output_ms), self.answered, *_three(self.output_ms), *_three(self.exit_ms)]


@dataclass(frozen=True, slots=True)
class LatencyReport:
    """Warm and cold turns on one index, with what they were measured on."""

    runs: tuple[Turns, ...]
    chunks: int
    vectors: int
    index_bytes: int
    model: str
    settings_hash: str
    ready_ms: float | None
    machine: Machine
    load_after: tuple[float, float, float]
    captured: int | None = None  # events that the captures behind EVENTS took in; None when they were not timed

    def to_text(self) -> str:
        """Return one table and the circumstances."""
        head = ["turns", "n", "answered", "median", "p95", "max", "to exit: median", "p95", "max"]
        lines = [
            f"latency: {counted(self.chunks, 'chunk')}, {self.vectors:,} with a vector, model {self.model}, "
            f"settings {self.settings_hash}",
            self.machine.to_text() + f", load after {'/'.join(f'{value:.1f}' for value in self.load_after)}",
            "milliseconds from process start to the last byte of output; 'to exit' until the process is gone",
            "",
            table(head, [run.row() for run in self.runs]),
        ]
        lines += [
            f"{run.name}: ledger says {', '.join(f'{k} {v}' for k, v in sorted(run.modes.items())) or 'nothing'}"
            for run in self.runs
            if run.modes
        ]
        if self.captured is not None:
            lines.append(
                f"behind {' and '.join(EVENTS)}: {counted(self.captured, 'event')} captured, by a process of its own"
            )
        if self.ready_ms is not None:
            lines.append(f"service ready {self.ready_ms:,.0f} ms after the first hook")
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the report as one JSON object with every single time."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What the caller read from the index before it was copied."""

    chunks: int
    vectors: int
    model: str
    settings_hash: str


def run(
    workspace: Workspace,
    data: Path,
    scratch: Path,
    *,
    facts: IndexFacts,
    prompts: Sequence[str],
    n: int = 40,
    warm: bool = True,
    cold: bool = True,
    events: bool = False,
    starts: int = 0,
    env: Mapping[str, str] = os.environ,
    progress: Progress | None = None,
) -> LatencyReport:
    """Time n warm and n cold turns of workspace, copied to scratch; prompts go round when there are fewer than n.

    With events, also how long the harness waits at the end of a turn and of a session, in a small project made for it;
    with starts, that many starts of sessions, each told the standing context of `eval.starts`.
    """
    if workspace.root is None:
        raise ValueError("the workspace has no project folder to ask from")
    if not prompts:
        raise ValueError("no prompts to ask")
    tell = progress or (lambda _: None)
    tell("copying the index")
    home = copy_home(workspace, data, scratch)
    copied = Workspace(workspace.id, home / "workspaces" / workspace.id, workspace.root)
    bench = _Bench(home, copied, prompts, env)
    runs: list[Turns] = []
    ready = captured = None
    ends = Ends(scratch, home, bench) if events else None
    begin = Starts(scratch, home, bench) if starts else None
    before = machine()
    try:
        if cold:
            tell(f"{counted(n, 'turn')} without a service")
            runs.append(bench.cold(n))
            runs += ends.timed(n, "without service") if ends else []
            runs += [begin.timed(starts, "without service", bench.stop_service)] if begin else []
        if warm:
            tell(f"{counted(n, 'turn')} with the service")
            ready = bench.start_service()
            runs += bench.warm(n)
            runs += ends.timed(n, "warm") if ends else []
            runs += [begin.timed(starts, "warm")] if begin else []
        captured = ends.captured() if ends else None
    finally:
        bench.stop_service()
    return LatencyReport(
        tuple(runs),
        facts.chunks,
        facts.vectors,
        copied.index_path.stat().st_size,
        facts.model,
        facts.settings_hash,
        ready,
        before,
        load(),
        captured,
    )


def copy_home(workspace: Workspace, data: Path, scratch: Path) -> Path:
    """Copy what a turn reads to scratch and return the new data folder, with a launcher of its own."""
    home = scratch / "data"
    target = home / "workspaces" / workspace.id
    target.mkdir(parents=True, mode=0o700)
    for name in ("roots.json", "config.toml"):
        if (data / name).exists():
            shutil.copy2(data / name, home / name)
    for path in workspace.home.iterdir():
        if path.is_file():
            shutil.copy2(path, target / path.name)
    if workspace.log_dir.is_dir():
        shutil.copytree(workspace.log_dir, target / "log", ignore=shutil.ignore_patterns(*LOG_FILES_LEFT_OUT))
    ids = workspace.run_dir / "ids.bin"
    if ids.exists():
        (target / "run").mkdir(mode=0o700, exist_ok=True)
        shutil.copy2(ids, target / "run" / ids.name)
    launcher.write(home)
    return home


class _Bench:
    """Runs the installed line against one copied data folder."""

    def __init__(self, home: Path, workspace: Workspace, prompts: Sequence[str], env: Mapping[str, str]) -> None:
        self._home, self._workspace, self._prompts = home, workspace, prompts
        self._line = launcher.hook_command(home, HARNESS)
        kept = {k: v for k, v in env.items() if k not in ("RECALL_OFF", "RECALL_CHILD", "RECALL_HOOK_DEADLINE_MS")}
        self._env = {**kept, "RECALL_HOME": str(home)}
        self._asked = 0

    def cold(self, n: int) -> Turns:
        """Time turns that find no service; the one each starts behind itself is ended before the next."""
        seen = self._ledger_rows()
        times = []
        for _ in range(n):
            self.stop_service()
            times.append(self._turn())
        self.stop_service()
        return self._turns("without service", times, seen)

    def warm(self, n: int) -> list[Turns]:
        """Time turns that the running service answers, each beside an interpreter that does nothing.

        The second says what the machine gives at that moment: no client in Python can be faster.
        """
        seen = self._ledger_rows()
        turns, floors = [], []
        for _ in range(n):
            turns.append(self._turn())
            floors.append(self._run(f'"{sys.executable}" -I -S -c pass', b""))
        floor = Turns(FLOOR, tuple(round(t, 2) for t, _, _ in floors), tuple(round(t, 2) for _, t, _ in floors), 0, {})
        return [self._turns("warm", turns, seen), floor]

    def start_service(self) -> float:
        """Start the service as the first hook does and wait until it answers; return the milliseconds."""
        started = time.perf_counter()
        while time.perf_counter() - started < WAIT_S:
            seen = self._ledger_rows()
            self._turn()
            if self._modes(seen).get("warm"):
                return (time.perf_counter() - started) * 1000
            time.sleep(0.2)
        raise TimeoutError(f"no service answered within {WAIT_S:.0f} s; run 'recall serve' to see why")

    def stop_service(self) -> None:
        """End this data folder's service, if one runs or is starting, and wait until it is gone."""
        starting = self._home / SERVICE_STARTING
        if starting.exists():
            self._wait(lambda: (self._home / ADDRESS).exists() or not starting.exists(), 10.0)
        site = launcher.site_folder()
        if service.call(self._home, "stop", site=site) is not None:
            self._wait(lambda: service.call(self._home, "status", site=site) is None, 10.0)
        starting.unlink(missing_ok=True)

    def _turn(self) -> tuple[float, float, bool]:
        """Run one hook; return milliseconds to the last byte of output, to exit, and whether it answered."""
        prompt = self._prompts[self._asked % len(self._prompts)]
        self._asked += 1
        none = self._home / "none.jsonl"
        return self.call("UserPromptSubmit", self._workspace.root, str(uuid.uuid4()), none, prompt=prompt)

    def call(
        self, event: str, cwd: Path | None, session: str, transcript: Path, **more: object
    ) -> tuple[float, float, bool]:
        """Run the installed line for one event of the harness; return what `_turn` does."""
        payload = {"session_id": session, "transcript_path": str(transcript), "cwd": str(cwd)}
        payload |= {"permission_mode": "default", "hook_event_name": event}
        return self._run(self._line, json.dumps({**payload, **more}).encode())

    def _run(self, line: str, payload: bytes) -> tuple[float, float, bool]:
        """Run one line as a harness does, through the shell."""
        started = time.perf_counter()
        process = subprocess.Popen(
            ["/bin/sh", "-c", line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._env,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(payload)
        process.stdin.close()
        output, last = b"", started
        while part := os.read(process.stdout.fileno(), 1 << 16):
            output += part
            last = time.perf_counter()
        process.stdout.close()
        process.wait()
        ended = time.perf_counter()
        return ((last if output else ended) - started) * 1000, (ended - started) * 1000, bool(output)

    def _turns(self, name: str, times: Sequence[tuple[float, float, bool]], seen: int) -> Turns:
        return Turns(
            name,
            tuple(round(output, 2) for output, _, _ in times),
            tuple(round(ended, 2) for _, ended, _ in times),
            sum(answered for _, _, answered in times),
            self._modes(seen, expected=len(times)),
        )

    def _ledger_rows(self) -> int:
        return sum(1 for _ in ledger.turns(Log(self._workspace))) if self._workspace.head_file.exists() else 0

    def _modes(self, seen: int, *, expected: int = 1) -> dict[str, int]:
        """Return the ledger's modes since it had seen rows; the service writes them after its answer has left."""
        self._wait(lambda: self._ledger_rows() >= seen + expected, 5.0)
        found: dict[str, int] = {}
        rows = list(ledger.turns(Log(self._workspace))) if self._workspace.head_file.exists() else []
        for event in rows[: len(rows) - seen]:
            mode = str(event.body.get("mode"))
            found[mode] = found.get(mode, 0) + 1
        return found

    def _wait(self, condition: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not condition() and time.monotonic() < until:
            time.sleep(0.02)


class Ends:
    """Times the ends of turns and sessions in a project of one session, whose file the captures behind them take in."""

    def __init__(self, scratch: Path, home: Path, bench: _Bench) -> None:
        self._home, self._bench = home, bench
        self._project = scratch / "ends"
        self._project.mkdir()
        self._workspace = init(self._project, home)
        self._session = str(uuid.uuid4())
        self._file = scratch / "harness" / "projects" / "ends" / f"{self._session}.jsonl"
        self._file.parent.mkdir(parents=True)
        said = {"role": "user", "content": "Which port does the gannet service use?"}
        line = {"type": "user", "uuid": str(uuid.uuid4()), "sessionId": self._session, "cwd": str(self._project)}
        told = {"parentUuid": None, "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.1.0", "message": said}
        self._file.write_text(json.dumps({**line, **told}) + "\n", encoding="utf-8")

    def timed(self, n: int, name: str) -> list[Turns]:
        """Return the times of n ends of each kind."""
        runs = []
        for event in EVENTS:
            times = [self._bench.call(event, self._project, self._session, self._file) for _ in range(n)]
            out, ended = tuple(round(t, 2) for t, _, _ in times), tuple(round(t, 2) for _, t, _ in times)
            runs.append(Turns(f"{event}, {name}", out, ended, sum(answered for *_, answered in times), {}))
        return runs

    def captured(self) -> int:
        """Wait until the captures are done and return how many turns they took in."""
        for lock in (self._home / "run").glob("capture-*.lock"):
            until = time.monotonic() + WAIT_S
            while time.monotonic() < until:
                held = take_lock(str(lock))
                if held is not None:
                    os.close(held)
                    break
                time.sleep(0.1)
        if not self._workspace.head_file.exists():
            return 0
        return sum(event.type == "conversation_turn" for event in Log(self._workspace).read())


class Starts:
    """Times starts of sessions that are told a standing context."""

    def __init__(self, scratch: Path, home: Path, bench: _Bench) -> None:
        self._workspace, self._bench = standing_project(scratch, home), bench
        self._none = scratch / "none.jsonl"

    def timed(self, n: int, name: str, before: Callable[[], None] = lambda: None) -> Turns:
        """Return the times of n starts, each of a session of its own; `before` is done before each."""
        times = []
        for _ in range(n):
            before()
            told = self._bench.call(
                "SessionStart", self._workspace.root, str(uuid.uuid4()), self._none, source="startup"
            )
            times.append(told)
        out, ended = tuple(round(t, 2) for t, _, _ in times), tuple(round(t, 2) for _, t, _ in times)
        return Turns(f"SessionStart, {name}", out, ended, sum(answered for *_, answered in times), {})


def _three(values: Sequence[float]) -> list[float | None]:
    return [median(values), percentile(values, 95), max(values)] if values else [None, None, None]
