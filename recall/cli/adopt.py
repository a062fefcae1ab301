"""`recall adopt`: link a moved project to its record."""

import os
from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import note, say
from transcript.errors import WorkspaceError


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say which workspaces the paths belong to, and change nothing.")
@pass_app
def command(app: App, paths: tuple[Path, ...], dry_run: bool) -> None:
    """Link the project that lay at PATHS to this folder.

    For a project that was moved or renamed without git's help: its record and index follow, and sessions that were
    held at a path that is gone belong here. A folder that is still there becomes a further root of this project's
    workspace. A path that is gone, was never a workspace's and stands in no session is refused.

    \b
        recall adopt ~/old/place/of/the/project
    """
    from transcript.workspace import adopt, owner_root

    refuse_unknown(app, paths)
    if dry_run:
        for path in paths:
            workspace, reason = owner_root(path.absolute(), app.data)
            say(f"{path}: {f'workspace {workspace.id}' if workspace else reason}")
        note("dry run: nothing was changed")
        return
    workspace = adopt(paths, app.cwd, app.data, notice=note)
    say(f"{workspace.root} now belongs to workspace {workspace.id}")
    say(f"'recall sync' takes in the sessions that were held in {', '.join(str(path.absolute()) for path in paths)}")


def refuse_unknown(app: App, paths: tuple[Path, ...]) -> None:
    """Raise WorkspaceError for a path that no folder, no workspace and no session knows: it is misspelt."""
    from transcript.capture import ADAPTERS
    from transcript.capture_plan import named_folders
    from transcript.capture_state import CaptureState
    from transcript.roots import contains, longest_root, read_table
    from transcript.workspace import locate

    table = read_table(app.data)
    gone = [os.path.realpath(path) for path in paths if not path.is_dir()]
    unknown = [path for path in gone if not longest_root(table, path, former=True)[0]]
    if not unknown:
        return
    here = locate(app.cwd, app.data)
    heads = CaptureState(here).heads if here is not None else {}
    named = {folder for adapter in ADAPTERS for folder in named_folders(adapter, app.env, heads)}
    for path in unknown:
        if not any(contains(path, folder) for folder in named):
            raise WorkspaceError(f"no workspace ever held {path}, and no session names it; check the path")
