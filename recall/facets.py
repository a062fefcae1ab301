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
from transcript.paths import open_file

FILE = "facets.json"  # of transcript.projections.facets
VERSION = 1
_TAGGED = ("channel", "command", "skill", "task")
_SAID = frozenset({"prompt", "final", "narration", "tool", "reasoning", "worker"})  # of nothing else is more known
_PLAIN = ("command", "skill")  # a plain tag of this name counts too


_Mark = tuple[int, int, int]  # of a file: when it was written, its size, its number


@dataclass(frozen=True, slots=True)
class _Memory:
    memory_type: str
    privacy: str
    projects: frozenset[str]
    roles: frozenset[str]
    tags: frozenset[str]


class Facets:
    """The facets of a record's items. An item is named by its event. A file is read when something is asked of it."""

    def __init__(self, held: Mapping[str, Any] | None = None, *, file: str = "", mark: _Mark = (0, 0, 0)) -> None:
        self._held = None if file else held or {}
        self._file, self._mark = file, mark
        self.digest = ""  # of the file, "" where nothing was asked of it and where there is none

    def _all(self, name: str) -> Mapping[str, Any]:
        if self._held is None:
            kept = _kept.get(self._file)
            if kept is None or kept[0] != self._mark:
                kept = _kept[self._file] = (self._mark, *_load(self._file))
            _, self._held, self.digest = kept
        found: Mapping[str, Any] = self._held.get(name, {})
        return found

    def __contains__(self, event: str) -> bool:
        """Whether more is known of an item than its words."""
        return event in self._all("memories") or event in self._all("tasks")

    def remembers(self, event: str) -> bool:
        """Whether an item is a memory."""
        return event in self._all("memories")

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
                if facet == "task" and event in self._all("tasks"):
                    agrees = agrees or self._all("tasks")[event] == wanted
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
        authority = self._all("roles").get(query.role)
        return bool(authority) and not {memory.memory_type, *memory.tags, *memory.projects}.intersection(
            authority or ()
        )

    def granted(self, event: str, audience: str | None, channel: str | None, now: datetime) -> bool:
        """Say whether a grant of this very item holds now for this audience on this channel; unknown ones have none."""
        return any(
            to == audience and where in ("", channel or "") and (not until or now < datetime.fromisoformat(until))
            for to, where, until in self._all("grants").get(event, ())
        )

    def seen(
        self, event: str, audience: str | None, *, now: datetime, channel: str | None = None, private: bool = False
    ) -> bool:
        """Say whether an audience may see an item; `private` says that the item itself claims to be."""
        memory_type, privacy = (
            self._all("memories")[event][:2] if event in self._all("memories") else ("", audiences.PROJECT)
        )
        privacy = audiences.PRIVATE if private else privacy
        return audiences.may_see(privacy, memory_type, audience, self.granted(event, audience, channel, now))

    def open_to(self, query: Query, now: datetime) -> list[str]:
        """Return the events that the audience of a query may see: memories of a class for it, and what was granted."""
        events = dict.fromkeys((*self._all("memories"), *self._all("grants")))
        return [one for one in events if self.seen(one, query.audience, channel=query.channel, now=now)]

    def _memory(self, event: str) -> _Memory | None:
        held = self._all("memories").get(event)
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
    except OSError:
        return NOTHING
    return Facets(file=path, mark=(found.st_mtime_ns, found.st_size, found.st_ino))


def forget_read() -> None:
    """Read files anew that did not change: for measuring what reading costs."""
    _kept.clear()


_kept: dict[str, tuple[_Mark, Mapping[str, Any], str]] = {}


def _load(path: str) -> tuple[Mapping[str, Any], str]:
    """Return what a file holds, and its hash; nothing of one that is damaged or of another version."""
    try:
        with open_file(Path(path)) as file:
            data = file.read()
        held: dict[str, Any] = json.loads(data)
        whole = held["version"] == VERSION and _is_whole(held)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, ""
    return (held, hashlib.sha256(data).hexdigest()[:16]) if whole else ({}, "")


def _is_whole(held: Mapping[str, Any]) -> bool:
    """Whether everything in a file is of the kind that is asked of it; ValueError and the like where it is none."""
    for kind, privacy, *named in held["memories"].values():
        if not (isinstance(kind, str) and isinstance(privacy, str) and len(named) == 3 and all(map(_are_texts, named))):
            return False
    for audience, channel, until in (grant for grants in held["grants"].values() for grant in grants):
        if not audience or not _are_texts([audience, channel, until]):
            return False
        if until and datetime.fromisoformat(until).tzinfo is None:
            return False
    tasks, roles = held.get("tasks", {}), held.get("roles", {})
    return _are_texts([*tasks.values()]) and all(map(_are_texts, roles.values()))


def _are_texts(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)


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
        event = next((p.event for p in c.pointers if p.source not in _SAID and p.event in facets), "")
        if not event:
            out.append(c)
            continue
        matches = facets.matches(event, query)
        if matches:
            c = replace(c, standing=replace(c.standing, matches=matches))
        if facets.outside(event, query):
            risks = (*c.standing.risks, "outside_role")
            c = replace(c, demoted=(*c.demoted, "outside_role"), standing=replace(c.standing, risks=risks))
        out.append(c)
    return out
