"""`recall forget`: take a text out of everything."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from recall.cli import erasing
from recall.cli.app import App, pass_app
from transcript.errors import PointerError

if TYPE_CHECKING:
    from transcript.redaction_plan import Plan
    from transcript.workspace import Workspace

LEAST = 4  # shorter texts stand nearly everywhere
_POINTER = re.compile(r"\[?[a-z2-7]{10,26}(?:#\d+-\d+)?\]?")


@click.command()
@click.argument("text")
@erasing.options
@click.pass_context
@pass_app
def command(
    app: App, ctx: click.Context, text: str, authorised: bool, dry_run: bool, by: str, reason: str, as_json: bool
) -> None:
    """Take TEXT, or the words a pointer names, out of everything.

    Finds every event, long text, kept source line, ledger row and passage that holds the words, exactly as they are
    written, and empties it. '-' reads them from standard input, so that they stay out of the shell's history. What
    cannot be reached is named: the harness's own files. A later sync brings nothing back. It cannot be undone.

    \b
        recall forget "phoenix-3333" --dry-run
    """
    given = sys.stdin.read().rstrip("\n") if text == "-" else text
    words, events = resolved(app.workspace(), given)
    if len(words.strip()) < LEAST and not events:
        raise PointerError(f"fewer than {LEAST} characters stand nearly everywhere; give more of the text")

    def plan(workspace: Workspace) -> Plan:
        from transcript.redaction_plan import plan_text

        return plan_text(workspace, words if len(words.strip()) >= LEAST else "", ids=events, reason=reason, by=by)

    erasing.run(app, ctx, plan, authorised=authorised, dry_run=dry_run, by=by, as_json=as_json)


def resolved(workspace: Workspace, text: str) -> tuple[str, set[str]]:
    """The words to look for, and the event that a pointer names."""
    from recall.show import show
    from transcript.log import Log

    if _POINTER.fullmatch(text.strip()) is None:
        return text, set()
    try:
        shown = show(text, [Log(workspace)], neighbours=0)
    except PointerError:
        return text, set()
    return shown.words, {shown.event.id}
