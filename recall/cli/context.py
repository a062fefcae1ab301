"""`recall context`: a window on the conversation."""

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say
from recall.cli.show import as_dict, heading


@click.command()
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="Most turns of a page.")
@click.option("--cursor", help="Go on where an earlier page ended.")
@click.option("--around", metavar="POINTER", help="The turns around one event instead.")
@click.option(
    "--radius", type=click.IntRange(min=0), default=5, show_default=True, help="With --around: on either side."
)
@click.option("--session", metavar="ID", help="Only turns of this session.")
@click.option("--agent", help="Only turns of this harness.")
@click.option("--tokens", type=click.IntRange(min=1), default=8000, show_default=True, help="Token cap of a page.")
@click.option("--all", "every", is_flag=True, help="The whole record, without either cap.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a turn, then one with the cursor.")
@demo_option
@pass_app
def command(
    app: App,
    last: int,
    cursor: str | None,
    around: str | None,
    radius: int,
    session: str | None,
    agent: str | None,
    tokens: int,
    every: bool,
    as_json: bool,
    demo: bool,
) -> None:
    """Print the newest turns of this project's record.

    Oldest first, with a cursor to the page before. Never the whole record unless you ask with --all: a page has
    at most 20 turns and 8,000 tokens.

    \b
        recall context --last 20
    """
    from indexer.tokens import TokenCounter
    from transcript.context import context

    chosen = choose(app, demo)
    window = context(
        chosen.log(chosen.workspace()),
        last=last,
        around=around,
        radius=radius,
        cursor=cursor,
        session=session,
        agent=agent,
        all=every,
        token_cap=tokens,
        count_tokens=TokenCounter(),
    )
    if as_json:
        for turn in window.turns:
            emit(
                {
                    **as_dict(turn.event),
                    "text": turn.text,
                    "tokens": turn.tokens,
                    "target": turn.target,
                    "cut": turn.cut,
                }
            )
        emit({"cursor": window.cursor, "note": window.note})
        return
    for turn in window.turns:
        say(f"{'>' if turn.target else ' '} {heading(turn.event)}\n{turn.text}\n")
    if window.note:
        note(window.note)
    if window.cursor:
        say(f"cursor {window.cursor}")
