"""Three tests a signal: the facts at which it is well, warns and fails, and what it says then.

One module here for one of health.signals, under its name; tests/health/test_catalog.py runs them and refuses a signal
that has none.
"""

import importlib
import pkgutil
from dataclasses import dataclass, replace
from typing import Any

from health.facts import CaptureFacts, Facts, HookFacts, IndexFacts, RecordFacts, TurnFacts
from health.facts_machine import BackendFacts
from health.signal import Level

NOW = 1_780_000_000.0
HOUR = 3600.0
DAY = 24 * HOUR
OK, WARN, FAIL = Level.OK, Level.WARN, Level.FAIL

INDEX = IndexFacts(
    present=True,
    schema=1,
    generation=1,
    model="m",
    wanted_model="m",
    models={"m": 64},
    rows=64,
    distinct=64,
    most_repeated=1,
    file_bytes=100_000,
    bytes=64_000,
    bytes_needed=64_000,
    chunks_by_class={"conversation": 60, "tool": 4},
    vectors=64,
    wanted_vectors=64,
    last_run=NOW - 60,
)
WELL = Facts(
    workspace="w",
    now=NOW,
    record=RecordFacts(events=100, sessions=3, last_event_seq=100, head_ok=True, chain_checked_to=100),
    index=INDEX,
    capture=CaptureFacts(sources=3),
    hooks=(
        HookFacts("claude-code", installed=True, launcher_ok=True, last_fired=NOW - 60, native_last_write=NOW - 30),
    ),
    backend=BackendFacts("native", "", "3.50.0", "v0.1.9", True, "3.11.7", embedder="up", embedder_model="m"),
    turns=TurnFacts(
        modes={"warm": 9, "words": 1}, latencies_ms=(20, 30, 40), tokens=(100, 300, 900), items=(1, 2, 3), empty=2
    ),
)


@dataclass(frozen=True)
class Case:
    """Facts at which a signal is well, at which it warns, at which it fails, and words of its text or details then.

    A signal that never warns or never fails gives other `levels`; its facts are then those that look worst.
    """

    warn: Facts
    fail: Facts
    says: tuple[str, str, str]
    levels: tuple[Level, Level, Level] = (OK, WARN, FAIL)
    healthy: Facts = WELL


def cases() -> dict[str, Case]:
    """Return the cases of every signal, by id."""
    found: dict[str, Case] = {}
    for module in pkgutil.iter_modules(__path__):
        found |= importlib.import_module(f"{__name__}.{module.name}").CASES
    return found


def well(group: str, **changes: Any) -> Facts:
    """Return facts of a healthy workspace, changed in one group."""
    return replace(WELL, **{group: replace(getattr(WELL, group), **changes)})


def hooked(**changes: Any) -> Facts:
    """Return facts of a healthy workspace whose one hook is changed."""
    return replace(WELL, hooks=(replace(WELL.hooks[0], **changes),))
