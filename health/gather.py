"""Reads everything the report is made of, once, without writing anything."""

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from health import series
from health.facts import (
    CaptureFacts,
    Facts,
    IndexFacts,
    IndexRunFacts,
    JudgedFacts,
    Point,
    QualityFacts,
    RecordFacts,
    RefusalFacts,
    RunFacts,
    SeriesFacts,
    TurnFacts,
    WorkerFacts,
)
from health.facts_machine import (
    BackendFacts,
    BackupFacts,
    DiskFacts,
    FreshnessFacts,
    MachineFacts,
    ScheduleFacts,
    ServiceFacts,
)
from health.facts_memories import ApprovalFacts, CheckpointFacts, LoaderFacts, MemoryFacts, StandingFacts, WindowFacts
from health.gather_approvals import approval_facts
from health.gather_backup import backup_facts
from health.gather_capture import capture_facts
from health.gather_checkpoint import checkpoint_facts
from health.gather_disk import disk_facts
from health.gather_freshness import freshness_facts
from health.gather_hooks import hook_facts, interpreter_facts, turn_facts
from health.gather_index import index_facts, light_facts
from health.gather_index_runs import index_run_facts
from health.gather_judged import judged_facts
from health.gather_loader import loader_facts
from health.gather_memory import memory_facts
from health.gather_quality import quality_facts
from health.gather_record import record_facts
from health.gather_runs import run_facts
from health.gather_schedule import schedule_facts
from health.gather_service import service_facts
from health.gather_standing import standing_facts
from health.gather_window import window_facts
from health.gather_workers import worker_facts
from health.record_pass import OnePass
from health.refusals import PARSERS, refusal_facts
from indexer.embedder import Identity
from indexer.settings import IndexSettings
from indexer.store import Store
from recall import service_control
from recall.memory_settings import ConsolidationSettings
from transcript.errors import StoreError
from transcript.workspace import Workspace

DAY_S = 86_400.0
SERVICE_S = 1.0  # for the resident service to say how it is, from the beginning of the report on
Group = TypeVar("Group")


def gather(
    workspace: Workspace,
    data: Path,
    env: Mapping[str, str],
    *,
    now: datetime,
    settings: IndexSettings,
    load: Callable[[], Identity],
    last: int = 50,
    since: float | None = None,
    hooked: bool = True,
    known: IndexFacts | None = None,
    recount: bool = False,
    consolidation: ConsolidationSettings | None = None,
    canon: str = "",
    memory_folders: str = "",
) -> Facts:
    """Return the facts of a workspace; load is called once and tells whether the model is there.

    last is how many turns are looked back on, since the moment from which on turns, counters and series count.
    recount counts the index's figures even where its files are as they were when they were counted last.
    hooked is False where no harness is meant to call: hooks are then left out of the report. known are figures of the
    index as they were last counted: then only what tells whether it works at all is read, and load is not called.
    canon is the setting `freshness.canon`, memory_folders is `memory.folders`.
    """
    at = now.timestamp()
    shape = consolidation or ConsolidationSettings()
    broken: list[str] = []
    log = OnePass(workspace)
    asked = service_control.question(data, within_s=SERVICE_S)  # it answers, or hangs, while the rest is read

    def read(name: str, group: Callable[[], Group], without: Group) -> Group:
        """Read one group; one that cannot be read is named, and the report goes on without it."""
        try:
            return group()
        except Exception as error:  # a fault of ours, too: the rest of the report is needed most then
            broken.append(f"{name}: {type(error).__name__}")
            return without

    def index_and_backend() -> tuple[IndexFacts, BackendFacts]:
        if known is not None:
            return light_facts(workspace, known)
        return index_facts(workspace, settings, load, recount=recount, day=int(at // DAY_S))

    unread = (IndexFacts(present=True, error="the index could not be looked at"), BackendFacts(vectors="unknown"))
    index, backend = read("index", index_and_backend, unread)
    uncaptured: tuple[CaptureFacts, dict[str, float]] = (CaptureFacts(), {})
    capture, written = read("capture", lambda: capture_facts(workspace, data, env, now=at), uncaptured)
    facts = Facts(
        workspace=workspace.id,
        now=at,
        since=since,
        project=workspace.root.name if workspace.root else "",
        machine=MachineFacts(platform.system(), platform.python_version(), os.cpu_count()),
        record=read("record", lambda: record_facts(workspace, sessions=_sessions(workspace), log=log), RecordFacts()),
        index=index,
        index_runs=read("index_runs", lambda: index_run_facts(workspace, log), IndexRunFacts()),
        capture=capture,
        hooks=read(
            "hooks", lambda: hook_facts(workspace, data, env, now=at, native_last_write=written, since=since), ()
        )
        if hooked
        else (),
        backend=read("interpreter", lambda: interpreter_facts(data, backend), backend),
        turns=read(
            "turns", lambda: turn_facts(workspace, last=last, data=data, now=at, since=since, log=log), TurnFacts()
        ),
        memories=read("memories", lambda: memory_facts(workspace, data, shape, now=now, log=log), MemoryFacts()),
        checkpoints=read("checkpoints", lambda: checkpoint_facts(workspace, log), CheckpointFacts()),
        approvals=read("approvals", lambda: approval_facts(workspace, data, now=now, log=log), ApprovalFacts()),
        standing=read("standing", lambda: standing_facts(workspace, data, log), StandingFacts()),
        loader=read("loader", lambda: loader_facts(memory_folders), LoaderFacts()),
        judged=read("judged", lambda: judged_facts(workspace), JudgedFacts()),
        refusals=read("refusals", lambda: refusal_facts(PARSERS if known is None else ()), RefusalFacts()),
        runs=read("runs", lambda: run_facts(workspace, now=now, log=log), RunFacts()),
        workers=read("workers", lambda: worker_facts(workspace, log), WorkerFacts()),
        series=read("series", lambda: SeriesFacts(_past(series.read(log, since=since), at)), SeriesFacts()),
        quality=read("quality", lambda: quality_facts(workspace), QualityFacts()),
        disk=read("disk", lambda: disk_facts(data), DiskFacts()),
        freshness=read("freshness", lambda: freshness_facts(workspace, data, canon, asked=asked), FreshnessFacts()),
        service=read("service", lambda: service_facts(data, env, now=at, asked=asked), ServiceFacts()),
        window=read("window", lambda: window_facts(workspace, env, shape, log), WindowFacts()),
        backup=read("backup", lambda: backup_facts(workspace), BackupFacts()),
        schedule=read("schedule", lambda: schedule_facts(data, env, now=now), ScheduleFacts()),
    )
    return replace(facts, broken=tuple(broken))


def _past(points: tuple[Point, ...], now: float) -> tuple[Point, ...]:
    """The kept reports but those of a day that has not come: the clock was wrong, and they would stay the newest."""
    return tuple(point for point in points if point.at <= now + DAY_S)


def _sessions(workspace: Workspace) -> int:
    try:
        with Store.open(workspace.index_path) as store:
            return store.sessions()
    except StoreError:
        return 0
