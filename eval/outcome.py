"""What a list of results did for one labelled query; every metric reads these and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

ABSTAINING = frozenset({"abstention", "chitchat_no_recall"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One list of items, judged against the evidence of one query.

    The tuples run along the list, best item first. A hit names the record of an evidence span or
    overlaps its quote; a strict hit shows some of the quoted words themselves.
    """

    query: str
    type: str
    hits: tuple[bool, ...]
    strict: tuple[bool, ...]
    stale: tuple[bool, ...]
    files: tuple[frozenset[str], ...]
    evidence_files: frozenset[str]
    leaks: int = 0
    tokens: int = 0

    @property
    def answerable(self) -> bool:
        """Whether the corpus holds an answer."""
        return self.type not in ABSTAINING

    @property
    def first_hit(self) -> int | None:
        """Rank of the first hit, from 1; None without one."""
        return first(self.hits)


def first(flags: tuple[bool, ...]) -> int | None:
    """Return the rank of the first true flag, from 1; None when all are false."""
    return next((rank for rank, flag in enumerate(flags, 1) if flag), None)


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that count; None when none does."""
    counted = [value for value in values if value is not None]
    return sum(counted) / len(counted) if counted else None
