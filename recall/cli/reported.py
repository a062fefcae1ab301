"""Composes the health report of a project, for the commands that print it or go by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall.cli.app import App

if TYPE_CHECKING:
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
    """Return the report of this project's state.

    last counts turns, since is a moment in seconds of the epoch; recount reads the index's figures anew, deep loads the
    model. Where hooked is false, no hooks are expected. WorkspaceError where there is no project.
    """
    from health.gather import gather
    from health.report import assess
    from indexer.embedder import check, load, tried

    settings = app.config.index()

    def embedder() -> Identity:
        if deep:
            return tried(load(settings.model, data_home=str(app.models), threads=1))
        return check(settings.model, data_home=str(app.models))

    facts = gather(
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
    return assess(facts)
