"""Reads which sub-agents' sessions the record holds and the index has read; writes nothing."""

from health.facts import WorkerFacts
from health.record_pass import WORKERS
from indexer import audit
from indexer.store import Store
from transcript.errors import RecordError, StoreError
from transcript.log import Log
from transcript.workspace import Workspace


def worker_facts(workspace: Workspace, log: Log | None = None) -> WorkerFacts:
    """Return how many sub-agents there are up to where the index has read, and which of them it lacks."""
    log = log or Log(workspace)
    try:
        with Store.open(workspace.index_path) as store:
            read, held = audit.watermark_seq(store), audit.workers(store)
        seen: dict[tuple[str, str], str] = {}
        for event in log.read(sieve=WORKERS):
            worker = str(event.body.get("worker", ""))
            if event.seq <= read and worker and event.body.get("kind") == "worker_prompt" and log.text(event).strip():
                seen.setdefault((event.session, worker), event.ts)
    except (RecordError, StoreError):  # what is wrong with record or index has signals of its own
        return WorkerFacts()
    missing = tuple(
        f"{worker[:20]} of session {name[0][:8]}, {at[:10]}"
        for (*name, worker), at in seen.items()
        if (name[0], worker) not in held
    )
    return WorkerFacts(len(seen), len(seen) - len(missing), missing)
