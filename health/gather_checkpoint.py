"""Reads whether what the last checkpoint read can be found, and what has waited for one since; writes nothing."""

from collections.abc import Iterator
from itertools import islice, pairwise

from health.facts_memories import CheckpointFacts
from indexer.store import Store
from transcript.errors import RecordError, StoreError
from transcript.event import Event, Position, moment
from transcript.injected import strip_blocks
from transcript.kept_out import opts_out
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

MOST_TURNS = 200  # that are looked up: a first checkpoint may have read years
_TURNS = Sieve((type_field("conversation_turn"),))
_CHECKPOINTS = Sieve((type_field("checkpoint"),))


def checkpoint_facts(workspace: Workspace, log: Log | None = None) -> CheckpointFacts:
    """Return how many turns of the last checkpoint that had any are in the index, and since when turns wait for one."""
    log = log or Log(workspace)
    try:
        made = list(_complete(log))
        if not made:
            return CheckpointFacts()
        (at, _), waiting = made[-1], next(_turns(log, made[-1][1], None), None)
        since = max(at, moment(waiting.ts).timestamp()) if waiting is not None else None
        reads = [log.start, *(through for _, through in made)]
        asked: list[str] = []
        for begin, end in reversed(list(pairwise(reads))):
            asked = [event.id for event in islice(_turns(log, begin, end), MOST_TURNS)]
            if asked:
                break
    except RecordError:  # what is wrong with the record has signals of its own
        return CheckpointFacts()
    try:
        with Store.open(workspace.index_path) as store:
            expected = set(asked) - store.kept_out(asked)  # of an exchange that began before the checkpoint, too
            return CheckpointFacts(len(expected), len(store.indexed(expected)), since)
    except StoreError:  # and so has the index
        return CheckpointFacts(len(asked), None, since)


def _complete(log: Log) -> Iterator[tuple[float, Position]]:
    """Yield when each complete checkpoint was made and how far it had read."""
    for event in log.read(sieve=_CHECKPOINTS):
        if event.type == "checkpoint" and event.body:
            body = log.body(event)
            through = body.get("through")
            if body.get("state") == "complete" and isinstance(through, dict):
                yield moment(event.ts).timestamp(), Position(**through)


def _turns(log: Log, begin: Position, end: Position | None) -> Iterator[Event]:
    """Yield the turns of persons and agents between two places that the index is to hold."""
    out: set[str] = set()  # sessions whose last prompt asks that its turn stays out
    for event in log.read(begin, sieve=_TURNS):
        if end is not None and event.seq > end.seq:
            return
        kind = event.body.get("kind")
        if event.type != "conversation_turn" or kind not in ("prompt", "reply") or event.body.get("worker"):
            continue
        text = log.text(event)
        if kind == "prompt":
            (out.add if opts_out(text) else out.discard)(event.session)
        if strip_blocks(text).strip() and event.session not in out:
            yield event
