"""`recall show`: the exact words behind a pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say
from recall.cli.reading import audience_option, door
from transcript.errors import PointerError
from transcript.filters import agent_of
from transcript.telling import minute, session_name

if TYPE_CHECKING:
    from transcript.event import Event

SNIPPET = 400
PROVENANCE = ("author", "actor_kind", "channel", "category", "private", "ref", "surface", "session_key")


@click.command()
@click.argument("pointer")
@click.option(
    "-n", "--neighbours", type=click.IntRange(min=0), default=1, show_default=True, help="Turns on either side."
)
@click.option("--whole", is_flag=True, help="The whole event, and its neighbours uncut.")
@audience_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(app: App, pointer: str, neighbours: int, whole: bool, audience: str | None, as_json: bool) -> None:
    """Print the exact words that POINTER names.

    With what was said around them. Reads the record itself, not the index. Looks in this project, in the user
    workspace, and in the demo's project.

    \b
        recall show abcdefghij#0-120
    """
    from recall.show import show

    try:
        shown = show(pointer, app.logs(), neighbours=neighbours, door_of=lambda log: door(app, log.workspace, audience))
    except PointerError as error:
        raise PointerError(f"{error}{app.unsearched()}") from None
    if as_json:
        emit(
            {
                "pointer": pointer,
                "event": as_dict(shown.event),
                "start": shown.start,
                "end": shown.end,
                "words": shown.words,
                "text": shown.text,
                "before": [{**as_dict(event), "text": text} for event, text in shown.before],
                "after": [{**as_dict(event), "text": text} for event, text in shown.after],
            }
        )
        return
    for event, text in shown.before:
        say(f"  {heading(event)}\n{indented(text if whole else shortened(text))}\n")
    say(f"> {heading(shown.event)}, characters {shown.start}-{shown.end} of {len(shown.text)}")
    say((shown.text if whole else shown.words) if shown.event.body else "[redacted]")
    for event, text in shown.after:
        say(f"\n  {heading(event)}\n{indented(text if whole else shortened(text))}")


def as_dict(event: Event) -> dict[str, Any]:
    """An event's envelope as far as a reader needs it, with who recorded it, its channel and its surface."""
    by = {"author": event.body["actor"]} if "actor" in event.body else {}
    return {
        **by,
        **{name: event.body[name] for name in PROVENANCE if name in event.body},
        "id": event.id,
        "type": event.type,
        "ts": event.ts,
        "actor": event.actor,
        "agent": event.agent,
        "session": event.session,
        "origin": event.origin,
        "worker_id": event.body.get("worker", ""),
        "file": event.body.get("file", ""),
        "cwd": event.body.get("cwd", ""),
    }


def heading(event: Event) -> str:
    """Who said it, when, in which session of which agent; who recorded it where a command did."""
    body = event.body
    what = body.get("tool") or body.get("kind") or event.type
    if event.type == "observation" and body:
        hidden = ", private" if body.get("private") else ""
        what = f"{body.get('category')} on {body.get('channel')} by {body.get('author')}, external{hidden}"
    elif body.get("actor"):
        told = f" on {body.get('channel')}, external" if event.origin == "external" else ""
        what = f"{event.type} by {body['actor']}{told}"
    surface = f"on {body['surface']}" if body.get("surface") else ""
    worker = f"sub-agent {body['worker']}" if body.get("worker") else ""
    said = ", ".join(part for part in (f"{event.actor} ({what})", place(event), surface, worker) if part)
    return f"{event.pointer}  {minute(event.ts)}  {said}"


def place(event: Event) -> str:
    """The session and its agent, "" for what belongs to no session."""
    return "" if event.session.startswith("recall:") else f"{agent_of(event)} session {session_name(event.session)}"


def shortened(text: str) -> str:
    """The beginning of a neighbour's text."""
    return text if len(text) <= SNIPPET else text[: SNIPPET - 2] + " …"


def indented(text: str) -> str:
    """Text two columns in."""
    return "\n".join(f"  {line}" for line in text.splitlines())
