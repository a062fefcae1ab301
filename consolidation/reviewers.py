"""The reviewers: a program of one's own, a model behind an OpenAI-compatible address, or a peer with its own memory.

Each gets one request and nothing else: no environment but what is named, no folder, no session. A `peer` is reached
the same way but keeps a home of its own between requests, so that it has its own record, memories and weights.
"""

import json
import os
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from consolidation.child import MOST_BYTES, ChildFailed, name_of, run
from consolidation.model import Reviewer
from recall.memory_settings import ReviewerSettings
from transcript.errors import ConfigError, ReviewFailed
from transcript.paths import secure_dir
from transcript.telling import quoted

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
PEERS = "peers"


def make(settings: ReviewerSettings, *, home: Path) -> Reviewer | None:
    """Return the reviewer that settings name, None for none; `home` is the data folder, where peers have theirs."""
    if settings.kind == "none":
        return None
    name = settings.id.strip()
    if settings.kind == "peer":
        if not name or "/" in name or "\\" in name or name.startswith("."):
            raise ConfigError(f"reviewer.id is {quoted(name)}; a peer needs an agent id of its own, such as rex")
        own = secure_dir(secure_dir(home / PEERS) / name)
        return _command("peer", name, settings, own) if settings.command else _openai("peer", name, settings)
    if settings.kind == "openai":
        return _openai("openai", name or settings.model, settings)
    return _command("command", name or name_of(shlex.split(settings.command)), settings, None)


@dataclass(frozen=True, slots=True)
class CommandReviewer:
    """Runs a program anew for each request: the request on its standard input, the answer on its standard output."""

    kind: str
    id: str
    arguments: tuple[str, ...]
    timeout_s: float
    passed: tuple[str, ...]  # names of variables
    home: Path | None  # a peer's own; else an empty one that is gone afterwards

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the program's answer."""
        try:
            asked = json.dumps(request).encode("ascii")
            return _object(run(self.arguments, asked, timeout_s=self.timeout_s, passed=self.passed, home=self.home))
        except ChildFailed as error:
            raise ReviewFailed(f"reviewer {self.id} {error}") from error


@dataclass(frozen=True, slots=True)
class OpenAIReviewer:
    """Asks a model at `/v1/chat/completions`; the key is read from a variable when it is needed."""

    kind: str
    id: str
    url: str
    model: str
    key_env: str
    timeout_s: float

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object that the model wrote."""
        body = {
            "model": self.model,
            "temperature": 0,
            "response_format": {"type": "json_object"},
            "messages": [
                {"role": "system", "content": request["instruction"]},
                {"role": "user", "content": json.dumps(request)},
            ],
        }
        try:
            written = _object(self._post(json.dumps(body).encode("ascii")))["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ReviewFailed(f"reviewer {self.id} sent no message") from error
        if not isinstance(written, str):
            raise ReviewFailed(f"reviewer {self.id} sent no text")
        return _object(written.encode("utf-8", "surrogatepass"))

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.key_env:
            if not os.environ.get(self.key_env):
                raise ReviewFailed(f"the variable {self.key_env} holds no key for reviewer {self.id}")
            headers["Authorization"] = f"Bearer {os.environ[self.key_env]}"
        until, pieces, size = time.monotonic() + self.timeout_s, [], 0
        try:
            with _OPENER.open(Request(self.url, body, headers), timeout=self.timeout_s) as response:
                while piece := response.read1(1 << 16):
                    size += len(piece)
                    if size > MOST_BYTES or time.monotonic() > until:
                        raise ReviewFailed(f"reviewer {self.id}: the answer is too long or comes too slowly")
                    pieces.append(piece)
        except (URLError, OSError, ValueError) as error:
            why = getattr(error, "reason", None) or error
            raise ReviewFailed(f"reviewer {self.id} cannot be asked at {self.url}: {why}") from error
        return b"".join(pieces)


class _NoRedirect(HTTPRedirectHandler):
    """An address that sends us elsewhere is not the address that was allowed."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = build_opener(ProxyHandler({}), _NoRedirect)


def _command(kind: str, name: str, settings: ReviewerSettings, home: Path | None) -> CommandReviewer:
    arguments = tuple(shlex.split(settings.command))
    return CommandReviewer(kind, name, arguments, settings.timeout_s, tuple(settings.env.split()), home)


def _openai(kind: str, name: str, settings: ReviewerSettings) -> OpenAIReviewer:
    parts = urlsplit(settings.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"reviewer.url is {quoted(settings.url)}, must be an address like http://127.0.0.1:8080/v1")
    if parts.hostname not in LOOPBACK and not settings.remote:
        raise ConfigError(
            f"reviewer.url is {parts.hostname}, not this machine; set reviewer.remote = true to send texts there"
        )
    base = settings.url.rstrip("/").removesuffix("/chat/completions")
    url = f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"
    return OpenAIReviewer(kind, name, url, settings.model, settings.key_env, settings.timeout_s)


def _object(text: bytes) -> Mapping[str, Any]:
    if len(text) > MOST_BYTES:
        raise ReviewFailed(f"the answer has {len(text):,} bytes, more than {MOST_BYTES:,}")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ReviewFailed("the answer is no JSON" if text.strip() else "the answer is empty") from None
    if not isinstance(value, Mapping):
        raise ReviewFailed("the answer is no JSON object")
    return value
