"""Who may ask: only somebody who holds the token, from a page of ours, under our own name.

A program on this machine, or a page of another server on it, can reach our port; a foreign page can make a browser ask.
"""

from __future__ import annotations

import hmac
import time
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from health.markup import join, tag
from transcript.telling import counted

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 64 * 1024  # bytes of a form
HEADERS = {
    # No script, no frame, no picture, nothing from elsewhere: words of a conversation can do nothing even if an
    # escape were forgotten.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with 'no-referrer' a browser posts our own forms with the origin 'null'
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Lets through what may be asked; the rest is refused in one line.

    host is the name and port that we are asked under, token what the address on the terminal ends with.
    """

    def __init__(self, inner: ASGIApp, *, host: str, token: str) -> None:
        self._inner, self._host = inner, host
        self._token, self._pass = token.encode(), derived(token, "cookie").encode()
        # Browsers send a cookie to every port of a machine, so two consoles need two names.
        self._cookie = f"recall_{host.rpartition(':')[2]}"
        self.asked_at = time.monotonic()  # when something was last let through

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, sealed)
            return
        self.asked_at = time.monotonic()
        await self._inner(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, posted = Headers(scope=scope), scope["method"] == "POST"
        if headers.getlist("host") != [self._host]:
            return _refused(421, f"this console is at http://{self._host}/ and nowhere else")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY:
            return _refused(413, f"at most {counted(MOST_BODY, 'byte')} can be sent")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given is not None:
            return self._greeting(scope, given[0])
        if not self._holds(headers):
            return _refused(403, "open the address that 'recall ui' printed: it ends with a token")
        if posted and (
            headers.get("origin") != f"http://{self._host}"
            or headers.get("sec-fetch-site", "same-origin") != "same-origin"
        ):
            return _refused(403, "what is posted here must come from a page of this console")
        return None

    def _greeting(self, scope: Scope, given: str) -> Response:
        """Turn the token into a cookie, so that it stands in no address, history or bookmark from then on.

        By a page that goes on by itself: a browser that was sent here by another page or a file keeps the cookie, but
        would not send it along with an HTTP redirect.
        """
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            return _refused(403, "this token is not of this console; open the address that 'recall ui' printed last")
        asked = scope.get("raw_path") or quote(scope["path"]).encode("ascii")  # a quoted slash is part of a name
        onward = "/" + quote(asked.lstrip(b"/"), safe="/%")
        head = join(
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="refresh", content=f"0; url={onward}"),
            tag("meta", name_="referrer", content="no-referrer"),
            tag("title", "recall"),
        )
        page = tag("html", tag("head", head), tag("body", tag("p", tag("a", "Go on", href=onward))), lang="en")
        response = HTMLResponse(f"<!doctype html>\n{page}\n")
        response.set_cookie(self._cookie, self._pass.decode(), httponly=True, samesite="strict", path="/")
        return response

    def _holds(self, headers: Headers) -> bool:
        """Whether our cookie came along; those of other servers on this machine do too, whatever they look like."""
        pieces = (one.strip().partition("=") for held in headers.getlist("cookie") for one in held.split(";"))
        values = [value.encode("utf-8", "replace") for name, _, value in pieces if name == self._cookie]
        return any(hmac.compare_digest(value, self._pass) for value in values)


def derived(token: str, purpose: str) -> str:
    """Return a secret for one purpose, from which the token cannot be told."""
    return hmac.new(token.encode(), purpose.encode(), sha256).hexdigest()


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(f"{status}: {why}\n", status_code=status)
