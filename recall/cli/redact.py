"""`recall redact`: empty single events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli import erasing
from recall.cli.app import App, pass_app

if TYPE_CHECKING:
    from transcript.redaction_plan import Plan
    from transcript.workspace import Workspace


@click.command()
@click.argument("events", nargs=-1, required=True)
@erasing.options
@click.pass_context
@pass_app
def command(
    app: App,
    ctx: click.Context,
    events: tuple[str, ...],
    authorised: bool,
    dry_run: bool,
    by: str,
    reason: str,
    as_json: bool,
) -> None:
    """Empty EVENTS: their words go, that they happened stays.

    Takes the body out of the record and its words out of long texts, kept source bytes, the ledger, the index with
    its vectors, and the views. The envelope, the chain and a note of the redaction stay. It cannot be undone.

    \b
        recall redact abcdefghij --authorised
    """

    def plan(workspace: Workspace) -> Plan:
        from transcript.log import Log
        from transcript.redaction_plan import plan_events

        log = Log(workspace)
        return plan_events(workspace, {log.find(event).id for event in events}, reason=reason, by=by)

    nothing = "what these events said is gone already"
    erasing.run(app, ctx, plan, authorised=authorised, dry_run=dry_run, by=by, as_json=as_json, nothing=nothing)
