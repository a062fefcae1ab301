"""A person's decision about a memory as one command: proposed, shown, signed and applied, or left to wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from recall.cli import person as people
from recall.cli.caller import name_of
from recall.cli.coord_ask import ask
from recall.cli.coord_work import desk_of, effects_of, followed, same_waiting, settle
from recall.cli.output import emit, say

if TYPE_CHECKING:
    from consolidation.coord_decide import Shown
    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_effects import RecallEffects
    from consolidation.coord_schema import Document
    from recall.cli.app import App
    from recall.cli.curate import Desk
    from transcript.event import Draft, Event

Events = Sequence["Draft | Event"]
Told = Callable[[Events], str]


def decided_at_once(
    desk: Desk,
    action: Mapping[str, Any],
    told: Told,
    *,
    word: str = "approve",
    new: Sequence[Draft] = (),
    rehearse: Callable[[], Events] = tuple,
) -> None:
    """Let the person at the terminal decide on an action and say what came of it; else leave a proposal, exit code 1.

    `new` are events that the action rests on and the record lacks; `rehearse` returns what a dry run tells.
    """
    from transcript.errors import CoordError, CurationError

    app, said = desk.app, desk.said
    coord = desk_of(app, writes=not said.dry_run)
    effects = effects_of(app, coord)
    try:
        person, terminal = people.at_terminal(app.env, actor=said.actor, said_as=said.kind_of_actor)
    except CoordError as error:
        if word == "decline":
            raise CurationError(f"{error}; it waits as it did") from None
        if said.dry_run:
            _say(f"a proposal that waits for a person ({error})", (), said.as_json, dry_run=True)
        else:
            _left_waiting(app, coord, effects, action, new, error, as_json=said.as_json)
        raise click.exceptions.Exit(1) from None
    if said.dry_run:
        _say(told(rehearse()), rehearse(), said.as_json, dry_run=True)
        return
    settle(coord, effects)
    if new:
        coord.append(*new)
    coord.keys.current()  # nobody is asked for what cannot be signed
    shown = _shown(coord, effects, action)
    ask(terminal, shown, word, rationale=str(action["summary"]))
    coord.now = app.now()
    found, more = _done(coord, effects, shown, word, person, str(action["summary"]))
    followed(app, coord, effects)
    _say(told(found), found, said.as_json, **more)


def _shown(coord: CoordDesk, effects: RecallEffects, action: Mapping[str, Any]) -> Shown:
    """What the person is asked about: a proposal of this action that waits already, or one that is not written yet."""
    from consolidation.coord_decide import show, shown

    held = same_waiting(coord, action)
    return show(coord, held.id) if held is not None else shown(coord, _drafted(coord, effects, action))


def _drafted(coord: CoordDesk, effects: RecallEffects, action: Mapping[str, Any]) -> Document:
    from recall.cli.coord_propose import refuse_impossible

    document = coord.drafted(action, source_task="recall memory")
    refuse_impossible(coord, document, effects)
    return document


def _done(
    coord: CoordDesk, effects: RecallEffects, shown: Shown, word: str, person: people.Person, why: str
) -> tuple[list[Event], dict[str, Any]]:
    """Carry out the decision; return the memory events it came to, and what else is told."""
    from consolidation.coord_apply import apply
    from consolidation.coord_decide import decide
    from transcript.coord_codes import Refusal

    before, name = coord.log.head().position, shown.document.id
    with coord.lock():
        if name not in coord.state().documents:
            coord.put(shown.document, by=person.name)
        decide(coord, shown, word, person=person, rationale=why)
        more: dict[str, Any] = {"proposal_id": name, "event_id": None, "canonical_changed": False}
        if word == "approve":
            outcome = apply(coord, name, effects)
            if outcome.code:
                raise Refusal(outcome.code, outcome.field, outcome.note).error()
            more |= {"event_id": outcome.event_id, "canonical_changed": outcome.changed}
        else:
            settle(coord, effects)
    made = [one for one in coord.log.read(before) if one.type.startswith("memory.")]
    return [replace(one, body=coord.log.body(one)) for one in made], more


def _left_waiting(
    app: App,
    coord: CoordDesk,
    effects: RecallEffects,
    action: Mapping[str, Any],
    new: Sequence[Draft],
    error: Exception,
    *,
    as_json: bool,
) -> None:
    """Leave a proposal for a person, the one that waits already where there is one."""
    settle(coord, effects)
    if new:
        coord.append(*new)
    document = same_waiting(coord, action)
    if document is None:
        document = _drafted(coord, effects, action)
        coord.put(document, by=name_of(app.env))
    told = f"{document.id[:8]} waits for a person: 'recall coord review {document.id[:8]}' ({error})"
    _say(told, (), as_json, proposal_id=document.id, event_id=None, canonical_changed=False, waits=True)


def _say(text: str, found: Events, as_json: bool, *, dry_run: bool = False, **more: Any) -> None:
    if as_json:
        events = [{"id": one.id, "type": one.type, "body": one.body} for one in found]
        emit({"dry_run": dry_run, "text": text, "events": events, **more})
    else:
        say(f"would be: {text}" if dry_run else text)
