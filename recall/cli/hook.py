"""`recall hook HARNESS`: the hook without its launcher; what installed hooks run is `<data>/bin/recall-hook`."""

import os

import click

from recall.launcher import site_folder
from transcript.errors import WorkspaceError
from transcript.paths import data_home

DEFAULT_HARNESS = "any"  # recognised by the payload; recall.harness.ANY, which is not worth an import here


@click.command("hook")
@click.argument("harness", default=DEFAULT_HARNESS)
def command(harness: str) -> None:
    """Answer one hook payload on standard input.

    Prints one JSON object or nothing and always exits 0. Without HARNESS it is recognised by the payload; bare
    `recall` with a payload on a pipe does the same.

    \b
        recall hook claude-code < payload.json
    """
    run([harness])


def run(arguments: list[str]) -> int:
    """Answer the payload on standard input and end the process with 0."""
    from recall.hook_client import main

    harness = arguments[0] if arguments else DEFAULT_HARNESS
    try:
        data = data_home(os.environ)
    except WorkspaceError:  # no folder to remember from or to count in: the host sees nothing of it
        return 0
    main([str(data), harness, str(site_folder())])
    return 0
