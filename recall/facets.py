"""What a memory is about and who may see it: read from the small file that every projection leaves in `run/`.

On the hook path: standard library only. Without the file nothing is granted and nothing is shared.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from indexer.rows import PRIVATE as PRIVATE_FLAG
from recall import audiences
from recall.query import Query
from recall.turn import Candidate, Pointer

FILE = "facets.json"  # of transcript.projections.facets
VERSION = 1
_TAGGED = ("channel", "command", "skill", "task")
_PLAIN = ("command", "skill")  # a plain tag of this name counts too


@dataclass(frozen=True, slots=True)
class _Memory:
    memory_type: str
    privacy: str
    projects: frozenset[str]
    roles: frozenset[str]
    tags: frozenset[str]


class Facets:
    """The facets of a record's items. An item is named by its event."""

    def __init__(self, held: Mapping[str, Any] | None = None, digest: str = "") -> None:
        held = held or {}
        self.digest = digest  # of the file, "" where there is none
        self._memories: Mapping[str, list[Any]] = held.get("memories", {})
        self._tasks: Mapping[str, str] = held.get("tasks", {})
        self._grants: Mapping[str, list[list[str]]] = held.get("grants", {})
        self._roles: Mapping[str, list[str]] = held.get("roles", {})

    def __contains__(self, event: str) -> bool:
        """Whether more is known of an item than its words."""
        return event in self._memories or event in self._tasks

    def remembers(self, event: str) -> bool:
        """Whether an item is a memory."""
        return event in self._memories

    def matches(self, event: str, query: Query) -> tuple[tuple[str, bool], ...]:
        """Return the facets that both the item and the turn name, each with whether they agree."""
        found: list[tuple[str, bool]] = []
        memory = self._memory(event)
        if memory is not None:
            if memory.projects and query.project:
                found.append(("project", query.project in memory.projects))
            if memory.roles and query.role:
                found.append(("role", query.role in memory.roles))
        for facet in _TAGGED:
            wanted = getattr(query, facet)
            if wanted:
                agrees = self._tagged(memory, facet, wanted)
                if facet == "task" and event in self._tasks:
                    agrees = agrees or self._tasks[event] == wanted
                if agrees is not None:
                    found.append((facet, agrees))
        return tuple(found)

    def outside(self, event: str, query: Query) -> bool:
        """Say whether a memory lies outside what the active role may speak of."""
        memory = self._memory(event)
        if memory is None or not query.role:
            return False
        if memory.roles and query.role not in memory.roles:
            return True
        authority = self._roles.get(query.role)
        return bool(authority) and not {memory.memory_type, *memory.tags, *memory.projects}.intersection(
            authority or ()
        )

    def granted(self, event: str, audience: str | None, channel: str | None, now: datetime) -> bool:
        """Say whether a grant of this very item holds now for this audience on this channel."""
        reading = audience if audience in audiences.AUDIENCES else audiences.PEER
        return any(
            to == reading and where in ("", channel or "") and (not until or now < datetime.fromisoformat(until))
            for to, where, until in self._grants.get(event, ())
        )

    def seen(
        self, event: str, audience: str | None, *, now: datetime, channel: str | None = None, private: bool = False
    ) -> bool:
        """Say whether an audience may see an item; `private` says that the item itself claims to be."""
        memory_type, privacy = self._memories[event][:2] if event in self._memories else ("", audiences.PROJECT)
        privacy = audiences.PRIVATE if private else privacy
        return audiences.may_see(privacy, memory_type, audience, self.granted(event, audience, channel, now))

    def open_to(self, query: Query, now: datetime) -> list[str]:
        """Return the events that the audience of a query may see: memories of a class for it, and what was granted."""
        events = dict.fromkeys((*self._memories, *self._grants))
        return [one for one in events if self.seen(one, query.audience, channel=query.channel, now=now)]

    def _memory(self, event: str) -> _Memory | None:
        held = self._memories.get(event)
        return None if held is None else _Memory(held[0], held[1], *map(frozenset, held[2:]))

    @staticmethod
    def _tagged(memory: _Memory | None, facet: str, wanted: str) -> bool | None:
        """Whether a memory's tags name this; None where they name none of its kind."""
        if memory is None:
            return None
        named = {tag.partition(":")[2] for tag in memory.tags if tag.startswith(f"{facet}:")}
        if facet in _PLAIN and wanted in memory.tags:
            named.add(wanted)
        return wanted in named if named else None


NOTHING = Facets()


def load(run_dir: Path) -> Facets:
    """Return what the last projection left; nothing where it cannot be read. A file that did not change is kept."""
    path = os.fspath(run_dir / FILE)
    try:
        found = os.stat(path)  # noqa: PTH116 pathlib would cost more than the rest
        mark = (found.st_mtime_ns, found.st_size, found.st_ino)
    except OSError:
        return NOTHING
    known = _read.get(path)
    if known is None or known[0] != mark:
        known = (mark, _load(path))
        _read[path] = known
    return known[1]


_read: dict[str, tuple[tuple[int, int, int], Facets]] = {}


def _load(path: str) -> Facets:
    try:
        with open(path, "rb") as file:
            data = file.read()
        held = json.loads(data)
        if held["version"] != VERSION:
            return NOTHING
        if not all(
            isinstance(one, list) and len(one) == len(_Memory.__annotations__) for one in held["memories"].values()
        ):
            return NOTHING
        for audience, channel, until in (grant for grants in held["grants"].values() for grant in grants):
            if not (audience and channel is not None and (not until or datetime.fromisoformat(until).tzinfo)):
                return NOTHING
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return NOTHING
    return Facets(held, hashlib.sha256(data).hexdigest()[:16])


def disclosed(found: Sequence[Candidate], facets: Facets, query: Query, now: datetime) -> list[Candidate]:
    """Return the candidates with the places alone that the audience may see, and in a wide one their own words alone.

    Only what was looked at here is cleared: policy leaves out the rest, and what has no such place.
    """
    if query.audience == audiences.PRIVATE:
        return list(found)
    wide = audiences.wide(query.audience)
    out = []
    for c in found:
        places = tuple(p for p in c.pointers if _seen(p, facets, query, now))
        standing = replace(c.standing, cleared=bool(places), private=not places)
        out.append(replace(c, pointers=places or c.pointers[:1], standing=standing, head="" if wide else c.head))
    return out


def _seen(at: Pointer, facets: Facets, query: Query, now: datetime) -> bool:
    private = bool(at.flags & PRIVATE_FLAG)
    return facets.seen(at.event, query.audience, channel=query.channel, private=private, now=now)


def applied(found: Sequence[Candidate], facets: Facets, query: Query) -> list[Candidate]:
    """Return the candidates, each with the facets it shares with the turn and whether it lies outside the role."""
    out = []
    for c in found:
        event = next((p.event for p in c.pointers if p.event in facets), c.pointer.event)
        matches = facets.matches(event, query)
        if matches:
            c = replace(c, standing=replace(c.standing, matches=matches))
        if facets.outside(event, query):
            risks = (*c.standing.risks, "outside_role")
            c = replace(c, demoted=(*c.demoted, "outside_role"), standing=replace(c.standing, risks=risks))
        out.append(c)
    return out
