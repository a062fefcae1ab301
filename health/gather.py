"""Reads everything the report is made of, once, without writing anything."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from health.facts import Facts, IndexFacts
from health.gather_approvals import approval_facts
from health.gather_capture import capture_facts
from health.gather_hooks import hook_facts, interpreter_facts, turn_facts
from health.gather_index import index_facts, light_facts
from health.gather_memory import memory_facts
from health.gather_record import record_facts
from health.gather_standing import standing_facts
from health.gather_window import window_facts
from indexer.embedder import Embedder
from indexer.settings import IndexSettings
from indexer.store import Store
from recall.memory_settings import ConsolidationSettings
from transcript.errors import StoreError
from transcript.workspace import Workspace


def gather(
    workspace: Workspace,
    data: Path,
    env: Mapping[str, str],
    *,
    now: datetime,
    settings: IndexSettings,
    load: Callable[[], Embedder],
    last: int = 50,
    hooked: bool = True,
    known: IndexFacts | None = None,
    consolidation: ConsolidationSettings | None = None,
) -> Facts:
    """Return the facts of a workspace; load is called once and tells whether the model is there.

    hooked is False where no harness is meant to call: hooks are then left out of the report. known are figures of the
    index as they were last counted: then only what tells whether it works at all is read, and load is not called.
    """
    at = now.timestamp()
    index, backend = index_facts(workspace, settings, load) if known is None else light_facts(workspace, known)
    capture, written = capture_facts(workspace, data, env, now=at)
    return Facts(
        workspace=workspace.id,
        now=at,
        record=record_facts(workspace, sessions=_sessions(workspace)),
        index=index,
        capture=capture,
        hooks=hook_facts(workspace, data, now=at, native_last_write=written) if hooked else (),
        backend=interpreter_facts(data, backend),
        turns=turn_facts(workspace, last=last, data=data, now=at),
        memories=memory_facts(workspace, data, consolidation or ConsolidationSettings(), now=now),
        approvals=approval_facts(workspace, data, now=now),
        standing=standing_facts(workspace, data),
        window=window_facts(workspace, env, consolidation or ConsolidationSettings()),
    )


def _sessions(workspace: Workspace) -> int:
    try:
        with Store.open(workspace.index_path) as store:
            return store.sessions()
    except StoreError:
        return 0
