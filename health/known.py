"""What is known of a signal before it is read: where its figure comes from, its thresholds in words, its remedy."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from health.facts import Facts
from health.signal import Signal


class Area(StrEnum):
    """What of recall a signal speaks of."""

    RECORD = "record"
    INDEXING = "indexing"
    RECALL = "recall"
    LOADING = "loading"
    MEMORIES = "memories"
    OPERATIONS = "operations"


@dataclass(frozen=True, slots=True)
class Known:
    """One signal of the catalogue. An id that ends in ".*" stands for one signal a harness.

    `of` reads the signals from the facts; it yields none where there is nothing to read them from. `warn` and `fail`
    are the thresholds in words, "" for never, and then `why_never` says why. `remedy` is the one command that mends,
    without "recall" and with "*" for what the id's "*" stands for; "" where only a person can. `safe` says that
    `recall doctor --fix` may run it after asking: it changes derived things or takes in what is missing.
    """

    id: str
    of: Callable[[Facts], Iterable[Signal]]
    area: Area
    source: str
    warn: str = ""
    fail: str = ""
    why_never: str = ""
    remedy: str = ""
    safe: bool = False
    rows: str = ""

    def command(self, id: str) -> str:
        """Return the remedy of the signal with this id, "" for none."""
        return self.remedy.replace("*", id.partition(".")[2])


def one(make: Callable[[Facts], Signal]) -> Callable[[Facts], tuple[Signal, ...]]:
    """Return a reader of one signal that is always there."""
    return lambda facts: (make(facts),)


def indexed(make: Callable[[Facts], Signal]) -> Callable[[Facts], tuple[Signal, ...]]:
    """Return a reader of one signal that needs an index: none where that is missing or cannot be read."""
    return lambda facts: (make(facts),) if facts.index.present and not facts.index.error else ()
