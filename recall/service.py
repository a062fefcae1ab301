"""The resident service's outside: one socket of one user, one line of protocol, an orderly end.

    client:  recall <protocol> <command> <harness> <stamp> <milliseconds left> <payload bytes>\\n<payload>
    service: recall <protocol> ok|late|old|failed <bytes>\\n<what goes to standard output>

`old` tells that client and service come from different copies of the program: the service then ends and the client
starts a new one. The answer leaves before anything is written. While nobody asks, the process sleeps in one
`accept` until its idle time is over: no timer, no polling.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from recall.allocator import give_back
from recall.hook_client import ADDRESS, DEADLINE_MS, LONGEST_PAYLOAD, PROTOCOL, STRIKES, stamp
from recall.spawn import SERVICE_STARTING
from recall.version import VERSION
from transcript.paths import read_file, runtime_dir, secure_dir, write_atomic

BACKLOG = 128
LONGEST_HEADER = 4096
LARGEST_FIGURE = 1 << 40
LONGEST_ANSWER = 1 << 16
TIDY_EVERY = 20  # answers


@dataclass(frozen=True, slots=True)
class Limits:
    """When the service leaves, and how long a client may wait for the whole turn."""

    idle_s: float = 900.0
    memory_mb: int = 1500
    deadline_ms: int = DEADLINE_MS
    talk_s: float = 2.0  # for a client to say what it wants
    goodbye_s: float = 5.0  # for turns in flight when it ends


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes to the harness, and what is done once it has left (told whether it did)."""

    output: bytes = b""
    afterwards: Callable[[bool], None] | None = None


Respond = Callable[[str, bytes, float], Reply]
"""(harness, payload, seconds left) -> reply."""


class Service:
    """Answers hooks until it is idle for long, too large, older than a client, or told to stop."""

    def __init__(
        self,
        data: Path,
        site: Path,
        respond: Respond,
        limits: Limits,
        env: Mapping[str, str],
        *,
        failed: Callable[[BaseException], None] = lambda error: None,
    ) -> None:
        self._data, self._respond, self._limits, self._failed = data, respond, limits, failed
        self._site, self._stamp = site, stamp(str(site))
        self._path = socket_path(data, env)
        self._started = self._used = time.monotonic()
        self._answered = self._tidied = 0
        self._ending = ""
        self._talks: set[threading.Thread] = set()
        self._guard = threading.Lock()

    def run(self) -> str:
        """Serve until the end and return its reason: idle, memory, old, stop."""
        with self._listen() as listener:
            self._announce()
            try:
                while not self._ending:
                    self._accept(listener)
            except _Stopped:
                self._ending = "stop"
            finally:
                self._withdraw()
        self._finish()
        return self._ending

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()  # a dead service's: we hold the lock of this data folder
        before = os.umask(0o177)
        try:
            listener.bind(str(self._path))
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
        return listener

    def _announce(self) -> None:
        run = secure_dir(self._data / "run")
        (run.parent / STRIKES).write_bytes(b"")
        lines = (str(self._path), str(self._limits.deadline_ms), VERSION, str(os.getpid()))
        write_atomic(run.parent / ADDRESS, os.fsencode("\n".join(lines) + "\n"), durable=False)
        (run.parent / SERVICE_STARTING).unlink(missing_ok=True)

    def _accept(self, listener: socket.socket) -> None:
        left = self._used + self._limits.idle_s - time.monotonic()
        if left <= 0 and not self._talks:
            self._ending = self._ending or "idle"
            return
        listener.settimeout(max(left, 1.0 if self._talks else 0.001))
        try:
            talk, _ = listener.accept()
        except TimeoutError:
            return
        thread = threading.Thread(target=self._talk, args=(talk,), daemon=True)
        with self._guard:
            self._talks.add(thread)
        thread.start()

    def _talk(self, talk: socket.socket) -> None:
        afterwards: Callable[[], None] | None = None
        try:
            with talk:
                if peer_user(talk) == os.geteuid():
                    afterwards = self._converse(talk)
            if afterwards is not None:
                afterwards()
        except OSError:
            pass  # the client left, or the disk is full: its own words path or the next turn mends it
        finally:
            self._used = time.monotonic()
            with self._guard:
                self._talks.discard(threading.current_thread())
                tidy = self._answered >= self._tidied + TIDY_EVERY
                self._tidied = self._answered if tidy else self._tidied
            if tidy:
                give_back()
            if memory_mb() > self._limits.memory_mb:
                self._end("memory")

    def _converse(self, talk: socket.socket) -> Callable[[], None] | None:
        talk.settimeout(self._limits.talk_s)
        request = _receive(talk)
        born = time.monotonic()
        if request is None:
            return None
        if request.command == "status":  # whoever asks: looking ends no service of another copy
            _send(talk, "ok", json.dumps(self.status()).encode())
            return None
        if request.command == "stop":
            _send(talk, "ok")
            self._end("stop")
            return None
        if request.stamp != self._stamp:
            _send(talk, "old")
            self._end("old")
            return None
        try:
            reply = self._respond(request.harness, request.payload, request.left_s)
        except Exception as error:  # the boundary of the hook: the client answers by words
            self._note("service", error)
            _send(talk, "failed")
            return None
        in_time = time.monotonic() - born < request.left_s
        delivered = _send(talk, "ok" if in_time else "late", reply.output) and in_time
        self._answered += 1
        strikes = self._data / STRIKES
        if strikes.exists() and strikes.stat().st_size:
            os.truncate(strikes, 0)
        return None if reply.afterwards is None else lambda: _guarded(reply.afterwards, delivered, self._note)

    def status(self) -> dict[str, object]:
        """Return what `recall health` shows of a running service."""
        return {
            "pid": os.getpid(),
            "version": VERSION,
            "site": str(self._site),
            "up_s": round(time.monotonic() - self._started, 1),
            "answered": self._answered,
            "memory_mb": memory_mb(),
            "limit_mb": self._limits.memory_mb,
            "socket": str(self._path),
        }

    def _end(self, reason: str) -> None:
        """Let the accepting thread return, by a connection of our own."""
        with self._guard:
            if self._ending:
                return
            self._ending = reason
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wake:
            wake.settimeout(1.0)
            wake.connect(str(self._path))

    def _withdraw(self) -> None:
        address = self._data / ADDRESS
        with contextlib.suppress(OSError):
            if read_file(address).split(b"\n")[0] == os.fsencode(self._path):
                address.unlink()
            self._path.unlink()

    def _finish(self) -> None:
        until = time.monotonic() + self._limits.goodbye_s
        with self._guard:
            talks = list(self._talks)
        for thread in talks:
            thread.join(max(until - time.monotonic(), 0))

    def _note(self, where: str, error: BaseException) -> None:
        """Count a failure for health, and tell whoever keeps the log."""
        from recall.hook_counters import add

        add(self._data, "service", f"error:{where}:{type(error).__name__}")
        self._failed(error)


@dataclass(frozen=True, slots=True)
class _Request:
    command: str
    harness: str
    stamp: str
    left_s: float
    payload: bytes


class _Stopped(BaseException):
    """SIGTERM came while the service waited."""


def stop_on_signal() -> None:
    """Let SIGTERM end the service as a stop command does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def socket_path(data: Path, env: Mapping[str, str]) -> Path:
    """Return where the service of this data folder listens."""
    return runtime_dir(data, env) / f"serve-{zlib.crc32(os.fsencode(data)):08x}.sock"


def _is_said(name: str, value: object) -> bool:
    """Whether a service of ours may say that of itself: its process is signalled, its figures are reckoned with."""
    if name in ("version", "site", "socket"):
        return isinstance(value, str)
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST_FIGURE
    return known and (name == "up_s" or isinstance(value, int)) and (name != "pid" or value != 0)


class Question:
    """A question to a running service: sent at once, its answer taken when it is wanted, so that nobody need wait."""

    def __init__(self, data: Path, command: str, *, site: Path, within_s: float = 1.0) -> None:
        self._until = time.monotonic() + within_s
        self._talk: socket.socket | None = None
        self._said: dict[str, object] | None = None
        try:
            path = read_file(data / ADDRESS).split(b"\n")[0]
            self._talk = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._talk.settimeout(within_s)
            self._talk.connect(path)
            if peer_user(self._talk) == os.geteuid():
                self._talk.sendall(f"recall {PROTOCOL} {command} - {stamp(str(site))} 1000 0\n".encode())
                return
        except (OSError, AttributeError):
            pass
        self._close()

    def answer(self) -> dict[str, object] | None:
        """Return what the service says, None where none does within the time, which began with the question."""
        if self._talk is not None:
            with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):  # but for the first: none of ours
                self._said = self._received(self._talk)
            self._close()
        return self._said

    def _received(self, talk: socket.socket) -> dict[str, object]:
        parts, part, is_whole = b"", b"-", True
        while part:
            if len(parts) > LONGEST_ANSWER:
                raise ValueError("that is no service of ours")
            talk.settimeout(max(self._until - time.monotonic(), 0.0))  # 0: what has come is taken, and no more
            try:
                part = talk.recv(65536)
            except OSError:  # the time is over: what has come may be all, though the line is still open
                part, is_whole = b"", False
            parts += part
        head, _, answer = parts.partition(b"\n")
        words = head.split() if is_whole or answer else []
        found = json.loads(answer) if answer else {}
        is_ours = words[:1] == [b"recall"] and isinstance(found, dict)
        if not is_ours or not all(_is_said(name, value) for name, value in found.items()):
            raise ValueError("that is no service of ours")
        return {"answer": words[2].decode() if len(words) > 2 else "", **found}

    def _close(self) -> None:
        if self._talk is not None:
            self._talk.close()
            self._talk = None


def call(data: Path, command: str, *, site: Path, timeout: float = 1.0) -> dict[str, object] | None:
    """Ask a running service for its `status`, or tell it to `stop`; None when none answers within so many seconds."""
    return Question(data, command, site=site, within_s=timeout).answer()


def peer_user(talk: socket.socket) -> int:
    """Return the user at the other end; where the system does not tell, the socket's folder keeps others out."""
    if not hasattr(socket, "SO_PEERCRED"):
        return os.geteuid()
    found = talk.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", found)[1])


def memory_mb() -> int:
    """Return the resident memory of this process (the most it ever had, where the system tells only that)."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20
    except OSError:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most >> (20 if sys.platform == "darwin" else 10)


def _receive(talk: socket.socket) -> _Request | None:
    """Return one request; None for anything that is none."""
    head = b""
    while b"\n" not in head:
        part = talk.recv(65536)
        if not part or len(head) > LONGEST_HEADER:
            return None
        head += part
    line, payload = head.split(b"\n", 1)
    words = line.decode("utf-8", "replace").split()
    if len(words) != 7 or words[0] != "recall" or not (words[5].lstrip("-").isdecimal() and words[6].isdecimal()):
        return None
    size = int(words[6])
    if size > LONGEST_PAYLOAD:
        return None
    parts = [payload]
    missing = size - len(payload)
    while missing > 0:
        part = talk.recv(min(missing, 1 << 20))
        if not part:
            return None
        parts.append(part)
        missing -= len(part)
    known = words[1] == str(PROTOCOL)
    return _Request(words[2], words[3], words[4] if known else "", int(words[5]) / 1000, b"".join(parts))


def _send(talk: socket.socket, status: str, answer: bytes = b"") -> bool:
    try:
        talk.sendall(f"recall {PROTOCOL} {status} {len(answer)}\n".encode() + answer)
    except OSError:
        return False
    return True


def _guarded(step: Callable[[bool], None] | None, delivered: bool, note: Callable[[str, BaseException], None]) -> None:
    """Do what follows an answer; what fails there is counted, and the service lives on."""
    try:
        if step is not None:
            step(delivered)
    except Exception as error:  # the boundary of the hook
        note("afterwards", error)
