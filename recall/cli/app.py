"""Builds what a command works on from the environment and the configuration; everything heavy only when asked for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.output import note
from transcript.errors import ConfigError, EmbedderUnavailable, WorkspaceError
from transcript.paths import data_home

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.store import Store
    from recall.config import Config
    from recall.turn import Turn, Vectors
    from transcript.event import Event
    from transcript.log import Log
    from transcript.settings import CaptureSettings
    from transcript.workspace import Workspace

DEMO = "demo"


class App:
    """The objects of one command."""

    by_agent = False  # whether an agent asks whatever the environment says, as over a protocol of agents

    def __init__(self, env: Mapping[str, str], cwd: Path, data: Path | None = None, models: Path | None = None) -> None:
        self.env = env
        self.cwd = cwd
        self.data = data_home(env) if data is None else data
        self.models = models or self.data  # where `recall model add` keeps files
        self._config: Config | None = None

    @classmethod
    def here(cls) -> App:
        """The app of this process: its environment and its folder.

        An installed launcher that names a program which is gone (an upgrade put it elsewhere) is pointed at this one,
        and hooks of an older copy learn that this one is there.
        """
        from recall import freshness, launcher

        app = cls(os.environ, Path.cwd())
        with contextlib.suppress(OSError):
            launcher.refresh(app.data)
        freshness.note_newest(app.data)
        return app

    def now(self) -> datetime:
        """The clock."""
        return datetime.now(UTC)

    # -- which project ---------------------------------------------------------------------

    def workspace(self) -> Workspace:
        """The workspace of this folder; WorkspaceError says to run `recall init`. Writes nothing."""
        from transcript.workspace import locate

        found = locate(self.cwd, self.data)
        if found is None:
            raise WorkspaceError(f"no workspace for {self.cwd}; run 'recall init' first")
        return found

    def writable_workspace(self) -> Workspace:
        """The workspace of this folder, ready for writing: a moved project is followed, a broken erasure finished."""
        from transcript.redaction import unfinished
        from transcript.workspace import open_workspace

        workspace = open_workspace(self.cwd, self.data, notice=note)
        if unfinished(workspace):
            from recall.forgetting import finish

            if finish(workspace, now=self.now()) is not None:
                note("a redaction that had been interrupted is finished now")
        return workspace

    def project_root(self) -> Path:
        """The project's folder; this folder where no project is known yet."""
        from transcript.workspace import locate

        found = locate(self.cwd, self.data)
        return found.root if found is not None and found.root is not None else self.cwd

    def demo(self) -> App:
        """The app of the demo's project, as `recall demo` left it."""
        home = self.data / DEMO
        return App({**self.env, "RECALL_HOME": str(home)}, home / "tidewatch", home, self.models)

    def has_demo(self) -> bool:
        """Whether `recall demo` has run."""
        return (self.data / DEMO / "workspaces").is_dir()

    # -- settings, record, index -----------------------------------------------------------

    @property
    def config(self) -> Config:
        """Every setting, resolved for this project."""
        if self._config is None:
            from recall.config import load

            project, home = None, None
            with contextlib.suppress(WorkspaceError):
                project = self.project_root()
                home = self.workspace().home
            self._config = load(self.data, project, self.env, home=home)
        return self._config

    def capture_settings(self) -> CaptureSettings:
        """What of a transcript is kept."""
        return self.config.capture()

    def log(self, workspace: Workspace) -> Log:
        """The record of a workspace."""
        from transcript.log import Log

        return Log(workspace)

    def logs(self) -> list[Log]:
        """The records a pointer may lie in: this project's, the user's, the demo's."""
        from transcript.workspace import locate, user_workspace

        found = [locate(self.cwd, self.data), user_workspace(self.data)]
        if self.has_demo():
            demo = self.demo()
            found.append(locate(demo.cwd, demo.data))
        kept = [workspace for workspace in found if workspace is not None and workspace.head_file.exists()]
        if not kept:
            raise WorkspaceError(f"no workspace for {self.cwd}; run 'recall init' first")
        return [self.log(workspace) for workspace in kept]

    def unsearched(self) -> str:
        """What to add where a pointer was not found: this folder may have no record to look in; "" when it has."""
        from transcript.workspace import locate

        found = locate(self.cwd, self.data)
        if found is not None and found.head_file.exists():
            return ""
        return f" ({self.cwd} has no workspace, so only the user's and the demo's records were searched)"

    def store(self, workspace: Workspace, mode: str = "r") -> Store:
        """The index of a workspace; IndexMissing says to run `recall index`."""
        from indexer.store import Store

        return Store.open(workspace.index_path, mode)

    def embedder(self, threads: int = 0) -> Embedder | None:
        """The model that the settings name, or None with one line on standard error that says why."""
        from indexer.embedder import load

        try:
            return load(self.config.index().model, data_home=str(self.models), threads=threads)
        except EmbedderUnavailable as error:
            note(f"words only: {error}")
            return None

    def vectors(self, store: Store) -> Vectors | None:
        """The vector half of a search, or None with the reason on standard error."""
        if not store.meta().n_vectors:
            note("words only: no vectors yet; 'recall index' makes them")
            return None
        embedder = self.embedder()
        if embedder is None:
            return None
        return vector_search(store, embedder, self.config.settings().retrieval.vector_limit)

    def bring_up(self, workspace: Workspace) -> None:
        """Bring views and rules files up to the record, after a write into it."""
        from recall.rules_block import keep_up
        from transcript.projections.views import refresh

        refresh(workspace)
        tokens = self.config.handoff().told_tokens
        keep_up(self.data, workspace, most_tokens=tokens, carried=self.config.standing())

    # -- one deliberate search -------------------------------------------------------------

    def ask(
        self,
        prompt: str,
        *,
        mode: str = "tool",
        ledger_mode: str = "tool",
        session: str = "",
        root: str | None = None,
        as_of: datetime | None = None,
        words_only: bool = False,
        record: bool = True,
        budget: str = "",
        audience: str | None = None,
    ) -> Turn:
        """Search this project's past for prompt, as a turn would; leaves one row in the ledger where that can be.

        Where it is not to be recorded nothing is written at all: memories keep the weights that they have.
        budget stands for the setting `budget.mode` where it is given, audience for who reads along.
        """
        import time
        from dataclasses import replace

        from indexer.tokens import TokenCounter
        from recall import ledger
        from recall.cli.reading import facets_of
        from recall.cli.work import keep_weights_up
        from recall.engine import recall
        from recall.facets import load
        from recall.query import Query
        from scoring.pool import score_pool

        workspace = self.workspace()
        if record:
            keep_weights_up(self, workspace)
        settings = self.config.settings()
        if budget:
            settings = replace(settings, budget=replace(settings.budget, mode=budget))
        query = Query(prompt, session=session, cwd=str(self.cwd), mode=mode, root=root, as_of=as_of)
        query, known = facets_of(self, query, workspace, audience), load(workspace.run_dir)
        now, started = self.now(), time.perf_counter()
        with self.store(workspace) as store, store.snapshot():
            turn = recall(
                query,
                store,
                None if words_only else self.vectors(store),
                settings,
                now=now,
                count_tokens=TokenCounter(),
                scorer=score_pool,
                facets=known,
            )
            how = ledger.Circumstances(
                mode=ledger_mode,
                latency_ms=(time.perf_counter() - started) * 1000,
                index=store.meta(),
                call=os.urandom(8).hex(),
                facets=known.digest,
            )
        if record:
            self.keep(workspace, ledger.draft(query, turn, settings, how, now=now), now)
        return turn

    def keep(self, workspace: Workspace, row: Any, now: datetime) -> None:
        """Append a ledger row; a record that cannot be written to is no reason to answer nothing."""
        from transcript.errors import RecordError

        try:
            self.log(workspace).append_or_spool(row, now=now)
        except (RecordError, OSError):
            note("the record cannot be written to: this search is not in the ledger")

    def turn_event(self, name: str | None, log: Log) -> Event:
        """The ledger event of this name; without one the newest of a hook, else the newest of any kind."""
        from recall import ledger
        from transcript.errors import PointerError

        event = ledger.find(log, name) if name else ledger.last(log, modes=ledger.HOOK_MODES) or ledger.last(log)
        if event is None:
            what = f"no turn is called '{name}'" if name else "no turn yet"
            raise PointerError(f"{what}; 'recall last -n 20' lists them once a hook or 'recall query' has run")
        if event.body.get("mode") == ledger.START_MODE:
            raise PointerError(f"{event.pointer} is a session's start: nothing was searched; 'recall last' shows it")
        return event


def vector_search(store: Store, embedder: Embedder, k: int) -> Vectors | None:
    """Return the search by vectors, None with a notice where the index holds those of another model."""
    from recall.vector_search import vector_search as search

    found = search(store, embedder, k)
    if found is None:
        note(f"words only: the index was made with {store.meta().model}, not {embedder.id}; run 'recall index rebuild'")
    return found


def moment(text: str) -> datetime:
    """Return a time that a person wrote; one without a zone is UTC."""
    from transcript.event import moment as read

    return _written(text, read)


def end_moment(text: str) -> datetime:
    """Return until when something holds that a person ends with a day, which it includes, or with a time."""
    from transcript.event import ending

    return _written(text, ending)


def _written(text: str, read: Callable[[str], datetime]) -> datetime:
    try:
        return read(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ConfigError(f"'{text}' is no time; write it like 2026-03-29T08:00 or 2026-03-29") from None


pass_app = click.make_pass_decorator(App)


def demo_option(command: Any) -> Any:
    """Add --demo: look in the demo's project instead of this one."""
    return click.option("--demo", is_flag=True, help="Look in the demo's project instead of this one.")(command)


def choose(app: App, demo: bool) -> App:
    """The app to read from."""
    if not demo:
        return app
    if not app.has_demo():
        raise WorkspaceError("the demo has not run yet; run 'recall demo' first")
    return app.demo()
