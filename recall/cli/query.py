"""`recall query`: search this project's past."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, moment, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import audience_option
from transcript.telling import minute

if TYPE_CHECKING:
    from recall.turn import Ranked, Turn

SNIPPET = 240


@click.command()
@click.argument("text")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=5, show_default=True, help="Most results.")
@click.option("--root", metavar="PATH", help="Only what was said in sessions of this folder.")
@click.option("--as-of", metavar="TIME", help="Only what had been said before this time.")
@click.option(
    "--session", default="", metavar="ID", help="The running session; by default the one whose hook asked last."
)
@click.option("--words-only", is_flag=True, help="Leave vectors out.")
@click.option("--budget", type=click.Choice(["fixed", "adaptive"]), help="How a turn's budget is decided, for once.")
@audience_option
@click.option("--explain", is_flag=True, help="Print every candidate's terms, and why it was left out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per result.")
@demo_option
@pass_app
def command(
    app: App,
    text: str,
    limit: int,
    root: str | None,
    as_of: str | None,
    session: str,
    words_only: bool,
    budget: str | None,
    audience: str | None,
    explain: bool,
    as_json: bool,
    demo: bool,
) -> None:
    """Search the past of this project for TEXT.

    Prints the ranked list and, for each result, whether a turn would have shown it: the hook's gate never silences a
    person's search. Open a result with 'recall show POINTER'. A result that a hook has put in front of the running
    session already is marked with that turn.

    \b
        recall query "why sqlite and not postgres" -n 3
    """
    from recall.explain import explain_json, explain_text, item_json
    from recall.provenance import injected

    if not text.strip():
        raise click.UsageError("the query is empty")
    when = moment(as_of) if as_of else None
    chosen = choose(app, demo)
    told = injected(chosen.log(chosen.workspace()), session)
    turn = chosen.ask(text, root=root, as_of=when, words_only=words_only, budget=budget or "", audience=audience)
    if explain:
        emit(explain_json(turn)) if as_json else say(explain_text(turn))
        return
    results = listed(turn)[:limit]
    for number, ranked in enumerate(results, start=1):
        if as_json:
            emit({"mode": "tool", **item_json(ranked), "injected": told.get(ranked.candidate.pointer.event, "")})
        else:
            say(("" if number == 1 else "\n") + result_text(number, ranked, told.get(ranked.candidate.pointer.event)))
    if not results and not as_json:
        note(f"nothing found: {reason(turn)}")


def listed(turn: Turn) -> list[Ranked]:
    """The results a person sees, best first: no second passage of a record, nothing that policy keeps out."""
    from recall.selection import POLICY

    return [r for r in turn.ranked if r.verdict not in POLICY and r.verdict not in ("near_copy", "same_record")]


def reason(turn: Turn) -> str:
    """Why nothing was found, in words."""
    from recall.explain import SILENCE

    return SILENCE.get(turn.empty_reason, turn.empty_reason or "no match")


def result_text(number: int, ranked: Ranked, turn: str | None = None) -> str:
    """One result for people: what it is, where it stands, how it scored, and its words."""
    from recall.injection import ended, label, pointer_text
    from recall.selection import REASONS

    item = ranked.candidate
    said = ", ".join((minute(item.pointer.said), *ended(item)))
    near = "no vector" if item.cosine is None else f"cosine {item.cosine:.2f}"
    shown = (
        "a turn shows it" if ranked.shown else f"a turn leaves it out: {REASONS.get(ranked.verdict, ranked.verdict)}"
    )
    words = " ".join(item.text.split())
    lines = [
        f"{number}. {pointer_text(item.pointer)}  {label(item)[0]}, {said}  "
        f"R {ranked.score.total:.3f} ({near}, bm25 {item.bm25:.1f})  {shown}"
    ]
    if item.head.strip() and item.source != "prompt":
        where = f" ({pointer_text(item.asked)})" if item.asked else ""
        lines.append(f"   asked{where}: {shortened(' '.join(item.head.split()), SNIPPET // 2)}")
    lines.append(f"   {shortened(words, SNIPPET)}")
    lines += [f"   {note}" for note in item.notes]
    if turn:
        lines.append(f"   injected already: a hook put it in front of this session in turn {turn}")
    return "\n".join(lines)


def shortened(text: str, most: int) -> str:
    """Return text in at most this many characters, cut between words."""
    if len(text) <= most:
        return text
    return text[: text.rfind(" ", 0, most - 1) if " " in text[: most - 1] else most - 1] + " …"
