"""`recall adopt`: link a moved project to its record."""

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import note, say


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say which workspaces the paths belong to, and change nothing.")
@pass_app
def command(app: App, paths: tuple[Path, ...], dry_run: bool) -> None:
    """Link the project that lay at PATHS to this folder.

    For a project that was moved or renamed without git's help: its record and index follow. A path that is still there
    becomes a further root of this project's workspace.

    \b
        recall adopt ~/old/place/of/the/project
    """
    from transcript.workspace import adopt, owner_root

    if dry_run:
        for path in paths:
            workspace, reason = owner_root(path.absolute(), app.data)
            say(f"{path}: {f'workspace {workspace.id}' if workspace else reason}")
        note("dry run: nothing was changed")
        return
    workspace = adopt(paths, app.cwd, app.data, notice=note)
    say(f"{workspace.root} now belongs to workspace {workspace.id}")
