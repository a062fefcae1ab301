"""The nights of every project: each local date once, each project by itself, whoever calls and whatever breaks."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.project import git_project
from support.record import make_draft

from recall import nights
from recall.nights import Ended, Nights, Outcome
from transcript.lock import FileLock
from transcript.log import Log
from transcript.roots import change_table, exclude
from transcript.workspace import init

MORNING = datetime(2026, 6, 2, 3, 20, tzinfo=UTC)


class Clock:
    """Seconds that pass when somebody works."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Worker:
    """Works in each project for some minutes, and fails where it is told to."""

    def __init__(self, minutes: float = 1, fails: tuple[str, ...] = ()) -> None:
        self.clock, self.minutes, self.fails = Clock(), minutes, fails
        self.seen: list[str] = []

    def __call__(self, root: Path, seconds: float) -> Outcome:
        self.seen.append(root.name)
        self.clock.now += self.minutes * 60
        return Outcome("failed", ("index",)) if root.name in self.fails else Outcome("complete")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three projects with a record."""
    for name in ("api", "shop", "site"):
        Log(init(git_project(tmp_path / name), tmp_path / "data")).append([make_draft(0)], now=MORNING)
    return tmp_path / "data"


def call(data: Path, worker: Worker, now: datetime = MORNING, **options: Any) -> Ended:
    options = {"minutes": 60, **options}
    return nights.run(data, worker, now=now, at=time(3, 17), zone=UTC, clock=worker.clock, **options)


def test_every_project_has_one_night_a_date_however_often_somebody_calls(data):
    worker = Worker()

    states = [call(data, worker, MORNING + timedelta(hours=n)).state for n in range(24)]

    assert states == ["complete", *["not due"] * 23]
    assert sorted(worker.seen) == ["api", "shop", "site"]
    held = nights.read(data)
    assert (held.due, held.state, held.missed) == (date(2026, 6, 2), "complete", 0)
    assert {one.state for one in held.projects.values()} == {"complete"}


def test_before_the_wall_time_yesterdays_night_is_the_last_that_was_due(data):
    call(data, Worker())

    assert call(data, Worker(), datetime(2026, 6, 3, 3, 16, tzinfo=UTC)).state == "not due"
    assert call(data, Worker(), datetime(2026, 6, 3, 3, 17, tzinfo=UTC)).state == "complete"


def test_after_three_days_asleep_it_runs_once_and_tells_what_was_missed(data):
    call(data, Worker())
    worker = Worker()

    call(data, worker, MORNING + timedelta(days=3))

    assert len(worker.seen) == 3
    assert nights.read(data).missed == 2


def test_a_failed_project_does_not_keep_the_next_ones_from_their_night(data):
    worker = Worker(fails=("api",))
    for day in range(3):
        ended = call(data, worker, MORNING + timedelta(days=day))
        assert ended.state == "failed"

    rows = {Path(one.root).name: one for one in nights.read(data).projects.values()}
    assert sorted(worker.seen) == ["api"] * 3 + ["shop"] * 3 + ["site"] * 3
    assert (rows["api"].in_a_row, rows["api"].failed, rows["shop"].in_a_row) == (3, ("index",), 0)
    call(data, Worker(), MORNING + timedelta(days=3))
    assert {one.in_a_row for one in nights.read(data).projects.values()} == {0}


def test_a_project_in_which_another_consolidation_works_is_owed_its_night_and_has_it_with_the_next_call(data):
    worker = Worker()
    held = ["shop"]

    def work(root: Path, seconds: float) -> Outcome:
        done = worker(root, seconds)
        return Outcome("busy") if root.name in held else done

    def called(hours: float) -> Ended:
        now = MORNING + timedelta(hours=hours)
        return nights.run(data, work, now=now, at=time(3, 17), minutes=60, zone=UTC, clock=worker.clock)

    first = called(0)
    assert (first.state, nights.read(data).due) == ("busy", None)
    held.clear()
    second = called(1)

    assert worker.seen[3:] == ["shop"]
    assert (second.state, nights.read(data).due, nights.read(data).missed) == ("complete", date(2026, 6, 2), 0)
    assert called(2).state == "not due"


def test_what_the_time_does_not_reach_comes_first_in_the_next_night(data):
    worker = Worker(minutes=40)

    first = call(data, worker)
    second = call(data, worker, MORNING + timedelta(days=1))

    assert (first.state, len(first.projects), len(first.waiting)) == ("cut", 2, 1)
    assert worker.seen[2] == Path(first.waiting[0]).name
    assert len(second.projects) == 2


def test_a_night_that_was_killed_goes_on_with_the_projects_it_had_not_reached(data):
    class Killed(BaseException):
        pass

    worker = Worker()

    def dies(root: Path, seconds: float) -> Outcome:
        if worker.seen:
            raise Killed
        return worker(root, seconds)

    with pytest.raises(Killed):
        nights.run(data, dies, now=MORNING, at=time(3, 17), minutes=60, zone=UTC, clock=worker.clock)
    assert nights.read(data).due is None  # not the last that ended

    call(data, worker, MORNING + timedelta(hours=1))

    assert sorted(worker.seen) == ["api", "shop", "site"]


def test_of_two_at_once_one_works_and_the_other_says_who_does(data):
    second: list[Ended] = []
    worker = Worker()

    def work(root: Path, seconds: float) -> Outcome:
        second.append(call(data, worker, anyway=True))
        return Outcome("complete")

    nights.run(data, work, now=MORNING, at=time(3, 17), minutes=60, zone=UTC)

    assert {one.state for one in second} == {"busy"}
    assert second[0].note.startswith("another night runs (process ")
    assert worker.seen == []


def test_a_lock_whose_holder_died_stops_nobody(data):
    lock = FileLock(data / nights.LOCK)
    assert lock.acquire()
    lock.release()
    (data / nights.LOCK).write_bytes(b"999999999")

    assert call(data, Worker()).state == "complete"


def test_a_folder_that_cannot_even_be_looked_at_keeps_no_other_from_its_night(data):
    def change(table):
        next(iter(table.values())).roots = ["/" + "x" * 300]

    change_table(data, change)
    worker = Worker()

    assert call(data, worker).state == "complete"
    assert len(worker.seen) == 2


def test_excluded_and_vanished_projects_have_none(data, tmp_path):
    exclude(tmp_path / "api", data)
    (tmp_path / "shop").rename(tmp_path / "elsewhere")
    worker = Worker()

    call(data, worker)

    assert worker.seen == ["site"]


def test_on_demand_it_runs_though_none_is_due(data):
    call(data, Worker())
    worker = Worker()

    assert call(data, worker, anyway=True).state == "complete"
    assert len(worker.seen) == 3


ROW = {"root": "/a", "at": "2026-06-01T03:20:00Z", "due": "2026-06-01", "state": "complete", "failed": [], "seconds": 1}
BAD_ROWS = [{"at": "soon"}, {"at": 7}, {"seconds": "long"}, {"in_a_row": None}, {"in_a_row": 1e999}, {"failed": 3}]


@pytest.mark.parametrize(
    "bad",
    [
        *(b"", b"[]", b"{", b'{"projects": 3}', b'{"due": "soon"}', b'{"at": "soon"}', b'{"projects": {"a": {}}}'),
        b'{"missed": 1e999}',
        *(json.dumps({"projects": {"a": {**ROW, "in_a_row": 0, **row}}}).encode() for row in BAD_ROWS),
    ],
)
def test_a_damaged_file_is_as_none(data, bad):
    (data / "run").mkdir(exist_ok=True)
    (data / nights.FILE).write_bytes(bad)

    assert nights.read(data) == Nights()
    assert call(data, Worker()).state == "complete"
    assert json.loads((data / nights.FILE).read_bytes())["due"] == "2026-06-02"


def test_a_night_keeps_what_installed_it(data):
    nights.write(data, Nights(kind="cron"))

    def work(root: Path, seconds: float) -> Outcome:
        nights.write(data, replace(nights.read(data), kind="systemd"))  # somebody installs it anew meanwhile
        return Outcome("complete")

    nights.run(data, work, now=MORNING, at=time(3, 17), minutes=60, zone=UTC)

    assert nights.read(data).kind == "systemd"
