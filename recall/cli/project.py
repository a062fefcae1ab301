"""`recall project`: rebuild the views from the record."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say


@click.command()
@click.option("--full", is_flag=True, help="Read the whole record, not what came since the last snapshot.")
@click.option("--dry-run", is_flag=True, help="Say which views differ, and write none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, full: bool, dry_run: bool, as_json: bool) -> None:
    """Write the views under .recall/views as the record says: state.md, decisions.md, tasks.json, handoff.md.

    They hold nothing of their own: deleted or changed by hand, they are what they were after this. Every command
    that records something keeps them up to date.

    \b
        recall project
    """
    from transcript.projections.views import differing, project

    workspace = app.workspace() if dry_run else app.writable_workspace()
    if dry_run:
        written = differing(workspace)
        emit({"would_write": written}) if as_json else say(f"would write {', '.join(written) or 'nothing'}")
        return
    done = project(workspace, snapshot=not full)
    if as_json:
        emit({"folder": str(done.folder), "written": done.written, "seq": done.seq, "snapshot": done.from_snapshot})
    else:
        say(f"wrote {', '.join(done.written) or 'nothing: all views are as the record says'} (event {done.seq})")
