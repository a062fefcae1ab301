"""The text by which each system's scheduler calls `recall schedule run`, once an hour, at this machine's own minute.

Once an hour, for the command itself knows when a night is due: a scheduler that knows the wall time alone leaves out
the night in which clocks pass over it, and one that a crash cut short would wait for the next day.
"""

import plistlib
import shlex
import subprocess
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transcript.errors import ScheduleError

KINDS = ("systemd", "cron", "launchd", "windows")


@dataclass(frozen=True, slots=True)
class Job:
    """What is called, and at which minute of each hour; name is the same for ever for a data folder."""

    name: str
    words: tuple[str, ...]
    minute: int


def job(program: Sequence[str], data: Path, minute: int) -> Job:
    """Return the job of a data folder; ScheduleError where a path holds what no scheduler can carry."""
    words = (*program, "schedule", "run", "--data", str(data))
    for word in words:
        if not word.isprintable():
            raise ScheduleError(f"the path {word!a} holds a character that no scheduler can carry; use another")
    return Job(f"recall-night-{zlib.crc32(str(data).encode()):08x}", words, minute)


def systemd(job: Job) -> dict[str, bytes]:
    """Return file name -> bytes of the service and the timer of a user's systemd."""
    service = (
        "[Unit]\n"
        "Description=recall: the nightly jobs of every project, when a night is due\n\n"
        "[Service]\n"
        "Type=oneshot\n"
        f"ExecStart={_systemd_words(job.words)}\n"
        "Nice=10\n"
        "IOSchedulingClass=idle\n"
    )
    timer = (
        "[Unit]\n"
        "Description=recall: looks each hour whether a night is due\n\n"
        "[Timer]\n"
        f"OnCalendar=*-*-* *:{job.minute:02}:00\n"
        "Persistent=true\n\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )
    return {f"{job.name}.service": service.encode(), f"{job.name}.timer": timer.encode()}


def cron(job: Job) -> bytes:
    """Return the lines of a crontab, between two that mark them."""
    begin, end = cron_marks(job.name)
    return b"\n".join((begin, b"%d * * * * %s" % (job.minute, _cron_command(job.words)), end, b""))


def cron_marks(name: str) -> tuple[bytes, bytes]:
    """Return the lines before and behind ours, without line ends."""
    return f"# {name}: 'recall schedule remove' takes these lines out".encode(), f"# {name}: end".encode()


def is_cron_line(line: bytes, job: Job) -> bool:
    """Say whether a line of a crontab is ours: a mark, or our call for this data folder, at whatever time."""
    bare = line.rstrip(b"\r\n")
    return bare in cron_marks(job.name) or bare.endswith(b" " + _cron_command(job.words[-4:]))


def _cron_command(words: Sequence[str]) -> bytes:
    quoted = " ".join(map(shlex.quote, words)).replace("%", "\\%")  # an open % ends the command
    return f"{quoted} >/dev/null 2>&1".encode()


def launchd(job: Job) -> dict[str, bytes]:
    """Return file name -> bytes of a launch agent."""
    agent = {
        "Label": job.name,
        "LowPriorityIO": True,
        "Nice": 10,
        "ProcessType": "Background",
        "ProgramArguments": list(job.words),
        "StartCalendarInterval": {"Minute": job.minute},
    }
    return {f"{job.name}.plist": plistlib.dumps(agent)}


def windows(job: Job) -> dict[str, bytes]:
    """Return file name -> bytes of a task that schtasks takes, its elements in the order of the schema."""
    text = _TASK.format(
        minute=job.minute, command=_escaped(job.words[0]), arguments=_escaped(subprocess.list2cmdline(job.words[1:]))
    )
    return {f"{job.name}.xml": text.replace("\n", "\r\n").encode("utf-16")}


def _systemd_words(words: Sequence[str]) -> str:
    """Words as ExecStart= has them. In the first, the program, it looks for no variables and takes no quotes."""
    if set(words[0]) & set("\"'\\"):
        words = ("/bin/sh", "-c", 'exec "$@"', "sh", *words)
    quoted = [word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") for word in words]
    return " ".join(f'"{word}"' for word in (quoted[0], *(word.replace("$", "$$") for word in quoted[1:])))


_TASK = """\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>recall: looks each hour whether a night is due</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <Enabled>true</Enabled>
      <StartBoundary>2026-01-01T00:{minute:02}:00</StartBoundary>
      <Repetition>
        <Interval>PT1H</Interval>
      </Repetition>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Enabled>true</Enabled>
    <ExecutionTimeLimit>PT12H</ExecutionTimeLimit>
    <Priority>7</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


def _escaped(text: str) -> str:
    """Text between two tags; the library's own escape takes an HTTP client along into every health report."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
