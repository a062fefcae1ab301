"""`recall retention`: empty what is older than a time."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from recall.cli import erasing
from recall.cli.app import App, pass_app
from transcript.errors import ConfigError

if TYPE_CHECKING:
    from transcript.redaction_plan import Plan
    from transcript.workspace import Workspace

_AGE = re.compile(r"(\d{1,5})\s*([dwmy])", re.IGNORECASE)
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
MOST_DAYS = 36_500


@click.command()
@click.option("--older-than", "age", required=True, metavar="AGE", help="365d, 52w, 12m (of 30 days) or 1y.")
@erasing.options
@click.pass_context
@pass_app
def command(
    app: App, ctx: click.Context, age: str, authorised: bool, dry_run: bool, by: str, reason: str, as_json: bool
) -> None:
    """Empty every session event older than AGE.

    Its words go from the record and from everything derived from it; that it happened stays. What a person recorded by
    a command (decisions, tasks, questions, memories) is kept. Nothing goes without --authorised.

    \b
        recall retention --older-than 365d --dry-run
    """
    before = app.now() - days(age)

    def plan(workspace: Workspace) -> Plan:
        from transcript.redaction_plan import plan_retention

        return plan_retention(workspace, before, reason=reason or f"older than {age}")

    nothing = f"no session event is older than {age}"
    erasing.run(app, ctx, plan, authorised=authorised, dry_run=dry_run, by=by, as_json=as_json, nothing=nothing)


def days(text: str) -> timedelta:
    """An age that a person wrote."""
    found = _AGE.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise ConfigError(f"'{text}' is no age; write it like 365d, 52w, 12m or 1y")
    many = int(found[1]) * _DAYS[found[2].lower()]
    if many > MOST_DAYS:
        raise ConfigError(f"'{text}' is longer than anything is kept; an age is at most 100y")
    return timedelta(days=many)
