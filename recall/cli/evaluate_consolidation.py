"""`recall eval consolidation`: how long consolidation takes."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import note, say


@click.command("consolidation")
@click.option(
    "--weights",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    help="Citations whose weights are folded.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, weights: int, as_json: bool) -> None:
    """Time consolidation on a copy of this project's record.

    Once over everything, then a session of twenty exchanges, then the second of two nights, the second of two in which
    there are more memories than there should be, and a record of citations.
    No reviewer and no drafter is asked, and nothing of this project is changed.

    \b
        recall eval consolidation
    """
    from eval.consolidation_bench import run
    from eval.latency import copy_home
    from recall.cli.work import deps_of, settings_of
    from transcript.workspace import Workspace

    held = app.workspace()
    with tempfile.TemporaryDirectory(prefix="recall-consolidation-") as folder:
        data = copy_home(held, app.data, Path(folder) / "copy")
        workspace = Workspace(held.id, data / "workspaces" / held.id)
        if held.blobs_dir.is_dir():
            shutil.copytree(held.blobs_dir, workspace.blobs_dir)  # long texts, which a turn does not read
        copy = App(app.env, app.cwd, data=data, models=app.models)
        deps = replace(deps_of(copy, workspace, review=False), capture=lambda: 0, draft=None)
        report = run(
            deps,
            settings_of(app),
            now=app.now(),
            scratch=Path(folder) / "weights",
            weight_events=weights,
            progress=note,
        )
    say(report.to_json() if as_json else report.to_text())
