"""`recall checkpoint`: make memories now, at a break that the agent or its host chose."""

from __future__ import annotations

from typing import Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import Progress, emit
from transcript.errors import CurationError
from transcript.log import Log

TRIGGERS = ("elected", "task", "mistake", "pre-compact", "session-end", "pressure")


@click.command()
@click.option(
    "--trigger",
    type=click.Choice(TRIGGERS),
    help="What gives the occasion; by default elected, with --task task, with --because mistake.",
)
@click.option("--task", "task_name", metavar="T", help="The task that was done.")
@click.option("--because", metavar="POINTER", help="The correction or event that showed a mistake.")
@click.option("--dry-run", is_flag=True, help="Show everything it would write, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(
    app: App,
    ctx: click.Context,
    trigger: str | None,
    task_name: str | None,
    because: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take in this project's sessions and make memories, now.

    What is new becomes memories. Memories, index, log entry, archive, verification, handoff: it is complete only when
    all of them are, else it says which step failed and exits 1; run it again, nothing is done twice.

    \b
        recall checkpoint --task T3
    """
    from consolidation.run import consolidate
    from recall.cli.consolidate import exit_code, report_json, say_report, shown
    from recall.cli.rehearsal import rehearsal
    from recall.cli.work import deps_of, settings_of
    from transcript.curation import resolve

    if task_name and because:
        raise click.UsageError("give --task or --because: a checkpoint has one occasion")
    chosen = trigger or ("task" if task_name else "mistake" if because else "elected")
    if (chosen == "task") != bool(task_name) or (chosen == "mistake") != bool(because):
        raise click.UsageError("--trigger task goes with --task T, --trigger mistake with --because POINTER")
    workspace = app.workspace() if dry_run else app.writable_workspace()
    log = app.log(workspace)
    link = resolve(log, because)[1].id if because else _step_of(log, task_name) if task_name else ""
    options: dict[str, Any] = {"trigger": chosen.replace("-", "_"), "link": link, "now": app.now()}
    with Progress("working") as bar:
        if dry_run:
            with rehearsal(app, workspace) as tried:
                report = consolidate(tried.deps, settings_of(app), **options, dry_run=True, on_stage=shown(bar))
            report = tried.whole(report)
        else:
            report = consolidate(deps_of(app, workspace), settings_of(app), **options, on_stage=shown(bar))
    emit(report_json(report)) if as_json else say_report(report)
    ctx.exit(exit_code(report))


def _step_of(log: Log, name: str) -> str:
    """The event of the last step of a task; CurationError where there is no such task."""
    for event in log.read_back(only="task"):
        if str(event.body.get("task", "")).upper() == name.upper():
            return event.id
    raise CurationError(f"there is no task {name}; 'recall task list' shows them")
