"""What the record adds up to: counts that account for every event, who did what, and what led to what.

Pure folds over the events; every breakdown sums to the total, whatever has no name standing in a bucket of its own.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from transcript.canonical import ID_LENGTH
from transcript.curation import CURATED
from transcript.errors import PointerError
from transcript.event import MEMORY_TYPES, Event, Position
from transcript.log import Log
from transcript.memory_names import named

UNATTRIBUTED = "unattributed"
NAMELESS = frozenset({"", "unknown", "wire"})  # `wire` is what a file is called whose tool gave no name
_REFERENCES = ("decisions", "evidence", "events", "of", "supersedes")
_NAME = re.compile(r"[TQ]\d+")  # of a task or a question
_LINKED = frozenset({*CURATED, *MEMORY_TYPES, "checkpoint"})


@dataclass(slots=True)
class Stats:
    """Counts of every event; each of the counters sums to `total`, those of turns to `turns`."""

    total: int = 0
    redacted: int = 0
    sessions: int = 0
    types: Counter[str] = field(default_factory=Counter)
    agents: Counter[str] = field(default_factory=Counter)
    actors: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    turns_by_agent: Counter[str] = field(default_factory=Counter)
    turns_by_kind: Counter[str] = field(default_factory=Counter)


def stats(events: Iterable[Event]) -> Stats:
    """Count every event once."""
    found = Stats()
    sessions = set()
    for event in events:
        agent = agent_of(event)
        found.total += 1
        found.redacted += not event.body
        found.types[event.type] += 1
        found.agents[agent] += 1
        found.actors[event.actor] += 1
        found.months[event.ts[:7]] += 1
        if not event.session.startswith("recall:"):
            sessions.add(event.session)
        if event.type == "conversation_turn":
            found.turns += 1
            found.turns_by_agent[agent] += 1
            found.turns_by_kind[str(event.body.get("kind", "redacted"))] += 1
    found.sessions = len(sessions)
    for counts in (found.agents, found.turns_by_agent):
        if counts:  # said even of nothing: the agents named are then known to be all there are
            counts.setdefault(UNATTRIBUTED, 0)
    return found


def agent_of(event: Event) -> str:
    """Return the agent an event is attributed to, `unattributed` where nothing says which."""
    return UNATTRIBUTED if event.agent.strip().lower() in NAMELESS else event.agent


@dataclass(slots=True)
class Audit:
    """What was captured, decided, erased and indexed, by whom and when. `other` makes the parts sum to `total`.

    `signals` lists what was corrected, criticised or confirmed; those events are counted in `decided`.
    """

    total: int = 0
    through: Position | None = None
    captured: dict[str, dict[str, Any]] = field(default_factory=dict)
    decided: dict[str, dict[str, Any]] = field(default_factory=dict)
    signals: list[dict[str, Any]] = field(default_factory=list)
    erased: list[dict[str, Any]] = field(default_factory=list)
    ledger: Counter[str] = field(default_factory=Counter)
    indexed: int = 0
    other: Counter[str] = field(default_factory=Counter)

    def accounted(self) -> int:
        """Return how many events the parts speak of; equal to `total`."""
        named: int = sum(part["events"] for part in (*self.captured.values(), *self.decided.values()))
        return named + len(self.erased) + sum(self.ledger.values()) + self.indexed + sum(self.other.values())


def audit(events: Iterable[Event]) -> Audit:
    """Account for every event in the order of the record."""
    found = Audit()
    for event in events:
        found.total += 1
        found.through = event.position
        if event.type in CURATED or event.type.startswith(("memory.", "proposal.")):
            who = _who(event)
            _add(found.decided, who, event)
            if event.type == "correction":
                found.signals.append(_signal(event, who))
        elif event.type == "redaction":
            found.erased.append(_redaction(event))
        elif event.type == "recall":
            found.ledger[str(event.body.get("mode", "redacted"))] += 1
        elif event.type == "index_run":
            found.indexed += 1
        elif event.native.get("source"):
            _add(found.captured, agent_of(event), event)
        else:
            found.other[event.type] += 1
    return found


def _who(event: Event) -> str:
    """Return who said or decided it, the harness it was told in where nobody is named."""
    body = event.body
    if event.type == "proposal.decided":
        body = body.get("decision", {})
    elif event.type == "proposal.proposed":
        body = {"actor": body.get("by")}
    return str(body.get("actor") or body.get("author") or event.agent or UNATTRIBUTED)


def _add(parts: dict[str, dict[str, Any]], name: str, event: Event) -> None:
    empty = {"events": 0, "types": Counter(), "sessions": set(), "first": event.ts, "last": event.ts}
    part = parts.setdefault(name, empty)
    part["events"] += 1
    part["types"][event.type] += 1
    part["sessions"].add(event.session)
    part["first"], part["last"] = min(part["first"], event.ts), max(part["last"], event.ts)


def _signal(event: Event, who: str) -> dict[str, Any]:
    told = {name: str(event.body.get(name, "")) for name in ("kind", "of", "channel", "actor_kind")}
    return {"event": event.id, "ts": event.ts, "by": who, **told}


def _redaction(event: Event) -> dict[str, Any]:
    body = event.body
    listed = body.get("events")
    kept: dict[str, Any] = {
        name: body[name] for name in ("how", "by", "reason", "redaction", "done", "erased") if name in body
    }
    return {"event": event.id, "ts": event.ts, **kept, "events": len(listed) if isinstance(listed, list) else 0}


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a chain and the events of the chain that it names."""

    event: Event
    names: tuple[str, ...]


def trail(log: Log, start: str) -> list[Step]:
    """Return the chain of decisions, tasks and the like around a task's name or a pointer, in the order of the record.

    What an event of the chain names belongs to it (evidence of any type too), and so does every curated event that
    names one of it. PointerError when nothing is called so.
    """
    linked = [event for event in log.read() if event.type in _LINKED and event.body]
    own = {event.id: _names(event) for event in linked}
    task = start.strip().upper()
    chain = {event.id for event in linked if task in (event.body.get("task"), event.body.get("question"))}
    if not chain and _NAME.fullmatch(task):
        raise PointerError(f"nothing is called {task}; 'recall task list' and views/state.md show what there is")
    if not chain:
        chain = {log.find(start).id}
    tasks = {str(event.body["task"]) for event in linked if event.id in chain and event.body.get("task")}
    while True:
        wider = set(chain)
        for event in linked:
            if event.id in chain:
                wider |= own[event.id]
                tasks.update([str(event.body["task"])] if event.body.get("task") else [])
            elif own[event.id] & chain or event.body.get("task") in tasks:
                wider.add(event.id)
        if wider == chain:
            break
        chain = wider
    found = []
    for name in chain:
        try:
            event = log.get(name)
        except PointerError:
            continue  # a pointer to something outside this workspace
        found.append(Step(event, tuple(sorted(own.get(name, set()) & chain))))
    return sorted(found, key=lambda step: step.event.seq)


def _names(event: Event) -> set[str]:
    """Return the ids of the events that a linked event names, those that its places lie in included."""
    found = references(event.body)
    if event.type in MEMORY_TYPES:
        by = event.body.get("by")
        found |= named(event.type, event.body) | ({str(by.get("event", ""))} if isinstance(by, dict) else set())
    return {item for item in found if len(item) == ID_LENGTH}


def references(body: dict[str, Any]) -> set[str]:
    """Return the ids of the events that a body names."""
    found: set[str] = set()
    for name in _REFERENCES:
        value = body.get(name)
        items = value if isinstance(value, list) else [value]
        found.update(item.partition("#")[0] for item in items if isinstance(item, str) and item)
    return {item for item in found if len(item) == ID_LENGTH}
