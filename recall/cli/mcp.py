"""`recall mcp`: the record as tools of a Model Context Protocol client."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app

if TYPE_CHECKING:
    from indexer.embedder import Embedder

INSTALL = "the MCP server needs an extra: pip install 'lca-recall[mcp]' (or pipx inject lca-recall mcp)"


@click.command()
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder; by default the one the client starts the server in.",
)
@pass_app
def command(app: App, project: Path | None) -> None:
    """Serve this project's record as tools, over standard input and output.

    A client of the Model Context Protocol starts it: search, show, context, handoff, decide, task. Each does what the
    command of that name does; decide and task record as the agent that calls.

    \b
        claude mcp add recall -- recall mcp
    """
    try:
        from recall.mcp_server import environment, server
    except ImportError as error:
        raise click.ClickException(f"{INSTALL} ({error.name or error} is missing)") from None
    from recall.cli.group import cli

    keeper = Keeper(App(environment(app.env), project or app.cwd, app.data, app.models))

    def run(words: Sequence[str]) -> None:
        cli.main(args=list(words), prog_name="recall", standalone_mode=False, obj=keeper.app())

    server(run).run("stdio")


class Keeper:
    """Gives every call an app that reads the settings anew and shares one loaded model."""

    def __init__(self, first: App) -> None:
        self._first = first
        self._models: dict[str, Embedder | None] = {}

    def app(self) -> App:
        """The app of one call."""
        return _Warm(self._first, self._models)


class _Warm(App):
    by_agent = True

    def __init__(self, first: App, models: dict[str, Embedder | None]) -> None:
        super().__init__(first.env, first.cwd, first.data, first.models)
        self._loaded = models

    def embedder(self, threads: int = 0) -> Embedder | None:
        """The model that the settings name, loaded once; a missing one is looked for again."""
        name = self.config.index().model
        if self._loaded.get(name) is None:
            self._loaded[name] = super().embedder(threads)
        return self._loaded[name]
