"""`recall backup`: a copy of the record that is whole, checked, and brought up to date by its next run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, one_line, say, size, unusable
from transcript.errors import BackupError, RecallError, WorkspaceError
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from transcript.backup import Checked, Made
    from transcript.workspace import Workspace


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--all-projects", is_flag=True, help="Every project of this user, and the user's own record.")
@click.option("--verify-only", is_flag=True, help="Read the backups in DIR and say whether they are whole.")
@click.option("--dry-run", is_flag=True, help="Say what would be backed up, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(
    app: App, ctx: click.Context, folder: Path, all_projects: bool, verify_only: bool, dry_run: bool, as_json: bool
) -> None:
    """Copy this project's record into DIR.

    A copy that is there is brought up to date. Each project has a folder in DIR, named by its workspace. It holds the
    record, source bytes, the workspace's key and what you wrote for recall, but no index and no signing key. Hooks
    and sessions go on meanwhile; only new bytes are written; the copy is read back and verified. What was forgotten
    here leaves DIR with the next run. The copy holds every word in clear: keep DIR where only you can read.

    \b
        recall backup /media/disk/recall
    """
    if verify_only:
        _verify(ctx, folder, as_json)
        return
    workspaces = _chosen(app, all_projects)
    if dry_run:
        _plan(workspaces, folder, as_json)
        return
    rows, failed = [], False
    for workspace in workspaces:
        try:
            made = _backup(app, workspace, folder)
        except (RecallError, OSError) as error:
            told = unusable(error) if isinstance(error, OSError) else str(error)
            if not all_projects or not told:
                raise
            failed = True
            rows.append({"workspace": workspace.id, "ok": False, "error": told})
            note(one_line(f"{workspace.root or workspace.id}: {told}"))
            continue
        rows.append(_row(made))
        for path in made.untaken:
            note(one_line(f"{path}: not in the copy; only plain files whose names every system takes are"))
        if not made.noted:
            note(f"{made.folder}: whole, but {app.data} takes no note of it: health and forget do not know of this one")
        if not as_json:
            say(_text(workspace, made))
    if as_json:
        emit({"ok": not failed, "backups": rows})
    else:
        note("the copy holds every word in clear, secrets included; keys that sign are not in it: keep those apart")
    ctx.exit(1 if failed else 0)


def _chosen(app: App, all_projects: bool) -> list[Workspace]:
    """The workspaces to copy: those with a record."""
    from transcript.workspace import user_workspace, workspaces

    if not all_projects:
        return [app.writable_workspace()]
    found = [one for one in (*workspaces(app.data), user_workspace(app.data)) if one.head_file.exists()]
    if not found:
        raise WorkspaceError(f"no record in {app.data}; run 'recall init' in a project first")
    return found


def _backup(app: App, workspace: Workspace, folder: Path) -> Made:
    from recall.forgetting import finish
    from transcript.backup import backup

    finish(workspace, now=app.now())
    return backup(workspace, folder, now=app.now())


def _plan(workspaces: list[Workspace], folder: Path, as_json: bool) -> None:
    from transcript.backup import place_for
    from transcript.log import Log

    for one in workspaces:
        place_for(one, folder)
    rows = [{"workspace": one.id, "root": one.root, "events": Log(one).head().seq} for one in workspaces]
    if as_json:
        emit({"ok": True, "dry_run": True, "backups": rows})
        return
    for row in rows:
        events = counted(int(str(row["events"])), "event")
        say(f"{row['root'] or row['workspace']}: {events} would be copied to {folder}")


def _verify(ctx: click.Context, folder: Path, as_json: bool) -> None:
    from transcript.backup import backups, check

    places = backups(folder)
    if not places:
        raise BackupError(f"{folder} holds no backup; 'recall backup {folder}' makes one")
    rows, ok = [], True
    for place in places:
        try:
            found = check(place)
        except BackupError as error:
            rows.append({"folder": str(place), "ok": False, "wrong": [str(error)]})
            ok = False
            if not as_json:
                say(f"damaged  {place}: {error}")
            continue
        whole = not found.wrong and found.manifest.verified
        ok = ok and whole
        rows.append({"folder": str(place), "ok": whole, "wrong": list(found.wrong), **_facts(found)})
        if not as_json:
            say("\n".join(_found(place, found)))
    if as_json:
        emit({"ok": ok, "backups": rows})
    ctx.exit(0 if ok else 1)


def _found(place: Path, found: Checked) -> list[str]:
    one = found.manifest
    held = f"{counted(one.head.seq, 'event')}, {counted(len(one.files), 'file')}, {size(one.size)}, {minute(one.at)}"
    state = "damaged" if found.wrong else "ok" if one.verified else "unverified"
    lines = [f"{state:<8} {place}: {held}", *(f"         {sentence}" for sentence in found.wrong[:10])]
    if found.extra:
        lines.append(f"         {counted(found.extra, 'file')} of an unfinished backup; the next run removes them")
    return lines


def _facts(found: Checked) -> dict[str, Any]:
    one = found.manifest
    return {
        "workspace": one.workspace,
        "at": one.at,
        "events": one.head.seq,
        "files": len(one.files),
        "bytes": one.size,
        "verified": one.verified,
        "extra": found.extra,
    }


def _row(made: Made) -> dict[str, Any]:
    one = made.manifest
    return {
        "workspace": one.workspace,
        "ok": True,
        "folder": str(made.folder),
        "at": one.at,
        "events": one.head.seq,
        "files": len(one.files),
        "bytes": one.size,
        "written": made.written,
        "removed": made.removed,
        "verified": one.verified,
        "noted": made.noted,
        "untaken": list(made.untaken),
    }


def _text(workspace: Workspace, made: Made) -> str:
    one = made.manifest
    gone = f", {counted(made.removed, 'old file')} removed" if made.removed else ""
    return (
        f"{workspace.root or workspace.id}: {counted(one.head.seq, 'event')} in {counted(len(one.files), 'file')},"
        f" {size(one.size)} ({size(made.written)} new{gone}), verified, in {made.folder}"
    )
