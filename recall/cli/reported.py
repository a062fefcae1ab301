"""Composes the health report of a project, for the commands that print it or go by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall.cli.app import App

if TYPE_CHECKING:
    from health.facts import Facts
    from health.report import Report
    from indexer.embedder import Identity

LAST = 50  # turns


def report_of(
    app: App,
    *,
    last: int = LAST,
    since: float | None = None,
    recount: bool = False,
    deep: bool = False,
    hooked: bool = True,
) -> Report:
    """Return the report of this project's state; facts_of tells what the arguments are."""
    from health.report import assess

    return assess(facts_of(app, last=last, since=since, recount=recount, deep=deep, hooked=hooked))


def facts_of(
    app: App,
    *,
    last: int = LAST,
    since: float | None = None,
    recount: bool = False,
    deep: bool = False,
    hooked: bool = True,
) -> Facts:
    """Return the facts that a report of this project is made of.

    last counts turns, since is a moment in seconds of the epoch; recount reads the index's figures anew, deep loads the
    model. Where hooked is false, no hooks are expected. WorkspaceError where there is no project.
    """
    from health.gather import gather
    from indexer.embedder import check, load, tried

    settings = app.config.index()

    def embedder() -> Identity:
        if deep:
            return tried(load(settings.model, data_home=str(app.models), threads=1))
        return check(settings.model, data_home=str(app.models))

    return gather(
        app.workspace(),
        app.data,
        app.env,
        now=app.now(),
        settings=settings,
        load=embedder,
        recount=recount,
        last=last,
        since=since,
        hooked=hooked,
        consolidation=app.config.consolidation(),
        canon=app.config.freshness().canon,
        memory_folders=app.config.memory().folders,
    )
