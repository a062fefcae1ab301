"""Reads what runs of the index could not take in, and what they estimated; writes nothing."""

from health.facts import IndexRunFacts
from indexer.audit import lacks
from indexer.store import Store
from transcript.errors import RecordError, StoreError
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

_RUNS = Sieve(types=(type_field("index_run"),), groups=((b'"failures":[', b'"estimated":'),))


def index_run_facts(workspace: Workspace, log: Log | None = None) -> IndexRunFacts:
    """Return the failures that no later run made good, and the token counts that the serving generation estimated."""
    log = log or Log(workspace)
    failures: dict[str, str] = {}
    estimated: dict[int, int] = {}
    for event in log.read(sieve=_RUNS):
        counts = event.body.get("counts", {})
        generation = int(event.body.get("generation", 0))
        estimated[generation] = estimated.get(generation, 0) + int(counts.get("estimated", 0))
        failures |= {line.partition(":")[0]: f"{line}, {event.ts[:10]}" for line in counts.get("failures", ())}
    if not failures and not estimated:
        return IndexRunFacts()
    try:
        with Store.open(workspace.index_path) as store:
            missing, serving = lacks(store, failures), store.generation
    except StoreError:  # a missing or unreadable index has a signal of its own
        return IndexRunFacts()
    left = tuple(line for pointer, line in failures.items() if pointer in missing and _has_words(log, pointer))
    return IndexRunFacts(left, estimated.get(serving, 0))


def _has_words(log: Log, pointer: str) -> bool:
    """Say whether an event still holds anything: what was forgotten since is missed by nobody."""
    try:
        return bool(log.find(pointer).body)
    except RecordError:
        return True
