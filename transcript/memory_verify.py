"""What a verification finds wrong with memories as the record has them: circles, and pointers that open nothing."""

from collections.abc import Callable

from transcript.errors import PointerError
from transcript.log import Log
from transcript.memories import MemoryState, fold_memories

CODES = {
    "memory_cycle": "memories take each other's place in a circle; 'recall memory history' shows who said so",
    "memory_pointer": "a memory's source, or what took its place, opens nothing in the record",
}


def check(log: Log, report: Callable[..., None]) -> None:
    """Report (code, memory, detail) for each memory that stands in a circle or points to nothing."""
    state = fold_memories(log, snapshot=False)
    for name in _circles(state):
        report("memory_cycle", f"memory {name[:10]}")
    for memory in state.memories.values():
        for what, event in (
            ("superseded_by", memory.superseded_by),
            *(("source", one.event) for one in memory.sources),
        ):
            if event and not _opens(log, event):
                report("memory_pointer", f"memory {memory.id[:10]}", f"{what} {event[:10]}")


def _circles(state: MemoryState) -> list[str]:
    """Return the memories that come back to themselves along what took their place."""
    found = []
    for name in state.memories:
        seen, at = set(), name
        while at in state.memories and at not in seen:
            seen.add(at)
            at = state.memories[at].superseded_by
        if at == name:
            found.append(name)
    return found


def _opens(log: Log, event: str) -> bool:
    """Say whether the record has an event, erased ones too: an erasure is told of, a wrong pointer is not."""
    try:
        log.get(event)
    except PointerError:
        return False
    return True
