"""`recall context`: a window on the conversation."""

import click

from recall.cli.app import App, choose, demo_option, moment, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import audience_option, door
from recall.cli.show import as_dict, heading
from transcript.telling import counted


@click.command()
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="Most turns of a page.")
@click.option("--cursor", help="Go on where an earlier page ended.")
@click.option("--around", metavar="POINTER", help="The turns around one event instead.")
@click.option(
    "--radius", type=click.IntRange(min=0), default=5, show_default=True, help="With --around: on either side."
)
@click.option("--session", metavar="ID", help="Only turns of this session; the first 8 characters will do.")
@click.option("--agent", metavar="NAME", help="Only turns of this harness; the beginning of its name will do.")
@click.option(
    "--role", type=click.Choice(["user", "assistant", "tool", "system", "human"]), help="Only what this role said."
)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Events of this type; may be repeated.")
@click.option("--topic", default="", metavar="WORDS", help="Only what holds all of these words.")
@click.option("--near", "meaning", metavar="TEXT", help="Only what is near to TEXT in meaning, by vectors.")
@click.option("--since", metavar="TIME", help="Only from this moment on.")
@click.option("--until", metavar="TIME", help="Only before this moment.")
@click.option("--include-workers", "workers", is_flag=True, help="Sub-agents' turns too.")
@click.option("--surface", default="", help="Only what was said on this surface.")
@click.option("--session-key", default="", metavar="KEY", help="The sessions that this key unites, in order of time.")
@click.option("--tokens", type=click.IntRange(min=1), default=8000, show_default=True, help="Token cap of a page.")
@click.option("--all", "every", is_flag=True, help="The whole record, without either cap.")
@audience_option
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
    role: str | None,
    types: tuple[str, ...],
    topic: str,
    meaning: str | None,
    since: str | None,
    until: str | None,
    workers: bool,
    surface: str,
    session_key: str,
    tokens: int,
    every: bool,
    audience: str | None,
    as_json: bool,
    demo: bool,
) -> None:
    """Print the newest turns of this project's record.

    Oldest first, with a cursor to the page before. Never the whole record unless you ask with --all: a page has
    at most 20 turns and 8,000 tokens. Filters combine: what is printed passes all of them.
    Credentials are masked: agents read this, and keep what they read. 'recall show' has the exact words.

    \b
        recall context --agent grok --topic hooks --last 20
    """
    from indexer.tokens import TokenCounter
    from recall.cli.nearness import near
    from transcript.context import context
    from transcript.event import is_type, stamp
    from transcript.filters import SHORT_SESSION, TURN, Filter
    from transcript.secrets import veil

    if around is not None and (cursor or every):
        raise click.UsageError("--around is one page: leave --cursor and --all out; --radius makes it wider")
    if meaning is not None and not meaning.strip():
        raise click.UsageError("the text of --near is empty")
    for name in types:
        if not is_type(name):
            raise click.UsageError(f"the record knows no events of type '{name}'; docs/schema.md lists them")
    chosen = choose(app, demo)
    wanted = Filter(
        session=session,
        agent=agent_name(agent) if agent else None,
        role=role,
        types=frozenset(types) or TURN,
        topic=topic,
        since=stamp(moment(since)) if since else "",
        until=stamp(moment(until)) if until else "",
        workers=workers,
        surface=surface,
        session_key=session_key,
        only=near(chosen, meaning) if meaning else None,
    )
    log = chosen.log(chosen.workspace())
    exit_ = door(chosen, log.workspace, audience)
    exit_.refuse_record("the conversation")
    window = context(
        log,
        last=last,
        around=around,
        radius=radius,
        cursor=cursor,
        wanted=wanted,
        all=every,
        token_cap=tokens,
        count_tokens=TokenCounter(),
    )
    turns = [turn for turn in window.turns if exit_.lets_event(log, turn.event)]
    if len(turns) < len(window.turns):
        note(f"{counted(len(window.turns) - len(turns), 'turn')} left out, private")
    if as_json:
        for turn in turns:
            emit(
                {
                    **as_dict(turn.event),
                    "text": veil(turn.text),
                    "tokens": turn.tokens,
                    "target": turn.target,
                    "cut": turn.cut,
                }
            )
        emit({"cursor": window.cursor, "note": window.note})
        return
    for turn in turns:
        say(f"{'>' if turn.target else ' '} {heading(turn.event)}\n{veil(turn.text)}\n")
    if window.note:
        note(window.note)
    if session and not window.turns and len(session) < SHORT_SESSION:
        note(f"'{session}' is no whole session id, and of one at least {SHORT_SESSION} characters are needed")
    if window.cursor:
        say(f"cursor {window.cursor}")


def agent_name(given: str) -> str:
    """The harness that a name or its beginning stands for; what stands for none is taken as it is."""
    from transcript.adapters.names import HARNESSES, matching

    ours = matching(given, HARNESSES)
    found = ours if len(ours) == 1 else matching(given, harnesses())
    if len(found) > 1:
        raise click.UsageError(f"'{given}' may be {', '.join(found)}; write more of the name")
    return found[0] if found else given


def harnesses() -> list[str]:
    """The names of all harnesses that there are adapters for."""
    from transcript.adapters.registry import registered

    return sorted({adapter.harness for adapter in registered().adapters})
