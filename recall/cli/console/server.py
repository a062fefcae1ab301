"""The server: routes to pages, forms taken apart, failures as pages; it ends when nobody needs it any more."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import socket
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route as Served
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from recall.cli.console import looked, parts, remembered
from recall.cli.console.asked import Asked, Goto, Page
from recall.cli.console.guard import MOST_BODY, Guard, derived
from recall.cli.console.routes import ROUTES, Route
from recall.cli.console.signing import Signing
from recall.cli.console.style import STYLE
from recall.cli.warm import Keeper
from transcript.errors import PointerError, RecallError
from transcript.telling import counted

if TYPE_CHECKING:
    from recall.cli.app import App

THREADS = 4  # pages made at the same time
MOST_CONNECTIONS = 16
SILENT_S = 10.0  # a connection that asks for nothing for so long is closed
LOOPBACK = "127.0.0.1"
_PARENT_LOOK_S = 1.0


def build(app: App, *, host: str, token: str) -> Guard:
    """Return the console of an app's project, guarded; host is the name and port that a browser asks under."""
    keeper, csrf, signing = Keeper(app), derived(token, "csrf"), Signing()

    def served(route: Route) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            form = await _form(request) if route.method == "POST" else {}
            if route.method == "POST" and not hmac.compare_digest(form.pop("csrf", "").encode(), csrf.encode()):
                raise HTTPException(403, "this form is not of this console; load its page again")
            asked = Asked(
                now=app.now(),
                name=parts.named(request.path_params.get("name", "")),
                query=dict(request.query_params),
                form=form,
                csrf=csrf,
                signing=signing,
            )
            return await run_in_threadpool(_answered, route, keeper.app(), asked)

        return answer

    async def style(request: Request) -> Response:
        return Response(STYLE, media_type="text/css")

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return _html(parts.failure(error.status_code, error.detail), "")
        traceback.print_exception(error)
        return _html(parts.failure(500, "this page broke; the terminal where the console was started shows where"), "")

    return Guard(
        Starlette(
            routes=[
                Served("/style.css", style),
                *(Served(route.address, served(route), methods=[route.method]) for route in ROUTES),
            ],
            exception_handlers={HTTPException: refused, Exception: refused},
            lifespan=_few_threads,
        ),
        host=host,
        token=token,
    )


@contextlib.asynccontextmanager
async def _few_threads(app: Starlette) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def _answered(route: Route, app: App, asked: Asked) -> Response:
    try:
        answer = route.answer()(app, asked)
    except RecallError as error:
        answer = parts.failure(404 if isinstance(error, PointerError) else 400, str(error))
    if isinstance(answer, Goto):
        return RedirectResponse(answer.address, status_code=303)
    return _html(answer, route.part or route.address)


def _html(page: Page, here: str) -> Response:
    return HTMLResponse(parts.document(page, here), status_code=page.status)


async def _form(request: Request) -> dict[str, str]:
    """The fields that were posted, the last of a name; HTTPException for more than a form of ours can hold."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BODY:
                raise HTTPException(413, f"at most {counted(MOST_BODY, 'byte')} can be sent")
    except ClientDisconnect:
        raise HTTPException(400, "what was posted is cut off") from None
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=100, errors="strict"))
    except ValueError:
        raise HTTPException(400, "what was posted is no form") from None


def listen(port: int) -> socket.socket:
    """Return a socket on this machine alone; port 0 takes a free one. OSError where the port is taken."""
    made = socket.create_server((LOOPBACK, port), backlog=MOST_CONNECTIONS, reuse_port=False)
    made.setblocking(False)
    return made


def serve(app: App, sock: socket.socket, token: str, *, idle_s: float) -> str:
    """Serve until Ctrl-C, until nobody has asked for idle_s seconds, or until the program that started us is gone.

    Return which of the last two it was; KeyboardInterrupt for the first.
    """
    remembered.begin(app)
    looked.begin(app)  # the first page is asked for at once
    host, port = sock.getsockname()[:2]
    guard = build(app, host=f"{host}:{port}", token=token)
    return asyncio.run(_served(waiter(guard), guard, sock, idle_s))


def waiter(guard: Guard) -> uvicorn.Server:
    """Return what waits at a socket and lets guard answer."""
    return uvicorn.Server(
        uvicorn.Config(
            guard,
            http=_Impatient,
            ws="none",
            loop="asyncio",
            log_level="critical",  # a page that breaks is told by us; one that Ctrl-C interrupts is no error
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=2,
        )
    )


class _Impatient(H11Protocol):
    """Hangs up on who asks for nothing, or never ends what it asks: a few of them would keep everybody else out."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look(None, first=True)

    def _look(self, answered: RequestResponseCycle | None, *, first: bool = False) -> None:
        if self.transport.is_closing():
            return
        if not first and self.cycle is answered and (answered is None or answered.response_complete):
            self.transport.close()
            return
        self.loop.call_later(SILENT_S, self._look, self.cycle)


async def _served(server: uvicorn.Server, guard: Guard, sock: socket.socket, idle_s: float) -> str:
    parent, why = os.getppid(), ""

    async def watch() -> None:
        nonlocal why
        while not why:
            await asyncio.sleep(min(_PARENT_LOOK_S, idle_s / 4))
            if os.getppid() != parent:
                why = "the program that started it is gone"
            elif time.monotonic() - guard.asked_at > idle_s:
                why = "nobody asked for a page"
        server.should_exit = True

    watching = asyncio.create_task(watch())
    try:
        await server.serve(sockets=[sock])
    finally:
        watching.cancel()
    return why
