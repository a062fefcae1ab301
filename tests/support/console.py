"""The console of the current folder's project, asked as a browser asks, without a server."""

from starlette.testclient import TestClient

from recall.cli.app import App
from recall.cli.console import looked
from recall.cli.console.server import build

looked.WAIT_S = 60.0  # no report is left to be made behind a test
HOST, TOKEN = "127.0.0.1:8123", "the-token"


def console(app: App | None = None, *, cookie: bool = True) -> TestClient:
    """Return a client of an app's console, by default of this folder's; it holds the cookie unless asked otherwise."""
    client = TestClient(build(app or App.here(), host=HOST, token=TOKEN), base_url=f"http://{HOST}")
    if cookie:
        assert client.get("/", params={"token": TOKEN}).status_code == 200
    return client


def csrf() -> str:
    """Return what a form of that console carries."""
    from recall.cli.console.guard import derived

    return derived(TOKEN, "csrf")
