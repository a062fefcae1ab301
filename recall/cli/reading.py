"""Who reads what a command prints, and what may be printed for them: one rule for every command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from recall.audiences import AUDIENCES, PEER, PRIVATE, PROJECT, SHARED, widest
from recall.cli.caller import agent_of, is_child
from recall.cli.output import note

if TYPE_CHECKING:
    from recall.cli.app import App
    from recall.disclosure import Door
    from recall.query import Query
    from transcript.workspace import Workspace


def audience_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --audience: for whom a command prints."""
    return click.option(
        "--audience",
        type=click.Choice(AUDIENCES),
        help="Who reads it; by default you, or the project where an agent asks. An agent cannot ask for more.",
    )(command)


def audience_of(app: App, given: str | None = None) -> str:
    """Who reads what this command prints: who was named, else the person, the project's agents, or a child of recall.

    UsageError where an agent asks for what only the person sees.
    """
    from recall import session_state
    from recall.turn_query import reading
    from transcript.workspace import locate

    least = PEER if is_child(app.env) else PROJECT if app.by_agent or agent_of(app.env) else PRIVATE
    if given is not None:
        if widest(given, least) != given:
            raise click.UsageError(f"--audience {given} is for a person at a terminal; an agent reads as '{least}'")
        return given
    found = locate(app.cwd, app.data)
    cue = session_state.of(found.run_dir) if found is not None else session_state.NOTHING
    reader = widest(least, reading(cue, app.config.audience()))
    if least == PRIVATE and reader in (SHARED, PEER):
        _narrowed(reader)
    return reader


def _narrowed(reader: str) -> None:
    """Tell a person, once a command, why most of it is not shown to them."""
    context = click.get_current_context(silent=True)
    if context is None or context.meta.get(_narrowed.__qualname__):
        return
    context.meta[_narrowed.__qualname__] = True
    note(f"as the audience '{reader}' sees it; 'recall role show' says why, 'recall role none --all' ends it")


def door(app: App, workspace: Workspace, given: str | None = None) -> Door:
    """What leaves of a record to who reads this command's output."""
    from recall import session_state
    from recall.disclosure import Door
    from recall.facets import load

    cue = session_state.of(workspace.run_dir)
    return Door(audience_of(app, given), app.now(), load(workspace.run_dir), cue.channel)


def facets_of(app: App, query: Query, workspace: Workspace, given: str | None = None) -> Query:
    """The query with what was said of the session besides, and for whom it is asked."""
    from dataclasses import replace

    from recall import session_state
    from recall.turn_query import project_of

    cue = session_state.of(workspace.run_dir, query.session)
    return replace(
        query,
        role=cue.role or None,
        channel=cue.channel or None,
        audience=audience_of(app, given),
        command=cue.command or None,
        skill=cue.skill or None,
        task=cue.task or None,
        project=project_of(query.cwd, workspace.root),
    )
