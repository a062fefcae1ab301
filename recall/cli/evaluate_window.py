"""`recall eval window`: how long the plan of a live window takes."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import say


@click.command("window")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--harness", default="claude-code", show_default=True, metavar="NAME", help="Whose session it is.")
@click.option("-n", "runs", type=click.IntRange(min=1), default=5, show_default=True, help="Plans of each kind.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every single time.")
@pass_app
def command(app: App, file: Path, harness: str, runs: int, as_json: bool) -> None:
    """Time the plan of a session's live window.

    FILE is a harness's session file. It is taken into a record of its own in a temporary folder; then its window is
    planned from the file and from the record, tokens counted anew each time.

    \b
        recall eval window session.jsonl
    """
    from eval.window_bench import run

    report = run(file, harness, runs=runs, env=app.env)
    say(report.to_json() if as_json else report.to_text())
