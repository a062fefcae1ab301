"""What installing and removing a pack does: events into the batch that decides it, then files by one rename."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from consolidation import commands, loader, packs, standing_files
from consolidation.coord_ref_words import scheme_of
from consolidation.imported import imported
from consolidation.packs import Pack
from consolidation.settings import Settings
from recall.likeness import folded
from recall.standing_places import layer_of
from transcript import memory_drafts as drafts
from transcript.coord_codes import Refusal
from transcript.curation import Author
from transcript.errors import PackError
from transcript.event import Draft
from transcript.grants import pack_changed
from transcript.log import Log
from transcript.memories import Memory, fold_memories
from transcript.memory_told import Told
from transcript.workspace import Workspace

INSTALLED, REMOVED = "pack_installed", "pack_removed"
UNSEEN = "every file of a pack that a session is told is evidence, so that a person sees it; use 'recall pack install'"
Action = Mapping[str, Any]


def tag_of(name: str) -> str:
    """Return the tag of the memories that a pack brought."""
    return f"pack:{name}"


def action_of(root: Path, pack: Pack) -> dict[str, Any]:
    """Return the action that installs a pack: its hash is the target, its files, as they wait, are the evidence."""
    packs.stage(root, pack)
    kinds = {kind: sum(one.kind == kind for one in pack.files) for kind in packs.KINDS}
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return {
        "operation": "add",
        "target_ref": pack.ref,
        "summary": f"Install the pack {pack.name} {pack.version} ({counts})",
        "evidence_refs": evidence_of(root, pack),
    }


def evidence_of(root: Path, pack: Pack) -> list[str]:
    """Return what a person must have seen of a pack that waits: its manifest, and every file that a session is told."""
    folder = packs.waiting(root, pack.name, pack.sha256).relative_to(root).as_posix()
    return [f"{folder}/.{packs.MANIFEST}", *(f"{folder}/{one.kept}" for one in pack.prompted)]


@dataclass(frozen=True, slots=True)
class PackEffects:
    """Installs and removes packs in one workspace, as `consolidation.coord_effects.Packs` asks for it."""

    workspace: Workspace
    root: Path
    settings: Settings

    def check(self, action: Action) -> Refusal | None:
        """Return why a pack cannot be installed or removed now."""
        name, sha256 = _named(action)
        try:
            if action["operation"] == "add":
                pack = packs.staged(self.root, name, sha256)
                if pack is None:
                    return _gone(f"the files of pack {name} do not wait here; 'recall pack install' brings them")
                unseen = [ref for ref in evidence_of(self.root, pack) if ref not in action["evidence_refs"]]
                return Refusal("unseen", unseen[0], UNSEEN) if unseen else None
            held = packs.installed(self.root, name)
        except PackError as error:
            return _gone(str(error))
        return None if held is not None and held.sha256 == sha256 else _gone(f"pack {name} is not installed as named")

    def drafts(self, action: Action, at: Told, actor: str) -> tuple[list[Draft], dict[str, Any]]:
        """Return the events of it and the effect."""
        name, sha256 = _named(action)
        if action["operation"] == "add":
            pack = packs.staged(self.root, name, sha256)
            if pack is None:
                raise PackError(f"the files of pack {name} do not wait here; 'recall pack install' brings them")
            kind, found = INSTALLED, self.installing(pack, at, actor)
        else:
            kind, found = REMOVED, self.removing(name, at, actor)
        return found, {"kind": kind, "target": str(action["target_ref"]), "sha256": sha256}

    def land(self, effect: Mapping[str, Any]) -> None:
        """Put the pack's files in place or remove them; done again it changes nothing."""
        name, sha256 = _parts(str(effect["target"]))
        if effect["kind"] == INSTALLED:
            packs.put(self.root, name, sha256)
        elif (held := packs.installed(self.root, name)) is not None and held.sha256 == sha256:
            packs.take_away(self.root, name)

    def installing(self, pack: Pack, at: Told, actor: str) -> list[Draft]:
        """Return that a pack is installed, each file as it is now, and its knowledge as memories."""
        old = packs.installed(self.root, pack.name)
        gone = self._files(old, at, gone_but=pack) if old is not None else []
        told = [pack_changed(at.ts, pack.name, pack.version, pack.sha256, "installed", pack.listed(), actor=actor)]
        told += [*gone, *self._files(pack, at)]
        documents, failed = [], []
        for one in pack.knowledge:
            try:
                found = loader.document(one.path.removeprefix("knowledge/"), one.data)
            except ValueError as error:
                failed.append(f"{one.path}: {error}")
                continue
            documents.append(replace(found, id="", tags=tuple(dict.fromkeys((*found.tags, tag_of(pack.name))))))
        if failed:
            raise PackError(f"knowledge of pack {pack.name} cannot be read: {'; '.join(failed)}")
        hand = self._hand(at, actor)
        told += self._kept_up(hand, documents, pack.name, at, actor)
        return [*told, *imported(hand, loader.Loaded(tuple(documents)), tag_of(pack.name)).drafts]

    def _kept_up(
        self, hand: commands.Hand, documents: Sequence[loader.Document], name: str, at: Told, actor: str
    ) -> list[Draft]:
        """Return that memories of what the pack says again are back, and of what it says no more are put away."""
        files = {one.path: one.sha256 for one in documents}
        says, others = {folded(one.statement) for one in documents}, self._said_by_others(name)
        found = []
        for memory in hand.state.memories.values():
            candidate = hand.state.candidates.get(memory.candidate)
            file = (candidate.body.get("file") if candidate is not None else None) or {"path": "", "sha256": ""}
            whose, _, path = str(file["path"]).partition("/")
            own, sha256 = whose == tag_of(name), files.get(path)
            again = (own and sha256 == file["sha256"]) or (_is_of_packs(memory) and folded(memory.statement) in says)
            if memory.archived and again:
                found.append(drafts.restored(at, memory.id, reason=f"the pack {name} was installed", actor=actor))
            elif own and not memory.archived and sha256 is None and folded(memory.statement) not in says | others:
                reason = f"the pack {name} has it no more"
                found.append(drafts.archived(at, memory.id, reason=reason, actor=actor))
        return found

    def removing(self, name: str, at: Told, actor: str) -> list[Draft]:
        """Return that a pack is removed, its files with it, and that its memories are put away."""
        pack = packs.installed(self.root, name)
        if pack is None:
            raise PackError(f"no pack is called {name}; 'recall pack list' shows what is installed")
        told = [pack_changed(at.ts, name, pack.version, pack.sha256, "removed", pack.listed(), actor=actor)]
        told += self._files(pack, at, gone_but=None, gone=True)
        reason = f"the pack {name} was removed"
        return told + [drafts.archived(at, one.id, reason=reason, actor=actor) for one in self._alone(pack)]

    def _alone(self, pack: Pack) -> list[Memory]:
        """The memories that a pack brought and that were not put away, without what another pack says as well."""
        says, others = _said(pack), self._said_by_others(pack.name)
        state = fold_memories(Log(self.workspace), snapshot=False)
        return [
            one
            for one in state.memories.values()
            if not one.archived
            and (tag_of(pack.name) in one.tags or (_is_of_packs(one) and folded(one.statement) in says))
            and folded(one.statement) not in others
        ]

    def _said_by_others(self, name: str) -> set[str]:
        """What the knowledge of the other installed packs says; nothing of one whose copy is not whole."""
        found: set[str] = set()
        for other in packs.names(self.root):
            if other != name:
                with contextlib.suppress(PackError):
                    held = packs.installed(self.root, other)
                    found |= _said(held) if held is not None else set()
        return found

    def _files(self, pack: Pack, at: Told, *, gone_but: Pack | None = None, gone: bool = False) -> list[Draft]:
        """Return that each file of the standing context is governed as it is, or gone."""
        stay = {one.path for one in gone_but.prompted} if gone_but is not None else set()
        taken = gone or gone_but is not None
        return [
            standing_files.draft(
                at, f"pack:{pack.name}:{one.path}", "" if taken else one.sha256, layer_of(one.path)[1], "pack"
            )
            for one in pack.prompted
            if one.path not in stay
        ]

    def _hand(self, at: Told, actor: str) -> commands.Hand:
        log = Log(self.workspace)
        by = Author(actor, commands.HUMAN)
        key = self.workspace.id_key()
        return commands.Hand(log, fold_memories(log, snapshot=False), by, at, key, self.settings, self.root)


def _said(pack: Pack) -> set[str]:
    """What the knowledge of a pack says, for comparing."""
    found = set()
    for one in pack.knowledge:
        with contextlib.suppress(ValueError):
            found.add(folded(loader.document(one.path, one.data).statement))
    return found


def _is_of_packs(memory: Memory) -> bool:
    return any(tag.startswith("pack:") for tag in memory.tags)


def _named(action: Action) -> tuple[str, str]:
    return _parts(str(action["target_ref"]))


def _parts(target: str) -> tuple[str, str]:
    name, _, sha256 = scheme_of(target)[1].partition("@")
    return name, sha256


def _gone(why: str) -> Refusal:
    return Refusal("target_gone", "action.target_ref", why)
