"""`recall replay-turn`: does a recorded turn give the same block again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say

if TYPE_CHECKING:
    from recall.replay import Replay


@click.command()
@click.argument("turn", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, turn: str | None, as_json: bool, demo: bool) -> None:
    """Run a turn again and compare its block.

    With its own clock and settings. Exits 1 when another block comes out, and names what has changed since. Without
    TURN it is the last turn of a hook, or the last search where no hook has answered yet. The record stays as it is.

    \b
        recall replay-turn
    """
    from recall.explain import silence

    replay = again(choose(app, demo), turn)
    if as_json:
        emit({"same": replay.same, "differences": replay.differences, "block": replay.turn.block})
    else:
        say(replay.turn.block or f"nothing is injected: {silence(replay.turn.empty_reason)}")
        for difference in replay.differences:
            note(f"not as it was then: {difference}")
        note(outcome(replay))
    ctx.exit(0 if replay.same else 1)


def outcome(replay: Replay) -> str:
    """Whether the turn came out as it did then."""
    if replay.same:
        return "the same block as then" if replay.turn.block else "as then: nothing was injected"
    return "another block than then" if replay.turn.block else "then a block was injected"


def again(app: App, name: str | None) -> Replay:
    """Replay the turn of this name, or the last one, through the index as it is now."""
    from indexer.tokens import TokenCounter
    from recall.cli.reading import audience_of
    from recall.cli.work import keep_weights_up
    from recall.facets import load
    from recall.replay import replay_turn
    from scoring.pool import score_pool

    workspace = app.workspace()
    log = app.log(workspace)
    body = log.body(app.turn_event(name, log))
    keep_weights_up(app, workspace)
    with app.store(workspace) as store:
        vectors = None if body.get("words_only") else app.vectors(store)
        return replay_turn(
            body,
            store,
            vectors,
            count_tokens=TokenCounter(),
            scorer=score_pool,
            facets=load(workspace.run_dir),
            audience=audience_of(app),
        )
