"""The nightly call in real schedulers: systemd reads the units, a cron daemon runs the line."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.hooks import wait_for
from support.project import exchanges, git_project, take_in

from recall import nights
from recall import schedule_render as render
from recall.cli.group import run
from recall.schedule_install import program

pytestmark = pytest.mark.e2e
NAMES = ["plain", "with space", "per%cent", "dol$lar", 'quo"te', "apo's", "back\\slash", "ümlaut 文", "a=b"]


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not here: {', '.join(missing)}")


def verified(folder: Path, units: dict[str, bytes]) -> subprocess.CompletedProcess[str]:
    """What systemd says of the units: it needs no manager for that, only a runtime folder of the user's own."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    for name, text in units.items():
        (folder / name).write_bytes(text)
    return subprocess.run(
        ["systemd-analyze", "verify", "--user", *(str(folder / name) for name in units)],
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        check=False,
    )


@needs("systemd-analyze")
@pytest.mark.parametrize("name", NAMES)
def test_systemd_finds_no_fault_in_the_units(name, tmp_path):
    place = tmp_path / name
    place.mkdir()
    (place / "recall").write_text("#!/bin/sh\n")
    (place / "recall").chmod(0o755)

    found = verified(tmp_path, render.systemd(render.job([str(place / "recall")], place / "data", 59)))

    assert (found.returncode, found.stderr) == (0, "")


@needs("systemd-analyze")
def test_systemd_would_have_found_a_fault(tmp_path):
    units = render.systemd(render.job([sys.executable], tmp_path, 7))
    broken = {name: text.replace(b"[Timer]\n", b"[Timer]\nOnCalender=daily\n") for name, text in units.items()}

    assert "OnCalender" in verified(tmp_path, broken).stderr


@needs("systemd-analyze")
@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_systemd_calls_each_hour_through_both_changes_of_the_clocks(day):
    """Each hour that the clocks show, once: one that they show twice at the first time, as a night is due then."""
    found = subprocess.run(
        ["systemd-analyze", "calendar", "--iterations=4", f"--base-time={day} 00:30:00", "*-*-* *:07:00"],
        env={"PATH": os.environ["PATH"], "TZ": "Europe/Berlin"},
        capture_output=True,
        text=True,
        check=True,
    )

    hours = [line.split()[-2][:2] for line in found.stdout.splitlines() if f"{day} " in line and "UTC" not in line]
    assert hours == (["01", "03", "04", "05"] if day == "2026-03-29" else ["01", "02", "03", "04"])


SYSTEMD = "/lib/systemd/systemd"
UP = ("running\n", "degraded\n")  # the second: a unit of somebody else has failed
MANAGER = f"""\
mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR" &&
chmod 700 "$XDG_RUNTIME_DIR" && exec {SYSTEMD} --user
"""


class Manager:
    """A user's systemd at work, in a file system of its own where /run says that systemd runs the machine."""

    def __init__(self, home: Path, data: Path) -> None:
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "RECALL_HOME": str(data)}
        self.env |= {"XDG_RUNTIME_DIR": "/run/user/0", "LANG": "C.UTF-8", "TZ": os.environ["TZ"]}
        self.process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", MANAGER],
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program where the manager can be reached."""
        inside = ["nsenter", f"--target={self.process.pid}", "--mount", f"--wd={cwd or '/'}", *words]
        return subprocess.run(inside, env=self.env, capture_output=True, text=True, check=False)

    def end(self) -> None:
        """Let it leave, with all that it started."""
        self.run("systemctl", "--user", "exit")
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def manager(tmp_path) -> Iterator[Manager]:
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("needs root, and the right to a mount namespace")
    home = tmp_path / "home"
    home.mkdir()
    started = Manager(home, tmp_path / "50% of 'my' $data")
    try:
        wait_for(lambda: started.run("systemctl", "--user", "is-system-running").stdout in UP)
        yield started
    finally:
        started.end()


@pytest.mark.skipif(not Path(SYSTEMD).exists(), reason="no systemd here")
@needs("systemctl", "unshare", "nsenter")
def test_systemd_runs_the_night_of_every_project_at_its_time(manager, tmp_path, monkeypatch):
    """Installed a minute or two before it is due. The timer fires, the night is held, and taken out nothing is left."""
    data = Path(manager.env["RECALL_HOME"])
    monkeypatch.setenv("RECALL_HOME", str(data))
    folder = git_project(tmp_path / "shop api")
    monkeypatch.chdir(folder)
    take_in(folder, [exchanges([("which port", "Port 8443, behind the proxy.")])], words_only=True)
    due = datetime.now() + timedelta(seconds=105)  # at least 45 to install it in
    (data / "config.toml").write_text(f'[schedule]\nat = "{due:%H:%M}"\njitter_minutes = 0\n')

    def recall(*words: str) -> subprocess.CompletedProcess[str]:
        return manager.run(str(program()), *words, cwd=folder)

    def timers() -> str:
        return manager.run("systemctl", "--user", "list-timers", "--all", "--no-legend").stdout

    installed = recall("schedule", "install")
    assert (installed.returncode, "systemd" in installed.stdout) == (0, True), installed.stderr
    assert timers().count("recall-night-") == 2  # the timer and what it starts
    assert nights.read(data).at == ""
    wait_for(lambda: nights.read(data).state, seconds=300)

    held = nights.read(data)
    assert (held.state, held.due) == ("complete", due.date())
    assert [(one.root, one.state) for one in held.projects.values()] == [(str(folder), "complete")]
    status = json.loads(recall("schedule", "status", "--json").stdout)["installed"]
    assert status == {"kind": "systemd", "installed": True, "same": True, "enabled": True}
    assert recall("schedule", "remove").returncode == 0
    assert timers() == ""
    assert list((tmp_path / "home").rglob("*recall-night*")) == []


@pytest.fixture
def cron_daemon() -> Iterator[None]:
    """A cron daemon of this test's own, and a user without a crontab, as in a fresh container."""
    if os.geteuid() != 0 or subprocess.run(["pidof", "cron"], capture_output=True, check=False).returncode == 0:
        pytest.skip("needs root, and no other cron daemon")
    if subprocess.run(["crontab", "-l"], capture_output=True, check=False).returncode == 0:
        pytest.skip("this user has a crontab, which is nobody's to change")
    daemon = subprocess.Popen(["cron", "-f"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run(["crontab", "-r"], capture_output=True, check=False)
        daemon.terminate()
        daemon.wait()


@needs("cron", "crontab", "pidof")
@pytest.mark.usefixtures("cron_daemon")
def test_cron_runs_the_night_of_every_project_at_its_time(tmp_path, monkeypatch, capsys):
    """Installed a minute or two before it is due, in a data folder whose name each step has to quote."""
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "50% of 'my' $data"))
    folder = git_project(tmp_path / "shop api")
    monkeypatch.chdir(folder)
    take_in(folder, [exchanges([("which port", "Port 8443, behind the proxy.")])], words_only=True)
    data = Path(os.environ["RECALL_HOME"])
    due = datetime.now() + timedelta(seconds=105)  # at least 45 to install it in
    (data / "config.toml").write_text(f'[schedule]\nat = "{due:%H:%M}"\njitter_minutes = 0\n')
    foreign = b"# somebody's own\n"
    subprocess.run(["crontab", "-"], input=foreign, check=True)

    assert program().exists()
    assert run(["schedule", "install", "--kind", "cron"]) == 0
    assert nights.read(data).at == ""
    wait_for(lambda: nights.read(data).state, seconds=300)

    held = nights.read(data)
    assert (held.state, held.due) == ("complete", due.date())
    assert [(one.root, one.state) for one in held.projects.values()] == [(str(folder), "complete")]
    assert run(["schedule", "status"]) == 0
    assert run(["schedule", "remove"]) == 0
    assert subprocess.run(["crontab", "-l"], capture_output=True, check=True).stdout == foreign
