"""`recall eval health`: how long the report takes."""

from __future__ import annotations

import click

from recall.cli.app import App, pass_app
from recall.cli.output import say


@click.command("health")
@click.option("-n", "runs", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of each kind.")
@click.option("--page", is_flag=True, help="Time the page at its largest in a browser instead; no project is read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every single time.")
@pass_app
def command(app: App, runs: int, page: bool, as_json: bool) -> None:
    """Time `recall health` of this project, or its page.

    As whole processes. With the index's figures counted anew (--recount), and with those kept from the last time. On
    a system that does not count the CPU of children that figure is 0. --page opens a page that holds all it may, by
    turns with an empty one.

    \b
        recall eval health
    """
    if page:
        from eval import page_bench

        opened = page_bench.run(runs=runs)
        say(opened.to_json() if as_json else opened.to_text())
        return
    from eval.health_bench import run

    app.workspace()  # says what is missing before a process is started
    report = run(app.cwd, app.env, runs=runs)
    say(report.to_json() if as_json else report.to_text())
