"""What the commands of `recall coord` work with: the desk, the effects, who decides, and what follows a change."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from recall.cli.app import App
from recall.cli.output import note

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_effects import Parts, RecallEffects
    from consolidation.coord_schema import Document
    from transcript.coord_codes import Refusal
    from transcript.memories import Memory
    from transcript.workspace import Workspace

LEAST = 6  # characters of an id's beginning


def desk_of(app: App, *, writes: bool) -> CoordDesk:
    """The proposals of this project."""
    from consolidation.coord_desk import CoordDesk
    from transcript.projections.coord_files import FOLDER

    workspace = app.writable_workspace() if writes else app.workspace()
    desk = CoordDesk(workspace, app.data, app.config.approval(), app.now())
    if workspace.root is not None and workspace.root.resolve() != desk.root.resolve():
        note(f"the shared memory of this workspace lies in {desk.root / FOLDER}")
    return desk


def effects_of(app: App, desk: CoordDesk) -> RecallEffects:
    """What applied proposals do in this project: to the files of the folder in which their evidence is looked at."""
    from consolidation.coord_effects import RecallEffects
    from recall.cli.work import settings_of

    workspace, root = desk.workspace, desk.root
    return RecallEffects(workspace, root, settings_of(app), _parts(app, workspace, root))


def _parts(app: App, workspace: Workspace, root: Path) -> Parts:
    from consolidation import procedures, standing_set
    from consolidation.coord_effects import Parts
    from consolidation.pack_effects import PackEffects
    from recall.cli.work import settings_of
    from recall.standing_places import places

    def fit(memory: Memory, role: str) -> standing_set.Fit:
        found = standing_set.compile(workspace, settings_of(app), role=role, now=app.now())
        return standing_set.would_fit(found, memory, role=role)

    def gate(action: Mapping[str, Any]) -> Refusal | None:
        where = places(app.data, root, app.config.standing().folders)
        return procedures.gate(action, app.log(workspace), where, root)

    return Parts(gate, fit, PackEffects(workspace, root, settings_of(app)))


def settle(desk: CoordDesk, effects: RecallEffects) -> None:
    """Take new documents into the record, finish what a crash left, and let declined candidates wait no more."""
    from transcript.event import stamp

    with desk.lock():
        desk.settle(effects)
        found = effects.declines(_turned_down(desk), stamp(desk.now))
        if found:
            desk.append(*found)
            effects.changed.add("memories")


def _turned_down(desk: CoordDesk) -> dict[str, Mapping[str, object]]:
    """Decisions of the proposals that would have taken in a candidate and were declined, by candidate."""
    from consolidation.coord_ref_words import scheme_of

    found = {}
    for one in desk.state().documents.values():
        if one.state == "declined" and one.decision is not None and not one.erased:
            scheme, name = scheme_of(str(one.document["action"]["target_ref"] or ""))
            if scheme == "candidate":
                found[name] = one.decision
    return found


def followed(app: App, desk: CoordDesk, effects: RecallEffects) -> None:
    """Bring views, and what else an action may have changed, up to what was applied."""
    from consolidation.standing_set import after_apply
    from recall.cli.memory_write import bring_up
    from recall.cli.work import settings_of

    if "standing" in effects.changed:
        after_apply(desk.workspace, settings_of(app), now=app.now())
    if "memories" in effects.changed:
        bring_up(app, desk.workspace)
    else:
        app.bring_up(desk.workspace)


def named(desk: CoordDesk, text: str) -> str:
    """The id of a proposal by its beginning; CoordError `no_proposal` for none, `ambiguous` for several."""
    from transcript.coord_codes import Refusal

    wanted = text.strip().lower()
    known = {*desk.documents().by_id, *desk.state().documents}
    known |= {name.removesuffix(".json") for name, _, _ in desk.documents().faults}
    if wanted in known:
        return wanted
    fits = [name for name in known if len(wanted) >= LEAST and name.startswith(wanted)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise Refusal("ambiguous", note=f"{len(fits)} proposals begin with {text}; give more of the id").error()
    if wanted and len(wanted) < LEAST and any(name.startswith(wanted) for name in known):
        raise Refusal("no_proposal", note=f"{text!r} is too short; give {LEAST} characters of the id or more").error()
    raise Refusal("no_proposal", note=f"no proposal has the id {text[:40]!r}; see recall coord read").error()


def whole_ref(desk: CoordDesk, ref: str) -> str:
    """A reference with a shortened id in full: an item's, a memory's or a candidate's; any other as it is."""
    from transcript.errors import PointerError

    scheme, mark, name = ref.partition(":")
    if mark and scheme in ("memory", "candidate"):
        with contextlib.suppress(PointerError):
            return f"{scheme}:{desk.log.find(name).id}"
    wanted = ref.strip().lower()
    fits = [one.event_id for one in desk.state().applied if len(wanted) >= LEAST and one.event_id.startswith(wanted)]
    return fits[0] if len(fits) == 1 else ref


def same_waiting(desk: CoordDesk, action: Mapping[str, object]) -> Document | None:
    """A proposal of this very action that waits already, None for none."""
    from transcript.canonical import canonical

    wanted = canonical(action)
    for name, held in desk.documents().by_id.items():
        known = desk.state().documents.get(name)
        waits = held.document.state == "proposed" and (known is None or known.state == "proposed")
        if waits and canonical(held.document.action) == wanted:
            return held.document
    return None
