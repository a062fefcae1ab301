"""What went wrong in hooks: one line a failure, appended without a lock by the client, folded for health.

A line is `seconds since 1970 <tab> harness <tab> kind`. Kinds: `payload_*` (not taken), `deadline:<stage>`,
`error:<stage>:<type>`, `service_*` (why a turn was answered by words), `tokens_estimated`, `packages_shadowed`,
`reader_gone`.
"""

import contextlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from recall.hook_client import COUNTERS
from transcript.lock import FileLock
from transcript.paths import read_file, write_atomic

FOLDED = "hook-counters.json"
LARGEST_LOG = 256 << 10
SECONDS_DIGITS = 10  # of seconds since 1970, until the year 2286


@dataclass(frozen=True, slots=True)
class Count:
    """How often one kind of failure was met in one harness's hooks, and when last (seconds since 1970)."""

    harness: str
    kind: str
    times: int
    last: int


def add(data: Path, harness: str, kind: str) -> None:
    """Append one failure; a failure to count is no failure."""
    line = f"{time.time():.0f}\t{harness}\t{kind}\n".encode("utf-8", "replace")
    with contextlib.suppress(OSError):
        descriptor = os.open(
            data / COUNTERS, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600
        )
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def read(data: Path, *, since: int = 0) -> list[Count]:
    """Return the counters, most frequent first. Kinds last met before `since` are left out; writes nothing."""
    counts = _folded(data)
    _add(counts, _lines(data / COUNTERS))
    found = [Count(*key, times, last) for key, (times, last) in counts.items() if last >= since]
    return sorted(found, key=lambda count: (-count.times, count.harness, count.kind))


def compact(data: Path, *, largest: int = LARGEST_LOG) -> bool:
    """Fold a log of more than `largest` bytes into its sums and say whether that was done.

    A line written meanwhile is kept in the new log. Services and captures come here at the same time: one folds.
    """
    lock = FileLock(data / "run" / "counters.lock")
    try:
        if not lock.acquire(0.0):
            return False
        return _compact(data, data / COUNTERS, largest)
    except OSError:
        return False
    finally:
        lock.release()


def _compact(data: Path, log: Path, largest: int) -> bool:
    aside = log.with_suffix(".folding")
    if not aside.exists():
        if log.stat().st_size <= largest:
            return False
        log.rename(aside)
    counts = _folded(data)
    _add(counts, _lines(aside))
    table = [[*key, *value] for key, value in sorted(counts.items())]
    write_atomic(data / FOLDED, json.dumps(table).encode("ascii"), durable=False)
    aside.unlink()
    return True


def _folded(data: Path) -> dict[tuple[str, str], tuple[int, int]]:
    try:
        table = json.loads(read_file(data / FOLDED))
        return {(str(row[0]), str(row[1])): (int(row[2]), int(row[3])) for row in table}
    except (OSError, ValueError, TypeError, IndexError, RecursionError):
        return {}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _add(counts: dict[tuple[str, str], tuple[int, int]], lines: list[str]) -> None:
    """Add each line. One that a full disk tore is the beginning of the next: the last three fields count."""
    for line in lines:
        *_, when, harness, kind = ("", "", *line.split("\t"))
        at = when[-SECONDS_DIGITS:]
        if at.isdecimal():
            times, last = counts.get((harness, kind), (0, 0))
            counts[harness, kind] = (times + 1, max(last, int(at)))
