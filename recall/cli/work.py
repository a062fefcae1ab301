"""Composes what a run of consolidation works with: record, index, model, capture, health, reviewer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recall.cli.app import App
from recall.cli.output import note
from transcript.errors import RecallError

if TYPE_CHECKING:
    from consolidation.model import Candidate, Deps, SessionView
    from consolidation.settings import Settings
    from indexer.embedder import Embedder
    from indexer.store import Store
    from transcript.workspace import Workspace

EMBED_S = 600.0


def settings_of(app: App) -> Settings:
    """The settings of a run."""
    from consolidation.settings import Settings

    config = app.config
    return Settings(
        config.consolidation(),
        config.reviewer(),
        config.memory(),
        config.experience(),
        config.standing(),
        config.signing(),
    )


def deps_of(app: App, workspace: Workspace, *, review: bool = True) -> Deps:
    """What a run works with in a workspace; without review no reviewer is asked."""
    from consolidation.model import Deps
    from consolidation.reviewers import make
    from recall.cli import night_work

    model = _Model(app)
    return Deps(
        log=app.log(workspace),
        workspace=workspace,
        open_store=lambda: app.store(workspace),
        embedder=model,
        capture=lambda: capture(app, workspace),
        index=lambda: index(app, workspace, model),
        health=lambda light, keep: health(app, workspace, light=light, keep=keep),
        probe=lambda names: probe(app, workspace, names),
        reclaim=lambda seconds: night_work.reclaim(app, workspace, seconds),
        quality=lambda idle, seconds: night_work.quality(app, workspace, model, idle, seconds),
        reviewer=make(app.config.reviewer(), home=app.data) if review else None,
        draft=drafting(app, workspace),
    )


def drafting(app: App, workspace: Workspace) -> Callable[[Sequence[SessionView]], list[Candidate]] | None:
    """The drafter that the settings name, None for none."""
    settings = app.config.consolidation()
    if not settings.drafter_command.strip():
        return None

    def draft(views: Sequence[SessionView]) -> list[Candidate]:
        from consolidation.drafter import draft

        key, seconds = workspace.id_key(), settings.drafter_timeout_s
        return draft(views, settings.drafter_command, key=key, timeout_s=seconds)

    return draft


class _Model:
    """The embedder, loaded at its first use."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._loaded: Embedder | None = None
        self._asked = False

    def __call__(self) -> Embedder | None:
        """Return the embedder, None where it cannot be loaded."""
        from indexer import power

        if not self._asked:
            self._asked = True
            self._loaded = self._app.embedder(power.thread_count(self._app.config.index().threads))
        return self._loaded


def capture(app: App, workspace: Workspace) -> int:
    """Take in what is new in sessions, the project's files and others' memories; return how many events are new."""
    from recall.cli.memory_folder import take_folders
    from transcript.capture import sync

    report = sync(workspace, app.data, app.env, settings=app.capture_settings(), now=app.now())
    if report.added or report.sightings or report.marks:
        app.bring_up(workspace)
    return report.added + take_files(app, workspace) + take_folders(app, workspace)


def take_files(app: App, workspace: Workspace) -> int:
    """Take in the project's own files that have changed; return how many events are new."""
    from recall.project_files import changed
    from transcript.event import stamp
    from transcript.memories import fold_memories
    from transcript.memory_told import Told

    log, patterns = app.log(workspace), app.config.memory().project_files.split()
    files = changed(workspace, patterns, fold_memories(log).project_files, Told(stamp(app.now())))
    return len(log.append(files, now=app.now()))


def index(app: App, workspace: Workspace, model: _Model) -> Mapping[str, Any]:
    """Bring the index up to the record: words, vectors, worth of memories; return where it stands and what is new.

    The model is loaded only where text waits for it.
    """
    from health.gather_record import waiting
    from indexer import queue, writer
    from indexer.audit import watermark_seq
    from indexer.exchange import INDEXED_TYPES
    from indexer.standing import is_due
    from indexer.store import Store

    shape = app.config.index()
    with Store.open(workspace.index_path, "w") as store:
        before = watermark_seq(store) if store.generation else -1
        waits = before < 0 or waiting(workspace, before, INDEXED_TYPES)[0]
        made = writer.index(workspace, store, shape, now=app.now(), embedder=model() if waits else None)
        left = len(queue.pending(store, store.generation, shape))
        embedder = model() if left else None
        if embedder is not None:
            until = time.monotonic() + EMBED_S
            queue.embed(store, embedder, shape, should_stop=lambda: time.monotonic() > until)
            left = len(queue.pending(store, store.generation, shape))
        seq = watermark_seq(store)
        weighed = weigh(app, workspace, store) if seq != before or is_due(store, app.config.experience().mark) else 0
        meta = store.meta()
        return {
            "watermark": seq,
            "data_version": meta.data_version,
            "chunks": meta.n_chunks,
            "pending": left,
            "new": made.chunks,
            "weighed": weighed,
        }


def weigh(app: App, workspace: Workspace, store: Store) -> int:
    """Let an index know what the record proves memories to be worth; return how many rows changed.

    A run does so as it goes on; an index that was made anew knows nothing of it.
    """
    from consolidation.apply import apply

    return apply(workspace, store, settings_of(app))


def keep_weights_up(app: App, workspace: Workspace) -> None:
    """Weigh memories anew where a setting of `[experience]` has changed since, so that a search goes by those in force.

    An index that cannot be written to stays as it is, and a line on standard error says so.
    """
    from indexer.standing import is_due

    with app.store(workspace) as store:
        if not is_due(store, app.config.experience().mark, unmade=False):
            return
    try:
        with app.store(workspace, "w") as store:
            weigh(app, workspace, store)
    except (RecallError, OSError) as error:
        note(f"memories are weighed by earlier settings of [experience]: {error}")


def health(app: App, workspace: Workspace, *, light: bool, keep: bool = False) -> Mapping[str, Any]:
    """Return the level of the health report, the ids of the signals that fail, and what is new since the last kept one.

    light loads no model and takes the index's figures from the last report that was not, for they take seconds. keep
    leaves the report in the record, one a day.
    """
    from health import index_cache, series
    from health.facts import IndexFacts
    from health.gather import gather
    from health.report import assess
    from health.signal import Level
    from indexer.embedder import load, tried

    settings, now = app.config.index(), app.now()
    facts = gather(
        workspace,
        app.data,
        app.env,
        now=now,
        settings=settings,
        load=lambda: tried(load(settings.model, data_home=str(app.models), threads=1)),
        recount=True,
        known=(index_cache.kept(workspace) or IndexFacts()) if light else None,
        consolidation=app.config.consolidation(),
        canon=app.config.freshness().canon,
        memory_folders=app.config.memory().folders,
    )
    report = assess(facts)
    changes = report.changes
    if keep and facts.record.events:  # a record of nothing but reports would look as if something were stored
        app.log(workspace).append_or_spool(series.draft(facts, report.signals, report.level, now), now=now)
    return {
        "level": report.level.name.lower(),
        "failing": [signal.id for signal in report.signals if signal.level is Level.FAIL],
        "new": [*changes.failing_new, *changes.warning_new],
        "mended": list(changes.mended),
    }


def probe(app: App, workspace: Workspace, names: Sequence[str]) -> int:
    """Ask for memories in their own words and return how many of them come back; leaves no row in the ledger.

    What policy keeps from being shown counts as found: it is there, and not shown for a reason.
    """
    log, found = app.log(workspace), 0
    for name in names:
        said = str(log.body(log.get(name)).get("statement", ""))
        turn = app.ask(said, words_only=True, record=False)
        near = (place.event for ranked in (*turn.items, *turn.left_out) for place in ranked.candidate.pointers)
        found += name in near
    return found
