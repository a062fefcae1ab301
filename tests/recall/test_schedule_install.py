"""Putting the hourly call into a scheduler and taking it out: nothing of others changes, nothing of ours stays."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.crontab import Crontab

from recall import nights, schedule_install
from recall.nights import Nights
from recall.schedule_install import Ran, Status, cut, holder, install, kind_here, put, remove, status, take_out
from recall.schedule_render import cron, job
from transcript.errors import ScheduleError

JOB = job(["/opt/recall"], Path("/home/u/data"), 7)
FOREIGN = [
    b"",
    b"# mine\n5 4 * * * backup\n",
    b"MAILTO=me\r\n5 4 * * * backup\r\n",
    b"5 4 * * * no end of line",
    b"\n\n# \xff\xfe not of this world\n",
    b"# recall-night-00000000: another data folder\n",
]


@pytest.mark.parametrize("before", FOREIGN)
def test_a_crontab_gets_our_lines_and_its_own_bytes_back(before):
    after = put(before, JOB)

    assert after.endswith(cron(JOB))
    assert after.startswith(before)
    assert put(after, JOB) == after
    assert cut(after, JOB) == before + (b"\n" if before and not before.endswith(b"\n") else b"")


def test_lines_of_another_minute_are_replaced_where_they_stand():
    held = put(b"# above\n", job(["/opt/older"], Path("/home/u/data"), 50)) + b"# below\n"

    assert put(held, JOB) == b"# above\n" + cron(JOB) + b"# below\n"


def test_lines_whose_end_was_cut_off_by_hand_take_nothing_of_others_with_them():
    held = cron(JOB).splitlines(keepends=True)[0] + b"5 4 * * * backup\n"

    assert cut(held, JOB) == b"5 4 * * * backup\n"


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_call_goes_though_a_line_of_ours_was_cut_and_others_came_between(lost):
    ours = cron(JOB).splitlines(keepends=True)
    held = b"".join(line + b"# of others\n" for n, line in enumerate(ours) if n != lost)

    assert cut(held, JOB) == b"# of others\n" * 2
    assert put(held, JOB) == cron(JOB) + b"# of others\n" * 2


def test_a_call_that_a_person_wrote_and_one_for_another_folder_stay():
    held = b"3 * * * * recall schedule run --data /home/u/data >> log\n" + cron(
        job(["/opt/recall"], Path("/home/u/data 2"), 7)
    )

    assert cut(held, JOB) == held


def test_cron_is_installed_seen_and_removed_until_nothing_is_left():
    table = Crontab()

    install("cron", JOB, {}, table)
    assert status("cron", JOB, {}, table) == Status("cron", True, True, None)
    assert remove("cron", JOB, {}, table)
    assert table.held is None
    assert not remove("cron", JOB, {}, table)
    assert status("cron", JOB, {}, table) == Status("cron", False, False, None)


def test_a_changed_line_is_not_the_same():
    table = Crontab(cron(JOB).replace(b"* * * *", b"3 * * *"))

    assert status("cron", JOB, {}, table) == Status("cron", True, False, None)


def test_a_crontab_that_cannot_be_read_is_not_overwritten():
    def run(words: Sequence[str], given: bytes) -> Ran:
        assert words[-1] == "-l"
        return Ran(1, err=b"you (u) are not allowed to use this program\n")

    with pytest.raises(ScheduleError, match="you \\(u\\) are not allowed"):
        install("cron", JOB, {}, run)


@pytest.mark.parametrize(
    "said", [b"no crontab for u\n", b"crontab: can't open 'u': No such file or directory\n"], ids=["cron", "busybox"]
)
def test_where_there_is_no_crontab_yet_one_is_made(said):
    table = Crontab()

    def run(words: Sequence[str], given: bytes) -> Ran:
        done = table(words, given)
        return Ran(1, err=said) if done.code else done

    install("cron", JOB, {}, run)

    assert table.held == cron(JOB)


def test_a_crontab_that_refuses_the_change_is_told_and_as_it_was():
    table = Crontab(b"5 4 * * * backup\n", refuses=b"errors in crontab file\n")

    with pytest.raises(ScheduleError, match="errors in crontab file"):
        install("cron", JOB, {}, table)
    assert table.held == b"5 4 * * * backup\n"


class Manager:
    """A systemctl, launchctl or schtasks that notes what it is asked and fails at a word."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.calls: list[str] = []

    def __call__(self, words: Sequence[str], given: bytes) -> Ran:
        self.calls.append(" ".join(words))
        return Ran(1, err=b"Failed to connect to bus\n") if self.fails and self.fails in words else Ran(0)


@pytest.mark.parametrize("kind", ["systemd", "launchd", "windows"])
def test_files_are_written_enabled_and_gone_after_removal(kind, tmp_path):
    here, manager = job(["/opt/recall"], tmp_path / "data", 7), Manager()
    env = {"HOME": str(tmp_path / "home")}

    install(kind, here, env, manager)

    asked = {
        "systemd": "systemctl --user enable --now",
        "launchd": "launchctl bootstrap",
        "windows": "schtasks /Create",
    }
    assert any(call.startswith(asked[kind]) and here.name in call for call in manager.calls)
    assert status(kind, here, env, manager).same
    assert remove(kind, here, env, manager)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_without_a_home_no_scheduler_gets_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ScheduleError, match=r"no home folder is known.*set HOME"):
        install("systemd", JOB, {"HOME": "~nobody-at-all"}, Manager())
    assert list(tmp_path.iterdir()) == []


def test_systemd_that_does_not_answer_leaves_no_unit_behind(tmp_path):
    env = {"XDG_CONFIG_HOME": str(tmp_path)}

    with pytest.raises(ScheduleError, match="Failed to connect to bus; nothing is installed"):
        install("systemd", JOB, env, Manager("enable"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_systemd_is_enabled_when_its_link_is_there(tmp_path):
    env, manager = {"XDG_CONFIG_HOME": str(tmp_path)}, Manager()
    install("systemd", JOB, env, manager)
    timer = tmp_path / "systemd" / "user" / f"{JOB.name}.timer"
    assert status("systemd", JOB, env, manager) == Status("systemd", True, True, False)

    (timer.parent / "timers.target.wants").mkdir()
    (timer.parent / "timers.target.wants" / timer.name).symlink_to(timer)

    assert status("systemd", JOB, env, manager) == Status("systemd", True, True, True)
    timer.write_text(timer.read_text().replace(":07:", ":08:"))
    assert status("systemd", JOB, env, manager) == Status("systemd", True, False, True)
    assert remove("systemd", JOB, env, manager)
    assert [path for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()] == []


def test_what_is_here_is_found(tmp_path):
    for name in ("systemctl", "crontab"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": str(tmp_path)}

    assert kind_here(env, system="linux", run=Manager()) == "systemd"
    assert kind_here(env, system="linux", run=Manager("show-environment")) == "cron"
    assert kind_here(env, system="darwin", run=Manager()) == "launchd"
    assert kind_here(env, system="win32", run=Manager()) == "windows"
    with pytest.raises(ScheduleError, match="install cron"):
        kind_here({"PATH": str(tmp_path / "none")}, system="linux", run=Manager())


def test_a_program_that_is_missing_has_failed():
    assert schedule_install.run_program(["no-such-program-here"]).code == 127


def test_a_call_is_found_and_goes_where_it_is_not_known_any_more_who_has_it(tmp_path):
    table, env = Crontab(b"# mine\n"), {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    here = job(["/opt/recall"], tmp_path / "data", 7)
    assert holder(tmp_path / "data", env, table) == ""
    install("cron", here, env, table)

    assert holder(tmp_path / "data", env, table, system="linux") == "cron"
    assert take_out(tmp_path / "data", env, table)
    assert table.held == b"# mine\n"
    install("systemd", here, env, Manager())
    assert holder(tmp_path / "data", env, table, system="linux") == "systemd"
    assert holder(tmp_path / "data", env, table, system="darwin") == ""


def test_leaving_takes_the_call_out_and_remembers_the_nights(tmp_path):
    data = tmp_path / "data"
    table = Crontab(put(b"# mine\n", job(["/gone/recall"], data, 7)))
    nights.write(data, Nights(kind="cron", state="complete", at="2026-06-01T03:17:00.000Z"))

    assert take_out(data, {}, table)
    assert table.held == b"# mine\n"
    assert nights.read(data) == Nights(state="complete", at="2026-06-01T03:17:00.000Z")
    assert not take_out(data, {}, table)
