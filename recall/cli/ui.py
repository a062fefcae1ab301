"""`recall ui`: the console, this project's record as pages in a browser."""

from __future__ import annotations

import secrets
import signal
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.caller import agent_of
from recall.cli.output import note, say

INSTALL = "the console needs an extra: pip install 'lca-recall[ui]' (or pipx inject lca-recall starlette uvicorn)"


@click.command()
@click.option(
    "--port", type=click.IntRange(min=0, max=65535), default=0, show_default="a free one", help="Port on this machine."
)
@click.option("--open", "open_it", is_flag=True, help="Open it in your browser.")
@demo_option
@pass_app
def command(app: App, port: int, open_it: bool, demo: bool) -> None:
    """Show this project in a browser.

    Turns, memories, proposals, health. Prints the address, which is on this machine alone and ends with a token that
    is good until the console ends: with Ctrl-C, with the program that started it, or after `ui.idle_minutes` without
    a request. It shows all that you may see, private memories included, so it does not start in an agent's shell.
    What a page prepares is decided on at this terminal.

    \b
        recall ui --open
    """
    agent = agent_of(app.env)
    if agent:
        raise click.ClickException(
            f"{agent} runs this, and the console shows what only you may see; start it in a terminal of your own"
        )
    chosen = choose(app, demo)
    workspace = chosen.workspace()
    try:
        from recall.cli.console import server
    except ImportError as error:
        raise click.ClickException(f"{INSTALL} ({error.name or error} is missing)") from None
    minutes = chosen.config.ui().idle_minutes
    try:
        sock = server.listen(port)
    except OSError as error:
        raise click.ClickException(
            f"port {port} cannot be used ({error.strerror}); without --port a free one is taken"
        ) from None
    token = secrets.token_urlsafe(32)
    with sock, opened(sock.getsockname()[1], token) if open_it else nullcontext():
        say(f"http://{server.LOOPBACK}:{sock.getsockname()[1]}/?token={token}")
        note(f"the console of {workspace.root}; Ctrl-C ends it")
        why = ""
        with suppress(KeyboardInterrupt), signals_as_ctrl_c():
            why = server.serve(chosen, sock, token, idle_s=60 * minutes)
    note(f"the console has ended{f': {why}' if why else ''}")


@contextmanager
def opened(port: int, token: str) -> Iterator[None]:
    """Open the browser, by a file that only this user can read: every user can read the words of a command line."""
    with tempfile.TemporaryDirectory(prefix="recall-ui-") as folder:
        file = Path(folder) / "console.html"
        to = f"http://127.0.0.1:{port}/?token={token}"
        file.write_text(f'<!doctype html><title>recall</title><meta http-equiv="refresh" content="0; url={to}">\n')
        # Apart, for a browser in the terminal returns only when it is left.
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        yield


@contextmanager
def signals_as_ctrl_c() -> Iterator[None]:
    """Let a closed terminal and a polite end be like Ctrl-C, so that nothing is left behind."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.default_int_handler) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
