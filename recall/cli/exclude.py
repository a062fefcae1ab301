"""`recall exclude`: keep a project out."""

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--remove", is_flag=True, help="Let PATH in again.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the excluded folders as one JSON object.")
@pass_app
def command(app: App, path: Path | None, remove: bool, dry_run: bool, as_json: bool) -> None:
    """Keep sessions of PATH and below out of recall.

    Nothing from there is captured, and nothing is injected there. What was captured before stays in the record.
    Without PATH the excluded folders are listed.

    \b
        recall exclude ~/private
    """
    from transcript.roots import excluded_roots
    from transcript.workspace import exclude

    if path is None:
        folders = excluded_roots(app.data)
        if as_json:
            emit({"excluded": folders})
        elif folders:
            say("\n".join(folders))
        else:
            note("no folder is excluded")
        return
    target = path.absolute()
    if dry_run:
        say(f"{target} would be {'let in again' if remove else 'excluded'}")
        return
    changed = exclude(target, app.data, remove=remove)
    if remove:
        say(f"{target} is let in again" if changed else f"{target} was not excluded")
    else:
        say(f"{target} is excluded" if changed else f"{target} is excluded already")
