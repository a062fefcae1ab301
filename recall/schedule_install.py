"""Puts the hourly call into a user's scheduler, takes it out again, and says how it stands there.

What the system's own programs do (crontab, systemctl, launchctl, schtasks) goes through `Run`, so that it can be told
from what is decided here.
"""

import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which

from recall import nights
from recall import schedule_render as render
from recall.operations_settings import ScheduleSettings
from recall.schedule_render import Job
from recall.schedule_times import jitter
from transcript.errors import ScheduleError, clip
from transcript.paths import read_file, user_path, write_atomic

PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended and what it printed."""

    code: int
    out: bytes = b""
    err: bytes = b""


Run = Callable[[Sequence[str], bytes], Ran]


@dataclass(frozen=True, slots=True)
class Status:
    """How the call stands with one kind of scheduler; enabled is None where that cannot be seen from here."""

    kind: str
    installed: bool
    same: bool  # as this version would write it
    enabled: bool | None


def run_program(words: Sequence[str], given: bytes = b"") -> Ran:
    """Run a program of the system; one that is missing or hangs has failed."""
    try:
        ended = subprocess.run(words, input=given, capture_output=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran(127, err=f"{words[0]}: {type(error).__name__}".encode())
    return Ran(ended.returncode, ended.stdout, ended.stderr)


def own_job(data: Path, settings: ScheduleSettings) -> Job:
    """Return the job of this installation and this machine; ScheduleError where no program is there to be called."""
    later = jitter(platform.node(), data, settings.jitter_minutes)
    return render.job([str(program())], data, (settings.time()[1] + later) % 60)


def program() -> Path:
    """Return the `recall` that was installed with this package: its path stays when a tool upgrades it."""
    name = "recall.exe" if os.name == "nt" else "recall"
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts", f"{os.name}_user"))]
    found = next((folder / name for folder in folders if (folder / name).exists()), None)
    if found is None:
        raise ScheduleError(f"no program {name} in {folders[0]}; install lca-recall as a tool (pipx, uv, pip)")
    return found


def kind_here(env: Mapping[str, str], *, system: str = sys.platform, run: Run = run_program) -> str:
    """Return the kind of scheduler that this machine has; ScheduleError where none can be found."""
    if system in ("win32", "darwin"):
        return "windows" if system == "win32" else "launchd"
    path = env.get("PATH")
    if which("systemctl", path=path) and not run(["systemctl", "--user", "show-environment"], b"").code:
        return "systemd"
    if which("crontab", path=path):
        return "cron"
    raise ScheduleError(
        "neither systemd's user manager nor crontab is here; install cron, or have 'recall schedule run' called "
        "each hour by what this machine has"
    )


def files(kind: str, job: Job, env: Mapping[str, str]) -> dict[Path, bytes]:
    """Return path -> bytes of what a kind keeps in files; none for cron."""
    if kind == "systemd":
        own = env.get("XDG_CONFIG_HOME", "")
        folder = (Path(own) if own.startswith("/") else _home(env) / ".config") / "systemd" / "user"
        return {folder / name: text for name, text in render.systemd(job).items()}
    if kind == "launchd":
        return {_home(env) / "Library" / "LaunchAgents" / name: text for name, text in render.launchd(job).items()}
    if kind == "windows":
        folder = Path(job.words[-1]) / "run"
        return {folder / name: text for name, text in render.windows(job).items()}
    return {}


def _home(env: Mapping[str, str]) -> Path:
    found = user_path(env.get("HOME") or "~")
    if not found.is_absolute():
        raise ScheduleError("no home folder is known to write the scheduler's file to; set HOME to its whole path")
    return found


def install(kind: str, job: Job, env: Mapping[str, str], run: Run = run_program) -> None:
    """Install the call, again as often as you like; ScheduleError leaves nothing of it behind."""
    if kind == "cron":
        before = _crontab(run)
        _write_crontab(put(before, job), before, run)
        return
    written = files(kind, job, env)
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text)
    for words in _enabling(kind, job, written):
        ran = run(words, b"")
        if ran.code:
            with suppress(ScheduleError):
                remove(kind, job, env, run)
            raise ScheduleError(f"'{' '.join(words)}' failed: {_said(ran)}; nothing is installed")


def remove(kind: str, job: Job, env: Mapping[str, str], run: Run = run_program) -> bool:
    """Take the call out, and say whether it was there."""
    if kind == "cron":
        before = _crontab(run)
        after = cut(before, job)
        if after == before:
            return False
        _write_crontab(after, before, run)
        return True
    if not status(kind, job, env, run).installed:
        return False
    run(_disabling(kind, job), b"")  # a manager that does not answer reads the folder at its next start
    if kind == "systemd":  # when it last ran
        run(["systemctl", "--user", "clean", "--what=state", f"{job.name}.timer"], b"")
    for path in files(kind, job, env):
        path.unlink(missing_ok=True)
    if kind == "systemd":
        _wanted(job, env).unlink(missing_ok=True)
        run(["systemctl", "--user", "daemon-reload"], b"")
    return True


def take_out(data: Path, env: Mapping[str, str], run: Run = run_program) -> bool:
    """Take the call of a data folder out of whatever scheduler has it, and say whether it was there."""
    kind = holder(data, env, run)
    if not kind:
        return False
    there = remove(kind, _named(data), env, run)
    nights.write(data, replace(nights.read(data), kind=""))
    return there


def holder(data: Path, env: Mapping[str, str], run: Run = run_program, *, system: str = sys.platform) -> str:
    """Return the kind of scheduler that was given the call, "" for none; where that is not known any more, it is looked
    for.
    """
    known = nights.read(data).kind
    if known:
        return known
    for kind in {"win32": ("windows",), "darwin": ("launchd", "cron")}.get(system, ("systemd", "cron")):
        with suppress(ScheduleError):  # no such scheduler here
            if status(kind, _named(data), env, run).installed:
                return kind
    return ""


def _named(data: Path) -> Job:
    """The job of a data folder as far as it takes to find the call: by its name."""
    return render.job(["recall"], data, 0)


def status(kind: str, job: Job, env: Mapping[str, str], run: Run = run_program) -> Status:
    """Return how the call stands; changes nothing."""
    if kind == "cron":
        held = _crontab(run)
        there = cut(held, job) != held
        return Status(kind, there, there and put(held, job) == held, None)
    wanted = files(kind, job, env)
    there = any(path.exists() for path in wanted)
    same = all(path.exists() and read_file(path) == text for path, text in wanted.items())
    enabled = None
    if kind == "systemd":
        enabled = os.path.lexists(_wanted(job, env))
    elif kind == "windows":
        enabled = there = not run(["schtasks", "/Query", "/TN", job.name], b"").code
    return Status(kind, there, same, enabled)


def put(crontab: bytes, job: Job) -> bytes:
    """Return a crontab with our lines, in their old place or behind the others; every other byte stays."""
    lines, block = crontab.splitlines(keepends=True), render.cron(job)
    first = next((n for n, line in enumerate(lines) if render.is_cron_line(line, job)), None)
    if first is None:
        return crontab + (b"\n" if crontab and not crontab.endswith(b"\n") else b"") + block
    return b"".join(lines[:first]) + block + cut(b"".join(lines[first:]), job)


def cut(crontab: bytes, job: Job) -> bytes:
    """Return a crontab without our lines, whoever moved or cut some of them; every other byte stays."""
    return b"".join(line for line in crontab.splitlines(keepends=True) if not render.is_cron_line(line, job))


def _crontab(run: Run) -> bytes:
    """The user's crontab, empty where there is none; ScheduleError where it cannot be read."""
    ran = run(["crontab", "-l"], b"")
    if not ran.code:
        return ran.out
    said = ran.err.lower()
    if b"no crontab" in said or (b"can't open" in said and b"no such file" in said):  # the second is BusyBox's
        return b""
    raise ScheduleError(f"the crontab cannot be read: {_said(ran)}")


def _write_crontab(text: bytes, before: bytes, run: Run) -> None:
    if text == before:
        return
    ran = run(["crontab", "-"], text) if text else run(["crontab", "-r"], b"")
    if ran.code:
        raise ScheduleError(f"crontab refuses the change: {_said(ran)}; it is as it was")


def _enabling(kind: str, job: Job, written: Mapping[Path, bytes]) -> list[list[str]]:
    path = next(iter(written))
    if kind == "systemd":
        return [
            ["systemctl", "--user", "daemon-reload"],
            ["systemctl", "--user", "enable", "--now", f"{job.name}.timer"],
        ]
    if kind == "launchd":
        return [["launchctl", "bootstrap", _domain(), str(path)]]
    return [["schtasks", "/Create", "/TN", job.name, "/XML", str(path), "/F"]]


def _disabling(kind: str, job: Job) -> list[str]:
    if kind == "systemd":
        return ["systemctl", "--user", "disable", "--now", f"{job.name}.timer"]
    if kind == "launchd":
        return ["launchctl", "bootout", f"{_domain()}/{job.name}"]
    return ["schtasks", "/Delete", "/TN", job.name, "/F"]


def _domain() -> str:
    return f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}"


def _wanted(job: Job, env: Mapping[str, str]) -> Path:
    """The link by which systemd starts the timer with the user's session."""
    folder = next(iter(files("systemd", job, env))).parent
    return folder / "timers.target.wants" / f"{job.name}.timer"


def _said(ran: Ran) -> str:
    text = (ran.err or ran.out).decode("utf-8", "replace").strip()
    return clip(" ".join(text.split())) or f"exit {ran.code}"
