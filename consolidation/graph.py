"""What is known of a thing and when it held: statements joined by what they are about, by what took whose place, and by
names that changed.

It answers what likeness misses: a question that uses the new name finds what was decided under the old one, and a
question about a day finds what held on that day, in whatever words.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recall.facts import facts as facts_of
from recall.facts import fold
from transcript.event import moment
from transcript.memories import MemoryState, Span

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that statements name: how it is written, and the statements, oldest first."""

    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory or a decision; moments are the record's, "" is open. `stems` are of every word of it."""

    id: str
    kind: str
    text: str
    pointer: str
    valid_from: str
    valid_to: str
    names: frozenset[str]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a statement says of the thing asked for; via says over which edge it was reached, "" for none."""

    text: str
    kind: str
    pointer: str
    valid_from: str
    valid_to: str
    via: str = ""

    def holds_at(self, when: datetime) -> bool:
        """Say whether it holds at a moment."""
        begun = not self.valid_from or moment(self.valid_from) <= when
        return begun and not (self.valid_to and moment(self.valid_to) <= when)


@dataclass(slots=True)
class Graph:
    """Statements by id, entities by folded name, and the edges between them."""

    statements: dict[str, Statement] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)
    replaces: dict[str, set[str]] = field(default_factory=dict)  # statement -> those whose place it took
    older: dict[str, set[str]] = field(default_factory=dict)  # name -> the names it had before, as written
    newer: dict[str, set[str]] = field(default_factory=dict)


def build(
    state: MemoryState, decisions: Mapping[str, Mapping[str, Any]], replaced: Iterable[tuple[str, str]] = ()
) -> Graph:
    """Return the graph of memories, of decisions that became none, and of (old name, new name) pairs.

    What was refuted or archived is not in it.
    """
    graph = Graph()
    for one in (*_memories(state), *_decisions(state, decisions)):
        graph.statements[one.id] = one
    held: dict[str, tuple[str, list[str]]] = {}
    for one in sorted(graph.statements.values(), key=lambda one: (one.valid_from, one.id)):
        for name in facts_of(one.text).named:
            held.setdefault(fold(name), (name, []))[1].append(one.id)
    graph.entities = {key: Entity(name, tuple(dict.fromkeys(ids))) for key, (name, ids) in held.items()}
    for memory in state.memories.values():
        if memory.superseded_by:
            graph.replaces.setdefault(memory.superseded_by, set()).add(memory.id)
    for name, decision in decisions.items():
        if decision.get("superseded_by"):
            graph.replaces.setdefault(str(decision["superseded_by"]), set()).add(name)
    for old, new in replaced:
        graph.older.setdefault(fold(new), set()).add(old)
        graph.newer.setdefault(fold(old), set()).add(new)
    return graph


def facts(graph: Graph, name: str, as_of: datetime | None = None) -> list[Fact]:
    """Return what is known of a thing, newest first; with `as_of` only what held then.

    It is asked for by its name or by words that all stand in a statement, and by the names it had before and has now.
    """
    via: dict[str, str] = {}
    for asked, how in _names(graph, name):
        for one in _matching(graph, asked):
            via.setdefault(one, how)
    for edges, how in ((graph.replaces, BEFORE), (_turned(graph.replaces), AFTER)):
        for one in list(via):
            for reached in _along(edges, one):
                if reached in graph.statements:
                    via.setdefault(reached, how)
    found = [_fact(graph.statements[one], how) for one, how in via.items()]
    found.sort(key=lambda one: (one.valid_from, one.pointer), reverse=True)
    return [one for one in found if as_of is None or one.holds_at(as_of)]


def _memories(state: MemoryState) -> Iterator[Statement]:
    for memory in state.memories.values():
        if memory.kind == "statement" and not (memory.refuted_because or memory.archived):
            pointer = Span(memory.id, 0, len(memory.text)).pointer
            yield _statement(
                memory.id, memory.memory_type, memory.statement, pointer, memory.valid_from, memory.valid_to
            )


def _decisions(state: MemoryState, decisions: Mapping[str, Mapping[str, Any]]) -> Iterator[Statement]:
    """Yield the decisions that no memory quotes."""
    quoted = {memory.sources[0].event for memory in state.memories.values() if memory.sources}
    for name, decision in decisions.items():
        by = decisions.get(str(decision.get("superseded_by") or ""))
        if name not in quoted:
            text, ended = str(decision.get("statement", "")), str(by.get("ts", "")) if by else ""
            pointer = Span(name, 0, len(text)).pointer
            yield _statement(name, "decision", text, pointer, str(decision.get("ts", "")), ended)


def _statement(name: str, kind: str, text: str, pointer: str, valid_from: str, valid_to: str) -> Statement:
    held = facts_of(text)
    return Statement(name, kind, text, pointer, valid_from, valid_to, frozenset(map(fold, held.named)), held.stems)


def _names(graph: Graph, name: str) -> Iterator[tuple[str, str]]:
    """Yield the names under which a thing is to be looked for, each with what to say of it."""
    yield name, ""
    for edges, how in ((graph.older, "as"), (graph.newer, "now")):
        seen, waiting = {fold(name)}, [name]
        while waiting:
            for other in sorted(edges.get(fold(waiting.pop()), ())):
                if fold(other) not in seen:
                    seen.add(fold(other))
                    waiting.append(other)
                    yield other, f"{how} {other}"


def _matching(graph: Graph, asked: str) -> Iterator[str]:
    key, stems = fold(asked), facts_of(asked).stems
    for one in graph.statements.values():
        if key in one.names or (stems and stems <= one.stems):
            yield one.id


def _along(edges: Mapping[str, set[str]], start: str) -> Iterator[str]:
    seen, waiting = {start}, [start]
    while waiting:
        for other in sorted(edges.get(waiting.pop(), ())):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
                yield other


def _turned(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    turned: dict[str, set[str]] = {}
    for one, others in edges.items():
        for other in others:
            turned.setdefault(other, set()).add(one)
    return turned


def _fact(one: Statement, via: str) -> Fact:
    return Fact(one.text, one.kind, one.pointer, one.valid_from, one.valid_to, via)
