"""What references name now: the hash of evidence, the words to show beside it, and whether a target still holds."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from consolidation.coord_ref_words import POINTER, bad_path, bad_ref, lines_of, path_of, scheme_of
from consolidation.coord_schema import KINDS
from recall.standing_places import FOLDER as IDENTITY
from transcript.canonical import b32id, canonical, sha256_hex
from transcript.coord_codes import Refusal
from transcript.curation import resolve
from transcript.errors import PointerError, RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.memories import Memory, MemoryState, fold_memories
from transcript.paths import open_plain
from transcript.proposals import ProposalState

UNRESOLVED = "unresolved"
MOST_SHOWN = 64 * 1024  # characters of one piece of evidence
MOST_READ = 64 * 1024 * 1024  # bytes of a file that is evidence; reading a larger one would hold everybody up
_CONTENT = ("procedure", "identity")
# What of a candidate becomes part of a memory, or decides what that replaces, besides its text.
_TAKEN_IN = ("why", "memory_type", "kind", "privacy", "subject", "projects", "roles", "tags", "mistake", "supersedes")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reference as it stands: its hash (`unresolved` where it names nothing), and words to show beside it.

    `kind` is record, file, event, memory, candidate, task, blob, https or unresolved.
    """

    ref: str
    hash: str
    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What an action changes: its scheme, its kind where it is an item, and whether it still holds.

    A memory that was not put away is live; `current` is one that nothing took the place of or refuted.
    """

    ref: str
    scheme: str
    live: bool
    kind: str = ""
    current: bool = True


def state_of(then: str, now: str) -> str:
    """Return ok, changed, broken or unresolved for evidence by its hash when it was signed and now."""
    if then == now:
        return "unresolved" if then == UNRESOLVED else "ok"
    return "broken" if now == UNRESOLVED else "changed"


def ends(state: ProposalState) -> dict[str, str]:
    """Return, by item, which later one ended it: superseded, resolved, archived or deleted it."""
    ended: dict[str, str] = {}
    for one in state.applied:
        item = one.item or {}
        for name in ("supersedes", "resolves", "target_ref"):
            if name in item and (name != "target_ref" or "lifecycle" in item):
                ended[str(item[name])] = one.event_id
    return ended


def lasting(item: Mapping[str, Any]) -> dict[str, str]:
    """Return the evidence of an item that can be looked up as long as it holds, with the hashes that were signed.

    The files of a pack that waited were moved into their place with it: `recall pack list` holds those.
    """
    moved = scheme_of(str(item.get("target_ref") or ""))[0] == "pack"
    return {} if moved else dict(item["evidence_hashes"])


class References:
    """Looks references up in one project and its record. What is read once is kept: make a new one to look again."""

    def __init__(self, root: Path, log: Log, state: ProposalState, *, now: datetime) -> None:
        self.root, self.log, self.state, self.now = root, log, state, now
        self._seen: dict[str, str] = {}

    def hashes(self, refs: Iterable[str]) -> dict[str, str]:
        """Return the hash of what each reference names, `unresolved` for nothing."""
        return {ref: self.hash(ref) for ref in refs}

    def signed(self, action: Mapping[str, Any]) -> dict[str, str]:
        """Return what a decision on an action covers of what it rests on: each reference, and a file it replaces.

        Every other target never changes its words; a file may, and what a person wrote there must not be overwritten.
        """
        target = str(action["target_ref"] or "")
        replaced = {target: self._target_hash(target)} if scheme_of(target)[0] in _CONTENT else {}
        return {**self.hashes(action["evidence_refs"]), **replaced}

    def _target_hash(self, ref: str) -> str:
        found = self.changes(ref)
        return UNRESOLVED if found is None else found.hash

    def hash(self, ref: str) -> str:
        """Return the hash of what a reference names, `unresolved` for nothing."""
        if ref not in self._seen:
            self._seen[ref] = self.evidence(ref).hash
        return self._seen[ref]

    def evidence(self, ref: str) -> Evidence:
        """Return what a reference names, with its words."""
        scheme, rest = scheme_of(ref)
        found: Evidence | None = None
        if bad_ref(ref):
            found = None
        elif scheme == "https":
            found = Evidence(ref, sha256_hex(ref.encode()), "https", ref)
        elif scheme == "event":
            found = self._item(ref)
        elif scheme == "memory":
            found = self._memory(ref, rest)
        elif scheme == "candidate":
            found = self._candidate(ref, rest)
        elif scheme == "recall":
            found = self._pointer(ref, rest)
        elif scheme == "task":
            found = self._event(ref, b32id("named", self.log.workspace.id, "task", rest), "task")
        elif scheme == "blob":
            found = self._blob(ref, rest)
        elif scheme == "path":
            found = self._file(ref)
            if found is None and POINTER.fullmatch(rest):
                found = self._pointer(ref, rest)
        return found or Evidence(ref, UNRESOLVED, UNRESOLVED)

    def target(self, ref: str) -> Target | None:
        """Return what a target names, None where there is nothing of that name."""
        scheme, rest = scheme_of(ref)
        if scheme == "event":
            applied = self.state.item(ref)
            if applied is None:
                return None
            kind = str((applied.item or {}).get("kind", ""))
            return Target(ref, scheme, applied.item is not None and ref not in self.ended, kind)
        if scheme == "memory":
            memory = self._memories.memories.get(rest)
            if memory is None:
                return None
            current = not (memory.superseded_by or memory.refuted_because)
            return Target(ref, scheme, not memory.archived, current=current)
        if scheme == "candidate":
            candidate = self._memories.candidates.get(rest)
            return None if candidate is None else Target(ref, scheme, candidate.pending)
        return Target(ref, scheme, True)

    def changes(self, ref: str) -> Evidence | None:
        """Return the words of what a target names as they stand now, None for nothing that has any."""
        scheme, rest = scheme_of(ref)
        if scheme in _CONTENT:
            found = self._file(f".recall/{IDENTITY}/{rest}")
            return None if found is None else replace(found, ref=ref)
        found = self.evidence(ref) if scheme in ("event", "memory", "candidate") else None
        return None if found is None or found.hash == UNRESOLVED else found

    @cached_property
    def ended(self) -> dict[str, str]:
        """Return, by item, which later one ended it."""
        return ends(self.state)

    @cached_property
    def _memories(self) -> MemoryState:
        return fold_memories(self.log)

    def _item(self, ref: str) -> Evidence | None:
        applied = self.state.item(ref)
        if applied is None or applied.item is None:
            return None
        return Evidence(ref, sha256_hex(canonical(applied.item)), "event", str(applied.item["summary"]))

    def _memory(self, ref: str, name: str) -> Evidence | None:
        memory = self._memories.memories.get(name)
        return None if memory is None else Evidence(ref, sha256_hex(canonical(_said(memory))), "memory", memory.text)

    def _candidate(self, ref: str, name: str) -> Evidence | None:
        found = self._memories.candidates.get(name)
        if found is None:
            return None
        told = [str(found.body.get("text", ""))]
        told += [f"{field}: {_plain(value)}" for field in _TAKEN_IN if (value := found.body.get(field))]
        return Evidence(ref, sha256_hex(canonical(found.body)), "candidate", "\n".join(told))

    def _pointer(self, ref: str, pointer: str) -> Evidence | None:
        """Return the event of a record pointer; its commitment binds its body, salt and all."""
        with contextlib.suppress(PointerError, RecordError):
            whole, event = resolve(self.log, pointer)
            text = self._words(event)
            span = whole.partition("#")[2]
            if span:
                start, end = map(int, span.split("-"))
                text = text[start:end]
            return Evidence(ref, event.commit, "record", text[:MOST_SHOWN])
        return None

    def _event(self, ref: str, name: str, kind: str) -> Evidence | None:
        with contextlib.suppress(PointerError, RecordError):
            event = self.log.get(name)
            if event.body:
                return Evidence(ref, event.commit, kind, self._words(event)[:MOST_SHOWN])
        return None

    def _words(self, event: Event) -> str:
        text = self.log.text(event)
        return text or canonical(self.log.body(event)).decode("ascii")

    def _blob(self, ref: str, name: str) -> Evidence | None:
        with contextlib.suppress(RecordError):
            text = self.log.blobs.get(name).decode("utf-8", "replace")
            return Evidence(ref, name, "blob", text[:MOST_SHOWN])
        return None

    def _file(self, ref: str) -> Evidence | None:
        """Return a plain file of the project, or its lines; nothing for a link that leads out, a folder or a pipe.

        Nor for a file of more than MOST_READ bytes.
        """
        path, lines = path_of(ref)
        if bad_path(path):
            return None
        with contextlib.suppress(OSError, ValueError):
            whole = (self.root / path).resolve(strict=True)
            whole.relative_to(self.root.resolve())
            descriptor = open_plain(whole)
            with open(descriptor, "rb") as handle:
                if os.fstat(descriptor).st_size > MOST_READ:
                    return None
                digest, text, size = sha256(), bytearray(), 0
                for part in _parts(handle, lines_of(lines)):
                    size += len(part)
                    digest.update(part)
                    text += part if len(text) < MOST_SHOWN else b""
                if lines and not size:  # the file has no such line any more
                    return None
                return Evidence(ref, digest.hexdigest(), "file", text.decode("utf-8", "replace")[:MOST_SHOWN])
        return None


def _parts(handle: Any, lines: tuple[int, int] | None) -> Iterator[bytes]:
    """Yield the bytes of a file, or of its lines from first to last."""
    if lines is None:
        while part := handle.read(1 << 20):
            yield part
        return
    for number, part in enumerate(handle, 1):
        if number > lines[1]:
            return
        if number >= lines[0]:
            yield part


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value).decode("ascii")


def _said(memory: Memory) -> list[Any]:
    """Return what a memory says and whether it holds: what evidence must not change in."""
    ended = [memory.valid_to, memory.superseded_by, memory.refuted_because, memory.archived]
    return [memory.id, memory.memory_type, memory.statement, memory.why, *ended]


def action_fault(action: Mapping[str, Any], refs: References) -> Refusal | None:
    """Return why an action cannot be done to its target as things stand, None when it can."""
    operation, ref = str(action["operation"]), action["target_ref"]
    if ref is None:
        return None if operation == "add" else Refusal("no_target", "action.target_ref")
    target = refs.target(ref)
    if target is None:
        return Refusal("no_target", "action.target_ref")
    allowed = _allowed(target)
    if operation not in allowed:
        what = (target.kind or "item") if target.scheme == "event" else target.scheme
        return Refusal("bad_target", "action.operation", f"to a target {what}: only {', '.join(allowed) or 'nothing'}")
    adds_to_what_is_past = operation == "add" and not target.current
    if (adds_to_what_is_past or not target.live) and not _takes_back(action, target):
        return Refusal("target_gone", "action.target_ref")
    if target.scheme in _CONTENT and "content" not in action:
        return Refusal("schema", "action.content")
    if operation == "supersede" and target.scheme == "event" and action.get("kind", target.kind) != target.kind:
        return Refusal("bad_target", "action.kind")
    return None


def _takes_back(action: Mapping[str, Any], target: Target) -> bool:
    """Whether an action takes an archived memory out of the archive."""
    return target.scheme == "memory" and (action["operation"], action.get("subject")) == ("add", "restore")


def _allowed(target: Target) -> tuple[str, ...]:
    """Return what may be done to a target; a question is resolved by `add`."""
    if target.scheme == "event":
        if target.kind == "lifecycle":
            return ()
        added = ("add",) if target.kind == "question" else ()
        return (*added, *(("supersede",) if target.kind in KINDS else ()), "archive", "delete")
    return {
        "memory": ("add", "archive", "delete"),
        "candidate": ("add",),
        "pack": ("add", "delete"),
    }.get(target.scheme, ("add", "supersede"))
