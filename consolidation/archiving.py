"""Proposes that memories are put away: what no longer holds, what another one says too, what was never of use.

Nothing is archived before a person accepts it, and what was declined is not proposed again.
"""

from collections.abc import Iterator
from datetime import datetime

from consolidation.model import Candidate, Decision, folded
from consolidation.triggers import BLOAT, STALE, due, is_stale
from recall.memory_settings import ConsolidationSettings
from transcript.memories import Memory, MemoryState, Span

FINDER = "archive"
MOST = 20  # proposals that wait at a time: more, nobody would read


def proposed(state: MemoryState, settings: ConsolidationSettings, now: datetime) -> list[Candidate]:
    """Return what is to be asked about in the state in which the memories are; none where nothing is due.

    What a role must have (`critical_for`) is never among it, nor what was proposed before.
    """
    triggers = {one.trigger for one in due(state, settings, now)}
    reasons: dict[str, str] = {}
    if STALE in triggers:
        reasons |= dict(_stale(state, now))
    if BLOAT in triggers:
        reasons = dict(_copies(state, now)) | reasons
        reasons = dict(_unused(state, now, settings.bloat_memories, reasons)) | reasons
    waiting = sum(held.pending and held.body.get("found_by") == FINDER for held in state.candidates.values())
    found = [
        _candidate(memory, reasons[memory.id])
        for memory in state.memories.values()
        if memory.id in reasons and not memory.critical_for
    ]
    return [one for one in found if one.id not in state.candidates][: max(0, MOST - waiting)]


def decided(candidate: Candidate) -> Decision:
    """Return that a proposal waits for a person."""
    target = candidate.sources[0].event
    return Decision(candidate.id, "transcript_only", "awaits_person", pending=True, tier="governed", target=target)


def _candidate(memory: Memory, why: str) -> Candidate:
    whole = Span(memory.id, 0, len(memory.text))
    return Candidate(
        found_by=FINDER,
        memory_type=memory.memory_type,
        text=memory.statement,
        why=why,
        sources=(whole,),
        said_at=memory.said_at,
        subject=memory.subject,
        projects=memory.projects,
        roles=memory.roles,
        tags=memory.tags,
        privacy=memory.privacy,
        agent_id=memory.agent_id,
    )


def _stale(state: MemoryState, now: datetime) -> Iterator[tuple[str, str]]:
    for memory in state.memories.values():
        if memory.state_at(now) == "expired":
            yield memory.id, f"it held until {memory.valid_to[:16]}Z"
        elif memory.state_at(now) == "current" and is_stale(memory, now):
            yield memory.id, f"{', '.join(memory.stale_paths)} changed since it was said"


def _copies(state: MemoryState, now: datetime) -> Iterator[tuple[str, str]]:
    """What another current memory says word for word: the one that was used most stays, then the oldest."""
    alike: dict[tuple[str, str], list[Memory]] = {}
    for memory in state.current(now):
        alike.setdefault((memory.memory_type, folded(memory.statement)), []).append(memory)
    for held in alike.values():
        kept, *others = sorted(held, key=lambda one: (not one.approved, -_used(state, one), one.said_at, one.id))
        for memory in others:
            yield memory.id, f"it says the same as {kept.id[:10]}"


def _unused(state: MemoryState, now: datetime, most: int, others: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Of what no answer has ever used, as much as there is too much of: extracts of sessions first, then the oldest."""
    current = state.current(now)
    surplus = len(current) - most - sum(one.id in others for one in current)
    unused = [one for one in current if not (_used(state, one) or one.approved or one.id in others)]
    unused.sort(key=lambda one: (one.kind != "summary", one.said_at, one.id))
    for memory in unused[: max(0, surplus)]:
        yield memory.id, f"no answer has used it, and there are {len(current):,} memories"


def _used(state: MemoryState, memory: Memory) -> int:
    return len(state.cited.get(memory.id, ()))
