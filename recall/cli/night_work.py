"""What a night does for the index and for the series of quality, where it pays and while there is time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from consolidation.night import NO_TIME
from consolidation.run import DONE, SAME, SKIPPED
from recall.cli.app import App, vector_search
from recall.cli.output import size
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from eval.lineup import Search
    from eval.self_series import Entry
    from indexer.embedder import Embedder
    from indexer.store import Store
    from transcript.workspace import Workspace

EACH = 10  # questions of a kind: forty show a change of some points, and are asked in ten seconds
Outcome = tuple[str, int, str]  # state, count, note


def reclaim(app: App, workspace: Workspace, seconds: float) -> Outcome:
    """Write the index anew where that gives enough space back; return state, bytes given back, and a note."""
    from indexer import reclaim as index

    with app.store(workspace, "w") as store:
        made = index.reclaim(workspace, store, now=app.now(), seconds=seconds)
    held = f"{made.unused / max(made.bytes_before, 1):.1%} of {size(made.bytes_before)} hold nothing"
    if made.state == index.DONE:
        return DONE, made.bytes_before - made.bytes_after, f"{size(made.bytes_before)} -> {size(made.bytes_after)}"
    if made.state == index.UNUSED:
        return SAME, 0, held
    why = {
        index.IN_USE: "the index is in use",
        index.NO_ROOM: "the disk lacks room for a copy of the index",
        index.NO_TIME: NO_TIME,
    }[made.state]
    return SKIPPED, 0, f"{held}; {why}"


def quality(
    app: App, workspace: Workspace, model: Callable[[], Embedder | None], idle: bool, seconds: float
) -> Outcome:
    """Ask a few questions of the project's own past and add the run to its series, as `recall eval self` does.

    Returns state, how many questions were asked, and a note. Where nothing was new (idle) it asks only if settings,
    model or program differ from those of the last run. Nothing else is written.
    """
    from eval.lineup import OURS, Variant
    from eval.result import command_line
    from eval.self_questions import dataset
    from eval.self_report import RANK, of_run
    from eval.self_run import run
    from eval.self_series import append, path, read
    from indexer.said import said

    most = min(float(app.config.schedule().quality_seconds), seconds)
    if most <= 0:
        return SKIPPED, 0, "switched off by schedule.quality_seconds"
    until = time.monotonic() + most
    settings, file = app.config.settings(), path(workspace)
    with app.store(workspace) as store, store.snapshot():
        earlier = read(file)
        if idle and earlier and _same(app, store, earlier[-1]):
            return SAME, 0, f"nothing new since {minute(earlier[-1].at)}"
        events = said(store)
        data = dataset(events, each=EACH)
        if not data.questions:
            return SKIPPED, 0, "the record is too small to make a question of"
        search = _search(store, model)
        if search is None:
            return SKIPPED, 0, "the model is not at hand, and by words alone the figures would be others"
        try:
            made = run(data, store, events, search, {OURS: Variant(settings)}, baselines=False, until=until)
        except TimeoutError:
            return SKIPPED, 0, f"not over within {most:.0f} s (schedule.quality_seconds)"
    entry = of_run(made, settings, command=command_line("self"), tried=(), at=app.now()).entry
    append(file, entry)
    asked = counted(len(entry.ranks), "question")
    return DONE, len(entry.ranks), f"{entry.figures[RANK]:.0%} of the best rank, {asked}"


def _same(app: App, store: Store, last: Entry) -> bool:
    """Whether the last run had the settings, model and program of now."""
    from eval.machine import machine
    from recall.settings import settings_hash

    now = (settings_hash(app.config.settings()), store.meta().model or "none", machine().commit)
    return now == (last.settings_hash, last.model, last.commit)


def _search(store: Store, model: Callable[[], Embedder | None]) -> Search | None:
    """The search by vectors, by words alone where the index has none; None where it has and they cannot be used."""
    if not store.meta().n_vectors:
        return lambda k: None
    embedder = model()
    if embedder is None or vector_search(store, embedder, 1) is None:
        return None
    return lambda k: vector_search(store, embedder, k)
