"""Runs one capture or one indexing in a process that a test kills; the stage it is in stands in a shared byte.

    python kill_driver.py DATA PROJECT SESSIONS PHASE STAGE_FILE [STAGE NTH]

PHASE is sync or index. With STAGE and NTH the process kills itself inside the NTH entry of that stage; while a batch
of the record is being written, after half of its bytes.
"""

import contextlib
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SECTOR = 512  # what is shorter, the head, is written at once or not at all
STAGES = ("start", "parse", "append", "fsync", "chunk", "embed", "commit", "other", "done")


class Stages:
    """The shared byte, and the death from inside a stage."""

    def __init__(self, path: str, die_in: str, die_at: int) -> None:
        with open(path, "r+b") as handle:
            self._map = mmap.mmap(handle.fileno(), 1)
        self._die_in, self._left = die_in, die_at
        self.now = "start"

    def enter(self, stage: str) -> bool:
        """Show a stage; say whether the process is to die in this entry of it."""
        self.now = stage
        self._map[0] = STAGES.index(stage)
        if stage != self._die_in:
            return False
        self._left -= 1
        return self._left == 0

    def wrap(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return call with its stage shown while it runs."""

        def shown(*args: Any, **options: Any) -> Any:
            before = self.now
            if self.enter(stage):
                die()
            try:
                return call(*args, **options)
            finally:
                self.enter(before if before != "start" else "other")

        return shown


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def patch_record(stages: Stages) -> None:
    from transcript import capture_source, segments

    whole_write = segments.write_all

    def write(descriptor: int, data: bytes) -> None:
        before = stages.now
        if len(data) > SECTOR and stages.enter("append"):
            os.write(descriptor, data[: len(data) // 2])
            die()
        whole_write(descriptor, data)
        stages.enter(before)

    segments.write_all = write
    segments.sync = stages.wrap("fsync", segments.sync)
    capture_source.parse_line = stages.wrap("parse", capture_source.parse_line)


def patch_index(stages: Stages, embedder: Any) -> None:
    from indexer import chunker
    from indexer.store import Store

    whole_transaction = Store.transaction

    @contextlib.contextmanager
    def transaction(store: Store, *, changes: bool = True) -> Iterator[None]:
        before = stages.now
        deadly = stages.enter("commit")
        with whole_transaction(store, changes=changes):
            yield
            if deadly:
                die()
        stages.enter(before if before != "start" else "other")

    Store.transaction = transaction  # type: ignore[method-assign, assignment]
    chunker.split = stages.wrap("chunk", chunker.split)
    embedder.encode = stages.wrap("embed", embedder.encode)


def make_embedder() -> Any:
    """Return the embedder of the run: the real model with RECALL_TEST_MODEL=1, else a stub that takes some time."""
    if os.environ.get("RECALL_TEST_MODEL") == "1":
        from indexer.embedder import load
        from indexer.settings import IndexSettings

        return load(IndexSettings())
    from support.embedder import StubEmbedder

    embedder = StubEmbedder()
    quick = embedder.encode

    def encode(texts: Any) -> Any:
        time.sleep(0.004 * len(texts))
        return quick(texts)

    embedder.encode = encode  # type: ignore[method-assign]
    return embedder


def run(data: Path, project: Path, sessions: Path, phase: str, stages: Stages) -> None:
    """Do the whole of one phase."""
    from transcript.workspace import open_workspace

    now = datetime(2026, 12, 1, tzinfo=UTC)
    workspace = open_workspace(project, data, create="init")
    if phase == "sync":
        from transcript.capture import sync

        patch_record(stages)
        sync(workspace, data, {}, sources=sessions, all_roots=True, now=now)
    else:
        from indexer import queue, writer
        from indexer.settings import IndexSettings
        from indexer.store import Store

        embedder = make_embedder()
        patch_index(stages, embedder)
        settings = IndexSettings(embed_batch=4)
        with Store.open(workspace.index_path, "w") as store:
            writer.index(workspace, store, settings, now=now, embedder=embedder)
            queue.embed(store, embedder, settings)
    stages.enter("done")


def main() -> None:
    data, project, sessions, phase, stage_file, *fate = sys.argv[1:]
    stages = Stages(stage_file, *((fate[0], int(fate[1])) if fate else ("", 0)))
    run(Path(data), Path(project), Path(sessions), phase, stages)


if __name__ == "__main__":
    main()
