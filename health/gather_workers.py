"""Reads which sub-agents' sessions the index has read and what became of their corrections; writes nothing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from consolidation.find_curated import CORRECTION
from health.facts import WorkerFacts
from health.record_pass import WORKERS
from indexer import audit
from indexer.store import Store
from transcript.errors import RecordError, StoreError
from transcript.event import Event, moment
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

_DECIDED = ("memory.candidate", "memory.decided", "memory.adopted")
_CORRECTED = Sieve(tuple(map(type_field, ("correction", "checkpoint", *_DECIDED))))


def worker_facts(workspace: Workspace, log: Log | None = None) -> WorkerFacts:
    """Return which sub-agents the index lacks, up to where it has read, and which corrections of theirs still wait."""
    log = log or Log(workspace)
    return _corrections(log, _sessions(workspace, log))


def _sessions(workspace: Workspace, log: Log) -> WorkerFacts:
    """Return how many sub-agents there are and which the index lacks."""
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


def _corrections(log: Log, facts: WorkerFacts) -> WorkerFacts:
    """Return the facts with the corrections that no decision and no adoption names and that none replaced."""
    said: dict[str, tuple[Event, str]] = {}
    sources: dict[str, tuple[str, ...]] = {}  # candidate -> events
    read = 0
    try:
        for event in log.read(sieve=_CORRECTED):
            body = log.body(event) if event.body else {}
            if event.type == "correction":
                said.pop(str(body.get("supersedes") or ""), None)
                if body.get("kind") == CORRECTION and body.get("worker") and event.origin != "external":
                    said[event.id] = event, str(body["worker"])
            elif event.type == "memory.candidate":
                sources[event.id] = tuple(str(span.get("event", "")) for span in body.get("sources") or ())
            elif event.type == "memory.decided":
                for name in () if body.get("pending") else sources.get(str(body.get("of", "")), ()):
                    said.pop(name, None)
            elif event.type == "memory.adopted":
                said.pop(str(body.get("event", "")), None)
            elif event.type == "checkpoint":
                read = max(read, _read_through(body))
    except RecordError:
        return facts
    return replace(
        facts,
        corrections=tuple(f"{event.pointer} of {worker[:20]}, {event.ts[:10]}" for event, worker in said.values()),
        corrections_oldest=min((moment(event.ts).timestamp() for event, _ in said.values()), default=None),
        corrections_passed=sum(event.seq <= read for event, _ in said.values()),
    )


def _read_through(checkpoint: Mapping[str, Any]) -> int:
    """Return the last event that a complete checkpoint read, 0 for one that is not complete."""
    through = checkpoint.get("through")
    return int(through["seq"]) if checkpoint.get("state") == "complete" and isinstance(through, dict) else 0
