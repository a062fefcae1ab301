"""One health signal: a figure, how bad it is, what it means and what to do."""

from dataclasses import dataclass
from enum import IntEnum

from transcript.telling import counted


class Level(IntEnum):
    """How bad a figure is; the number is the exit code of `recall health`."""

    OK = 0
    WARN = 1
    FAIL = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """From which value on a figure warns and fails; None never does. The limit itself still passes."""

    warn: float | None = None
    fail: float | None = None

    def level(self, value: float) -> Level:
        """Return the level of a value that is better the smaller it is."""
        if self.fail is not None and value > self.fail:
            return Level.FAIL
        if self.warn is not None and value > self.warn:
            return Level.WARN
        return Level.OK


NONE_ALLOWED_WARN = Limits(warn=0)
NONE_ALLOWED_FAIL = Limits(warn=None, fail=0)
NO_LIMIT = Limits()


@dataclass(frozen=True, slots=True)
class Signal:
    """One line of the report; `value` is for machines, `text` for people."""

    id: str
    value: object
    unit: str
    level: Level
    text: str
    meaning: str
    action: str = ""
    limits: Limits = NO_LIMIT
    details: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the signal as plain JSON values."""
        return {
            "id": self.id,
            "value": self.value,
            "unit": self.unit,
            "level": self.level.name.lower(),
            "text": self.text,
            "meaning": self.meaning,
            "action": self.action,
            "warn_above": self.limits.warn,
            "fail_above": self.limits.fail,
            "details": list(self.details),
        }


def count(
    id: str,
    value: int,
    what: tuple[str, str],
    *,
    limits: Limits,
    meaning: str,
    action: str,
    details: tuple[str, ...] = (),
) -> Signal:
    """Return a signal that counts things; `what` is their name for one and for many.

    The action is given only when there is something to do.
    """
    level = limits.level(value)
    return Signal(
        id=id,
        value=value,
        unit="count",
        level=level,
        text=counted(value, *what),
        meaning=meaning,
        action=action if level else "",
        limits=limits,
        details=details,
    )


def size(n: float) -> str:
    """Return a number of bytes for people, in decimal units."""
    for unit in ("B", "KB", "MB", "GB"):
        if abs(n) < 1000 or unit == "GB":
            return f"{n:,.0f} {unit}" if unit == "B" else f"{n:,.1f} {unit}"
        n /= 1000
    raise AssertionError("unreachable")


def span(seconds: float) -> str:
    """Return a stretch of time for people in its largest useful unit; less than none, of a clock set back, is none."""
    seconds = max(0.0, seconds)
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
