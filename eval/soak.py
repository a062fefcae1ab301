"""A soak: weeks of work in an hour, by several clients at once, with all that goes wrong in weeks.

The clock is moved from hour to hour, each hour is a session file of its own, a scheduler calls the nights, the service
is killed, the disk is filled, the clock jumps forwards and back. What counts is what holds afterwards: every prompt
stands in the record once, the record verifies, no process is left, and the service has not grown.
"""

import json
import os
import queue
import random
import re
import statistics
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eval.machine import machine
from eval.soak_world import World, line, resident_mb
from recall.hook_counters import read as read_counters
from recall.log_reader import FOLDER
from transcript.log import Log
from transcript.telling import counted
from transcript.verify import verify

HOUR = 3600
MARK = re.compile(r"\bturn-(\d{6})\b")
JOB = re.compile(r"/run/(?:capture|checkpoint)-")  # the lock that each names in its command line
THINGS = ["proxy", "importer", "scheduler", "mailer", "cache", "gateway", "ledger", "search", "billing", "export"]
SAMPLE_EVERY = 20  # turns
SETTLE_S = 3600.0  # embedding what weeks said in minutes takes its time
LEAVE_S = 300.0
WARM_UP_TURNS = 2000  # at most; a tenth of a shorter run
MOST_GROWTH_MB = 1.0  # in 1,000 turns, judged where as many were seen


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done: how many turns by how many clients, and what goes wrong on the way."""

    turns: int = 20_000
    clients: int = 8
    seed: int = 1
    turns_an_hour: int = 40
    kills: int = 50
    disk_mb: int = 2048  # of a file system of its own; 0: no full disk
    settings: Mapping[str, str] = field(default_factory=dict)  # RECALL_ variables


@dataclass(slots=True)
class Report:
    """What held, and the figures."""

    turns: int = 0
    clients: int = 0
    seed: int = 0
    hours: int = 0
    seconds: float = 0.0
    clock_moved: bool = False  # whether processes had the simulated clock
    clock_jumps: int = 0
    disk_filled: bool = False
    kills: int = 0
    nights: dict[str, int] = field(default_factory=dict)  # how the calls of the scheduler ended
    nights_missing: tuple[str, ...] = ()  # local dates without one
    lost: tuple[int, ...] = ()  # turns whose prompt is not in the record
    twice: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()  # of the record's verification
    left: tuple[str, ...] = ()  # processes
    bad_answers: dict[str, int] = field(default_factory=dict)
    answered: int = 0  # turns that were given something
    prompt_p50_ms: float = 0.0
    prompt_p95_ms: float = 0.0
    prompt_max_ms: float = 0.0
    resident_mb: float = 0.0  # of the service at the end, its own memory
    growth_mb: float | None = None  # of it in 1,000 turns, by the service that lived longest; None: too few samples
    mapped_mb: float = 0.0  # of files, the vectors above all
    mapped_growth_mb: float | None = None
    growth_turns: int = 0  # over which that was seen
    counters: dict[str, int] = field(default_factory=dict)  # of hooks, captures and service
    parts_failed: dict[str, int] = field(default_factory=dict)  # of nights
    errors: dict[str, int] = field(default_factory=dict)  # in the logs, with the line they came from
    machine: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing was lost, doubled, broken or left over, and the service has not grown."""
        broken = self.lost or self.twice or self.problems or self.left or self.bad_answers or self.nights_missing
        return not (broken or self.grew)

    @property
    def grew(self) -> bool:
        """Whether the service's own memory grew with the turns; a run too short to tell says no."""
        return self.growth_turns >= 1000 and self.growth_mb is not None and self.growth_mb > MOST_GROWTH_MB

    def to_json(self) -> str:
        """Return everything as one JSON object."""
        return json.dumps({"ok": self.ok, **asdict(self)})

    def to_text(self) -> str:
        """Return the figures for people."""
        growth = f"own {self.resident_mb:.0f} MB {_rate(self.growth_mb)}, "
        growth += f"mapped files {self.mapped_mb:.0f} MB {_rate(self.mapped_growth_mb)}"
        filled = "filled once" if self.disk_filled else "not filled (it needs a file system of its own: root on Linux)"
        clock = f"moved by the hour, {self.clock_jumps} jumps" if self.clock_moved else "the machine's own"
        rows = {
            "turns": f"{self.turns:,} by {counted(self.clients, 'client')}, {counted(self.hours, 'hour')}, "
            f"{self.seconds:,.0f} s",
            "clock": clock,
            "disk": filled,
            "service": f"killed {self.kills:,} times",
            "memory": f"{growth} in 1,000 turns (over {self.growth_turns:,})",
            "nights": f"{_counts(self.nights)}; missing {len(self.nights_missing)}; "
            f"parts that failed: {_counts(self.parts_failed) or 'none'}",
            "prompts": f"p50 {self.prompt_p50_ms:.0f} ms, p95 {self.prompt_p95_ms:.0f} ms, "
            f"slowest {self.prompt_max_ms:.0f} ms, {self.answered:,} given something",
            "record": f"lost {len(self.lost)}, twice {len(self.twice)}, problems {', '.join(self.problems) or 'none'}",
            "answers": f"unfit {_counts(self.bad_answers) or 'none'}",
            "processes": f"left {', '.join(self.left) or 'none'}",
            "counters": _counts(self.counters) or "none",
            "logs": _counts(self.errors) or "no error",
            "machine": self.machine,
        }
        return "\n".join(
            [f"{'holds' if self.ok else 'BROKEN'}", *(f"{name:<10} {text}" for name, text in rows.items())]
        )


def run(plan: Plan, folder: Path, *, progress: Callable[[int, int], None] = lambda done, of: None) -> Report:
    """Do the whole plan in an empty folder. Everything it starts has ended when it returns."""
    world = World(folder, plan.settings, plan.disk_mb)
    try:
        return _Soak(plan, world, progress).run()
    finally:
        for pid in world.processes():
            try:
                os.kill(pid, 9)
            except OSError:
                continue
        world.close()


class _Soak:
    """A soak at work."""

    def __init__(self, plan: Plan, world: World, progress: Callable[[int, int], None]) -> None:
        self.plan, self.world, self._progress = plan, world, progress
        self.report = Report(turns=plan.turns, clients=plan.clients, seed=plan.seed, clock_moved=world.has_clock)
        self._hours = -(-plan.turns // plan.turns_an_hour)
        self._began = time.time()
        self._guard, self._stopped = threading.Lock(), threading.Event()
        self._next, self._done, self._skew = 0, 0, 0.0
        self._calls: queue.Queue[int | None] = queue.Queue(maxsize=12)  # half a day: no date passes without a call
        self._spent: list[float] = []
        self._memory: dict[int, list[tuple[int, float, float]]] = {}  # process -> (turn, own, mapped)
        self._dates: set[str] = set()
        self._events = self._trouble()

    def run(self) -> Report:
        """Let clients and scheduler work, and look at what is left."""
        scheduler = threading.Thread(target=self._scheduler)
        scheduler.start()
        clients = [threading.Thread(target=self._client) for _ in range(self.plan.clients)]
        for client in clients:
            client.start()
        try:
            for client in clients:
                client.join()
        except BaseException:  # Ctrl-C: everybody leaves at the next turn
            self._stopped.set()
            raise
        finally:
            self._calls.put(None)
            for thread in (*clients, scheduler):
                thread.join()
            self.world.free_disk()
        self._look()
        return self.report

    # -- clients ---------------------------------------------------------------------------

    def _client(self) -> None:
        while (hour := self._take()) is not None:
            self._session(hour)

    def _take(self) -> int | None:
        """The next hour that nobody has; the clock goes on to it, and the scheduler is told."""
        with self._guard:
            if self._next == self._hours:
                return None
            hour, self._next = self._next, self._next + 1
            self._set_clock()
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._calls.put(hour, timeout=1)
                return hour
        return None

    def _set_clock(self) -> None:
        self.world.move_clock(self._began + self._next * HOUR + self._skew - time.time())

    def _session(self, hour: int) -> None:
        dice = random.Random(f"{self.plan.seed}/{hour}")
        session = str(uuid.uuid5(uuid.NAMESPACE_OID, f"soak/{self.plan.seed}/{hour}"))
        file = self.world.sessions / f"{session}.jsonl"
        first = hour * self.plan.turns_an_hour
        start = datetime.fromtimestamp(self._began + hour * HOUR, UTC)
        for turn in range(first, min(first + self.plan.turns_an_hour, self.plan.turns)):
            if self._stopped.is_set():
                return
            at = start + timedelta(seconds=(turn - first) * HOUR / self.plan.turns_an_hour)
            thing = dice.choice(THINGS)
            prompt = f"Which port does the {thing} of release {dice.randrange(200)} listen on? turn-{turn:06}"
            self._prompt(session, prompt)
            answer = f"The {thing} listens on port {dice.randrange(1024, 9999)} because release {turn % 211} moved it."
            with file.open("ab") as out:
                out.write(line(self.world, session, "user", turn, at, prompt))
                out.write(line(self.world, session, "assistant", turn, at + timedelta(seconds=9), answer))
            self._check(self.world.call_hook("Stop", session)[1:])
            self._after_turn()
        self._check(self.world.call_hook("SessionEnd", session, reason="exit")[1:])

    def _prompt(self, session: str, prompt: str) -> None:
        spent, out, code = self.world.call_hook("UserPromptSubmit", session, prompt=prompt)
        self._check((out, code))
        with self._guard:
            self._spent.append(spent)
            self.report.answered += bool(out)

    def _check(self, answer: tuple[bytes, int]) -> None:
        """A hook prints nothing or one JSON object, and ends with 0, whatever goes wrong behind it."""
        out, code = answer
        fault = f"exit {code}" if code else ""
        try:
            if out and not isinstance(json.loads(out), dict):
                fault = "no object"
        except ValueError:
            fault = "no JSON"
        if fault:
            with self._guard:
                self.report.bad_answers[fault] = self.report.bad_answers.get(fault, 0) + 1

    # -- what goes wrong -------------------------------------------------------------------

    def _after_turn(self) -> None:
        with self._guard:
            self._done += 1
            done = self._done
            if done % SAMPLE_EVERY == 0:
                pid = self.world.service()
                held = resident_mb(pid) if pid else None
                if held is not None:
                    self._memory.setdefault(pid, []).append((done, *held))
            for event in self._events.pop(done, ()):
                event()
        self._progress(done, self.plan.turns)

    def _trouble(self) -> dict[int, list[Callable[[], None]]]:
        """Turn -> what happens after it. Kills come in the first half: in the second one service lives and may grow."""
        turns, found = self.plan.turns, dict[int, list[Callable[[], None]]]()

        def at(share: float, event: Callable[[], None]) -> None:
            found.setdefault(max(1, round(turns * share)), []).append(event)

        for number in range(self.plan.kills):
            at(0.02 + 0.46 * number / max(1, self.plan.kills), self._kill)
        at(0.30, self._fill)
        at(0.32, self.world.free_disk)
        at(0.60, lambda: self._jump(3 * 24 * HOUR))
        at(0.62, lambda: self._jump(0))
        at(0.80, lambda: self._jump(-2 * 24 * HOUR))
        at(0.82, lambda: self._jump(0))
        return found

    def _kill(self) -> None:
        if self.world.kill_service():
            self.report.kills += 1
        else:  # none is up yet: after the next turn
            self._events.setdefault(self._done + 1, []).append(self._kill)

    def _fill(self) -> None:
        self.report.disk_filled = self.world.fill_disk()

    def _jump(self, seconds: float) -> None:
        self._skew = seconds
        self._set_clock()
        self.report.clock_jumps += bool(seconds)

    def _scheduler(self) -> None:
        """Call what a scheduler calls each hour. Without a clock of our own a night is due once a day of turns."""
        while (hour := self._calls.get()) is not None:
            if self._stopped.is_set():
                continue
            own = () if self.world.has_clock else ("--now",)
            if own and hour % 24:
                continue
            done = self.world.command("schedule", "run", "--json", *own)
            try:
                told = json.loads(done.stdout)
                state, day = str(told["state"]), str(told["due"])
                failed = Counter(part for one in told["projects"].values() for part in one["failed"])
            except (ValueError, KeyError):
                state, day, failed = f"exit {done.returncode}", "", Counter()
            if state == "failed":
                self.report.parts_failed = dict(Counter(self.report.parts_failed) + failed)
            self.report.nights[state] = self.report.nights.get(state, 0) + 1
            if state in ("complete", "failed", "cut"):
                self._dates.add(day)

    # -- what is left ----------------------------------------------------------------------

    def _look(self) -> None:
        report, world = self.report, self.world
        self._settle()
        world.command("serve", "--stop")
        until = time.monotonic() + LEAVE_S
        while (left := world.processes()) and time.monotonic() < until:
            time.sleep(0.1)
        report.left = tuple(left.values())
        found = self._in_record()
        report.lost = tuple(turn for turn in range(self.plan.turns) if not found[turn])
        report.twice = tuple(turn for turn, times in found.items() if times > 1)
        report.problems = tuple(verify(world.workspace).codes)
        report.hours = self._hours
        report.nights_missing = self._missing()
        report.seconds = round(time.time() - self._began, 1)
        times = sorted(self._spent)
        report.prompt_p50_ms, report.prompt_max_ms = round(statistics.median(times), 1), round(times[-1], 1)
        report.prompt_p95_ms = round(times[int(0.95 * (len(times) - 1))], 1)
        self._growth()
        report.counters = {f"{one.harness} {one.kind}": one.times for one in read_counters(world.data)}
        report.errors = dict(_errors(world.data / FOLDER))
        report.machine = machine().to_text()

    def _settle(self) -> None:
        """Wait for captures that run, then take in what the last ones left: a user's next session does the same."""
        until = time.monotonic() + SETTLE_S
        while any(JOB.search(words) for words in self.world.processes().values()) and time.monotonic() < until:
            time.sleep(0.2)
        self.world.command("sync")

    def _in_record(self) -> Counter[int]:
        """How often each turn's prompt stands in the record as what a person said."""
        log, found = Log(self.world.workspace), Counter[int]()
        for event in log.read():
            if event.type == "conversation_turn":
                body = log.body(event)
                mark = MARK.search(str(body.get("text", ""))) if body.get("kind") == "prompt" else None
                if mark is not None:
                    found[int(mark[1])] += 1
        return found

    def _missing(self) -> tuple[str, ...]:
        """The local dates whose night came while somebody called, and that had none."""
        if not self.world.has_clock:
            return ()
        start = datetime.fromtimestamp(self._began).date()
        end = datetime.fromtimestamp(self._began + (self._hours - 12) * HOUR).date()
        days = (start + timedelta(days=n) for n in range(1, (end - start).days + 1))
        return tuple(day.isoformat() for day in days if day.isoformat() not in self._dates)

    def _growth(self) -> None:
        """The slope of the longest-lived service's memory without its warm-up."""
        samples = max(self._memory.values(), key=len, default=[])
        if samples:
            _, own, mapped = samples[-1]
            self.report.resident_mb, self.report.mapped_mb = round(own, 1), round(mapped, 1)
            warm = samples[0][0] + min(WARM_UP_TURNS, self.plan.turns // 10)
            samples = [one for one in samples if one[0] >= warm]
        if len(samples) > 2:
            turns, own_mb, mapped_mb = zip(*samples, strict=True)
            self.report.growth_mb = round(1000 * statistics.linear_regression(turns, own_mb).slope, 3)
            self.report.mapped_growth_mb = round(1000 * statistics.linear_regression(turns, mapped_mb).slope, 3)
            self.report.growth_turns = turns[-1] - turns[0]


def _errors(folder: Path) -> Counter[str]:
    """How often each error stands in the logs that are kept."""
    found = Counter[str]()
    for path in folder.glob("*.jsonl*"):
        for written in path.read_bytes().splitlines():
            with suppress(ValueError):
                told = json.loads(written)
                if told.get("level") == "error":
                    found[f"{told['event']} {told.get('error', '')} {told.get('where', '')}"] += 1
    return found


def _rate(growth_mb: float | None) -> str:
    return "(too few samples)" if growth_mb is None else f"{growth_mb:+.2f}"


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {times:,}" for name, times in found.items())
