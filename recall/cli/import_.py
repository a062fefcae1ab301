"""`recall import`: an exported record into an empty workspace."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say
from transcript.telling import counted


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Read the header of FILE, and import nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, file: Path, dry_run: bool, as_json: bool) -> None:
    """Take FILE, an export, into this empty workspace.

    An export of a whole record; this project's workspace holds none yet. Ids, times and words are what they were.
    Where the exported workspace is not on this machine its id is taken over too, and with it the chain: every hash
    stays the same. A damaged or shortened file is refused as a whole.

    \b
        recall import record.jsonl
    """
    from transcript.export import header_of, import_record
    from transcript.workspace import take_name

    with file.open("rb") as handle:
        header = header_of(handle)
        if dry_run:
            if as_json:
                emit({"events": header["events"], "workspace": header["workspace"], "imported": False})
                return
            note(f"{file} holds {counted(header['events'], 'event')} of workspace {header['workspace']}")
            return
        handle.seek(0)
        workspace = app.writable_workspace()
        workspace = take_name(workspace, header["workspace"], app.data, notice=note) or workspace
        done = import_record(workspace, handle)
    app.bring_up(workspace)
    if as_json:
        emit({"events": done.events, "media": done.media, "chained": done.chained, "workspace": done.workspace})
        return
    say(f"{counted(done.events, 'event')} and {done.media:,} media imported; 'recall index' makes them searchable")
    if not done.chained:
        say("the exported workspace is on this machine too: this copy has an id and a chain of its own")
