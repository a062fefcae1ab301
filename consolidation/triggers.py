"""What makes a run due besides a session's end: too many memories, or too many that no longer hold."""

from dataclasses import dataclass
from datetime import datetime

from consolidation.model import folded
from recall.memory_settings import ConsolidationSettings
from transcript.memories import Memory, MemoryState

BLOAT, STALE = "bloat", "stale"
DUPLICATES = 0.1  # share of current memories that say word for word what another says
LEAST = 10  # memories below which a share means nothing


@dataclass(frozen=True, slots=True)
class Due:
    """A trigger and why it fires."""

    trigger: str
    why: str


def due(state: MemoryState, settings: ConsolidationSettings, now: datetime) -> list[Due]:
    """Return what the state of the memories asks for; health names it, the night acts on it."""
    current = state.current(now)
    found = []
    copies = len(current) - len({(one.memory_type, folded(one.statement)) for one in current})
    if len(current) > settings.bloat_memories:
        found.append(Due(BLOAT, f"{len(current):,} memories, more than {settings.bloat_memories:,}"))
    elif len(current) >= LEAST and copies > DUPLICATES * len(current):
        found.append(Due(BLOAT, f"{copies:,} of {len(current):,} memories say the same as another"))
    held = [one for one in state.memories.values() if one.state_at(now) in ("current", "expired")]
    gone = sum(is_stale(one, now) for one in held)
    if len(held) >= LEAST and gone > settings.stale_share * len(held):
        found.append(Due(STALE, f"{gone:,} of {len(held):,} memories expired or stale"))
    return found


def is_stale(memory: Memory, now: datetime) -> bool:
    """Say whether a memory has expired, or speaks of a file that is another one now."""
    return memory.state_at(now) == "expired" or bool(memory.stale_paths)
