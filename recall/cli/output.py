"""What commands print: results on standard output, progress and warnings on standard error."""

import contextlib
import errno
import io
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import click

from transcript.errors import NotConfirmed
from transcript.telling import visible as visible

_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS})  # a failed write names no file
LINE_PAUSE_S = 5.0  # between two lines where no terminal is at hand


def say(text: str = "") -> None:
    """Print a result. On a terminal, control characters of recorded text are shown, not obeyed."""
    click.echo(visible(text) if sys.stdout.isatty() else text)


def one_line(text: str) -> str:
    """Return an error's text on one line: line ends in what somebody typed or a file said forge no line of ours."""
    return visible(text).replace("\n", "\\n").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def head(text: str, most: int = 100) -> str:
    """Return the beginning of a text on one line, of at most so many characters and a sign that it goes on."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most].rstrip()} …"


def note(text: str) -> None:
    """Print something that is not a result: a warning, a hint."""
    click.echo(text, err=True)


def confirm(question: str) -> None:
    """Ask on standard error and go on after a yes; NotConfirmed otherwise. A pipe may answer, an empty one cannot."""
    if sys.stdin is not None and sys.stdin.isatty():
        try:
            agreed = click.confirm(question, err=True)
        except click.Abort:
            note("")  # the cursor stands behind the question
            raise
    else:
        answer = sys.stdin.readline() if sys.stdin is not None else ""
        if not answer:
            raise NotConfirmed("nobody to ask; use --yes")
        note(f"{question} {answer.strip()}")
        agreed = answer.strip().lower() in ("y", "yes")
    if not agreed:
        raise NotConfirmed("not confirmed; nothing was changed")


def unusable(error: OSError) -> str:
    """Return a sentence on a file or disk that cannot be used, "" where the error is of another kind: a fault here."""
    if error.filename is not None and error.errno is not None:
        return f"cannot use {os.fsdecode(error.filename)} ({error.strerror}); mend that first"
    if error.errno == errno.ENOENT:  # no folder for temporary files is left that takes one
        return f"what is needed is not there ({error.strerror}); mend that first"
    return f"the disk refuses a write ({error.strerror}); mend that and run it again" if error.errno in _DISK else ""


def emit(value: Any) -> None:
    """Print one JSON value on one line, in ASCII: lone surrogates of recorded text survive as escapes."""
    click.echo(json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str))


def tolerate_any_text() -> None:
    """Let recorded text with lone surrogates, or characters the terminal lacks, be printed as escapes.

    Where a caller closed one of the three streams, nobody reads and nothing is read from now on.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    buffer = getattr(sys.stderr, "buffer", None)
    is_file = type(getattr(buffer, "raw", buffer)) is io.FileIO  # with PYTHONUNBUFFERED nothing lies between
    if is_file and sys.stderr is sys.__stderr__:  # the process's own, and not what a caller put there
        sys.stderr = _Forgiving(sys.__stderr__)


class _Forgiving(io.TextIOWrapper):
    """Standard error whose disk is full or whose reader is gone: what is said there is no reason to stop the work.

    The buffer below stays Python's own: one that runs code of ours could be interrupted between the write and its
    count, and would write twice.
    """

    def __init__(self, stream: TextIO) -> None:
        stream.flush()
        super().__init__(stream.buffer, stream.encoding, "backslashreplace", line_buffering=True)

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            self._give_up()

    def close(self) -> None:
        """Leave the buffer open: it is that of the stream before."""
        with contextlib.suppress(ValueError):  # which may be closed
            self.flush()

    def _give_up(self) -> None:
        """Let this and all that follows go nowhere: Python would try again at its end, and exit with 120."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        super().flush()


class Progress:
    """Progress on standard error: a bar on a terminal, a line every few seconds elsewhere; the bar goes at the end."""

    def __init__(self, what: str, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.what = what
        self._stream = stream or sys.stderr
        self._clock = clock
        self._said = clock()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "Progress":
        if self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=16),  # the words after it have room in 80 columns
                TextColumn("{task.fields[figures]}", markup=False),
            )
            self._bar = Bar(*columns, console=Console(file=self._stream), transient=True)
            self._task = self._bar.add_task(self.what, total=None, figures="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int, detail: str = "") -> None:
        """Show how far the work is; cheap enough to call for every item."""
        figures = [f"{done:,}/{total:,}"] if total else [f"{done:,}"] if done else []
        if self._bar is not None:
            said = " ".join([*figures, visible(detail)])
            self._bar.update(self._task, completed=done, total=total or None, figures=said)
            return
        now = self._clock()
        if now - self._said >= LINE_PAUSE_S:
            self._said = now
            share = f" ({done / total:.0%})" if total else ""
            said = " ".join([self.what, *figures, *([detail] if detail else [])])
            self._stream.write(f"{said}{share}\n")
            self._stream.flush()


def duration(seconds: float) -> str:
    """Return a stretch of time for people: `0.4 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} GB"
