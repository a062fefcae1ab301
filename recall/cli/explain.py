"""`recall explain`: why a turn showed what it showed."""

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say


@click.command()
@click.argument("turn", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def command(app: App, turn: str | None, as_json: bool, demo: bool) -> None:
    """Run a turn again and print every candidate with its terms.

    Each with its sum, and why it was shown or left out. TURN is the id, or the block's hash, that 'recall last -n
    20' prints; without it the last turn of a hook is explained, or the last search where no hook has answered yet.
    The record stays as it is.

    \b
        recall explain
    """
    from recall.cli.replay_turn import again
    from recall.explain import explain_json, explain_text

    replay = again(choose(app, demo), turn)
    for difference in replay.differences:
        note(f"not as it was then: {difference}")
    emit(explain_json(replay.turn)) if as_json else say(explain_text(replay.turn))
