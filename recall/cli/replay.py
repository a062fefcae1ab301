"""`recall replay`: rebuild from the record alone and compare."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say


@click.command()
@click.option("--cold", is_flag=True, help="From log/ alone: no snapshot, no view, no index is read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, cold: bool, as_json: bool) -> None:
    """Rebuild every view from the record alone and say whether the ones at hand are equal.

    Writes nothing. Exits 1 when one differs; 'recall project' restores it.

    \b
        recall replay --cold
    """
    from transcript.projections.views import equal_when_cold

    if not cold:
        raise click.UsageError("replay compares with what the record alone gives: recall replay --cold")
    equal, each = equal_when_cold(app.workspace())
    if as_json:
        emit({"equal": equal, "views": each})
    else:
        for name, same in each.items():
            say(f"{'equal' if same else 'differs':<8} {name}")
        say("equal" if equal else "not equal: 'recall project' restores the views")
    ctx.exit(0 if equal else 1)
