"""`recall replay`: rebuild from the record alone and compare."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import Progress, emit, say


@click.command()
@click.option("--cold", is_flag=True, help="From log/ alone: no snapshot, no view, no index is read.")
@click.option("--vectors", is_flag=True, help="Make every vector anew too, which takes as long as it took at first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, cold: bool, vectors: bool, as_json: bool) -> None:
    """Rebuild everything from the record and compare.

    Views, memories and index are made from the record alone; says whether the ones at hand are equal. In an empty
    folder beside them, from a copy of the record; the ones at hand stay as they are. Exits 1 when one differs:
    'recall project' restores views, 'recall index rebuild' the index.

    \b
        recall replay --cold
    """
    from recall.cli.work import weigh
    from recall.cold_replay import replay

    if not cold:
        raise click.UsageError("replay compares with what the record alone gives: recall replay --cold")
    workspace = app.workspace()
    with Progress("words") as bar:
        done = replay(
            workspace,
            app.config.index(),
            app.embedder(),
            now=app.now(),
            vectors=vectors,
            progress=lambda read, total: bar(read, total, "events"),
            weigh=lambda store: weigh(app, workspace, store),
        )
    if as_json:
        emit(
            {
                "equal": done.equal,
                "events": done.events,
                "views": {part.name: part.state for part in done.views},
                "index": {part.name: {"state": part.state, "note": part.note} for part in done.index},
            }
        )
    else:
        for part in (*done.views, *done.index):
            say(f"{part.state:<8} {part.name}{f'  ({part.note})' if part.note else ''}")
        restored = "not equal: 'recall project' restores views, 'recall index rebuild' the index"
        say("equal" if done.equal else restored)
    ctx.exit(0 if done.equal else 1)
