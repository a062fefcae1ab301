"""The hook's client: asks the resident service, answers by words alone where there is none, never fails its host.

Until the service has answered it imports nothing but sys, os, time and _socket: every further module would be paid
for at every prompt. Whatever happens: exit 0, standard output one whole answer or empty, standard error untouched,
and the failure counted in `<data>/hook-counters.log`.

Time runs from the start of the process. The service may use the first half of the deadline, the answer has to leave
at 85 % of it, and the process ends with it: inner waits are parts of one whole and cannot add up to more.
"""

import _signal  # type: ignore[import-not-found]  # `signal` would import enum
import os
import sys
import time

PROTOCOL = 1
DEADLINE_MS = 1000
LONGEST_DEADLINE_MS = 4000  # below the 5 s that are registered with the harness
SERVICE_SHARE = 0.5
ANSWER_SHARE = 0.85
LONGEST_PAYLOAD = 4 << 20
STRIKES_BEFORE_KILL = 3
STUCK_S = 10.0  # a service under load answers late; one that hangs answers nobody for so long
COUNTERS = "hook-counters.log"
ADDRESS = "run/serve.address"
STRIKES = "run/serve.strikes"
PACKAGES = ("transcript", "indexer", "scoring", "recall")
# These run the hooks of other harnesses as well, with the variable set.
OTHER_CALLERS = (("GROK_HOOK_EVENT", "grok-build"), ("CURSOR_VERSION", "cursor"))

NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe in place of a file of ours is no reason to hang

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Socket
    from collections.abc import Callable


class OutOfTime(BaseException):
    """The time for an answer is over; raised by the alarm wherever the client stands."""


class Hook:
    """One call of the hook: where things lie, how much time is left, what went wrong on the way."""

    def __init__(self, data: str, harness: str, site: str) -> None:
        self.data, self.harness, self.site = data, harness, site
        self.born = _process_start()
        self.deadline_ms = _deadline(os.environ.get("RECALL_HOOK_DEADLINE_MS", ""), DEADLINE_MS)
        self.stage = "start"
        self.why = ""
        self.needs_service = False
        self.afterwards: list[Callable[[], None]] = []

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until this share of the deadline has passed."""
        return self.born + share * self.deadline_ms / 1000 - time.monotonic()

    def count(self, kind: str) -> None:
        """Add one line to the counters; a failure to count is no failure."""
        line = f"{time.time():.0f}\t{self.harness}\t{kind}\n".encode("utf-8", "replace")
        try:
            descriptor = os.open(f"{self.data}/{COUNTERS}", os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_WAIT, 0o600)
            os.write(descriptor, line)
            os.close(descriptor)
        except OSError:
            pass


def _process_start() -> float:
    """Return the monotonic time at which this process was started; now, where the system does not tell."""
    now = time.monotonic()
    try:
        descriptor = os.open("/proc/self/stat", os.O_RDONLY)
        ticks = int(os.read(descriptor, 1024).rsplit(b")", 1)[1].split()[19])
        os.close(descriptor)
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return now
    return now - min(max(age, 0.0), 60.0)


def _deadline(text: str, default: int) -> int:
    return min(max(int(text), 50), LONGEST_DEADLINE_MS) if text.isdecimal() and len(text) < 7 else default


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def stamp(site: str) -> str:
    """Return what tells one installed copy of the program from another, without reading a file."""
    try:
        found = os.stat(f"{site}/recall/version.py")  # noqa: PTH116 pathlib would cost 10 ms
    except OSError:
        return "-"
    return f"{found.st_mtime_ns:x}.{found.st_size:x}.{found.st_ino:x}"


def read_input(hook: Hook) -> tuple[bytes, bool]:
    """Return what stands on standard input and whether that is all of it: no real payload is longer.

    A longer one is read to its end all the same, so that the harness does not meet a closed pipe.
    """
    hook.stage = "stdin"
    parts, size = [], 0
    while part := os.read(0, 1 << 20):
        size += len(part)
        if size <= LONGEST_PAYLOAD:
            parts.append(part)
    return b"".join(parts), size <= LONGEST_PAYLOAD


def ask_service(hook: Hook, payload: bytes) -> bytes | None:
    """Return the service's answer (often empty); None when it must be found without the service."""
    hook.stage = "connect"
    try:
        descriptor = os.open(f"{hook.data}/{ADDRESS}", os.O_RDONLY | NO_WAIT)
        path, deadline = os.read(descriptor, 4096).decode("utf-8", "surrogateescape").split("\n")[:2]
        os.close(descriptor)
    except (OSError, ValueError):
        hook.needs_service, hook.why = True, "no_service"
        return None
    if "RECALL_HOOK_DEADLINE_MS" not in os.environ:
        hook.deadline_ms = _deadline(deadline, hook.deadline_ms)
    import _socket

    service = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connected = False
    try:
        service.settimeout(max(hook.left(SERVICE_SHARE), 0.01))
        service.connect(path)
        connected = True
        return _converse(hook, service, payload)
    except TimeoutError:
        hook.why = "service_late:" + hook.stage
        _strike(hook, service)
    except (OSError, ValueError):
        hook.needs_service, hook.why = True, "service_broke_off" if connected else "service_gone"
    finally:
        service.close()
    return None


def _converse(hook: Hook, service: "Socket", payload: bytes) -> bytes | None:
    if _peer(service)[1] != os.geteuid():
        hook.why = "service_not_ours"
        return None
    hook.stage = "send"
    words = ("recall", PROTOCOL, "hook", hook.harness, stamp(hook.site), int(hook.left(SERVICE_SHARE) * 1000))
    service.sendall(f"{' '.join(map(str, words))} {len(payload)}\n".encode() + payload)
    hook.stage = "receive"
    answer = b""
    while b"\n" not in answer:
        answer += _part(hook, service)
    head, answer = answer.split(b"\n", 1)
    _, _, status, size = head.split()
    while len(answer) < int(size):
        answer += _part(hook, service)
    if status != b"ok":
        hook.needs_service, hook.why = status == b"old", "service_" + status.decode("ascii", "replace")
        return None
    return answer


def _part(hook: Hook, service: "Socket") -> bytes:
    service.settimeout(max(hook.left(SERVICE_SHARE), 0.001))
    part = service.recv(65536)
    if not part:
        raise ConnectionError("the service closed the connection")
    return part


def _peer(service: "Socket") -> tuple[int, int]:
    """Return process and user at the other end; where the system does not tell, the folder keeps others out."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return 0, os.geteuid()
    found = service.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(found[0:4], sys.byteorder), int.from_bytes(found[4:8], sys.byteorder)


def _strike(hook: Hook, service: "Socket") -> None:
    """Note that a service took the call and gave no answer; end it after the third in a row over a while, so that a
    new one starts. The service empties the file whenever it answers, in time or not: several clients at once can each
    meet a busy one. The process to end is the one that listens on this very socket.
    """
    try:
        process, user = _peer(service)
        descriptor = os.open(f"{hook.data}/{STRIKES}", os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_WAIT, 0o600)
        now = time.monotonic()
        os.write(descriptor, b"%.1f\n" % now)
        strikes = os.pread(descriptor, 4096, 0).split()
        waited = now - float(strikes[0])
        if waited < 0:  # before the machine started anew
            os.ftruncate(descriptor, 0)
        elif len(strikes) >= STRIKES_BEFORE_KILL and waited >= STUCK_S and process > 1 and user == os.geteuid():
            os.ftruncate(descriptor, 0)
            os.kill(process, 9)
            hook.needs_service = True
            hook.count("service_killed")
        os.close(descriptor)
    except (OSError, ValueError, IndexError):  # the last: it has answered somebody just now, and the file is empty
        pass


def answer_by_words(hook: Hook, payload: bytes) -> bytes:
    """Return the answer found without the service; only here is more of the program imported."""
    hook.stage = "words"
    if any(not os.access(f"{hook.site}/{name}/__init__.py", os.R_OK) for name in PACKAGES):
        hook.count("packages_shadowed")
        return b""
    from recall import light

    light.install()
    from recall import hook_words

    return hook_words.answer(hook, payload)


def answer(hook: Hook) -> bytes:
    """Return what goes to standard output for the payload on standard input."""
    payload, whole = read_input(hook)
    if not whole:
        hook.count("payload_too_long")
        return b""
    if any(name in os.environ and hook.harness not in (caller, "any") for name, caller in OTHER_CALLERS):
        return b""
    found = ask_service(hook, payload)
    if found is None:
        if hook.why != "no_service":
            hook.count(hook.why)
        _set_alarm(_late, hook.left(ANSWER_SHARE))
        found = answer_by_words(hook, payload)
    return found


def _late(signal: int, frame: object) -> None:
    raise OutOfTime


def _end(signal: int, frame: object) -> None:
    os._exit(0)


def _set_alarm(handler: "Callable[[int, object], None]", seconds: float) -> None:
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, handler)
        _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001))


def _first_part(hook: Hook) -> None:
    """Answer; every failure is counted with the stage it struck, and the host sees none of them."""
    try:
        _set_alarm(_late, hook.left(ANSWER_SHARE))
        found = answer(hook)
        hook.stage = "print"
        while found:
            found = found[os.write(1, found) :]
    except BrokenPipeError:
        hook.count("reader_gone")
    except BaseException as error:
        late = OutOfTime in (type(error), type(error.__cause__))  # the second: raised while a class was being made
        hook.count(f"deadline:{hook.stage}" if late else f"error:{hook.stage}:{type(error).__name__}")


def _second_part(hook: Hook) -> None:
    """Do what the turn need not wait for: start the service, write the ledger."""
    try:
        _set_alarm(_end, hook.left())
        if hook.needs_service:
            from recall import spawn

            if not spawn.start_service(hook.data, hook.site):
                hook.count("service_start_held_back")
        for step in hook.afterwards:
            step()
    except BaseException as error:
        hook.count(f"error:afterwards:{type(error).__name__}")


def _stay_out(hook: Hook, *, child: bool) -> None:
    """Note that this session is never to be captured; nothing is asked, nothing is printed."""
    try:
        _set_alarm(_end, hook.left())
        from transcript import kept_out

        session = kept_out.session_in(read_input(hook)[0])
        hook.stage = "keep_out"
        if not kept_out.keep_out(hook.data, session, kept_out.CHILD if child else kept_out.OPTED_OUT):
            hook.count("no_session_to_keep_out")
    except BaseException as error:
        hook.count(f"error:{hook.stage}:{type(error).__name__}")


def main(arguments: list[str]) -> None:
    """Run the hook and end the process with 0, whatever happened."""
    if len(arguments) == 3:
        hook = Hook(*arguments)
        if _is_set("RECALL_OFF") or _is_set("RECALL_CHILD"):
            _stay_out(hook, child=_is_set("RECALL_CHILD"))
            os._exit(0)
        _first_part(hook)
        if hook.needs_service or hook.afterwards:
            _second_part(hook)
    os._exit(0)
