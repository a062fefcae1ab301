"""`recall init`: give a project its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say

if TYPE_CHECKING:
    from transcript.workspace import Workspace


@click.command()
@click.option("--scaffold", is_flag=True, help="Write templates of what every session is told first.")
@click.option("--dry-run", is_flag=True, help="Say which workspace this folder has, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, scaffold: bool, dry_run: bool, as_json: bool) -> None:
    """Give this project its workspace.

    Says where the record lies: in your data folder, not in the project, so 'git clean' cannot take it. In a git
    repository it adds two lines to .git/info/exclude, which is never committed. A second run changes nothing.
    With --scaffold it writes IDENTITY.md, a role and instructions into .recall/identity and USER.md into your data
    folder, where they are not there yet; what is there is never touched.

    \b
        recall init
    """
    from transcript.marks import IGNORED
    from transcript.workspace import exclude_list, init, is_marked, locate

    if dry_run:
        found = locate(app.cwd, app.data)
        if as_json:
            emit({"workspace": found.id if found else None, "record": str(found.log_dir) if found else None})
        elif found is None:
            say(f"no workspace yet; one would be made under {app.data / 'workspaces'}")
        else:
            say(f"workspace {found.id}, record in {found.log_dir}")
        return
    before = locate(app.cwd, app.data)
    changed = before is None or not is_marked(before)
    workspace = init(app.cwd, app.data, notice=note)
    listed = exclude_list(workspace.root) if workspace.root else None
    written, known = _standing(app, workspace, scaffold=scaffold)
    if as_json:
        emit(
            {
                "workspace": workspace.id,
                "root": str(workspace.root),
                "record": str(workspace.log_dir),
                "exclude": str(listed) if listed else None,
                "changed": changed or bool(written or known),
                **({"written": written} if scaffold else {}),
            }
        )
        return
    say(f"project    {workspace.root}")
    say(f"workspace  {workspace.id}")
    say(f"record     {workspace.log_dir}")
    if listed is not None:
        say(f"ignored    {' and '.join(IGNORED)} in the project, by lines in {listed}")
    for path in written:
        say(f"written    {path}")
    if scaffold and not written:
        say("written    nothing: all templates are there; 'recall session-start' says what is told of them")
    for key in known:
        say(f"known      {key}, as it stands")
    if not changed and not written and not known:
        say("nothing changed: the project had all of it already")
        return
    if not changed:
        return
    say("next       'recall enable-hooks claude-code' (--all: every agent found here),")
    say("           then 'recall sync' and 'recall index' for the past")


def _standing(app: App, workspace: Workspace, *, scaffold: bool) -> tuple[list[str], list[str]]:
    """Write the templates that are missing; what is there counts as known where a person runs this.

    Returns the paths of templates and the keys of files that were not known before.
    """
    from consolidation import standing_files, standing_set
    from recall.cli.caller import agent_of
    from recall.cli.work import settings_of
    from recall.standing_places import places
    from transcript.event import stamp
    from transcript.memory_told import Told

    if workspace.root is None:
        return [], []
    made = standing_files.scaffold(workspace.root, app.data) if scaffold else []
    files = standing_files.present(places(app.data, workspace.root, app.config.standing().folders))
    if agent_of(app.env):
        files = [one for one in files if one.path in made]
    known: list[str] = []
    if files:
        log, now = app.log(workspace), app.now()
        told = standing_files.seen(files, standing_files.governed(log), Told(stamp(now)), made=made)
        log.append(told, now=now)
        known = [one.body["path"] for one in told if one.body["how"] != "scaffold"]
        standing_set.after_apply(workspace, settings_of(app), now=now)
    return list(map(str, made)), known
