"""`recall mcp`: the record as tools of a Model Context Protocol client."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from recall.cli.app import App, pass_app

INSTALL = "the MCP server needs an extra: pip install 'lca-recall[mcp]' (or pipx inject lca-recall mcp)"


@click.command()
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder; by default the one the client starts the server in.",
)
@pass_app
def command(app: App, project: Path | None) -> None:
    """Serve this project's record as tools of a protocol.

    Over standard input and output. A client of the Model Context Protocol starts it: search, show, context, handoff,
    decide, task. Each does what the command of that name does; decide and task record as the agent that calls.

    \b
        claude mcp add recall -- recall mcp
    """
    try:
        from recall.mcp_server import environment, server
    except ImportError as error:
        raise click.ClickException(f"{INSTALL} ({error.name or error} is missing)") from None
    from recall.cli.group import cli
    from recall.cli.warm import Keeper

    keeper = Keeper(App(environment(app.env), project or app.cwd, app.data, app.models), by_agent=True)

    def run(words: Sequence[str]) -> None:
        cli.main(args=list(words), prog_name="recall", standalone_mode=False, obj=keeper.app())

    server(run).run("stdio")
