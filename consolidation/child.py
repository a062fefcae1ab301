"""Runs a program of the user's own for one request: in an empty folder, with no environment but what is named."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST_BYTES = 1 << 20  # of an answer
KEPT = ("PATH", "LANG", "TMPDIR", "SYSTEMROOT")  # of our environment


_RUNS_OTHERS = re.compile(r"(?:python|pypy|node|deno|bun|bash|sh|zsh|ruby|perl|env|uv|uvx|npx|pipx)[\d.]*(?:\.exe)?")


class ChildFailed(Exception):
    """The program cannot be started, is late, says too much or ends with a failure."""


def name_of(arguments: Sequence[str]) -> str:
    """Return the name of the program that a command line means: of `python -I /opt/rex.py --x` it is `rex.py`."""
    for argument in arguments:
        name = argument.replace("\\", "/").rstrip("/").rpartition("/")[2]
        if name and not argument.startswith("-") and not _RUNS_OTHERS.fullmatch(name) and "=" not in name:
            return name
    return arguments[0].replace("\\", "/").rpartition("/")[2]


def run(
    arguments: Sequence[str], request: bytes, *, timeout_s: float, passed: Sequence[str] = (), home: Path | None = None
) -> bytes:
    """Return what a program wrote to its standard output when it was given a request on its standard input.

    `passed` names variables that it gets besides. Its home is empty and gone afterwards, unless one is given. When it
    is late or says too much, it and what it started are ended.
    """
    with _folder(home) as folder, tempfile.TemporaryFile() as asked:
        asked.write(request)
        asked.seek(0)
        until = time.monotonic() + timeout_s
        try:
            process = subprocess.Popen(
                arguments,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=_environment(folder, passed, own=home is not None),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ChildFailed(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error
        try:
            answer = _read(process, until)
            if len(answer) > MOST_BYTES:
                raise ChildFailed(f"said more than {MOST_BYTES:,} bytes")
            process.wait(max(0.0, until - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise ChildFailed(f"did not answer within {timeout_s:g} s") from None
        finally:
            _end(process)
        if process.returncode:
            raise ChildFailed(f"ended with exit code {process.returncode}")
        return answer


def _environment(folder: Path, passed: Sequence[str], *, own: bool) -> dict[str, str]:
    kept = {name: os.environ[name] for name in (*KEPT, *passed) if name in os.environ}
    kept |= {"HOME": str(folder), "RECALL_CHILD": "1"}
    return kept | ({"RECALL_HOME": str(folder / "recall")} if own else {})


@contextlib.contextmanager
def _folder(home: Path | None) -> Iterator[Path]:
    if home is not None:
        yield home
        return
    with tempfile.TemporaryDirectory(prefix="recall-child-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _read(process: "subprocess.Popen[bytes]", until: float) -> bytes:
    """Read to the end, or to one byte beyond what is allowed; TimeoutError when neither comes in time."""
    held: list[bytes] = []
    stream = process.stdout
    assert stream is not None

    def read() -> None:
        with stream:
            held.append(stream.read(MOST_BYTES + 1))

    reader = threading.Thread(target=read, daemon=True)  # what has left the group may hold the pipe for ever
    reader.start()
    reader.join(max(0.0, until - time.monotonic()))
    if not held:
        raise TimeoutError
    return held[0]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and what it started; nothing of it goes on."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()
