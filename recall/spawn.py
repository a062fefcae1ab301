"""Starts what outlives a hook: the resident service and a capture, each at most once at a time.

The starter takes the lock and hands the locked descriptor down, so that of fifty hooks which come at once exactly
one starts a process and there is no moment between starting and locking. The child gets a session of its own, its
three standard streams on the null device and none of the harness's pipes, and carries `RECALL_CHILD=1`.
"""

import os
import sys
import time
import zlib
from pathlib import Path

SERVICE_LOCK = "run/serve.lock"
SERVICE_STARTING = "run/serve.starting"
OCCASION = "@"  # begins a mark's line that names an event and a session; the others are variables
PAUSE_S = 30.0  # after a service that died while starting
# Our packages come from the folder that the client came from, whatever else is installed; it stays last on the path.
START = (
    "import sys; path, sys.path = sys.path, [sys.argv.pop(1)]\n"
    "for name in 'transcript indexer scoring recall consolidation health eval'.split(): __import__(name)\n"
    "sys.path = path + sys.path\n"
    "from {module} import main; main(sys.argv[1:])"
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def start_service(data: str, site: str) -> bool:
    """Start the service unless one runs or is starting; False after a start that failed in the last half minute."""
    locked = take_lock(f"{data}/{SERVICE_LOCK}")
    if locked is None:
        return True
    marker = Path(data, SERVICE_STARTING)
    try:
        if abs(time.time() - marker.stat().st_mtime) < PAUSE_S:
            os.close(locked)
            return False
    except OSError:
        pass
    marker.touch(0o600)
    detach("recall.cli.serve", (data, "--lock", str(locked)), data=data, site=site, keep=locked)
    os.close(locked)
    return True


def start_capture(
    data: str, site: str, cwd: str, *, workspace: str = "", home: str = "", event: str = "", session: str = ""
) -> bool:
    """Start a capture of the sessions of cwd; one that already runs is told to go round once more.

    `home` is the variable that names the harness's own folder (`recall.homes`): the service's environment may belong
    to another home than the session. `event` and `session` say what gave the occasion.
    """
    name = f"{data}/run/capture-{workspace or f'{zlib.crc32(os.fsencode(cwd)):08x}'}"
    occasion = f"{OCCASION}{event} {session}\n" if event else ""
    return _start("recall.cli.capture_job", data, site, cwd, name, f"{home}\n{occasion}")


def start_checkpoint(data: str, site: str, cwd: str, *, workspace: str, trigger: str, link: str = "") -> bool:
    """Start a checkpoint of a workspace; one that already runs is told to make another."""
    name = f"{data}/run/checkpoint-{workspace}"
    return _start("recall.cli.checkpoint_job", data, site, cwd, name, f"{trigger} {link}\n")


def _start(module: str, data: str, site: str, cwd: str, name: str, mark: str) -> bool:
    """Leave a mark and start module's `main` for it, unless one runs: that one finds the mark."""
    Path(data, "run").mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(f"{name}.again", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, os.fsencode(mark))
    os.close(descriptor)
    locked = take_lock(f"{name}.lock")
    if locked is None:
        return False
    detach(module, (data, cwd, name, str(locked)), data=data, site=site, keep=locked)
    os.close(locked)
    return True


def take_marks(again: Path) -> list[str]:
    """Take the marks away that starters left, and return their lines."""
    taken = again.with_suffix(".taken")
    again.replace(taken)
    lines = os.fsdecode(taken.read_bytes()).splitlines()
    taken.unlink()
    return lines


def take_lock(path: str) -> int | None:
    """Return a descriptor that holds the exclusive lock of path, or None when another process has it."""
    try:
        import fcntl
    except ImportError:  # no resident processes where there are no such locks
        return None
    Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def environment(data: str) -> dict[str, str]:
    """Return the environment of a process of ours: no PYTHON variables, marked as a child."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "RECALL_CHILD": "1", "RECALL_HOME": data}


def detach(module: str, arguments: "Sequence[str]", *, data: str, site: str, keep: int) -> int:
    """Start module's `main` in a process of its own that holds the descriptor `keep`; return its id."""
    command = [sys.executable, "-I", "-c", START.format(module=module), site, *arguments]
    os.set_inheritable(keep, True)
    streams = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in (0, 1, 2)]
    try:
        return os.posix_spawn(command[0], command, environment(data), file_actions=streams, setsid=True)
    except NotImplementedError:  # the child makes its own session as its first step
        return os.posix_spawn(command[0], command, environment(data), file_actions=streams)
    finally:
        os.set_inheritable(keep, False)


def settle(keep: int) -> None:
    """First step of a detached process: own session, no descriptor but the streams and keep, no folder held."""
    if hasattr(os, "setsid") and os.getsid(0) != os.getpid():
        os.setsid()
    os.umask(0o077)
    os.closerange(3, keep)
    os.closerange(keep + 1, 1024)
    os.chdir("/")
