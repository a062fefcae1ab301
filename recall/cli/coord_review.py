"""`recall coord review`: go through the proposals that wait, and decide."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from recall.cli import person as people
from recall.cli.app import App, pass_app
from recall.cli.coord_ask import confirmed, decider
from recall.cli.coord_out import Report, reports
from recall.cli.coord_reviewing import Review, cleaned, told
from recall.cli.coord_work import desk_of, effects_of, followed, named, settle
from recall.cli.output import note
from transcript.telling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from consolidation.coord_decide import Shown

EXTRA = "for a screen instead of questions: pip install 'lca-recall[review]'"
LEAST = 40  # columns of a terminal that can hold the screen
WORDS = {"a": "approve", "d": "decline", "r": "revise"}


@click.command()
@click.argument("name", metavar="[ID]", required=False)
@click.option("--plain", is_flag=True, help="Ask line by line, without a screen.")
@click.option("--actor", metavar="NAME", help="Who decides; by default the user of this machine.")
@pass_app
@reports("review")
def review(app: App, name: str | None, plain: bool, actor: str | None) -> Report:
    """Go through what waits, and decide. For a person.

    Each proposal is shown whole, with its evidence. Draws a screen where the terminal can (keys: arrows, a, d, r); else
    it asks line by line. What is signed is what was shown: characters that nobody sees, or that pass for others, are
    printed as escapes. Approving is possible once the end was reached, and needs the first digits of the action's hash.
    Exits 1 when something was declined.

    \b
        recall coord review
    """
    from transcript.errors import NotConfirmed

    desk = desk_of(app, writes=True)
    effects = effects_of(app, desk)
    settle(desk, effects)
    whole = named(desk, name) if name is not None else ""
    person, terminal = decider(app, desk, whole, actor=actor)
    work = Review(app, desk, person)
    if whole:
        work.show(whole)  # what cannot be shown is an error, not an empty list
    try:
        draw = None if plain or not _can_draw(app.env) else _screen()
        if draw is not None:
            draw(work, whole)
        else:
            ask(work, terminal, whole)
    except NotConfirmed:
        note("stopped; what was decided before stays")
    if work.made:
        followed(app, desk, effects)
    return _report(work)


def _report(work: Review) -> Report:
    left = len(work.waiting())
    lines = [told(made) for made in work.made]
    lines.append(f"{counted(left, 'proposal')} still waiting" if left else "nothing waits for a decision")
    if work.unread():
        lines.append(f"{counted(work.unread(), 'file')} cannot be shown: recall coord verify")
    rows = [
        {
            "proposal_id": made.document.id,
            "state": made.document.state,
            "new_id": made.new.id if made.new is not None else None,
        }
        for made in work.made
    ]
    return Report(
        id=str(rows[0]["proposal_id"]) if len(rows) == 1 else None,
        state=str(rows[0]["state"]) if len(rows) == 1 else None,
        evidence_refs=list(dict.fromkeys(ref for made in work.made for ref in made.document.evidence_refs)),
        human_decision_required=left > 0,
        text="\n".join(lines),
        more={"decisions": rows, "waiting": left},
        code=1 if any(made.document.state == "declined" for made in work.made) else 0,
    )


def _can_draw(env: Mapping[str, str]) -> bool:
    """Whether standard input and error are the terminal in front, and one that can draw."""
    if env.get("TERM", "") in ("", "dumb") and sys.platform != "win32":
        return False
    try:
        if not (os.isatty(0) and os.isatty(2)):
            return False
        return people.in_front(0) and os.get_terminal_size(2).columns >= LEAST
    except OSError:
        return False


def _screen() -> Callable[[Review, str], None] | None:
    """What draws the screen, None (and a note) without its library."""
    try:
        from recall.cli.review_screen import run
    except ImportError:
        note(EXTRA)
        return None
    return run


def ask(work: Review, terminal: people.Terminal, only: str = "") -> None:
    """Show each proposal whole and take a decision: approve, decline, revise or skip; `q` stops."""
    from consolidation.coord_show import lines
    from transcript.errors import CoordError, NotConfirmed

    names = [only] if only else [one.id for one in work.waiting()]
    fault = work.key_fault()
    if names and fault:
        terminal.say(fault)
    for number, name in enumerate(names, 1):
        try:
            what = work.show(name)
            for line in lines(what, width=people.columns()):
                terminal.say(line.text)
            said = ""
            while said not in (*WORDS, "s", "q"):
                ends = f"({number} of {len(names)}) a approve, d decline, r revise, s skip, q stop:"
                said = terminal.ask(ends).lower()[:1]
            if said == "q":
                return
            if said in WORDS:
                terminal.say(_decided(work, terminal, what, WORDS[said]))
        except NotConfirmed as stopped:
            if "nobody answered" in str(stopped):
                raise
            terminal.say(str(stopped))
        except CoordError as error:
            terminal.say(f"not decided: {error}")


def _decided(work: Review, terminal: people.Terminal, what: Shown, word: str) -> str:
    from consolidation.coord_show import instead, wrapped

    revised = None
    if word == "revise":
        revised = work.revised(what, **_other(terminal, what))
        for line in wrapped(instead(revised), people.columns()):
            terminal.say(line.text)
    return work.decide(what, word, confirmed(terminal, what, word), revised=revised)


def _other(terminal: people.Terminal, what: Shown) -> dict[str, Any]:
    """What the new proposal says instead, asked for field by field; an empty answer keeps the old."""
    from consolidation.coord_escape import shown

    action = what.document.action
    summary = terminal.ask("New summary (empty keeps the old one):") or str(action["summary"])
    kept = " ".join(action["evidence_refs"])
    refs = terminal.ask(f"Evidence, with | between (empty keeps: {shown(kept) or 'none'}):")
    given = [one.strip() for one in refs.split("|") if one.strip()] if refs else list(action["evidence_refs"])
    return {"summary": cleaned(summary), "evidence_refs": list(dict.fromkeys(given))}
