"""Settings of operation: the newest code, when the night runs, how long logs are kept, when the console ends.

On the hook path: standard library only.
"""

from dataclasses import dataclass

from recall.settings import check_numbers


@dataclass(frozen=True, slots=True)
class FreshnessSettings:
    """What the installed code is compared with."""

    canon: str = ""  # "" for the newest version that ran here, a git ref, or the absolute path of a file with a version


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """When the nightly jobs run, and for how long."""

    at: str = "03:17"  # the local wall time
    jitter_minutes: int = 20
    minutes: int = 60
    quality_seconds: int = 60  # 0 for no questions

    def __post_init__(self) -> None:
        check_numbers(self, positive=("minutes",))
        self.time()

    def time(self) -> tuple[int, int]:
        """Return hour and minute; ValueError where `at` is no time of day."""
        hour, colon, minute = self.at.partition(":")
        digits = hour.isascii() and minute.isascii() and hour.isdecimal() and minute.isdecimal()
        if not (colon and digits and len(hour) == len(minute) == 2 and int(hour) < 24 and int(minute) < 60):
            raise ValueError(f"at is {self.at!r}, must be a time of day as 03:17")
        return int(hour), int(minute)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How large a log may grow, and how many old ones are kept."""

    keep: int = 3
    megabytes: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self, positive=("megabytes",))


@dataclass(frozen=True, slots=True)
class UiSettings:
    """The console in the browser."""

    idle_minutes: int = 60

    def __post_init__(self) -> None:
        check_numbers(self, positive=("idle_minutes",))
