"""The resident service from outside: start it, stop it, see it, and how often it died.

`<data>/run/service.json` holds its last starts, each with how it ended. One that has no end and whose process is gone
was killed or crashed. Only the holder of the service's lock writes the file.
"""

import contextlib
import json
import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recall import service, spawn
from recall.launcher import site_folder
from transcript.errors import ServiceError
from transcript.paths import read_derived, secure_dir, write_atomic

STARTS = "run/service.json"
KEPT = 50
START_S = 30.0  # for the libraries to be imported, on a machine that is busy
STOP_S = 5.0
ANSWER_S = 0.5  # for one that serves to say how it is; one that hangs is not waited for longer
WEEK_S = 7 * 86400.0
_PAUSE_S = 0.02
_DEAD_S = 2.0  # for a killed process to be gone
_SAID = ("pid", "version", "site", "up_s", "answered", "memory_mb", "limit_mb", "socket")
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the service: when (seconds since 1970), its process, and when and why it ended, "" for not yet."""

    at: float
    pid: int
    end: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The service now; None is what no service says. Times in seconds, memory in MB.

    `stuck` is one that has begun long ago, is there, and does not answer: no hook starts another then. One that has
    begun just now has a `pid` and is not yet `up`.
    """

    up: bool = False
    stuck: bool = False
    pid: int | None = None
    version: str = ""
    site: str = ""
    up_s: float | None = None
    answered: int | None = None
    memory_mb: int | None = None
    limit_mb: int | None = None
    socket: str = ""
    starts_7d: int = 0
    crashes_7d: int = 0
    last_end: str = ""  # why the last one that ended did


def note_start(data: Path, *, now: float) -> None:
    """Write down that this process serves from now on. A disk that takes no write is no reason not to serve."""
    _write(data, [*starts(data), Start(now, os.getpid())])


def note_end(data: Path, reason: str, *, now: float) -> None:
    """Write down why this process serves no longer; no more than that is lost where it cannot."""
    held = starts(data)
    if held and held[-1].pid == os.getpid() and held[-1].end is None:
        _write(data, [*held[:-1], replace(held[-1], end=now, reason=reason)])


def starts(data: Path) -> list[Start]:
    """Return the last starts, the oldest first; none where the file is missing or damaged."""
    try:
        held = read_derived(data / STARTS)["starts"]
        return [Start(float(at), int(pid), end, str(reason)) for at, pid, end, reason in held]
    except (KeyError, TypeError, ValueError, OverflowError):
        return []


def crashes(held: list[Start], *, since: float) -> list[Start]:
    """Return the starts after `since` that have no end and whose process serves no longer."""
    return [one for one in held if one.at >= since and one.end is None and not _serves(one.pid)]


def question(data: Path, *, within_s: float = ANSWER_S) -> service.Question:
    """Return the question how the service is, which has left; its answer is there when it is wanted."""
    return service.Question(data, "status", site=site_folder(), within_s=within_s)


def status(data: Path, *, now: float, asked: service.Question | None = None) -> Status:
    """Return what the service says of itself, and how it fared within a week. Writes nothing, ends nothing.

    asked is a question that has left already; without one it is asked now.
    """
    held = starts(data)
    recent = [one for one in held if one.at >= now - WEEK_S]
    said: dict[str, Any] = (asked or question(data)).answer() or {}
    known = {name: said[name] for name in _SAID if name in said}
    last = held[-1] if held and "pid" not in said else None
    begun = last is not None and last.end is None and _serves(last.pid)
    stuck = last is not None and begun and now - last.at > START_S
    if last is not None and begun:
        known["pid"] = last.pid
    return Status(
        up="pid" in said,
        stuck=stuck,
        **known,
        starts_7d=len(recent),
        crashes_7d=len(crashes(held, since=now - WEEK_S)),
        last_end=next((one.reason for one in reversed(held) if one.reason), ""),
    )


def start(data: Path, *, wait_s: float = START_S, system: str = os.name) -> Status:
    """Return the service as it answers, started where none did; of several callers at once one starts it.

    ServiceError says why there is none.
    """
    if system == "nt":
        raise ServiceError("this system has no resident service: each hook answers by itself, by words")
    until = time.monotonic() + wait_s
    while not (found := status(data, now=time.time())).up:
        if not spawn.start_service(str(data), str(site_folder())):
            ended = f" ({found.last_end})" if found.last_end else ""
            raise ServiceError(
                f"a start failed within the last half minute{ended}; 'recall service logs' says more, then try again"
            )
        if time.monotonic() > until:
            which = f"process {found.pid} serves and does not answer" if found.pid else "no service answers"
            then = "'recall service stop' ends it" if found.pid else "'recall service logs' shows what it did"
            raise ServiceError(f"{which} after {wait_s:.0f} s; {then}")
        time.sleep(_PAUSE_S)
    return found


def stop(data: Path, *, wait_s: float = STOP_S, hard: bool = False) -> bool:
    """End the service and say whether one ran; turns in flight are answered first.

    One that listens no more gets SIGTERM. One that is there after `wait_s` is killed where `hard` says so; otherwise
    ServiceError names it.
    """
    lock = data / spawn.SERVICE_LOCK
    if not lock.exists() or _is_free(lock):
        return False
    until = time.monotonic() + wait_s
    found = service.call(data, "status", site=site_folder()) or {}
    pid = int(str(found.get("pid", 0))) or next((one.pid for one in reversed(starts(data)) if _serves(one.pid)), 0)
    if service.call(data, "stop", site=site_folder()) is None and pid:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)
    while not _is_free(lock):
        if time.monotonic() > until and hard and pid:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            hard, until = False, time.monotonic() + _DEAD_S
        if time.monotonic() > until:
            named = f"process {pid} still serves" if pid else "a process that does not answer holds the service's lock"
            ending = f"; 'kill -9 {pid}' ends it and loses nothing" if pid else ""
            raise ServiceError(f"{named} after {wait_s:.0f} s{ending}")
        time.sleep(_PAUSE_S)
    return True


def processes(data: Path) -> int | None:
    """Return how many processes serve this data folder; None where the system does not list them."""
    if not (_PROC / "self" / "cmdline").exists():
        return None
    here = os.fsencode(data)
    found = {int(one.name) for one in _PROC.iterdir() if one.name.isdecimal() and here in _serving_words(one.name)}
    found |= {one.pid for one in starts(data)[-1:] if one.end is None and _serves(one.pid)}
    return len(found)


def _serving_words(pid: str) -> list[bytes]:
    """The words of a process that a hook started to serve; none for any other."""
    try:
        words = (_PROC / pid / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return words if any(b"recall.cli.serve" in word for word in words) else []


def _serves(pid: int) -> bool:
    """Whether a process is there and is a service, as far as the system tells."""
    if (_PROC / "self" / "cmdline").exists():
        try:
            words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
            return any(word == b"serve" or b"recall.cli.serve" in word for word in words)
        except OSError:
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _is_free(lock: Path) -> bool:
    held = spawn.take_lock(str(lock))
    if held is None:
        return False
    os.close(held)
    return True


def _write(data: Path, held: list[Start]) -> None:
    kept = [[one.at, one.pid, one.end, one.reason] for one in held[-KEPT:]]
    with contextlib.suppress(OSError):
        secure_dir(data / "run")
        write_atomic(data / STARTS, json.dumps({"version": 1, "starts": kept}).encode("ascii"), durable=False)
