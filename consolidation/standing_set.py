"""Puts together what a session always carries, and leaves it for the hooks in `run/standing.json`.

Identity, role, instructions, the critical memories of the record and of the folders of memories, the user, commands and
skills: every one of them is loaded, or named with the reason why it is not.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

from consolidation import loader, standing_files
from consolidation.experience import Experience, experience_of
from consolidation.procedure_conflicts import ProcedureConflict, conflicts
from consolidation.procedures import promotable
from consolidation.settings import Settings
from recall import session_state, standing_context
from recall.likeness import folded
from recall.standing_context import EVERYONE, FILE, LOADED, OTHER_ROLE, OVER, VERSION, chosen
from recall.standing_places import MEMORY, PROCEDURAL, SEMANTIC, Entry, places, refreshed
from transcript.canonical import sha256_hex
from transcript.errors import ConfigError
from transcript.log import Log
from transcript.memories import Memory, MemoryState, fold_memories
from transcript.paths import user_path, write_atomic
from transcript.workspace import Workspace

PROCEDURES = frozenset({"role_standard", "runbook"})
APPROVED, CLAIM, INFERENCE = 3, 2, 1


@dataclass(frozen=True, slots=True)
class StandingSet:
    """What a session of a role carries: every entry with its state, most important first, and what failed.

    `budget` and `chars` are characters: what may be loaded, and what is. `files` counts the files of memory folders.
    """

    role: str
    budget: int
    entries: tuple[tuple[Entry, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    changes: tuple[standing_files.Change, ...] = ()
    conflicts: tuple[ProcedureConflict, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)
    procedures: str = ""  # one hash over them
    rules: tuple[Memory, ...] = ()  # cited so often that they should be procedures, and stand in none
    folders: str = ""  # more places, as the setting names them

    @property
    def loaded(self) -> tuple[Entry, ...]:
        """What is carried, in order."""
        return tuple(one for one, state in self.entries if state == LOADED)

    @property
    def left_out(self) -> tuple[Entry, ...]:
        """What has no room."""
        return tuple(one for one, state in self.entries if state == OVER)

    @property
    def chars(self) -> int:
        """Characters that are carried."""
        return sum(len(one.text) for one in self.loaded)

    @property
    def critical(self) -> tuple[int, int, int]:
        """Of the critical memories of this role: how many there are, how many are carried, characters of all."""
        mine = [(one, state) for one, state in self.entries if one.layer == MEMORY and state != OTHER_ROLE]
        return len(mine), sum(state == LOADED for _, state in mine), sum(len(one.text) for one, _ in mine)


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether one more critical memory has room: characters then, the budget, and keys of what would have to leave."""

    chars: int
    budget: int
    leaves: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether nothing would have to leave."""
        return not self.leaves


def compile(workspace: Workspace, settings: Settings, *, role: str | None = None, now: datetime) -> StandingSet:
    """Return what a session carries now; writes nothing. role None is the one that the workspace is in."""
    log = Log(workspace)
    state = fold_memories(log, snapshot=False)
    worth = experience_of(log, settings.experience)
    role = session_state.of(workspace.run_dir).role if role is None else role
    where = places(workspace.data, workspace.root, settings.standing.folders)
    found = standing_files.files(where, workspace.root)
    known = standing_files.governed(log)
    changed = standing_files.changes(standing_files.present(where), known)
    marks = {one.key: one.code for one in changed}
    entries = [_marked(one, marks) for one in found.entries]
    own = _critical(state, worth, role, now)
    others, failed, counts = _folders(settings, {folded(one.text) for one in own})
    listed = chosen([*entries, *own, *others], role=role, chars=settings.standing.chars)
    texts = standing_files.procedures(where, workspace.root)
    return StandingSet(
        role,
        settings.standing.chars,
        tuple(listed),
        (*found.failed, *failed),
        tuple(changed),
        tuple(conflicts(state.current(now), texts)),
        counts,
        standing_files.hash_of(texts),
        tuple(promotable(state.current(now), worth, texts, least=settings.standing.cited_rule)),
        settings.standing.folders,
    )


def write(workspace: Workspace, found: StandingSet) -> Path:
    """Leave it for the hooks, and return the file. What is not told stands in it without its words."""
    entries = [{**asdict(one), "text": one.text if one.loaded_by == "recall" else ""} for one, _ in found.entries]
    held = {
        "version": VERSION,
        "role": found.role,
        "budget": found.budget,
        "entries": entries,
        "failed": [list(one) for one in found.failed],
        "files": dict(found.files),
        "conflicts": sorted({one.memory for one in found.conflicts}),
        "procedures": found.procedures,
        "rules": [one.id for one in found.rules],
        "folders": found.folders,
    }
    path = workspace.run_dir / FILE
    write_atomic(path, json.dumps(held).encode("ascii"), durable=False)
    return path


def after_apply(workspace: Workspace, settings: Settings, *, now: datetime) -> StandingSet:
    """Put it together anew and leave it: after a proposal was applied, a role taken up, a pack installed."""
    found = compile(workspace, settings, now=now)
    write(workspace, found)
    return found


def keep_up(workspace: Workspace, settings: Settings, *, now: datetime) -> bool:
    """Put it together anew where it is stale; say whether it was."""
    stale = is_stale(workspace, settings, now=now)
    if stale:
        after_apply(workspace, settings, now=now)
    return stale


def is_stale(workspace: Workspace, settings: Settings, *, now: datetime) -> bool:
    """Say whether a file, a procedure or a critical memory is another than when it was last put together."""
    held = standing_context.held(workspace.run_dir)
    where = places(workspace.data, workspace.root, settings.standing.folders)
    current = fold_memories(Log(workspace), snapshot=False).current(now)
    critical = {one.id: _told_of(one) for one in current if _is_critical(one)}
    told = {
        one.event: (one.text, one.privacy, one.memory_type, one.valid_to, one.for_roles)
        for one in held.entries
        if one.event
    }
    if critical != told or refreshed(held.entries, where)[1]:
        return True
    files = {one.name: one.sha256 for one in _folders(settings, (folded(said[0]) for said in critical.values()))[0]}
    if files != {one.name: one.sha256 for one in held.entries if one.layer == MEMORY and not one.event}:
        return True
    return held.procedures != standing_files.hash_of(standing_files.procedures(where, workspace.root))


def would_fit(found: StandingSet, memory: Memory, *, role: str = "") -> Fit:
    """Return whether a memory that becomes critical has room beside what is carried; else what would have to leave.

    What leaves is what is worth least, until there is room.
    """
    size = len(memory.statement)
    kept = [one for one in found.loaded if one.event != memory.id]
    chars = sum(len(one.text) for one in kept) + size
    leaves, over = [], chars - found.budget
    for one in reversed(kept):
        if over <= 0:
            break
        if one.layer == MEMORY and (not role or not one.for_roles or role in one.for_roles or _for_all(one)):
            leaves.append(one.key)
            over -= len(one.text)
    return Fit(chars, found.budget, tuple(leaves))


def _for_all(one: Entry) -> bool:
    return bool(set(one.for_roles) & EVERYONE)


def _marked(one: Entry, marks: Mapping[str, str]) -> Entry:
    if one.loaded_by != "recall":
        return one
    code = marks.get(one.key)
    return replace(one, governed={standing_files.NEW: "new", standing_files.CHANGED: "no"}.get(code or "", "yes"))


def _is_critical(memory: Memory) -> bool:
    return bool(memory.critical_for) and memory.kind == "statement"


def _told_of(memory: Memory) -> tuple[str, str, str, str, tuple[str, ...]]:
    """What decides whether and to whom a critical memory is told: its words, class, type, end and roles."""
    return memory.statement, memory.privacy, memory.memory_type, memory.valid_to, _roles(memory)


def _roles(memory: Memory) -> tuple[str, ...]:
    return () if set(memory.critical_for) & EVERYONE else memory.critical_for


def _critical(state: MemoryState, worth: Mapping[str, Experience], role: str, now: datetime) -> list[Entry]:
    """The critical memories of the record that hold now, as entries."""
    found = []
    for memory in state.current(now):
        if not _is_critical(memory):
            continue
        weight = worth.get(memory.id, Experience())
        found.append(
            Entry(
                "memory",
                memory.id[:10],
                MEMORY,
                PROCEDURAL if memory.memory_type in PROCEDURES else SEMANTIC,
                memory.statement,
                sha256_hex(memory.statement.encode("utf-8", "surrogatepass")),
                event=memory.id,
                privacy=memory.privacy,
                memory_type=memory.memory_type,
                for_roles=_roles(memory),
                raw=weight.raw + weight.roles.get(role, 0.0),
                authority=APPROVED if weight.approved else CLAIM if memory.label == "claim" else INFERENCE,
                said=max(memory.last_applied, memory.said_at),
                governed="yes",
                valid_to=memory.valid_to,
            )
        )
    return found


def _folders(settings: Settings, known: Iterable[str]) -> tuple[list[Entry], list[tuple[str, str]], dict[str, int]]:
    """Of the folders of memories: critical ones that the record does not say already, what failed, and counts."""
    entries: list[Entry] = []
    failed: list[tuple[str, str]] = []
    counts: Counter[str] = Counter()
    said = set(known)
    for name in filter(None, settings.memory.folders.split(os.pathsep)):
        folder = user_path(name)
        try:
            loaded = loader.load(folder)
        except ConfigError as error:
            failed.append((name, str(error)))
            continue
        failed += [(standing_files.shown(str(folder / path)), why) for path, why in loaded.failed]
        counts.update(files=len(loaded.memories) + len(loaded.failed), loaded=len(loaded.memories))
        for one in loaded.memories:
            if one.superseded_by or not (one.critical or one.critical_for):
                continue
            counts["critical"] += 1
            if folded(one.statement) in said:
                continue
            said.add(folded(one.statement))
            entries.append(_of_file(folder, one))
    return entries, failed, dict(counts)


def _of_file(folder: Path, one: loader.Document) -> Entry:
    path = folder / one.path
    stat = path.stat()
    return Entry(
        "memory",
        str(path),
        MEMORY,
        PROCEDURAL if one.memory_type in PROCEDURES else SEMANTIC,
        one.statement,
        one.sha256,
        path=str(path),
        size=stat.st_size,
        mtime_ns=stat.st_mtime_ns,
        privacy=one.privacy or "project",
        memory_type=one.memory_type,
        for_roles=() if one.critical or set(one.critical_for) & EVERYONE else one.critical_for,
        authority=INFERENCE,
        said=max(one.last_applied, one.created),
    )
