"""`recall init`: give a project its workspace."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say


@click.command()
@click.option("--dry-run", is_flag=True, help="Say which workspace this folder has, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, dry_run: bool, as_json: bool) -> None:
    """Give this project its workspace.

    Says where the record lies: in your data folder, not in the project, so 'git clean' cannot take it. In a git
    repository it adds two lines to .git/info/exclude, which is never committed. A second run changes nothing.

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
    if as_json:
        emit(
            {
                "workspace": workspace.id,
                "root": str(workspace.root),
                "record": str(workspace.log_dir),
                "exclude": str(listed) if listed else None,
                "changed": changed,
            }
        )
        return
    say(f"project    {workspace.root}")
    say(f"workspace  {workspace.id}")
    say(f"record     {workspace.log_dir}")
    if listed is not None:
        say(f"ignored    {' and '.join(IGNORED)} in the project, by lines in {listed}")
    if not changed:
        say("nothing changed: the project had all of it already")
        return
    say("next       'recall enable-hooks claude-code' (--all: every agent found here),")
    say("           then 'recall sync' and 'recall index' for the past")
