"""Where proposals are read and written: the files below `.coord/`, held against what the record says of them."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from consolidation.coord_effects_port import Effects
from consolidation.coord_refs import References
from consolidation.coord_schema import SCHEMA_VERSION, Document, checked, parse, proposal_hash
from consolidation.keys import Key, KeyStore
from recall.governance_settings import ApprovalSettings
from transcript import proposal_drafts
from transcript.canonical import canonical
from transcript.coord_codes import refused
from transcript.errors import CoordError, KeyFault
from transcript.event import Draft, Event, stamp
from transcript.lock import FileLock
from transcript.log import Log
from transcript.paths import read_file
from transcript.projections import coord_files, coord_lines
from transcript.proposals import Proposal, ProposalState, caught_up
from transcript.strict_json import MOST_BYTES
from transcript.workspace import Workspace

LOCK, LOCK_SECONDS = "coord.lock", 30.0
LANDED = "coord-landed"  # of run/: applied proposals whose effect's files were written


@dataclass(frozen=True, slots=True)
class Held:
    """A proposal as its file holds it."""

    document: Document
    name: str
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """The proposal files of a project: whole ones by id, and names with a code for those that are not.

    `faults` are (name, code, field): not_read, ambiguous, or what is wrong with the document. `misnamed` are (name, id)
    of files that are good but not called after their id.
    """

    by_id: dict[str, Held]
    faults: tuple[tuple[str, str, str], ...]
    misnamed: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Settled:
    """What `settle` did: proposals taken into the record, files brought up to it."""

    mirrored: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)


class CoordDesk:
    """The proposals of one workspace. `now` is when things are done: whoever waits for a person sets it again."""

    def __init__(
        self,
        workspace: Workspace,
        data: Path,
        settings: ApprovalSettings,
        now: datetime,
        *,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.workspace, self.settings, self.now, self.random = workspace, settings, now, random
        self.root = coord_files.coord_root(workspace)
        self.log = Log(workspace)
        self.keys = KeyStore(data)
        self._depth = 0
        self._state: ProposalState | None = None
        self._stale = True
        self._found: Found | None = None
        self._keys: dict[str, Key | KeyFault] = {}
        self._revoked: Mapping[str, str] | None = None
        self._used: set[str] | None = None
        self._memory_fault: tuple[str, str] | None = None

    @property
    def store_id(self) -> str:
        """Return what a decision names as the place it was made for."""
        return self.workspace.id

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the workspace's proposals; what was read before is read again. LockBusy when another does."""
        if self._depth == 0:
            lock = FileLock(self.workspace.run_dir / LOCK, timeout=LOCK_SECONDS)
            with lock:
                self.forget_read()
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0
                    self.forget_read()
            return
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def forget_read(self) -> None:
        """Read files, record and keys again when they are asked for next."""
        self._found, self._keys, self._revoked = None, {}, None
        self._changed()

    def _changed(self) -> None:
        """Forget what follows from the record and memory.yml."""
        self._stale, self._used, self._memory_fault = True, None, None

    # -- reading ---------------------------------------------------------------------------

    def state(self) -> ProposalState:
        """Return what the record says of proposals and the canonical memory."""
        if self._stale or self._state is None:
            self._state, self._stale = caught_up(self.log, self._state), False
        return self._state

    def documents(self) -> Found:
        """Return the proposal files; two that hold different documents of one id are both left out."""
        if self._found is None:
            self._found = _found(self.root)
        return self._found

    def held(self, name: str) -> Held:
        """Return the proposal of an id as its file holds it now.

        CoordError with no_proposal, no_file, erased, ambiguous or what is wrong with the document.
        """
        found = self.documents().by_id.get(name)
        if found is not None:
            return found
        known = self.state().documents.get(name)
        for file, code, where in self.documents().faults:
            if file == f"{name}.json":
                raise refused(code, where)
        if known is None:
            raise refused("no_proposal")
        raise refused("erased" if known.erased else "no_file")

    def items(self) -> list[Mapping[str, Any]]:
        """Return the items of memory.yml up to its first fault."""
        return coord_lines.read_items(coord_files.memory_bytes(self.root) or b"").items

    def references(self) -> References:
        """Return what looks references up as they stand now."""
        return References(self.root, self.log, self.state(), now=self.now)

    def key(self, name: str) -> Key:
        """Return a key by its id, revoked ones too; read once while the lock is held."""
        if name not in self._keys:
            try:
                self._keys[name] = self.keys.by_id(name, even_revoked=True)
            except KeyFault as fault:
                self._keys[name] = fault
        found = self._keys[name]
        if isinstance(found, KeyFault):
            raise found
        return found

    def revoked(self) -> Mapping[str, str]:
        """Return the reasons of revoked keys by their ids, as data folder or record know them; read once."""
        if self._revoked is None:
            recorded = {one.key_id: one.reason for one in self.state().keys.values() if one.change == "revoked"}
            self._revoked = {**recorded, **self.keys.revoked()}
        return self._revoked

    def used(self) -> set[str]:
        """Return the single-use values of every approval that was applied here: by the data folder, record or file."""
        if self._used is None:
            applied = {one.nonce for one in self.state().applied if one.nonce}
            listed = {str(item["nonce"]) for item in self.items() if "nonce" in item}
            self._used = self.keys.used_nonces(self.store_id) | applied | listed
        return self._used

    def memory_fault(self) -> tuple[str, str]:
        """Return (code, where) for the first thing wrong with memory.yml, ("", "") for none."""
        if self._memory_fault is None:
            try:
                held = coord_files.memory_bytes(self.root)
                self._memory_fault = coord_files.memory_fault(held, coord_files.rendered_memory(self.state()))
            except CoordError as fault:
                self._memory_fault = fault.code, fault.field
        return self._memory_fault

    # -- writing ---------------------------------------------------------------------------

    def append(self, *drafts: Draft) -> list[Event]:
        """Append events to the record in one batch; durable, whole or not at all."""
        written = self.log.append(drafts, now=self.now)
        self._changed()
        return written

    def add_line(self, data: bytes) -> None:
        """Append a line, or the rest of one, to memory.yml; on disk when this returns."""
        coord_files.append(self.root, data)
        self._changed()

    def write(self, document: Document) -> Path:
        """Write a proposal's file whole, called after its id, and return where it lies."""
        others = [name for name, of in self._found.misnamed if of == document.id] if self._found is not None else []
        path = coord_files.write_document(self.root, document.raw)
        for name in others:
            path.with_name(name).unlink(missing_ok=True)
        self._found = None
        return path

    def propose(self, action: Mapping[str, Any], *, source_task: str, by: str, revises: str = "") -> Document:
        """Write a new proposal, its file first, and return it; CoordError when it is not as the schema says."""
        document = self.drafted(action, source_task=source_task, revises=revises)
        self.put(document, by=by)
        return document

    def put(self, document: Document, *, by: str) -> None:
        """Write a new proposal that was drafted: its file first, then the record."""
        with self.lock():
            self.write(document)
            self.append(self.proposed(document, by=by))

    def drafted(self, action: Mapping[str, Any], *, source_task: str, revises: str = "") -> Document:
        """Return a new proposal without writing it; CoordError when it is not as the schema says."""
        document = checked(
            {
                "schema_version": SCHEMA_VERSION,
                "proposal_id": str(UUID(bytes=self.random(16), version=4)),
                "source_task": source_task,
                "action": dict(action),
                "state": "proposed",
                "created_at": stamp(self.now),
                "decision": None,
                **({"revises": revises} if revises else {}),
            }
        )
        readable(document)
        return document

    def proposed(self, document: Document, *, by: str, adopted: bool = False) -> Draft:
        """Return the event that a proposal exists."""
        made = proposal_drafts.proposed
        return made(stamp(self.now), document.raw, proposal_hash(document), by=by, adopted=adopted)

    def settle(self, effects: Effects | None = None) -> Settled:
        """Take new documents into the record and finish what a crash left; done again it changes nothing.

        The record decides: a file that is behind it is brought up to it, a memory.yml that is its beginning is
        completed. Without effects, files of applied proposals that have one stay behind until somebody lands it.
        """
        done = Settled()
        with self.lock():
            self._settle_keys()
            self._mirror(done)
            self._complete()
            self._bring_up(done, effects)
        return done

    def _settle_keys(self) -> None:
        """Tell the record of keys that were made, replaced or revoked: when it learned of it is what counts."""
        known = self.state().keys
        drafts = []
        for entry in self.keys.list():
            change = {"current": "created"}.get(entry.state, entry.state)
            held = known.get(entry.id)
            if held is None or (held.change not in (change, "revoked") and change != "created"):
                drafts.append(proposal_drafts.key_changed(stamp(self.now), entry.id, change, reason=entry.reason))
        if drafts:
            self.append(*drafts)

    def _mirror(self, done: Settled) -> None:
        known = self.state().documents
        new = [held.document for name, held in sorted(self.documents().by_id.items()) if name not in known]
        if new:
            self.append(*(self.proposed(document, by="whoever wrote the file", adopted=True) for document in new))
        done.mirrored += [document.id for document in new]

    def _complete(self) -> None:
        state = self.state()
        burned = self.keys.used_nonces(self.store_id) if state.applied else set()
        for one in state.applied:
            if one.nonce and one.nonce not in burned:
                self.keys.burn(self.store_id, one.nonce)
        wanted = coord_files.rendered_memory(state)
        held = coord_files.memory_bytes(self.root) or b""
        if held != wanted and wanted.startswith(held):
            self.add_line(wanted[len(held) :])

    def _bring_up(self, done: Settled, effects: Effects | None) -> None:
        effect_of = {one.proposal: one.effect for one in self.state().applied if one.effect}
        last = {place_of(effect): name for name, effect in effect_of.items()}
        for name, held in list(self.documents().by_id.items()):
            known = self.state().documents[name]
            if known.erased or standing_of(held.document, known) != "behind":
                continue
            effect = effect_of.get(name) if known.state == "applied" else None
            if effect:
                if effects is None:
                    continue
                if last[place_of(effect)] == name and not self._landed(known):
                    self.land(effects, name, effect)
            self.write(held.document.with_state(known.state, known.decision))
            done.restored.append(name)

    def land(self, effects: Effects, name: str, effect: Mapping[str, Any]) -> None:
        """Let the files of an applied proposal's effect be written, and note that they were."""
        effects.land(effect)
        path = self.workspace.run_dir / LANDED
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags, 0o600), "ab") as noted:
            noted.write(name.encode() + b"\n")

    def _landed(self, known: Proposal) -> bool:
        """Whether an effect's files were written before: a proposal's file that somebody sets back writes them no more.

        By the note of it, or because the file that it replaces is another one than when it was decided on.
        """
        with contextlib.suppress(FileNotFoundError):
            if known.id.encode() in read_file(self.workspace.run_dir / LANDED).split(b"\n"):
                return True
        signed = (known.decision or {})["evidence_hashes"]
        now = self.references().signed({**known.document["action"], "evidence_refs": []})
        return any(signed.get(ref) != found for ref, found in now.items())


def place_of(effect: Mapping[str, Any]) -> str:
    """Return what an effect changes: a later one on the same place stands above it."""
    return str(effect["target"]).partition("@")[0]


def standing_of(document: Document, known: Proposal) -> str:
    """Return how a file's state and decision stand to the record: same, behind (an earlier stage of it), or edited."""
    now = canonical([document.state, document.decision])
    stages = [canonical(list(stage)) for stage in known.stages]
    if now == stages[-1]:
        return "same"
    return "behind" if now in stages else "edited"


def differing_field(held: Mapping[str, Any], known: Mapping[str, Any], where: str = "") -> str:
    """Return the path of the first field in which two documents differ, in the order of their names; "" for none."""
    for name in sorted({*held, *known}):
        path = f"{where}.{name}" if where else name
        if name not in held or name not in known or canonical(held[name]) != canonical(known[name]):
            inner = (held.get(name), known.get(name))
            if isinstance(inner[0], dict) and isinstance(inner[1], dict):
                return differing_field(*inner, where=path)  # type: ignore[arg-type]
            return path
    return ""


def readable(document: Document) -> None:
    """Refuse a document whose file could not be read again: half a character in a text, or too many bytes."""
    try:
        size = len(coord_files.document_bytes(document.raw))
    except UnicodeEncodeError:
        raise refused("surrogate", "document") from None
    if size > MOST_BYTES:
        raise refused("too_large", "document")


def _found(root: Path) -> Found:
    folder = coord_files.read_folder(root)
    faults = [(name, "not_read", "") for name in folder.not_read]
    whole: dict[str, list[Held]] = {}
    for name, raw in folder.files.items():
        try:
            document = parse(raw)
        except CoordError as fault:
            faults.append((name, fault.code, fault.field))
        else:
            whole.setdefault(document.id, []).append(Held(document, name, raw))
    by_id: dict[str, Held] = {}
    misnamed = []
    for name, several in whole.items():
        named = [held for held in several if held.name == f"{name}.json"]
        cores = {proposal_hash(held.document) for held in several}
        if len(cores) > 1 or (not named and len({canonical(held.document.raw) for held in several}) > 1):
            faults += [(held.name, "ambiguous", "proposal_id") for held in several]
            continue
        misnamed += [(held.name, name) for held in several if held not in named]
        by_id[name] = (named or several)[0]
    return Found(by_id, tuple(faults), tuple(misnamed))
