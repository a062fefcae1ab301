"""`recall grant`: let one item through to others than the owner, until a time, and take that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, end_moment, pass_app
from recall.cli.output import emit, note, say
from transcript.errors import CurationError, NotConfirmed
from transcript.telling import minute

if TYPE_CHECKING:
    from transcript.event import Event
    from transcript.grants import Grant
    from transcript.log import Log

AUDIENCES = ("shared", "peer")
CHARS = 6  # of an item's id, which a person types to say that they looked
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def command() -> None:
    """Let one item through to a shared channel or a peer.

    \b
        recall grant give abcdefghij --to shared --reason "the team asked"
    """


@command.command()
@click.argument("item", metavar="POINTER")
@click.option("--to", "audience", type=click.Choice(AUDIENCES), required=True, help="Who may see it.")
@click.option("--channel", default="", metavar="NAME", help="On this channel alone; by default on any.")
@click.option("--until", metavar="TIME", help="Until then; by default until it is withdrawn.")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@json_option
@pass_app
def give(app: App, item: str, audience: str, channel: str, until: str | None, reason: str, as_json: bool) -> None:
    """Let the memory or message at POINTER through.

    Exactly that item, in its own words. A person decides it, at their terminal, and sees the words first. No grant lets
    a credential through.

    \b
        recall grant give abcdefghij --to shared --channel support --until 2026-12-31 --reason "asked for by the team"
    """
    from consolidation.coord_escape import printed
    from recall.cli import person as people
    from transcript.event import stamp
    from transcript.grants import granted

    by, terminal = people.at_terminal(app.env)
    workspace = app.writable_workspace()
    log, now = app.log(workspace), app.now()
    ends = end_moment(until) if until else None
    if ends is not None and ends <= now:
        raise CurationError(f"{until} is over; a grant ends later than now, or is never given")
    event = item_of(log, item)
    where = f"on the channel {channel}" if channel.strip() else "on any channel"
    how_long = f"until {minute(stamp(ends))}" if ends is not None else "until it is withdrawn"
    terminal.say(f"{event.pointer} {event.type}, {minute(event.ts)}:")
    for line in printed(words_of(log, event)):
        terminal.say(line)
    terminal.say(f"\nwould be shown to the audience '{audience}' {where}, {how_long}.")
    if terminal.ask(f"To grant it, type {event.id[:CHARS]} (the beginning of its id):").lower() != event.id[:CHARS]:
        raise NotConfirmed("not confirmed; nothing was granted")
    draft = granted(
        stamp(app.now()),
        event.id,
        audience,
        actor=by.name,
        reason=reason,
        channel=channel,
        until=stamp(ends) if ends is not None else "",
    )
    log.append([draft], now=app.now())
    app.bring_up(workspace)
    emit({"event": draft.id, **draft.body}) if as_json else say(
        f"granted {event.pointer} to {audience} {where}, {how_long}"
    )


@command.command()
@click.argument("item", metavar="POINTER")
@click.option("--to", "audience", type=click.Choice(AUDIENCES), help="Only from this audience.")
@click.option("--channel", metavar="NAME", help="Only on this channel.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@json_option
@pass_app
def withdraw(app: App, item: str, audience: str | None, channel: str | None, reason: str, as_json: bool) -> None:
    """Take back every grant of an item, or the named ones. It holds from the next turn on.

    \b
        recall grant withdraw abcdefghij
    """
    from recall.cli.caller import name_of
    from recall.facets import FILE, load
    from transcript.event import stamp
    from transcript.grants import granted

    workspace = app.writable_workspace()
    log, now = app.log(workspace), app.now()
    name = log.find(item).id
    found = [
        one
        for one in held(log)
        if one.item == name and audience in (None, one.audience) and channel in (None, one.channel)
    ]
    if not found:
        raise CurationError(f"nothing of {item} is granted that fits; 'recall grant list' shows what is")
    by = name_of(app.env)
    drafts = [
        granted(stamp(now), name, one.audience, actor=by, reason=reason, channel=one.channel, withdrawn=True)
        for one in found
    ]
    log.append(drafts, now=now)
    app.bring_up(workspace)
    facets = load(workspace.run_dir)
    if any(facets.granted(name, one.audience, one.channel, now) for one in found):
        (workspace.run_dir / FILE).unlink(missing_ok=True)
        note("the views could not be brought up to date; until 'recall project' has run nothing is shared or granted")
    for draft in drafts:
        if as_json:
            emit({"event": draft.id, **draft.body})
        else:
            on = f" on {draft.body['channel']}" if draft.body["channel"] else ""
            say(f"withdrawn {name[:10]} from {draft.body['audience']}{on}")


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Those that have ended too.")
@json_option
@pass_app
def listed(app: App, every: bool, as_json: bool) -> None:
    """List what is granted, to whom and until when.

    Also on which channel, by whom and why; no words of the items.

    \b
        recall grant list
    """
    from transcript.event import moment

    found = held(app.log(app.workspace()))
    found = [one for one in found if every or not one.until or app.now() < moment(one.until)]
    for one in found:
        if as_json:
            emit(
                {
                    "item": one.item,
                    "audience": one.audience,
                    "channel": one.channel,
                    "until": one.until,
                    "event": one.event,
                    "ts": one.ts,
                    "actor": one.actor,
                    "reason": one.reason,
                }
            )
            continue
        on = f" on {one.channel}" if one.channel else ""
        until = f" until {minute(one.until)}" if one.until else ""
        say(f"{one.item[:10]}  to {one.audience}{on}{until}, by {one.actor} {one.ts[:10]}: {one.reason}")
    if not found and not as_json:
        note("nothing is granted")


def held(log: Log) -> list[Grant]:
    """The grants that were not withdrawn."""
    from transcript.grants import empty, grants
    from transcript.projections.views import folded

    return grants(folded(log)[0].get("governed") or empty())


def item_of(log: Log, pointer: str) -> Event:
    """The event that a pointer names, where a turn may show it; CurationError for anything else."""
    from indexer.exchange import SAID_TYPES
    from indexer.memories import WRITTEN

    event = log.find(pointer.strip().strip("[]()<>`'\".,;"))
    if event.type not in SAID_TYPES | {WRITTEN} or not event.body:
        what = "was redacted" if not event.body else f"is of type {event.type}"
        raise CurationError(f"{event.pointer} {what}; a grant names a memory or something that was said or recorded")
    return event


def words_of(log: Log, event: Event) -> str:
    """The whole words of an item as an index holds them."""
    from indexer.passages import event_text

    body = log.body(event)
    return event_text(event.type, body) or str(body.get("text", ""))
