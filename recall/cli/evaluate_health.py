"""`recall eval health`: how long the report takes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import say


@click.command("health")
@click.option("-n", "runs", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of each kind.")
@click.option("--chunks", type=click.IntRange(min=1), help="On a copy with only the newest chunks, this many.")
@click.option("--page", is_flag=True, help="Time the page at its largest in a browser instead; no project is read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every single time.")
@pass_app
def command(app: App, runs: int, chunks: int | None, page: bool, as_json: bool) -> None:
    """Time `recall health` of this project, or its page.

    As whole processes. With the index's figures counted anew (--recount), and with those kept from the last time. On
    a system that does not count the CPU of children that figure is 0. --page opens a page that holds all it may, by
    turns with an empty one.

    \b
        recall eval health
        recall eval health --chunks 36414
    """
    if page:
        from eval import page_bench

        opened = page_bench.run(runs=runs)
        say(opened.to_json() if as_json else opened.to_text())
        return
    from eval.health_bench import run

    app.workspace()  # says what is missing before a process is started
    if chunks is None:
        report = run(app.cwd, app.env, runs=runs)
    else:
        from recall.cli.evaluate import own_stand

        with tempfile.TemporaryDirectory(prefix="recall-health-", ignore_cleanup_errors=True) as folder:
            stand, _ = own_stand(app, Path(folder), chunks, fill=False)
            report = run(app.cwd, {**app.env, "RECALL_HOME": str(stand.data)}, runs=runs)
    say(report.to_json() if as_json else report.to_text())
