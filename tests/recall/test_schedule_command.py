"""`recall schedule`, as a person and as a scheduler call it; and what health says of the nights."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.command import Result, runner
from support.crontab import Crontab
from support.health_cases import WELL
from support.hooks import wait_for
from support.project import git_project
from support.record import make_draft

from health.gather_schedule import schedule_facts
from health.signal import Level
from health.signals import schedule as signals
from recall import nights, schedule_install
from recall.cli import nights as cli_nights
from recall.cli.app import App
from recall.nights import Outcome
from transcript.log import Log
from transcript.workspace import init

MORNING = datetime(2026, 6, 2, 9, tzinfo=UTC)


class World:
    """A user with a crontab, two projects, and a clock."""

    def __init__(self, call: Callable[..., Result], data: Path) -> None:
        self.call, self.data = call, data
        self.crontab = Crontab(b"5 4 * * * backup\n")
        self.now = MORNING
        self.worked: list[str] = []

    def work(self, root: Path, seconds: float, data: Path, env: object) -> Outcome:
        self.worked.append(root.name)
        return Outcome("failed", ("verify",)) if (root / "broken").exists() else Outcome("complete")

    def health(self, **later: float) -> list[tuple[Level, str]]:
        facts = schedule_facts(self.data, {}, now=self.now + timedelta(**later), run=self.crontab)
        whole = replace(WELL, schedule=facts, now=(self.now + timedelta(**later)).timestamp())
        found = (signals.schedule(facts), signals.missed(whole), signals.failed(facts))
        return [(one.level, one.text) for one in found]


@pytest.fixture
def world(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    for name in ("api", "shop"):
        Log(init(git_project(tmp_path / name), tmp_path / "data")).append([make_draft(0)], now=MORNING)
    made = World(runner(capsys), tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(App, "now", lambda app: made.now)
    monkeypatch.setattr(schedule_install, "program", lambda: Path("/opt/recall"))
    for name in ("install", "remove", "status", "take_out", "holder"):
        monkeypatch.setattr(getattr(schedule_install, name), "__defaults__", (made.crontab,))
    monkeypatch.setattr(schedule_install, "kind_here", lambda env: "cron")
    monkeypatch.setattr("recall.cli.nights.night_of", made.work)
    return made


def test_installed_it_waits_for_the_next_night_and_runs_it_once(world):
    installed = world.call("schedule", "install")

    assert installed.code == 0
    assert installed.out.startswith("cron calls at minute ")
    assert "local time" in installed.out
    assert b"/opt/recall schedule run --data" in world.crontab.held
    assert world.call("schedule", "run").err.startswith("no night is due")
    world.now += timedelta(days=1)
    done = world.call("schedule", "run")
    assert done.out.startswith("night 2026-06-03 complete: 2 projects")
    assert sorted(world.worked) == ["api", "shop"]
    assert world.call("schedule", "run").out == ""


def test_each_project_and_the_night_leave_a_line_in_the_log(world, tmp_path):
    (tmp_path / "api" / "broken").touch()

    world.call("schedule", "run", "--now")

    lines = [json.loads(line) for line in (world.data / "logs" / "night.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["project_done", "project_done", "night_done"]
    assert sorted((line["state"], line["failures"]) for line in lines[:2]) == [("complete", 0), ("failed", 1)]
    assert (lines[2]["date"], lines[2]["state"], lines[2]["projects"]) == ("2026-06-02", "failed", 2)
    assert [line for line in lines if "left_out" in line] == []


def test_a_dry_run_shows_the_lines_and_writes_none(world):
    shown = world.call("schedule", "install", "--dry-run")

    assert "schedule run --data" in shown.out
    assert world.crontab.held == b"5 4 * * * backup\n"
    assert not (world.data / nights.FILE).exists()


def test_status_tells_how_each_project_ended_and_exits_by_what_is_installed(world, tmp_path):
    before = world.call("schedule", "status")
    assert (before.code, "next night" in before.out) == (1, False)  # nothing calls one
    (tmp_path / "api" / "broken").touch()
    world.call("schedule", "install")
    assert world.call("schedule", "run", "--now").code == 1

    told = world.call("schedule", "status")

    assert told.code == 0
    assert "last night 2026-06-02 09:00Z failed" in told.out
    assert "api: verify" in told.out
    assert "next night 2026-06-03 03:17Z" in told.out
    held = json.loads(world.call("schedule", "status", "--json").out)
    assert held["installed"] == {"kind": "cron", "installed": True, "same": True, "enabled": None}
    assert held["next"] == "2026-06-03T03:17+00:00"
    assert [row["in_a_row"] for row in held["projects"].values()] in ([0, 1], [1, 0])


def test_status_names_what_a_night_put_off_and_which_project_had_none(world, tmp_path):
    world.call("schedule", "run", "--now")
    Log(init(git_project(tmp_path / "young"), world.data)).append([make_draft(0)], now=MORNING)
    name = next(name for name, one in nights.read(world.data).projects.items() if one.root.endswith("/api"))
    parts = [
        {"name": "index", "state": "done", "note": "3 new passages of 9"},
        {"name": "compact", "state": "skipped", "note": "3.1% of 80.0 MB hold nothing; the index is in use"},
        {"name": "quality", "state": "done", "note": "62% of the best rank, 37 questions"},
    ]
    last = world.data / "workspaces" / name / "run" / "nightly.json"
    last.parent.mkdir(exist_ok=True)
    last.write_text(json.dumps({"at": "2026-06-02T09:00:00Z", "state": "complete", "parts": parts}))

    told = [" ".join(line.split()) for line in world.call("schedule", "status").out.splitlines()]
    held = json.loads(world.call("schedule", "status", "--json").out)

    at = next(number for number, line in enumerate(told) if line.endswith("/api"))
    assert told[at + 1 : at + 3] == [
        "compact skipped: 3.1% of 80.0 MB hold nothing; the index is in use",
        "quality done: 62% of the best rank, 37 questions",
    ]
    assert told[-1] == f"no night {tmp_path / 'young'}"
    assert (held["projects"][name]["parts"], held["without_night"]) == (parts, [str(tmp_path / "young")])


@pytest.mark.parametrize("parts", [7, [None, {"name": "compact"}], [{"name": "quality", "state": "unchanged"}]])
def test_a_damaged_note_of_a_night_is_no_reason_to_say_nothing(world, parts):
    world.call("schedule", "run", "--now")
    for name in nights.read(world.data).projects:
        folder = world.data / "workspaces" / name / "run"
        folder.mkdir(exist_ok=True)
        (folder / "nightly.json").write_text(json.dumps({"parts": parts}))

    assert "no night" not in world.call("schedule", "status").out


def test_removed_nothing_of_ours_is_in_the_crontab(world):
    world.call("schedule", "install")
    assert world.call("schedule", "remove", "--dry-run").out == "the call would go out of cron\n"

    assert world.call("schedule", "remove").out == "cron calls no more\n"
    assert world.crontab.held == b"5 4 * * * backup\n"
    assert world.call("schedule", "remove").out == "nothing is installed\n"


def test_where_the_new_scheduler_refuses_the_old_one_still_calls(world, monkeypatch):
    world.call("schedule", "install")
    monkeypatch.setattr(schedule_install.install, "__defaults__", (lambda words, given: schedule_install.Ran(1),))

    changed = world.call("schedule", "install", "--kind", "launchd")

    assert (changed.code, "nothing is installed" in changed.err) == (1, True)
    assert b"schedule run --data" in world.crontab.held
    assert world.call("schedule", "status").code == 0


def test_where_the_data_folder_takes_no_note_nothing_is_installed(world):
    (world.data / nights.FILE).mkdir(parents=True)

    done = world.call("schedule", "install")

    assert (done.code, "nights.json" in done.err) == (1, True)
    assert world.crontab.held == b"5 4 * * * backup\n"


def test_the_call_goes_though_nobody_knows_any_more_that_it_is_there(world):
    world.call("schedule", "install")
    (world.data / nights.FILE).unlink()

    assert world.call("schedule", "status").out.startswith("cron calls at minute ")
    assert world.health()[0] == (Level.OK, "cron calls each hour")
    assert world.call("schedule", "remove").out == "cron calls no more\n"
    assert world.crontab.held == b"5 4 * * * backup\n"


def test_a_data_folder_that_is_not_there_is_not_made(world, tmp_path):
    done = world.call("schedule", "run", "--data", str(tmp_path / "unmounted"))

    assert (done.code, "no data folder" in done.err) == (1, True)
    assert not (tmp_path / "unmounted").exists()


def test_installed_again_after_months_it_owes_no_night_from_before(world):
    world.call("schedule", "install")
    world.call("schedule", "remove")
    world.now += timedelta(days=90)
    world.call("schedule", "install")

    assert world.call("schedule", "run").err.startswith("no night is due")
    assert world.health()[1] == (Level.OK, "none is due yet")


@pytest.mark.parametrize("known", [True, False])
def test_uninstall_takes_the_call_out(world, known):
    world.call("schedule", "install")
    if not known:
        (world.data / nights.FILE).unlink()

    planned = world.call("uninstall", "--dry-run")
    world.call("uninstall")

    assert "schedule  the nightly call in cron" in planned.out
    assert world.crontab.held == b"5 4 * * * backup\n"


def test_a_wall_time_of_the_settings_moves_night_and_minute(world):
    world.data.mkdir(exist_ok=True)
    (world.data / "config.toml").write_text('[schedule]\nat = "22:40"\njitter_minutes = 0\n')
    world.call("schedule", "install")

    assert b"\n40 * * * * " in world.crontab.held
    assert json.loads(world.call("schedule", "status", "--json").out)["next"] == "2026-06-02T22:40+00:00"


def test_files_of_another_system_are_rendered_to_a_folder(world, tmp_path):
    shown = world.call("schedule", "render", "--kind", "launchd", "--to", str(tmp_path / "out"))

    made = list((tmp_path / "out").iterdir())
    assert shown.out == f"{made[0]}\n"
    assert b"/opt/recall" in made[0].read_bytes()


@pytest.mark.parametrize(
    ("hours", "level", "says"),
    [
        (0, Level.OK, "none is due yet"),
        (18, Level.OK, "none is due yet"),  # 03:00 of the next day
        (24, Level.OK, "1 night did not run; due 5.7 h ago"),
        (25, Level.WARN, "1 night did not run; due 6.7 h ago"),
        (45, Level.FAIL, "2 nights did not run; due 26.7 h ago"),
        (24 * 7, Level.FAIL, "7 nights did not run; due 6.2 days ago"),
    ],
)
def test_health_finds_a_night_that_nobody_called(world, hours, level, says):
    """Installed, and then the scheduler is dead: the clock alone goes on."""
    world.call("schedule", "install")

    assert world.health(hours=hours)[1] == (level, says)


def test_health_of_one_who_never_scheduled_is_well_and_says_how(world):
    assert world.health(days=400) == [
        (Level.OK, "not installed; 'recall schedule install' does it"),
        (Level.OK, "not scheduled"),
        (Level.OK, "0 projects"),
    ]


def test_health_sees_lines_that_somebody_took_out_or_changed(world):
    world.call("schedule", "install")
    assert world.health()[0] == (Level.OK, "cron calls each hour")

    world.crontab.held = b"5 4 * * * backup\n"

    assert world.health()[0] == (Level.WARN, "cron does not hold the call as it should")


def test_health_names_a_project_whose_nights_fail(world, tmp_path):
    (tmp_path / "api" / "broken").touch()
    levels = []
    for _ in range(3):
        world.call("schedule", "run", "--now")
        levels.append(world.health()[2])

    assert [level for level, _ in levels] == [Level.WARN, Level.WARN, Level.FAIL]
    assert levels[2][1] == "1 project, 3 nights in a row"


# -- the process of one project ------------------------------------------------------------


def in_place_of_the_night(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(cli_nights, "isolated", lambda: [sys.executable, "-I", "-c", program])


def test_a_projects_night_is_told_by_its_own_words(tmp_path, monkeypatch):
    told = {"state": "failed", "parts": [{"name": "index", "state": "failed"}, {"name": "verify", "state": "done"}]}
    in_place_of_the_night(
        monkeypatch,
        "import os, sys\n"
        "assert sys.argv[1:] == ['consolidate', '--nightly', '--json', '--wait', '30', '--within', '60'], sys.argv\n"
        f"assert os.getcwd() == {str(tmp_path)!r} and os.environ['RECALL_HOME'] == '/data'\n"
        f"assert 'RECALL_CHILD' not in os.environ; print({json.dumps(json.dumps(told))})",
    )

    found = cli_nights.night_of(tmp_path, 60, Path("/data"), {"RECALL_CHILD": "1", "HOME": str(tmp_path)})

    assert found == Outcome("failed", ("index",))


def test_a_projects_night_that_dies_has_failed(tmp_path, monkeypatch):
    in_place_of_the_night(monkeypatch, "import sys; print('{'); sys.exit(3)")

    assert cli_nights.night_of(tmp_path, 60, tmp_path, {}) == Outcome("failed", ("ended with exit code 3",))


def test_a_projects_night_that_cannot_begin_has_failed(tmp_path):
    (tmp_path / "file").touch()

    found = cli_nights.night_of(tmp_path / "file", 60, tmp_path, {})

    assert found == Outcome("failed", ("could not be started (Not a directory)",))


def test_a_projects_night_that_hangs_has_failed_and_is_ended(tmp_path, monkeypatch):
    in_place_of_the_night(monkeypatch, "import time; time.sleep(600)")

    assert cli_nights.night_of(tmp_path, 0.01, tmp_path, {}) == Outcome("failed", ("not over after 0 s",))


def is_gone(pid: str) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()  # ended, and not yet asked after
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system shows no processes")
def test_with_a_night_ends_what_it_started_and_what_would_not_listen(tmp_path):
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('alive', 'w'); time.sleep(600)"
    program = (
        "import subprocess, sys, time; made = subprocess.Popen([sys.executable, '-I', '-c', sys.argv[1]])\n"
        "open('pid', 'w').write(str(made.pid)); time.sleep(600)"
    )
    words = [sys.executable, "-I", "-c", program, stubborn]
    child = subprocess.Popen(words, cwd=tmp_path, start_new_session=True)
    wait_for(lambda: (tmp_path / "alive").exists() and (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    pid = (tmp_path / "pid").read_text()

    cli_nights._end(child)

    wait_for(lambda: is_gone(pid))
    assert child.returncode is not None
