"""What was pruned from a session's window since its last compaction, folded from the record's prune events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recall import window_state
from recall.window_items import BOUNDARY, Item
from transcript.canonical import canonical
from transcript.event import moment
from transcript.log import Log
from transcript.sieve import Sieve, type_field

APPLIED = "applied"


@dataclass(frozen=True, slots=True)
class Pruning:
    """One plan that was applied: when (seconds since 1970), event -> what stays in its place ("" for nothing)."""

    at: float
    stubs: dict[str, str]
    freed: int  # tokens


def prunings(log: Log, session: str) -> tuple[int, list[Pruning]]:
    """Return the number of a session's last compaction (0 before the first), and what was applied since, in order."""
    own = (b',"session":' + canonical(session),)
    sieve = Sieve(types=(type_field("prune"), type_field("system")), groups=(own,))
    found: list[Pruning] = []
    for event in log.read_back(sieve=sieve):
        if event.session != session:
            continue
        if event.type == "system" and event.body.get("subtype") == BOUNDARY and not event.body.get("worker"):
            return event.seq, found[::-1]
        if event.type == "prune" and event.body.get("state") == APPLIED:
            body = log.body(event)
            stubs = {str(item["event"]): str(item["stub"]) for item in body["items"]}
            found.append(Pruning(moment(event.ts).timestamp(), stubs, body["tokens_before"] - body["tokens_after"]))
    return 0, found[::-1]


def without(items: Sequence[Item], pruned: Sequence[Pruning], count: Callable[[str], int]) -> tuple[Item, ...]:
    """Return a window's events as they stand after what was pruned from it."""
    stubs = {event: stub for one in pruned for event, stub in one.stubs.items()}
    kept = []
    for item in items:
        stub = stubs.get(item.id)
        if stub is None:
            kept.append(item)
        elif stub:
            kept.append(replace(item, text=stub, tokens=count(stub), stubbed=True))
    return tuple(kept)


def restate(log: Log, session: str) -> Path:
    """Write anew which events left a session's window since its last compaction; return the file."""
    boundary, found = prunings(log, session)
    stubs = {event: stub for one in found for event, stub in one.stubs.items()}
    held = {"boundary": boundary, "pruned": sorted(stubs), "stubs": {k: v for k, v in sorted(stubs.items()) if v}}
    return window_state.write_pruned(log.workspace.run_dir, session, held)
