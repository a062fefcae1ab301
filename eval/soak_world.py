"""An installation of recall that a soak can hurt: its own home, a clock that can be moved, a disk that can be filled.

Everything in it runs as it does for a user: the installed launcher, the resident service, detached captures, the
command that a scheduler calls.
"""

import contextlib
import errno
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recall import launcher
from recall.hook_client import ADDRESS
from recall.schedule_install import program
from transcript.workspace import Workspace, init

HARNESS = "claude-code"
CLOCK_SOURCE = Path(__file__).with_name("soak_clock.c")
KEPT = ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH")  # of the caller's environment
_PROBE = "import threading, time; threading.Event().wait(0.01); time.sleep(0.01); print(time.time())"


class World:
    """One installation below a folder, with one project."""

    def __init__(self, folder: Path, settings: Mapping[str, str], disk_mb: int) -> None:
        self.folder = folder
        self.home, self.data, self.project = folder / "home", folder / "data", folder / "project"
        for made in (self.home, self.data, self.project, folder / "run"):
            made.mkdir(mode=0o700)
        self.has_disk = bool(disk_mb) and _mount(self.data, disk_mb)
        self.sessions = self.home / ".claude" / "projects" / str(self.project).translate(_SLUG)
        self.sessions.mkdir(parents=True)
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env |= {"HOME": str(self.home), "RECALL_HOME": str(self.data), "XDG_RUNTIME_DIR": str(folder / "run")}
        self.env |= settings
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.workspace: Workspace = init(self.project, self.data)
        self.hook = launcher.write(self.data)
        self._clock = folder / "clock"
        self.has_clock = self._make_clock()

    def close(self) -> None:
        """Give the disk back."""
        if self.has_disk:
            subprocess.run(["umount", "-l", str(self.data)], check=False)

    # -- the clock -------------------------------------------------------------------------

    def _make_clock(self) -> bool:
        """Build the library that moves the clock, and try it; False where there is no compiler or it does not work."""
        self._clock.write_bytes(struct.pack("l", 0))
        library = self.folder / "clock.so"
        compiler = shutil.which("cc")
        if compiler is None or not sys.platform.startswith("linux"):
            return False
        words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK_SOURCE)]
        if subprocess.run(words, capture_output=True, check=False).returncode:
            return False
        env = {**self.env, "LD_PRELOAD": str(library), "SOAK_CLOCK": str(self._clock)}
        self.move_clock(1_000_000)
        try:
            told = subprocess.run(
                [sys.executable, "-I", "-c", _PROBE], env=env, capture_output=True, timeout=30, check=True
            )
            works = float(told.stdout) - time.time() > 900_000
        except (subprocess.SubprocessError, ValueError):
            works = False
        self.move_clock(0)
        if works:
            self.env = env
        return works

    def move_clock(self, seconds: float) -> None:
        """Set every process's clock so many seconds before the machine's."""
        with self._clock.open("r+b") as file:
            file.write(struct.pack("l", int(seconds)))

    # -- hooks, commands, processes --------------------------------------------------------

    def call_hook(self, event: str, session: str, **more: str) -> tuple[float, bytes, int]:
        """Run the installed hook for one event; return the milliseconds it took, what it printed and its exit code."""
        payload = {
            "session_id": session,
            "transcript_path": str(self.sessions / f"{session}.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
            **more,
        }
        began = time.perf_counter()
        done = subprocess.run(
            [str(self.hook), HARNESS],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.env,
            cwd=self.project,
            check=False,
        )
        return (time.perf_counter() - began) * 1000, done.stdout, done.returncode

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project, as a user or a scheduler does."""
        return subprocess.run(
            [str(program()), *words], env=self.env, cwd=self.project, capture_output=True, text=True, check=False
        )

    def service(self) -> int:
        """The running service's process, 0 for none."""
        try:
            return int((self.data / ADDRESS).read_bytes().split(b"\n")[3])
        except (OSError, ValueError, IndexError):
            return 0

    def kill_service(self) -> bool:
        """Kill the service as the system does when memory is short; say whether one was there."""
        with contextlib.suppress(OSError):
            if (pid := self.service()) in self.processes():  # a dead one's number may be somebody else's by now
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def processes(self) -> dict[int, str]:
        """Process -> command line of all that works on this data folder; none where the system shows no processes."""
        found, ours = {}, b"RECALL_HOME=" + os.fsencode(self.data)
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if ours in (process / "environ").read_bytes().split(b"\0"):
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    found[int(process.name)] = b" ".join(words[:1] + words[-6:]).decode("utf-8", "replace").strip()
        return found

    # -- the disk --------------------------------------------------------------------------

    def fill_disk(self) -> bool:
        """Leave no byte free where the data lies; False where it lies on a disk that others use."""
        if not self.has_disk:
            return False
        with (self.data / "filler").open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
        return True

    def free_disk(self) -> None:
        """Give the room back."""
        (self.data / "filler").unlink(missing_ok=True)


def line(world: World, session: str, kind: str, number: int, at: datetime, content: Any) -> bytes:
    """One line of a session file, as Claude Code writes it."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "type": "message", "model": "none", "content": [_text(content)]}
    fields = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": str(world.project),
        "sessionId": session,
        "version": "2.1.197",
        "type": kind,
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session}/{kind}/{number}")),
        "timestamp": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "message": message,
    }
    return json.dumps(fields).encode() + b"\n"


def resident_mb(pid: int) -> tuple[float, float] | None:
    """The memory that a process holds, in MB: its own, and what it maps of files (which the system takes back when it
    needs room); None where it is gone or the system does not tell.
    """
    try:
        pages = [int(word) for word in Path(f"/proc/{pid}/statm").read_bytes().split()]
        resident, mapped = pages[1], pages[2]
    except (OSError, ValueError, IndexError):
        return None
    megabytes = os.sysconf("SC_PAGE_SIZE") / 1e6
    return (resident - mapped) * megabytes, mapped * megabytes


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def _mount(folder: Path, megabytes: int) -> bool:
    """Put a file system of its own there; False where this user may not."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)]
    return not subprocess.run(words, capture_output=True, check=False).returncode


_SLUG = {code: "-" for code in range(128) if not chr(code).isalnum()}
