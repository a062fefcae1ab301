"""The commands of `recall coord` by which a proposal takes effect or does not: decide, apply, expire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.coord_ask import ask_person
from recall.cli.coord_out import Report, reports
from recall.cli.coord_propose import action_of, action_options, revised_action
from recall.cli.coord_reviewing import next_of
from recall.cli.coord_work import desk_of, effects_of, followed, named, settle
from recall.governance_settings import MOST_DAYS

if TYPE_CHECKING:
    from consolidation.coord_apply import Outcome
    from consolidation.coord_decide import Shown
    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_effects import RecallEffects

WORDS = ("approve", "decline", "revise")


@click.command()
@click.argument("name", metavar="ID")
@click.argument("word", type=click.Choice(WORDS))
@click.option("--rationale", metavar="T", help="Why; asked for where it is not given.")
@action_options
@click.option("--actor", metavar="NAME", help="Who decides; by default the user of this machine.")
@click.option("--as", "said_as", type=click.Choice(["agent", "human"]), help="What the actor is; only a person may.")
@pass_app
@reports("decide")
def decide(
    app: App, name: str, word: str, rationale: str | None, actor: str | None, said_as: str | None, **given: Any
) -> Report:
    """Approve, decline or revise a proposal. A person's decision, made at a terminal.

    Shows the whole document with its evidence and signs what was shown. The answer is read from the terminal itself,
    never from a pipe. Declining is no success (exit code 1); revising writes a new proposal, and neither is approved.

    \b
        recall coord decide 3f2504e0 approve --rationale "as we agreed on Monday"
    """
    from consolidation.coord_decide import decide as decided
    from consolidation.coord_decide import show

    if word != "revise" and any(given.values()):
        raise click.UsageError("--summary, --evidence and the like go with revise")
    desk = desk_of(app, writes=True)
    effects = effects_of(app, desk)
    settle(desk, effects)
    whole = named(desk, name)
    shown = show(desk, whole)
    revised = _revised(app, desk, effects, shown, given) if word == "revise" else None
    person, why = ask_person(app, desk, shown, word, rationale=rationale, actor=actor, said_as=said_as, revised=revised)
    made = decided(desk, shown, word, person=person, rationale=why, revised=revised)
    settle(desk, effects)
    if effects.changed:
        followed(app, desk, effects)
    document, new = made.document, made.new
    told = {"approve": "approved", "decline": "declined", "revise": "revised"}[word]
    lines = [f"{document.id} is {told} by {person.name}"]
    if word == "approve":
        lines.append(next_of(document))
    if new is not None:
        lines.append(f"approval: none; the new proposal is {new.id}")
    return Report(
        id=document.id,
        state=document.state,
        evidence_refs=document.evidence_refs,
        human_decision_required=new is not None,
        text="\n".join(lines),
        more={
            "decision": {key: value for key, value in (document.decision or {}).items() if key != "mac"},
            "approval": "granted" if word == "approve" else "none",
            "new_id": new.id if new is not None else None,
        },
        code=1 if word == "decline" else 0,
    )


def _revised(app: App, desk: CoordDesk, effects: RecallEffects, shown: Shown, given: dict[str, Any]) -> dict[str, Any]:
    """The action as it is to be instead: the old one with what was given in place of what it said."""
    if not any(given.values()):
        raise click.UsageError("what is to be said instead? give --summary, --evidence, --target or the like")
    new = action_of(app, desk, shown.document.operation, **given)
    changed = {name: value for name, value in new.items() if value not in (None, "", [])}
    return revised_action(desk, effects, shown, changed)


@click.command()
@click.argument("name", metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="Every approved proposal, oldest first.")
@click.option("--dry-run", is_flag=True, help="Say what would be applied or refused, and change nothing.")
@pass_app
@reports("apply")
def apply(app: App, name: str | None, every: bool, dry_run: bool) -> Report:
    """Append what was approved to memory.yml.

    One line of .coord/memory.yml for each. Everything the decision covers is held against what stands there now;
    what differs is refused, waits for a person again, and nothing is appended (exit code 1). A second time it
    changes nothing and says so.

    \b
        recall coord apply 3f2504e0
    """
    from consolidation.coord_apply import apply as applied
    from consolidation.coord_apply import check

    if (name is None) != every:
        raise click.UsageError("give one proposal's ID, or --all")
    desk = desk_of(app, writes=not dry_run)
    effects = effects_of(app, desk)
    if not dry_run:
        settle(desk, effects)
    names = [named(desk, name)] if name is not None else _approved(desk)
    done: list[tuple[str, Outcome]] = []
    for one in names:
        if dry_run:
            done.append((one, _would(desk, one, check(desk, desk.held(one).document, effects))))
        else:
            done.append((one, applied(desk, one, effects)))
    if any(outcome.changed for _, outcome in done) and not dry_run:
        followed(app, desk, effects)
    return _applied(desk, done, dry_run=dry_run, single=name is not None)


def _approved(desk: CoordDesk) -> list[str]:
    known = [one for one in desk.state().documents.values() if one.state == "approved" and not one.erased]
    return [one.id for one in sorted(known, key=lambda one: one.decided_seq)]


def _would(desk: CoordDesk, name: str, fault: Any) -> Outcome:
    from consolidation.coord_apply import ALREADY, Outcome

    done = next((one for one in desk.state().applied if one.proposal == name), None)
    if done is not None:
        return Outcome("applied", done.event_id, note=ALREADY)
    known = desk.state().documents.get(name)
    state = known.state if known is not None else "proposed"
    if fault is None:
        return Outcome(state)
    return Outcome(state, code=fault.code, field=fault.field, note=fault.message)


def _applied(desk: CoordDesk, done: list[tuple[str, Outcome]], *, dry_run: bool, single: bool) -> Report:
    changed = [outcome for _, outcome in done if outcome.changed]
    failed = [outcome for _, outcome in done if outcome.code]
    rows = [
        {"proposal_id": one, "state": it.state, "event_id": it.event_id or None, "code": it.code or None}
        | {"field": it.field or None, "note": it.note or None}
        for one, it in done
    ]
    lines = [_line(one, outcome, dry_run=dry_run) for one, outcome in done]
    held = desk.documents().by_id
    refs = [ref for one, _ in done if one in held for ref in held[one].document.evidence_refs]
    more: dict[str, Any] = {"dry_run": dry_run}
    more |= {name: value for name, value in rows[0].items() if name not in ("state",)} if single else {"applied": rows}
    return Report(
        id=done[0][0] if single else None,
        state=done[0][1].state if single else None,
        evidence_refs=list(dict.fromkeys(refs)),
        canonical_changed=bool(changed),
        human_decision_required=any(outcome.state == "proposed" for outcome in failed),
        text="\n".join(lines) or "nothing is approved and not applied",
        more=more,
        code=1 if failed else 0,
    )


def _line(name: str, outcome: Outcome, *, dry_run: bool) -> str:
    if outcome.code:
        return f"{name} is {'not to be' if dry_run else 'not'} applied: {outcome.note}"
    if outcome.changed:
        return f"{name} is applied as {outcome.event_id}"
    return f"{name}: {outcome.note}" if outcome.note else f"{name} would be applied"


@click.command()
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(1, MOST_DAYS),
    default=None,
    metavar="DAYS",
    help="How long they waited.",
)
@click.option("--dry-run", is_flag=True, help="Say which, and change nothing.")
@pass_app
@reports("expire")
def expire(app: App, days: int | None, dry_run: bool) -> Report:
    """Time out what nobody decided on.

    The state of such a proposal is `timed_out`, which is no success. Exits 1 when any timed out. By default those
    that waited longer than approval.timeout_days; a new proposal is the way to ask again.

    \b
        recall coord expire --older-than 30
    """
    from consolidation.coord_apply import expirable
    from consolidation.coord_apply import expire as expired

    desk = desk_of(app, writes=not dry_run)
    if not dry_run:
        settle(desk, effects_of(app, desk))
    least = days if days is not None else desk.settings.timeout_days
    found = list(expirable(desk, least)) if dry_run else list(expired(desk, least))
    word = "would time out" if dry_run else "timed out"
    return Report(
        id=found[0] if len(found) == 1 else None,
        state="timed_out" if found and not dry_run else None,
        text="\n".join(f"{name} {word}" for name in found) or f"nothing has waited for more than {least} days",
        more={"dry_run": dry_run, "timed_out": found, "older_than_days": least},
        code=1 if found else 0,
    )
