"""A crontab program that keeps one user's table in memory."""

from collections.abc import Sequence

from recall.schedule_install import Ran


class Crontab:
    """A `crontab` program with one user's table."""

    def __init__(self, held: bytes | None = None, refuses: bytes = b"") -> None:
        self.held, self.refuses = held, refuses
        self.calls: list[list[str]] = []

    def __call__(self, words: Sequence[str], given: bytes) -> Ran:
        self.calls.append(list(words))
        if words[-1] == "-l":
            return Ran(0, self.held) if self.held is not None else Ran(1, err=b"no crontab for u\n")
        if self.refuses:
            return Ran(1, err=self.refuses)
        self.held = given if words[-1] == "-" else None
        return Ran(0)
