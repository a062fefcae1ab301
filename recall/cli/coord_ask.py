"""Shows a proposal to a person at their terminal, and takes their decision there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recall.cli import person as people
from recall.cli.app import App

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consolidation.coord_decide import Shown
    from consolidation.coord_desk import CoordDesk


def decider(
    app: App, desk: CoordDesk, proposal: str, *, actor: str | None = None, said_as: str | None = None
) -> tuple[people.Person, people.Terminal]:
    """Who decides, and the terminal to ask them at; CoordError, and a note in the record, where that is no person."""
    from transcript import proposal_drafts
    from transcript.errors import CoordError
    from transcript.event import stamp

    try:
        return people.at_terminal(app.env, actor=actor, said_as=said_as)
    except CoordError as error:
        if proposal in desk.state().documents:
            desk.append(proposal_drafts.refused(stamp(desk.now), proposal, error.code, "actor", "decide"))
        raise


def ask_person(
    app: App,
    desk: CoordDesk,
    shown: Shown,
    word: str,
    *,
    rationale: str | None,
    actor: str | None = None,
    said_as: str | None = None,
    revised: Mapping[str, Any] | None = None,
) -> tuple[people.Person, str]:
    """Show a proposal, whole, and return who decided with `word` and why; NotConfirmed where they do not."""
    found, terminal = decider(app, desk, shown.document.id, actor=actor, said_as=said_as)
    desk.keys.current()  # nobody is asked for what cannot be signed
    why = ask(terminal, shown, word, rationale=rationale, revised=revised)
    desk.now = app.now()
    return found, why


def ask(
    terminal: people.Terminal,
    shown: Shown,
    word: str,
    *,
    rationale: str | None = None,
    revised: Mapping[str, Any] | None = None,
) -> str:
    """Show a proposal at a terminal and return why it is decided so; NotConfirmed where the person does not."""
    from consolidation.coord_show import instead, lines, wrapped

    width = people.columns()
    told = lines(shown, width=width)
    if revised is not None:
        told += wrapped(instead(revised), width)
    for line in told:
        terminal.say(line.text)
    return confirmed(terminal, shown, word, rationale=rationale)


def confirmed(terminal: people.Terminal, shown: Shown, word: str, *, rationale: str | None = None) -> str:
    """Return why a person decides so about what they were shown; NotConfirmed without a reason or the digits."""
    from transcript.errors import NotConfirmed

    why = (rationale or terminal.ask("Why?")).strip()
    if not why:
        raise NotConfirmed("a decision has a reason; nothing was decided")
    people.confirm(terminal, shown.action_hash, word)
    return why
