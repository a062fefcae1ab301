"""`recall restore`: a record back from its backup, what was forgotten since kept forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, one_line, say, unusable
from transcript.errors import BackupError, RecallError
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from indexer.queue import EmbedReport
    from transcript.restore import Restored


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--project",
    type=click.Path(file_okay=False, path_type=Path),
    help="The project's folder; without it the one that the backup names, where it is here.",
)
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), help="Another data folder than RECALL_HOME.")
@click.option("--replace", is_flag=True, help="Set a record that is here aside, and put the backup's in its place.")
@click.option("--words-only", is_flag=True, help="Leave the vectors for later.")
@click.option("--dry-run", is_flag=True, help="Check the backup, say what would be done, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(
    app: App,
    ctx: click.Context,
    folder: Path,
    project: Path | None,
    into: Path | None,
    replace: bool,
    words_only: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Put a project's record back from DIR.

    'recall backup' wrote DIR. It is the folder of one workspace, or holds several; then the one of this project is
    taken. The whole backup is checked before a byte is written. What was erased here since the backup
    is erased in it before anything can recall it. A record that is here stays, unless --replace sets it aside. Files
    that you wrote are given back only where none stands; one that cannot be written is named, and the exit code is 1.
    The index is no part of a backup and is made here: words at once, then vectors where the model is here. That takes
    minutes; Ctrl-C leaves the rest to 'recall index'.

    \b
        recall restore /media/disk/recall --project ~/shop-api
    """
    from recall.uninstall import stop_service
    from transcript.restore import restore

    data = app.data if into is None else into.absolute()
    place = _place(app, folder, project)
    if not dry_run:
        stop_service(data)  # it holds files of the folder that is renamed
    done = restore(place, data, project=project, replace=replace, dry_run=dry_run, now=app.now())
    if not as_json:
        say("\n".join(_lines(done, dry_run)))  # before what may still fail: the record is in its place
    if dry_run:
        if as_json:
            emit(_row(done, dry_run))
        return
    stop_service(data)  # one that a turn started meanwhile holds the old index
    row, stopped = _row(done, dry_run), False
    try:
        made = _bring_up(app, done, data, words_only=words_only)
    except KeyboardInterrupt:
        note("the record is restored and in its place; 'recall index' goes on with the index")
        made, stopped = None, True
    if as_json:
        emit({**row, "vectors": made})
    elif made is not None:
        say(_vectors_line(made))
    if stopped:
        raise KeyboardInterrupt
    ctx.exit(1 if done.unwritten else 0)


def _place(app: App, folder: Path, project: Path | None) -> Path:
    """The backup meant: the only one in DIR, or the one whose project or workspace is this one."""
    from transcript.backup import backups, read_manifest
    from transcript.roots import same_place
    from transcript.workspace import locate

    places = backups(folder)
    if not places:
        raise BackupError(f"{folder} holds no backup: no manifest is in it or in a folder of it")
    if len(places) == 1:
        return places[0]
    here = project or app.cwd
    known = locate(here, app.data)
    for place in places:
        manifest = read_manifest(place)
        if known is not None and manifest.workspace == known.id:
            return place
        if any(same_place(root, str(here.absolute())) for root in manifest.roots):
            return place
    names = ", ".join(place.name for place in places[:5])
    raise BackupError(f"{folder} holds {len(places)} backups, none of {here}; name one of its folders: {names}")


def _bring_up(app: App, done: Restored, data: Path, *, words_only: bool) -> dict[str, Any] | None:
    """Write views and make the index of what was restored; return how its vectors stand, None for no project's."""
    from indexer.queue import pending
    from recall.cli import index

    root = done.workspace.root
    if root is None:
        return None
    there = App({**app.env, "RECALL_HOME": str(data)}, root, data, app.models)
    try:
        there.bring_up(done.workspace)
    except (RecallError, OSError) as error:  # a project that takes no file is no reason to find nothing
        told = unusable(error) if isinstance(error, OSError) else str(error)
        if not told:
            raise
        note(f"the pages of the record are not written: {one_line(told)}, then run 'recall project'")
    _, vectors = index.run(there, words_only=words_only)
    with there.store(done.workspace) as store:
        missing = len(pending(store, store.generation, there.config.index()))
    return {"made": vectors.embedded if vectors else 0, "missing": missing, "why": _why(vectors, words_only)}


def _why(vectors: EmbedReport | None, words_only: bool) -> str:
    """Why vectors are missing, "" where that needs no words."""
    if words_only:
        return "--words-only"
    return vectors.refused if vectors is not None else "the model is not at hand, as said above"


def _vectors_line(made: dict[str, Any]) -> str:
    if not made["missing"]:
        return f"  vectors: {counted(made['made'], 'passage has', 'passages have')} one, none is missing"
    why = f" ({made['why']})" if made["why"] else ""
    return (
        f"  vectors: {counted(made['missing'], 'passage has', 'passages have')} none{why}; until 'recall index' makes"
        " them, those are found by words alone"
    )


def _lines(done: Restored, dry_run: bool) -> list[str]:
    one = done.manifest
    of = f"{counted(one.head.seq, 'event')} of {minute(one.at)}"
    if dry_run:
        aside = f"; the record here, {counted(done.here, 'event')}, would be set aside" if done.here else ""
        return [f"the backup is whole: {of} would be restored for {done.workspace.root or one.workspace}{aside}"]
    lines = [f"restored: {of} for {done.workspace.root or one.workspace}, verified"]
    if done.erased:
        lines.append(f"  {counted(done.erased, 'event')} erased again: forgotten here after the backup was made")
    if done.aside is not None:
        lines.append(f"  the record that was here is in {done.aside}; remove it when you no longer need it")
    lines += [f"  given back: {path}" for path in done.settings]
    lines += [f"  left as it is here: {path}" for path in done.kept]
    lines += [f"  not written: {path} ({why}); its copy is {copy}" for path, why, copy in done.unwritten]
    if done.unwritten:
        lines.append("  next: mend what keeps those from being written, then copy each to its place")
    lines.append("  next: 'recall sync' for sessions since, 'recall enable-hooks' on a new machine")
    return lines


def _row(done: Restored, dry_run: bool) -> dict[str, Any]:
    one = done.manifest
    return {
        "restored": not dry_run,
        "workspace": one.workspace,
        "root": done.workspace.root,
        "at": one.at,
        "events": one.head.seq,
        "here": done.here,
        "aside": done.aside,
        "erased": done.erased,
        "settings": done.settings,
        "kept": done.kept,
        "unwritten": [{"path": path, "why": why, "copy": copy} for path, why, copy in done.unwritten],
    }
