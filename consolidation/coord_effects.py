"""What an applied proposal does besides its item: to memories, candidates, procedures, identity files and packs.

The events go into the batch that holds the item, so that both stand or neither does; files follow and can be written
again from the event.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from consolidation import commands, standing_files
from consolidation.approval import COVERED
from consolidation.candidates import candidate_of
from consolidation.coord_ref_words import bad_path, scheme_of
from consolidation.procedures import landed
from consolidation.settings import Settings
from consolidation.standing_set import Fit
from recall.standing_places import PROCEDURAL, SEMANTIC
from transcript import memory_drafts as drafts
from transcript.canonical import sha256_hex
from transcript.coord_codes import Refusal
from transcript.curation import Author
from transcript.errors import RecallError
from transcript.event import Draft
from transcript.log import Log
from transcript.memories import Memory, MemoryState, fold_memories
from transcript.memory_told import Told
from transcript.paths import read_file, secure_dir, write_atomic
from transcript.workspace import Workspace

ALWAYS, RESTORE = "always-loaded", "restore"  # subjects of an action on a memory
EVERYONE = "*"
SUFFIX = ".md"
FOLLOWS = {
    "memory": {"memories", "standing"},
    "candidate": {"memories", "standing"},
    "procedure": {"standing"},
    "identity": {"standing"},
    "pack": {"memories", "standing"},
}
KINDS = {"procedure": PROCEDURAL, "identity": SEMANTIC}
Action = Mapping[str, Any]
Effect = dict[str, Any]
Gate = Callable[[Action], Refusal | None]
WouldFit = Callable[[Memory, str], Fit]


class Packs(Protocol):
    """What carries out the actions on packs."""

    def check(self, action: Action) -> Refusal | None:
        """Return why a pack cannot be installed or removed now."""

    def drafts(self, action: Action, at: Told, actor: str) -> tuple[list[Draft], Effect]:
        """Return the events of it and the effect."""

    def land(self, effect: Mapping[str, Any]) -> None:
        """Write or remove the pack's files; done again it changes nothing."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What effects ask others: whether a procedure may be, whether a memory has room, and how packs land."""

    gate: Gate | None = None
    fit: WouldFit | None = None
    packs: Packs | None = None


class RecallEffects:
    """The effects in one workspace. Memories are folded once: make a new one to look again."""

    def __init__(self, workspace: Workspace, root: Path, settings: Settings, parts: Parts) -> None:
        self.workspace, self.root, self.settings, self.parts = workspace, root, settings, parts
        self.log = Log(workspace)
        self.changed: set[str] = set()  # what has to follow: `memories`, `standing`
        self._state: MemoryState | None = None

    @property
    def memories(self) -> MemoryState:
        """What is remembered."""
        if self._state is None:
            self._state = fold_memories(self.log, snapshot=False)
        return self._state

    # -- before ----------------------------------------------------------------------------

    def check(self, action: Action) -> Refusal | None:
        """Return why the action cannot take effect now, None when it can. Writes nothing."""
        self._state = None
        scheme, rest = scheme_of(action["target_ref"] or "")
        if scheme == "memory":
            return self._check_memory(action, rest)
        if scheme == "candidate":
            return self._check_candidate(rest)
        if scheme in KINDS:
            fault = _path_fault(self.root, rest)
            return fault or (self.parts.gate(action) if self.parts.gate is not None else None)
        if scheme == "pack":
            if self.parts.packs is None:
                return Refusal("bad_target", "action.target_ref", "packs cannot be installed here")
            return self.parts.packs.check(action)
        return None

    def _check_memory(self, action: Action, name: str) -> Refusal | None:
        role = _critical_role(action)
        memory = self.memories.memories.get(name)
        if memory is None:
            return Refusal("no_target", "action.target_ref")
        if action["operation"] == "add" and action.get("subject") == RESTORE and not memory.archived:
            return Refusal("target_gone", "action.target_ref", "the memory is not archived")
        if role is None or self.parts.fit is None:
            return None
        fit = self.parts.fit(memory, "" if role == EVERYONE else role)
        missing = [key for key in fit.leaves if key not in _named(action)]
        if not missing:
            return None
        told = f"{fit.chars:,} characters are more than {fit.budget:,}; name what leaves as evidence: "
        return Refusal("over_budget", "action.evidence_refs", told + ", ".join(missing))

    def _check_candidate(self, name: str) -> Refusal | None:
        try:
            self._accepted(name, "somebody", _told(_SOME_MOMENT, ""))
        except RecallError as error:
            return Refusal("bad_target", "action.target_ref", str(error))
        return None

    # -- the events ------------------------------------------------------------------------

    def drafts(self, action: Action, item: Action, decision: Action, at: str) -> tuple[list[Draft], Effect | None]:
        """Return the events of the effect, and its body for `proposal.applied`."""
        target = str(action["target_ref"] or "")
        scheme, rest = scheme_of(target)
        self.changed |= FOLLOWS.get(scheme, set())
        told, actor = _told(at, str(decision["nonce"])), str(decision["actor"])
        if scheme == "memory":
            kind, made = self._of_memory(action, rest, decision, told, actor)
            return made, {"kind": kind, "target": target}
        if scheme == "candidate":
            return self._accepted(rest, actor, told), {"kind": "accepted", "target": target}
        if scheme in KINDS:
            text = str(action["content"]["text"])
            sha256 = sha256_hex(text.encode())
            event = standing_files.draft(
                told,
                f"project:{rest}",
                sha256,
                KINDS[scheme],
                "approved",
                proposal_id=str(item["proposal_id"]),
                sources=action["evidence_refs"],
            )
            return [event], {"kind": scheme, "target": target, "path": rest, "sha256": sha256, "text": text}
        if scheme == "pack" and self.parts.packs is not None:
            return self.parts.packs.drafts(action, told, actor)
        return [], None

    def _of_memory(
        self, action: Action, name: str, decision: Action, told: Told, actor: str
    ) -> tuple[str, list[Draft]]:
        reason = str(action["summary"])
        if action["operation"] == "archive":
            return "archived", [drafts.archived(told, name, reason=reason, actor=actor)]
        if action["operation"] == "delete":  # its words go by `recall forget` alone
            return "deleted", [drafts.archived(told, name, reason="deleted", actor=actor)]
        if action.get("subject") == RESTORE:
            return "restored", [drafts.restored(told, name, reason=reason, actor=actor)]
        role = _critical_role(action)
        if role is not None:
            return "critical", self._critical(action, name, role, told, actor)
        approval = {field: decision[field] for field in (*COVERED, "mac", "key_id")} | {"action": dict(action)}
        return "approved", [drafts.approved(told, name, approval)]

    def _critical(self, action: Action, name: str, role: str, told: Told, actor: str) -> list[Draft]:
        """The memory becomes critical; those that the action names to leave are critical for that role no more."""
        found = [_amended(told, self.memories.memories[name], {role}, frozenset(), actor)]
        leaving = _named(action)
        for one in self.memories.memories.values():
            if one.id != name and one.critical_for and _key(one.id) in leaving:
                less = frozenset(one.critical_for) if role == EVERYONE else frozenset({role, EVERYONE})
                found.append(_amended(told, one, set(), less, actor))
        return found

    def _accepted(self, name: str, actor: str, told: Told) -> list[Draft]:
        held = self.memories.candidates[name]
        hand = commands.Hand(
            self.log,
            self.memories,
            Author(actor, commands.HUMAN),
            told,
            self.workspace.id_key(),
            self.settings,
            self.workspace.root,
        )
        return commands.accepted(hand, candidate_of(held.body), held)

    def declines(self, turned_down: Mapping[str, Mapping[str, Any]], at: str) -> list[Draft]:
        """Return that candidates which still wait do so no more; `turned_down` are declined proposals' decisions by
        candidate.
        """
        found = []
        for name, decision in turned_down.items():
            held = self.memories.candidates.get(name)
            if held is not None and held.pending:
                told = _told(at, str(decision["nonce"]))
                by = str(decision["actor"])
                found.append(
                    drafts.decided(told, name, "transcript_only", "declined", by=by, actor_kind=commands.HUMAN)
                )
        return found

    # -- the files -------------------------------------------------------------------------

    def land(self, effect: Mapping[str, Any]) -> None:
        """Write the files of an effect that the record holds; done again it changes nothing."""
        self._state = None
        self.changed |= {"memories", "standing"}
        if effect["kind"] in KINDS:
            _write(self.root, str(effect["path"]), str(effect["text"]).encode(), str(effect["sha256"]))
        elif str(effect["target"]).startswith("pack:") and self.parts.packs is not None:
            self.parts.packs.land(effect)


_SOME_MOMENT = "2000-01-01T00:00:00.000Z"


def _told(at: str, key: str) -> Told:
    return Told(at, session="recall:coord", actor="human", key=key)


def _critical_role(action: Action) -> str | None:
    """Return for whom a memory is to be always loaded, None where that is not what is asked."""
    word, _, role = str(action.get("subject", "")).partition(":")
    if action["operation"] != "add" or word != ALWAYS:
        return None
    return role.strip() or EVERYONE


def _named(action: Action) -> frozenset[str]:
    """Return the keys of the memories that an action names, as the standing set has them."""
    names = [scheme_of(str(ref)) for ref in action["evidence_refs"]]
    return frozenset(_key(rest) for scheme, rest in names if scheme == "memory")


def _key(memory: str) -> str:
    return f"memory:{memory[:10]}"


def _amended(told: Told, memory: Memory, more: set[str], less: frozenset[str], actor: str) -> Draft:
    roles = sorted(({*memory.critical_for} | more) - less)
    return drafts.amended(told, memory.id, {"critical_for": roles}, because=memory.id, actor=actor)


def _path_fault(root: Path, path: str) -> Refusal | None:
    """Return why a file of the identity folder cannot be written: its name, or a link on the way."""
    if bad_path(path) or not path.endswith(SUFFIX):
        return Refusal("not_prompt_text", "action.content.path", f"a file of the standing context is text: *{SUFFIX}")
    place = standing_files.identity_folder(root)
    for one in (place.parent, place, *(place / part for part in _parents(path)), place / path):
        if one.is_symlink() or (one.exists() and one.is_dir() == (one == place / path)):
            return Refusal("not_prompt_text", "action.content.path", "a link or a folder stands in the file's place")
    return None


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: number + 1]) for number in range(len(parts))]


def _write(root: Path, path: str, data: bytes, sha256: str) -> None:
    """Write a file of the identity folder whole and read it back; CoordError `not_landed` where it is another."""
    fault = _path_fault(root, path)
    if fault is not None:
        raise fault.error()
    place = standing_files.identity_folder(root) / path
    if not place.exists() or read_file(place) != data:
        secure_dir(place.parent)
        write_atomic(place, data)
    if not landed(place, sha256):
        raise Refusal("not_landed", path, "the file does not hold what was approved; recall coord apply again").error()
