"""`recall session`: begin one that inherits nothing, and say what a session began with."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say

if TYPE_CHECKING:
    from transcript.event import Event
    from transcript.log import Log

COMMANDS = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "copilot-cli": "copilot",
    "cursor": "cursor-agent",
    "grok-build": "grok",
    "pi": "pi",
    "opencode": "opencode",
    "cline": "cline",
}
CLEARED, COMPACTED, UNKNOWN = "cleared", "compacted", "unknown"


@click.group()
def command() -> None:
    """Begin a session that inherits nothing.

    Two runs are independent only when the second began with a cleared window: a session that was resumed or compacted
    carries what an earlier one said.

    \b
        recall session new --cleared
    """


@command.command("new")
@click.option("--cleared", is_flag=True, required=True, help="With nothing of an earlier session in its window.")
@click.option("--harness", type=click.Choice(list(COMMANDS)), default="claude-code", show_default=True)
@click.option("--dry-run", is_flag=True, help="Print the command, and record nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def new(app: App, cleared: bool, harness: str, dry_run: bool, as_json: bool) -> None:
    """Print the command that starts a fresh session.

    Records that one begins. What was shown to the last session is forgotten for the next one. 'recall session show'
    says afterwards whether it began with nothing.

    \b
        recall session new --cleared --harness codex
    """
    from recall.turnstate import TurnState
    from transcript.canonical import b32id
    from transcript.event import Draft, stamp

    workspace = app.workspace() if dry_run else app.writable_workspace()
    log, now = app.log(workspace), app.now()
    before = last_session(log)
    start = COMMANDS[harness]
    mark = Draft(
        type="mark",
        id=b32id("mark", "cleared", before, stamp(now)),
        ts=stamp(now),
        ts_source="record",
        session=f"recall:{log.run_id}",
        agent="recall",
        actor="system",
        origin="internal",
        body={"mark": "cleared", "session": "", "before": before},
    )
    if not dry_run:
        log.append([mark], now=now)
        if before:
            TurnState(workspace.run_dir, before).clear()
    if as_json:
        emit({"command": start, "cleared": cleared, "before": before, "mark": "" if dry_run else mark.id})
    else:
        say(start)
        last = f"; do not resume the last one, {before[:12]}" if before else ""
        note(f"start it in {workspace.root}{last}")


@command.command("show")
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def show(app: App, session: str | None, as_json: bool) -> None:
    """Say whether a session began cleared.

    By default the last one; one that holds a compaction's summary did not. Exit code 1 where it is not cleared, or
    nothing of it is on record yet.

    \b
        recall session show
    """
    from recall.live_window import session_named
    from transcript.errors import PointerError
    from transcript.telling import unechoed

    log = app.log(app.workspace())
    name = session or last_session(log)
    with contextlib.suppress(PointerError):  # one that is not on record yet is unknown
        name = session_named(log, name) if name else ""
    state, why = began(log, name) if name else (UNKNOWN, "no session is on record")
    if as_json:
        emit({"session": name, "state": state, "why": why})
    else:
        say(unechoed(f"{name or 'no session'}: {state}", (name,)) + (f" ({why})" if why else ""))
    if state != CLEARED:
        raise click.exceptions.Exit(1)


def last_session(log: Log) -> str:
    """The id of the session that a harness wrote last, "" before the first."""
    for event in log.read_back(only="conversation_turn"):
        if not event.session.startswith("recall:"):
            return event.session
    return ""


def began(log: Log, session: str) -> tuple[str, str]:
    """Return (state, why) of how a session began: cleared, compacted (it holds a summary), or unknown."""
    from transcript.canonical import canonical
    from transcript.sieve import Sieve, type_field

    first: Event | None = None
    kinds = tuple(map(type_field, ("conversation_turn", "system")))
    for event in log.read(sieve=Sieve(kinds, groups=((b'"session":' + canonical(session),),))):
        if event.session != session:
            continue
        if _is_summary(event):
            return COMPACTED, f"{event.pointer} carries what an earlier window held"
        first = first or (event if event.type == "conversation_turn" else None)
    if first is None:
        return UNKNOWN, "nothing of it is on record yet; 'recall sync' takes it in"
    return CLEARED, ""


def _is_summary(event: Event) -> bool:
    body = event.body
    if event.type == "conversation_turn":
        return body.get("kind") == "summary"
    return event.type == "system" and body.get("subtype") == "compact_boundary"
