"""The hook without its service: words alone, the standard `sqlite3`, read-only, inside the time that is left.

A process of its own that never imports APSW. Standard library only, imported by the client when it is needed.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from indexer.reader import Reader
from recall import config, homes, hook_turn, spawn
from recall.governance_settings import AudienceSettings
from recall.harness import Payload, Refused, recognise
from recall.hook_client import ANSWER_SHARE, Hook
from recall.hook_turn import HookTurn, Means
from recall.settings import Settings
from recall.turn import bytes_third
from recall.turn_query import NOT_READ
from transcript.errors import ConfigError, IndexMissing, IndexNewer, StoreError
from transcript.workspace import owner_root

BUSY_S = 0.05
STEPS_BETWEEN_LOOKS = 2000


def answer(hook: Hook, raw: bytes) -> bytes:
    """Return what goes to the harness and leave in `hook.afterwards` what is written once it has left."""
    payload = recognise(hook.harness, raw)
    if isinstance(payload, Refused):
        hook.needs_service = False
        if payload.kind:
            hook.count(payload.kind)
        return b""
    data = Path(hook.data)
    if payload.asks:
        return _answer_prompt(hook, data, payload)
    if payload.opens:
        return _answer_start(hook, data, payload)
    hook.needs_service = hook.needs_service and payload.event in ("SessionStart", "UserPromptSubmit")
    hook.afterwards.append(lambda: _note(hook, data, payload))
    return b""


def _answer_prompt(hook: Hook, data: Path, payload: Payload) -> bytes:
    call = payload.call if hook.why == "no_service" else f"{payload.call}:again"  # the service may have claimed it
    turn = HookTurn(payload, data, mode="words", call=call, now=hook_turn.utc_now(), started=hook.born)
    turn.note = hook.why
    turn.silent("deadline")  # what the ledger says when the alarm cuts the search short
    hook.afterwards.append(lambda: _record(hook, data, turn))
    turn.open(os.environ)
    hook.stage = "words:search"
    try:
        return _search(hook, turn)
    except IndexMissing:
        return turn.silent("no_index")
    except IndexNewer:
        return turn.silent("index_newer")
    except (StoreError, sqlite3.Error) as error:
        if hook.left(ANSWER_SHARE) <= 0:
            hook.count("deadline:" + hook.stage)
            return turn.silent("deadline")
        reason = "no_fts5" if "fts5" in str(error) else "index_unreadable"
        hook.count("words_" + reason)
        return turn.silent(reason)


def _answer_start(hook: Hook, data: Path, payload: Payload) -> bytes:
    from recall.hook_start import HookStart

    call = payload.call if hook.why == "no_service" else f"{payload.call}:again"
    start = HookStart(payload, data, call=call, now=hook_turn.utc_now(), started=hook.born, note=hook.why)
    hook.afterwards += [lambda: _count_missing(hook, start.record()), lambda: _note(hook, data, payload)]
    hook.stage = "words:start"
    return start.answer(bytes_third, os.environ)


def _search(hook: Hook, turn: HookTurn) -> bytes:
    if turn.workspace is None:
        return turn.silent("no_workspace")
    settings, audience = _settings(hook, turn)
    with open_index(turn.workspace.index_path, until=time.monotonic() + hook.left(ANSWER_SHARE)) as reader:
        means = Means(reader, bytes_third, meta=reader.meta(), note=hook.why, audience=audience)
        return turn.answer(means, settings)


def _settings(hook: Hook, turn: HookTurn) -> tuple[Settings, AudienceSettings]:
    root, home = (turn.workspace.root, turn.workspace.home) if turn.workspace else (None, None)
    try:
        found = config.load(Path(hook.data), root, os.environ, home=home)
        return found.settings(), found.audience()
    except ConfigError:
        hook.count("config_not_readable")
        return Settings(), NOT_READ


@contextlib.contextmanager
def open_index(path: Path, *, until: float) -> Iterator[Reader]:
    """Open the index read-only with the standard library; a statement that runs past `until` is interrupted."""
    if not path.exists():
        raise IndexMissing("no index for this workspace; run 'recall index' first")
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_S, isolation_level=None)
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS_BETWEEN_LOOKS)

    def execute(sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return connection.execute(sql, values)

    try:
        yield Reader(execute)
    finally:
        connection.close()


def _record(hook: Hook, data: Path, turn: HookTurn) -> None:
    hook_turn.beat(data, turn.payload, "words", turn.workspace)
    if hook.left() < 0.1:
        if not turn.spool():
            hook.count("ledger:no_time")
        return
    _count_missing(hook, turn.record())


def _count_missing(hook: Hook, missing: str) -> None:
    if missing and missing not in ("excluded", "refused"):
        hook.count(f"ledger:{missing}")


def _note(hook: Hook, data: Path, payload: Payload) -> None:
    """What the other events leave behind: a heartbeat, a cleared memory of injections, a capture."""
    workspace, reason = owner_root(payload.cwd, data) if payload.cwd else (None, "refused")
    hook_turn.beat(data, payload, "words", workspace)
    if not payload.opens:  # a start that is answered has done so itself
        hook_turn.forget_injected(payload, workspace)
    if payload.captures and reason not in ("excluded", "refused"):
        name = workspace.id if workspace else ""
        home = homes.variable(payload.harness, payload.transcript)
        told = {"home": home, "event": payload.event, "session": payload.session}
        spawn.start_capture(hook.data, hook.site, payload.cwd, workspace=name, **told)
