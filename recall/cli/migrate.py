"""`recall migrate`: files of an older version in the form of this one, the old kept until the new was checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say, unusable
from transcript.errors import LockBusy, RecordError, StoreError, WorkspaceError

if TYPE_CHECKING:
    from transcript.workspace import Workspace

Look = Callable[[], int | None]
Step = Callable[[], tuple[int, int]]


@click.command()
@click.option("--all-projects", is_flag=True, help="Every project of this user, and the user's own record.")
@click.option("--dry-run", is_flag=True, help="Say what would be brought up, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, all_projects: bool, dry_run: bool, as_json: bool) -> None:
    """Bring the files of an older version up to this one.

    The record's end and the index; every event and what is made from them need no step. An older index is copied first,
    brought up in numbered steps, one transaction each, and the copy goes when rows, words and vectors were checked. A
    run that is killed goes on with the next. What a newer version wrote is refused and left as it is.

    \b
        recall migrate --dry-run
    """
    rows = [row for workspace in _chosen(app, all_projects) for row in _steps(workspace, dry_run)]
    refused = [row for row in rows if row["state"] == "refused"]
    if as_json:
        emit({"ok": not refused, "dry_run": dry_run, "steps": rows})
    else:
        for row in rows:
            say(_text(row))
    ctx.exit(1 if refused else 0)


def _chosen(app: App, all_projects: bool) -> list[Workspace]:
    """The workspaces to look at: those with a record."""
    from transcript.workspace import user_workspace, workspaces

    if not all_projects:
        return [app.workspace()]
    found = [one for one in (*workspaces(app.data), user_workspace(app.data)) if one.head_file.exists()]
    if not found:
        raise WorkspaceError(f"no record in {app.data}; run 'recall init' in a project first")
    return found


def _steps(workspace: Workspace, dry_run: bool) -> list[dict[str, Any]]:
    """What happened to each file of a workspace, or with dry_run would."""
    from indexer import bring_up as index
    from indexer import schema
    from indexer.reader import SCHEMA_VERSION
    from transcript import bring_up as record

    path = workspace.index_path
    found: list[tuple[str, int, Look, Step]] = [
        ("log/head", record.NOW, partial(record.held, workspace.log_dir), partial(record.bring_up, workspace))
    ]
    if path.exists():
        found.append((path.name, SCHEMA_VERSION, partial(schema.held, path), partial(index.bring_up, path)))
    rows = []
    for name, wanted, look, step in found:
        held, said = None, ""
        try:
            held = look()
            if dry_run:
                state, said = _planned(held, wanted)
            else:
                before, now = step()
                state = "current" if before == now else "brought up"
        except (RecordError, StoreError, LockBusy, OSError) as error:
            state, said = "refused", unusable(error) if isinstance(error, OSError) else str(error)
            if not said:
                raise
        row = {"workspace": workspace.id, "root": workspace.root, "file": name, "held": held, "wanted": wanted}
        rows.append({**row, "state": state, "why": said})
    return rows


def _planned(held: int | None, wanted: int) -> tuple[str, str]:
    """What a run would do with a file, and why it would refuse."""
    if held is None:
        return "refused", "missing or damaged"
    if held > wanted:
        return "refused", "a newer version wrote it; upgrade recall"
    return ("current" if held == wanted else "would be brought up"), ""


def _text(row: dict[str, Any]) -> str:
    held = "unknown" if row["held"] is None else row["held"]
    forms = f"{held}" if row["state"] == "current" else f"{held} -> {row['wanted']}"
    why = f": {row['why']}" if row["why"] else ""
    return f"{row['file']:<14} {forms:<8} {row['state']}{why}  ({row['root'] or row['workspace']})"
