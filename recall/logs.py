"""The logs of what nobody watches: `<data>/logs/<name>.jsonl`, a JSON object a line, in ASCII, mode 0600.

No word of a conversation can get into one: a field is written only where its key is known here and its value has that
key's form: numbers, ids, dates, and words of one list. An error leaves its type and the line of ours that it came from,
never its text. What was left out is counted in the line.

A file that has grown over `logs.megabytes` is put aside as `<name>.jsonl.1`, and `logs.keep` of those stay. A disk that
takes no write is silence. Only processes in the background import this: structlog costs 60 ms.
"""

import contextlib
import os
import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from recall.log_reader import FOLDER
from recall.operations_settings import LogSettings
from transcript.lock import FileLock
from transcript.paths import secure_dir

LONGEST = 120
_SITE = Path(__file__).resolve().parent.parent
_EVENT = re.compile(r"[a-z]{1,20}_(?:started|ended|failed|done|killed)")
WORDS = frozenset(
    {"idle", "memory", "old", "stop", "interrupted", "complete", "failed", "refused", "cut", "busy", "excluded"}
)


def _number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < 1e15


def _word(value: Any) -> bool:
    return isinstance(value, str) and value in WORDS


def _shaped(pattern: str) -> Callable[[Any], bool]:
    form = re.compile(pattern)
    return lambda value: isinstance(value, str) and len(value) <= LONGEST and form.fullmatch(value) is not None


ALLOWED: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("pid", "seconds", "answered", "memory_mb", "rounds", "events", "sessions", "rows"), _number),
    **dict.fromkeys(("vectors", "files", "bytes", "projects", "missed", "failures"), _number),
    **dict.fromkeys(("reason", "state"), _word),
    "workspace": _shaped(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    "version": _shaped(r"\d+(?:\.\d+){1,3}(?:(?:a|b|rc|\.dev|\.post)\d{1,3})?"),
    "date": _shaped(r"\d{4}-\d\d-\d\d"),
}


def no_contents(log: Any, method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Return the fields that may stand in a log, and how many others there were; a processor of structlog's."""
    event, error = fields.get("event", ""), fields.get("error")
    kept: dict[str, Any] = {"event": event if isinstance(event, str) and _EVENT.fullmatch(event) else "unnamed"}
    for name, value in fields.items():
        if (fits := ALLOWED.get(name)) is not None and fits(value):
            kept[name] = round(value, 3) if isinstance(value, float) else value
    if isinstance(error, BaseException):
        kept["error"], kept["where"] = type(error).__name__[:LONGEST], where(error)
    left_out = len(fields.keys() - kept.keys()) + (kept["event"] != event)
    return kept | ({"left_out": left_out} if left_out else {})


def where(error: BaseException) -> str:
    """Return file and line of ours that an error came from last, "" where it passed through none."""
    found, at = "", error.__traceback__
    while at is not None:
        path = Path(at.tb_frame.f_code.co_filename)
        if path.is_relative_to(_SITE) and "site-packages" not in path.relative_to(_SITE).parts:
            found = f"{path.relative_to(_SITE).as_posix()}:{at.tb_lineno}"
        at = at.tb_next
    return found[:LONGEST]


@dataclass(frozen=True, slots=True)
class Sink:
    """Appends lines to one log of a data folder and turns it over; several processes may write at a time."""

    data: Path
    name: str
    settings: LogSettings

    @property
    def path(self) -> Path:
        """The file that is written to."""
        return self.data / FOLDER / f"{self.name}.jsonl"

    def msg(self, line: str) -> None:
        """Append one line in one write; a line that cannot be written is lost."""
        with contextlib.suppress(OSError):
            secure_dir(self.path.parent)
            descriptor = os.open(
                self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600
            )
            try:
                os.write(descriptor, line.encode("ascii", "backslashreplace") + b"\n")
                large = os.fstat(descriptor).st_size > self.settings.megabytes * 1e6
            finally:
                os.close(descriptor)
            if large:
                self._turn_over()

    info = warning = error = msg

    def _turn_over(self) -> None:
        """Put the file aside unless another process does, or has done so."""
        lock = FileLock(self.path.parent / f".{self.name}.lock")
        if not lock.acquire(0.0):
            return
        try:
            if self.path.stat().st_size <= self.settings.megabytes * 1e6:
                return
            if not self.settings.keep:
                self.path.unlink()
                return
            for number in range(self.settings.keep - 1, 0, -1):
                with contextlib.suppress(FileNotFoundError):
                    self._aside(number).replace(self._aside(number + 1))
            self.path.replace(self._aside(1))
        finally:
            lock.release()

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def logger(data: Path, name: str, settings: LogSettings | None = None) -> Any:
    """Return structlog's logger of one of the log_reader's NAMES: `.info("night_done", workspace=id, seconds=3.2)`."""
    return structlog.wrap_logger(
        Sink(data, name, settings or LogSettings()),
        processors=[
            no_contents,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.JSONRenderer(sort_keys=True, ensure_ascii=True),
        ],
        wrapper_class=structlog.BoundLogger,
        cache_logger_on_first_use=False,
    )
