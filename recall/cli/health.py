"""`recall health`: whether recall works here."""

from __future__ import annotations

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import say


@click.command()
@click.option("--all", "every", is_flag=True, help="Print the signals that are well, too.")
@click.option("--last", type=click.IntRange(min=1), default=50, show_default=True, help="Turns to look back on.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every signal.")
@demo_option
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, every: bool, last: int, as_json: bool, demo: bool) -> None:
    """Print whether recall works here.

    First what is wrong, then the figures that matter most: duplicates, failed embeddings, lag, backend, hooks.
    Reads only. Exit code for cron: 0 ok, 1 look at it, 2 broken, 64 wrong usage. An empty store is never ok.
    In the demo's project no hooks are expected.

    \b
        recall health
    """
    from health.gather import gather
    from health.report import assess
    from indexer.embedder import Embedder, load

    chosen = choose(app, demo)
    settings = chosen.config.index()

    def embedder() -> Embedder:
        return load(settings.model, data_home=str(chosen.models), threads=1)

    facts = gather(
        chosen.workspace(),
        chosen.data,
        chosen.env,
        now=chosen.now(),
        settings=settings,
        load=embedder,
        last=last,
        hooked=not demo,
        consolidation=chosen.config.consolidation(),
        canon=chosen.config.freshness().canon,
    )
    report = assess(facts)
    say(report.to_json() if as_json else report.to_text(every=every))
    ctx.exit(report.exit_code)
