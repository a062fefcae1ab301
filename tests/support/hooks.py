"""The real hook client as a process, and a service in a thread that it talks to."""

import atexit
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall.hook_client import ADDRESS
from recall.launcher import site_folder
from recall.service import Limits, Respond, Service, call
from transcript.marks import set_config_id
from transcript.workspace import Workspace, workspaces

SITE = site_folder()


@dataclass(frozen=True, slots=True)
class Ran:
    """What a harness sees of one call."""

    code: int
    out: bytes
    err: bytes

    @property
    def context(self) -> str:
        """The injected text; "" for empty output. Anything but one JSON object fails."""
        if not self.out:
            return ""
        found = json.loads(self.out)
        assert list(found) == ["hookSpecificOutput"]
        inner = found["hookSpecificOutput"]
        assert set(inner) == {"hookEventName", "additionalContext"}
        return str(inner["additionalContext"])


def project() -> Path:
    """The running test's own project folder. There is none while tests are collected: name a folder there."""
    folder = Path(os.environ["TEST_PROJECT"])
    folder.mkdir(exist_ok=True)
    return folder


def payload(prompt: str, cwd: Path | str | None = None, **more: Any) -> bytes:
    """One UserPromptSubmit as Claude Code sends it; `more` changes or adds keys."""
    found = {
        "session_id": "80b5532c-e69c-5fb2-87a1-88437a0a9d12",
        "transcript_path": "/home/dev/.claude/projects/x/80b5532c.jsonl",
        "cwd": str(cwd or project()),
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
    }
    return json.dumps({**found, **more}).encode()


def event(name: str, cwd: Path | str, **more: Any) -> bytes:
    """Any other event."""
    found = json.loads(payload("", cwd))
    del found["prompt"]
    return json.dumps({**found, "hook_event_name": name, **more}).encode()


PATIENT = """
import os, sys
before = set(sys.modules)
sys.path.append(sys.argv[3])
from recall import hook_client
hook_client.LONGEST_DEADLINE_MS = {deadline_ms}
os.environ.setdefault("RECALL_HOOK_DEADLINE_MS", "{deadline_ms}")
{changes}
hook_client.main(sys.argv[1:])
"""
PATIENCE_MS = 120_000
HASTY = "hook_client.SERVICE_SHARE = 0.002"
"""A change for `client_command`: a service gets a quarter of a second, and what follows it all the time there is."""


AT_ONCE = "from recall import turnstate; turnstate.LOCK_SECONDS = turnstate.TWIN_SECONDS = 60.0"
"""A change for `client_command`: calls that a busy machine runs seconds apart count as made at the same time."""


def client_command(data: Path, changes: str = "", *, harness: str = "claude-code", site: Path = SITE) -> list[str]:
    """The hook's client with two minutes for its answer, so that what it answers does not hang on a busy machine.

    `changes` is code that runs in the client's process before it begins: deadlines and failures are made there, not
    waited for. The launcher's tests run the client's script itself.
    """
    code = PATIENT.format(deadline_ms=PATIENCE_MS, changes=changes)
    return [sys.executable, "-I", "-S", "-c", code, str(data), harness, str(site)]


def run_client(data: Path, raw: bytes, changes: str = "", *, command: list[str] | None = None, **env: str) -> Ran:
    """Run the hook's client on one payload, as the launcher does but with patience (`client_command`)."""
    done = subprocess.run(
        command or client_command(data, changes),
        input=raw,
        capture_output=True,
        env={**os.environ, **env},
        timeout=2 * PATIENCE_MS / 1000,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def serving(data: Path, respond: Respond, *, limits: Limits | None = None, site: Path = SITE) -> Iterator[Service]:
    """A service of this data folder in a thread of the test."""
    service = Service(data, site, respond, limits or Limits(idle_s=600, talk_s=60), os.environ)
    thread = threading.Thread(target=service.run, daemon=True)
    thread.start()
    wait_for(lambda: call(data, "status", site=site) is not None)
    try:
        yield service
    finally:
        call(data, "stop", site=site)
        thread.join(180)
        assert not thread.is_alive()


def hold_lock(data: Path) -> int:
    """Take the service's lock, so that no client of the test starts a real one; the descriptor holds it."""
    from recall.spawn import SERVICE_LOCK, take_lock

    held = take_lock(f"{data}/{SERVICE_LOCK}")
    assert held is not None
    return held


def service_pids(data: Path) -> list[int]:
    """Processes of the service of this data folder."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if os.fsencode(data) in words and any(b"recall.cli.serve" in word for word in words):
                    found.append(int(folder.name))
    return found


def stop_services(data: Path) -> None:
    """End the service of this data folder and wait until it is gone."""
    with contextlib.suppress(AssertionError):
        wait_for(lambda: not service_pids(data) or (call(data, "stop", site=SITE) and False), seconds=10)
    for pid in service_pids(data):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)


def wait_for(condition: Callable[[], object], seconds: float = 180.0) -> None:
    """Wait until a condition holds. The limit tells what hangs from what is slow; no test is about it."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def counted(data: Path) -> dict[str, int]:
    """Kind -> times of every counted failure."""
    from recall.hook_counters import read

    return {count.kind: count.times for count in read(data)}


def address(data: Path) -> Path:
    return data / ADDRESS


def remember(
    data: Path, root: Path, *exchanges: tuple[str, str], session: str = "earlier", embed: bool = True
) -> Workspace:
    """Give root a workspace whose record and index hold these exchanges of one earlier session."""
    if (data / "workspaces").exists():
        return _remember(data, root, exchanges, session, embed)
    made = _template(exchanges, session, embed)
    shutil.copytree(made / "data", data, dirs_exist_ok=True)
    table = data / "roots.json"
    table.write_bytes(table.read_bytes().replace(os.fsencode(made / "project"), os.fsencode(os.path.realpath(root))))
    (found,) = workspaces(data)
    set_config_id(root / ".recall" / "config.toml", found.id)
    return found


@functools.cache
def _template(exchanges: tuple[tuple[str, str], ...], session: str, embed: bool) -> Path:
    """An index of this content, built once: that takes half a second. Each copy is of a project that has moved."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="recall-test-")))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "project").mkdir()
    _remember(folder / "data", folder / "project", exchanges, session, embed)
    shutil.rmtree(folder / "project")
    return folder


def _remember(data: Path, root: Path, exchanges: tuple[tuple[str, str], ...], session: str, embed: bool) -> Workspace:
    from datetime import UTC, datetime, timedelta

    from indexer import queue, writer
    from indexer.settings import IndexSettings
    from indexer.store import Store
    from support.embedder import StubEmbedder
    from transcript.canonical import b32id
    from transcript.event import Draft, stamp
    from transcript.log import Log
    from transcript.workspace import init

    workspace = init(root, data)
    start = datetime(2026, 2, 1, tzinfo=UTC)
    drafts = []
    for number, pair in enumerate(exchanges):
        for kind, text in zip(("prompt", "reply"), pair, strict=True):
            ident = f"{session}-{number}-{kind}"
            at = stamp(start + timedelta(minutes=2 * number + (kind == "reply")))
            actor = "user" if kind == "prompt" else "assistant"
            native = {
                "harness": "claude-code",
                "version": "2.1.197",
                "id": ident,
                "part": 0,
                "adapter": "1",
                "source": "",
            }
            body = {"kind": kind, "text": text, "cwd": str(root), "message": ident}
            drafts.append(
                Draft(
                    "conversation_turn",
                    b32id("t", ident),
                    at,
                    "record",
                    session,
                    "claude-code",
                    actor,
                    "internal",
                    native,
                    body,
                )
            )
    Log(workspace).append(drafts, now=start + timedelta(days=1))
    embedder = StubEmbedder()
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, IndexSettings(), now=start + timedelta(days=1), embedder=embedder)
        if embed:
            queue.embed(store, embedder)
    return workspace


def ledger_rows(workspace: Workspace) -> list[dict[str, Any]]:
    """Bodies of the ledger's rows, oldest first; spooled ones are taken in first."""
    from datetime import UTC, datetime

    from transcript.log import Log

    log = Log(workspace)
    log.drain_spool(now=datetime.now(UTC))
    return [log.body(event) for event in log.read() if event.type == "recall"]
