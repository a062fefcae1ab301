"""`recall pack`: install and remove what a role needs as one unit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.caller import agent_of, name_of
from recall.cli.output import emit, note, say
from transcript.errors import CoordError, PackError
from transcript.telling import counted

if TYPE_CHECKING:
    from consolidation.pack_effects import PackEffects
    from consolidation.packs import Pack
    from transcript.workspace import Workspace

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
reason_option = click.option("--reason", metavar="TEXT", help="Why; asked for where it is not given.")
folder = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))


@click.group()
def command() -> None:
    """Install what a role needs as one unit.

    Identity, procedures, skills and knowledge, held against their hash.

    \b
        recall pack install ./reviewer-pack
    """


@command.command()
@folder
@reason_option
@json_option
@click.pass_context
@pass_app
def install(app: App, ctx: click.Context, folder: Path, reason: str | None, as_json: bool) -> None:
    """Install the pack of FOLDER, whole or not at all.

    Another version of it is replaced. A person approves it at their terminal: every file that a session would be told
    is shown first, and the pack's hash is signed. An agent's install waits as a proposal (exit code 1). Knowledge
    alone, which becomes memories as inferences, needs no approval where a person installs it.

    \b
        recall pack install ./reviewer-pack
    """
    from consolidation import packs
    from consolidation.pack_effects import action_of

    pack = packs.read(folder)
    workspace = app.writable_workspace()
    root = root_of(workspace)
    held = packs.installed(root, pack.name)
    if held is not None and held.sha256 == pack.sha256:
        told(as_json, pack, "installed", f"pack {pack.name} {pack.version} is installed already", changed=False)
        return
    if needs_approval(app, pack):
        waits = through(app, action_of(root, pack), reason)
        if waits:
            ctx.exit(waiting(as_json, pack, waits))
    else:
        packs.stage(root, pack)
        directly(app, workspace, pack, "add")
    told(as_json, pack, "installed", f"installed pack {pack.name} {pack.version}: {contents(pack)}")


@command.command()
@click.argument("name")
@reason_option
@json_option
@click.pass_context
@pass_app
def remove(app: App, ctx: click.Context, name: str, reason: str | None, as_json: bool) -> None:
    """Remove the pack NAME and put away what it brought.

    Its files go, its memories are archived. A person approves it.

    \b
        recall pack remove reviewer
    """
    from consolidation import packs

    workspace = app.writable_workspace()
    root = root_of(workspace)
    pack = packs.installed(root, name)
    if pack is None:
        raise PackError(f"no pack is called {name}; 'recall pack list' shows what is installed")
    if needs_approval(app, pack):
        manifest = f"{packs.place_of(root, name).relative_to(root).as_posix()}/.{packs.MANIFEST}"
        action = {
            "operation": "delete",
            "target_ref": pack.ref,
            "summary": f"Remove the pack {name} {pack.version}: {contents(pack)}",
            "evidence_refs": [manifest],
        }
        waits = through(app, action, reason)
        if waits:
            ctx.exit(waiting(as_json, pack, waits))
    else:
        directly(app, workspace, pack, "delete")
    told(as_json, pack, "removed", f"removed pack {name} {pack.version}; its memories are put away")


@command.command("list")
@json_option
@click.pass_context
@pass_app
def listed(app: App, ctx: click.Context, as_json: bool) -> None:
    """List the installed packs with version, hash and contents. Exits 1 where the files of one are not whole.

    \b
        recall pack list
    """
    from consolidation import packs

    root = root_of(app.workspace())
    damaged = False
    for name in packs.names(root):
        try:
            pack = packs.installed(root, name)
        except PackError as error:
            damaged = True
            emit({"name": name, "state": "damaged", "why": str(error)}) if as_json else say(f"{name}  damaged: {error}")
            continue
        if pack is not None:
            told(as_json, pack, "installed", f"{name} {pack.version}  {pack.sha256[:12]}  {contents(pack)}")
    if not packs.names(root) and not as_json:
        note("no pack is installed")
    ctx.exit(1 if damaged else 0)


@command.command()
@folder
@click.option("--name", required=True, metavar="NAME", help="Lower-case letters, digits and hyphens.")
@click.option("--version", required=True, metavar="V", help="Such as 1.0.0.")
@json_option
@pass_app
def build(app: App, folder: Path, name: str, version: str, as_json: bool) -> None:
    """Write pack.json into FOLDER.

    It names every file with its kind, and the hash over all.

    \b
        recall pack build ./reviewer-pack --name reviewer --version 1.0.0
    """
    from consolidation import packs
    from transcript.paths import write_atomic

    write_atomic(folder / packs.MANIFEST, packs.manifest(folder, name=name, version=version))
    pack = packs.read(folder)
    told(as_json, pack, "built", f"wrote {folder / packs.MANIFEST}: {contents(pack)}, {pack.sha256[:12]}")


def needs_approval(app: App, pack: Pack) -> bool:
    """Whether a person signs it: what a session would be told, and whatever an agent installs or removes."""
    return bool(pack.prompted or agent_of(app.env))


def through(app: App, action: dict[str, Any], reason: str | None) -> str:
    """Let a person approve an action and apply it; return the id of the proposal that waits where none is there."""
    from consolidation.coord_apply import apply
    from consolidation.coord_decide import decide, show
    from recall.cli import person as people
    from recall.cli.coord_ask import ask_person
    from recall.cli.coord_work import desk_of, effects_of, followed, same_waiting, settle

    desk = desk_of(app, writes=True)
    effects = effects_of(app, desk)
    settle(desk, effects)
    fault = effects.check(action)
    if fault is not None:
        raise fault.error()
    document = same_waiting(desk, action) or desk.propose(action, source_task="recall pack", by=name_of(app.env))
    try:
        people.at_terminal(app.env)
    except CoordError:
        return document.id
    shown = show(desk, document.id)
    person, why = ask_person(app, desk, shown, "approve", rationale=reason)
    decide(desk, shown, "approve", person=person, rationale=why)
    done = apply(desk, document.id, effects)
    if done.code:
        raise PackError(f"{done.note or done.code}; nothing was changed")
    followed(app, desk, effects)
    return ""


def directly(app: App, workspace: Workspace, pack: Pack, operation: str) -> None:
    """Install or remove a pack that tells a session nothing: knowledge alone."""
    from consolidation.standing_set import after_apply
    from recall.cli.memory_write import bring_up
    from recall.cli.work import settings_of
    from transcript.event import stamp
    from transcript.memory_told import Told

    effects, now = effects_in(app, workspace), app.now()
    events, effect = effects.drafts(
        {"operation": operation, "target_ref": pack.ref}, Told(stamp(now), key=stamp(now)), name_of(app.env)
    )
    app.log(workspace).append(events, now=now)
    effects.land(effect)
    bring_up(app, workspace)
    after_apply(workspace, settings_of(app), now=now)


def effects_in(app: App, workspace: Workspace) -> PackEffects:
    """What installing and removing does in this project."""
    from consolidation.pack_effects import PackEffects
    from recall.cli.work import settings_of

    return PackEffects(workspace, root_of(workspace), settings_of(app))


def root_of(workspace: Workspace) -> Path:
    """The project's folder, of several worktrees the one that holds `.coord`; PackError where there is none."""
    from transcript.projections.coord_files import coord_root

    if workspace.root is None:
        raise PackError("packs are installed in a project; this workspace has no folder")
    return coord_root(workspace)


def contents(pack: Pack) -> str:
    """What is in a pack, by kind."""
    kinds = dict.fromkeys(one.kind for one in pack.files)
    names = {"identity": "identity file", "procedure": "procedure", "skill": "skill", "knowledge": "file of knowledge"}
    more = {"knowledge": "files of knowledge"}
    return ", ".join(
        counted(sum(one.kind == kind for one in pack.files), names[kind], more.get(kind, f"{names[kind]}s"))
        for kind in kinds
    )


def told(as_json: bool, pack: Pack, state: str, text: str, *, changed: bool = True) -> None:
    """Say what came of it."""
    if as_json:
        held = {"name": pack.name, "version": pack.version, "sha256": pack.sha256, "files": pack.listed()}
        emit({"state": state, "changed": changed, **held})
    else:
        say(text)


def waiting(as_json: bool, pack: Pack, proposal: str) -> int:
    """Say that a person has to decide, and return the exit code."""
    if as_json:
        emit({"state": "waits", "changed": False, "name": pack.name, "sha256": pack.sha256, "proposal_id": proposal})
    else:
        say(f"pack {pack.name} {pack.version} waits for a person: recall coord review {proposal[:8]}")
    return 1
