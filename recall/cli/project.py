"""`recall project`: rebuild the views from the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say

if TYPE_CHECKING:
    from transcript.workspace import Workspace

MOST_NAMED = 8


@click.command()
@click.option("--full", is_flag=True, help="Read the whole record, not what came since the last snapshot.")
@click.option("--dry-run", is_flag=True, help="Say which views differ, and write none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, full: bool, dry_run: bool, as_json: bool) -> None:
    """Write views and memories as the record says.

    The views under .recall/views, the memories under .recall/memory. They hold nothing of their own: deleted or
    changed by hand, they are what they were after this. A memory's file that was changed is copied to
    .recall/memory/edited first, from where it is a proposal. Every command that records something keeps them up to
    date. What the record knows of .coord/ and is missing there is written too.

    \b
        recall project
    """
    from transcript.projections.views import differing, project

    workspace = app.workspace() if dry_run else app.writable_workspace()
    if dry_run:
        written = (*differing(workspace), *_proposals(app, workspace, write=False))
        emit({"would_write": written}) if as_json else say(f"would write {named(written) or 'nothing'}")
        return
    done = project(workspace, snapshot=not full)
    written = (*done.written, *_proposals(app, workspace, write=True))
    if as_json:
        told = {"folder": str(done.folder), "written": written, "kept": done.kept, "seq": done.seq}
        emit({**told, "snapshot": done.from_snapshot})
    else:
        say(f"wrote {named(written) or 'nothing: all files are as the record says'} (event {done.seq})")
        for path in done.kept:
            note(f"changed by hand, kept as {path}; 'recall memory list --proposals' shows what it says")


def _proposals(app: App, workspace: Workspace, *, write: bool) -> tuple[str, ...]:
    """Files below .coord/ that are missing, written from the record; what differs otherwise is verify's to tell."""
    from consolidation.coord_desk import CoordDesk
    from transcript.projections import coord_files

    desk = CoordDesk(workspace, app.data, app.config.approval(), app.now())
    if not desk.state().documents:
        return ()
    if not write:
        return tuple(f"{coord_files.FOLDER}/{name}" for name in coord_files.missing(desk.root, desk.state()))
    with desk.lock():
        done = coord_files.restore(desk.root, desk.state())
    return tuple(f"{coord_files.FOLDER}/{name}" for name in done.written)


def named(files: tuple[str, ...]) -> str:
    """Files by name, the first of many and how many more."""
    more = len(files) - MOST_NAMED
    return ", ".join(files[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
