"""The detached capture that follows a turn: take in the session, index it, embed what is new.

The harness never waits for it and it holds none of the harness's pipes. One runs at a time for a project; a hook that
comes meanwhile leaves a mark, and the running one goes round again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall import config, forgetting, hook_counters, pressure, rules_block, spawn, turnstate, use, window_notice
from recall.config import Config
from transcript.errors import EmbedderUnavailable, LockBusy, RecallError
from transcript.log import Log
from transcript.workspace import Workspace, open_workspace, owner_root

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.store import Store

SETTLE_S = 0.5  # the harness writes its last lines a moment after the event
MOST_ROUNDS = 20
EMBED_S = 300.0
NAME = "background"
Weigh = Callable[["Workspace", "Store", "Config"], object]
SITE = str(Path(__file__).resolve().parents[1])


def main(arguments: list[str], weigh: Weigh | None = None) -> None:
    """Run as the detached process: DATA CWD MARKS LOCK, as `recall.spawn.start_capture` gives them.

    `weigh` brings what the index knows of memories' worth up to the record, where it lost that or a setting changed.
    """
    data, cwd, marks, locked = arguments
    spawn.settle(int(locked))
    env = {name: value for name, value in os.environ.items() if name != "RECALL_CHILD"}  # this child captures
    held: int | None = int(locked)
    again = Path(f"{marks}.again")
    while held is not None:
        try:
            rounds(Path(data), Path(cwd), again, env, weigh=weigh)
        except Exception as error:  # nobody watches this process: the failure is counted for health
            hook_counters.add(Path(data), NAME, f"error:{type(error).__name__}")
            _log(Path(data), env).error("capture_failed", error=error)
            again.unlink(missing_ok=True)
        os.close(held)
        held = spawn.take_lock(f"{marks}.lock") if again.exists() else None  # a hook came between look and release
    os._exit(0)


def rounds(
    data: Path,
    cwd: Path,
    again: Path,
    env: Mapping[str, str],
    *,
    settle_s: float = SETTLE_S,
    weigh: Weigh | None = None,
) -> int:
    """Capture until no hook asks for more, and return how often."""
    done = 0
    while again.exists() and done < MOST_ROUNDS:
        time.sleep(settle_s)
        marks = spawn.take_marks(again)
        try:
            occasions = _occasions(marks)
            homes = {**env, **_homes(marks)}
            began = time.monotonic()
            workspace = capture(data, cwd, homes, should_stop=again.exists, weigh=weigh, occasions=occasions)
            if workspace is not None:
                start_checkpoints(workspace, data, cwd, homes, occasions)
                _log(data, homes).info("capture_done", workspace=workspace.id, seconds=time.monotonic() - began)
        except RecallError as error:
            hook_counters.add(data, NAME, type(error).__name__)
            _log(data, env).warning("capture_failed", error=error)
        done += 1
    return done


def _log(data: Path, env: Mapping[str, str]) -> Any:
    """The log of what runs in the background; one whose settings cannot be read keeps to the defaults."""
    from recall.logs import logger

    settings = None
    with contextlib.suppress(RecallError):
        settings = config.load(data, None, env).logs()
    return logger(data, NAME, settings)


def _homes(marks: Iterable[str]) -> dict[str, str]:
    """Return the variables that the hooks left in their marks; of two homes of one harness the last."""
    lines = [line.partition("=") for line in marks if not line.startswith(spawn.OCCASION)]
    return {name: folder for name, _, folder in lines if folder and Path(folder).is_dir()}


def _occasions(marks: Iterable[str]) -> list[tuple[str, str]]:
    """Return (event, session) of the hooks that came, each once, in order."""
    found = [line.removeprefix(spawn.OCCASION).partition(" ") for line in marks if line.startswith(spawn.OCCASION)]
    return list(dict.fromkeys((event, session) for event, _, session in found))


def start_checkpoints(
    workspace: Workspace, data: Path, cwd: Path, env: Mapping[str, str], occasions: Sequence[tuple[str, str]]
) -> None:
    """Start what the hooks give the occasion for: a checkpoint before a compaction, at a session's end, at pressure.

    No hook and no capture waits for it.
    """
    settings = config.load(data, workspace.root, env).consolidation()
    if not settings.enabled:
        return
    wanted: list[tuple[str, str]] = []
    if settings.before_compaction and any(event == "PreCompact" for event, _ in occasions):
        wanted.append(("pre_compact", ""))
    if settings.at_session_end and any(event == "SessionEnd" for event, _ in occasions):
        wanted.append(("session_end", ""))
    grown = (session for event, session in occasions if event in ("Stop", "SubagentStop") and session)
    for session in dict.fromkeys(grown):
        link = pressure.crossing(Log(workspace), session, settings, env)
        wanted += [("pressure", link)] if link else []
    for trigger, link in wanted:
        spawn.start_checkpoint(str(data), SITE, str(cwd), workspace=workspace.id, trigger=trigger, link=link)


def capture(
    data: Path,
    cwd: Path,
    env: Mapping[str, str],
    *,
    should_stop: Callable[[], bool] = lambda: False,
    weigh: Weigh | None = None,
    occasions: Sequence[tuple[str, str]] = (),
) -> Workspace | None:
    """Take in, index and embed what is new in the project of cwd, and return its workspace.

    An excluded project is left alone: None.

    Record, views, handoff and what a compaction takes away come first: it waits for nobody. `occasions` are the hooks
    that came, (event, session) each. Embedding, the long part, ends early when
    `should_stop` says that a hook asks again, and goes on in the next round.
    """
    from transcript.capture import sync
    from transcript.projections.views import refresh

    workspace, reason = owner_root(cwd, data)
    if workspace is None:
        if reason != "unknown_root":
            return None
        workspace = open_workspace(cwd, data, create="capture")
    forgetting.finish(workspace, now=datetime.now(UTC))
    settings = config.load(data, workspace.root, env)
    sync(workspace, data, env, settings=settings.capture())
    refresh(workspace)
    if settings.window().policy != "off":
        window_notice.note(workspace, occasions)
    tokens = settings.handoff().told_tokens
    rules_block.keep_up(data, workspace, most_tokens=tokens, carried=settings.standing())
    index(workspace, settings, data, should_stop=should_stop, weigh=weigh)
    use.note_uses(workspace)
    turnstate.prune(workspace.run_dir, now=datetime.now(UTC))
    hook_counters.compact(data)
    return workspace


def index(
    workspace: Workspace,
    settings: Config,
    data: Path,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    weigh: Weigh | None = None,
) -> None:
    """Make what was taken in searchable: words at once, what memories are worth, vectors after it."""
    from indexer import power, queue, writer
    from indexer.embedder import load
    from indexer.store import Store

    power.lower_priority()
    shape = settings.index()
    embedder = None
    with contextlib.suppress(EmbedderUnavailable):
        embedder = load(shape.model, data_home=str(data), threads=power.thread_count(shape.threads))
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, shape, now=datetime.now(UTC), embedder=embedder)
        if weigh is not None:
            weigh(workspace, store, settings)
        if embedder is not None:
            until = time.monotonic() + EMBED_S
            with contextlib.suppress(LockBusy):
                queue.embed(store, embedder, shape, should_stop=lambda: should_stop() or time.monotonic() > until)
        if not should_stop():
            fit_gate(workspace, store, settings, embedder)


def fit_gate(workspace: Workspace, store: Store, settings: Config, embedder: Embedder | None) -> None:
    """Fit the gate to the store where it has outgrown the last fit: some seconds, once in a doubling."""
    from indexer.tokens import TokenCounter
    from recall import calibration
    from recall.calibrate import is_due, measure
    from recall.vector_search import vector_search

    if not is_due(calibration.read(workspace.home), store.meta(), settings.settings()):
        return
    found = settings.settings()
    near = vector_search(store, embedder, found.retrieval.vector_limit) if embedder is not None else None
    made = measure(store, near, found, now=datetime.now(UTC), count_tokens=TokenCounter())
    calibration.write(workspace.home, made.calibration(datetime.now(UTC)))
