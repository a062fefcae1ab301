"""Reads what the signals of live windows look at; writes nothing."""

from collections.abc import Mapping

from health.facts_memories import WindowFacts
from health.record_pass import SUMMARIES
from recall import window_host
from recall.memory_settings import ConsolidationSettings
from recall.window_apply import EMERGENCY, REFUSED
from recall.window_items import newest_harness
from transcript.capture_source import TRUNCATED
from transcript.errors import RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

_EVENTS = Sieve(types=(type_field("prune"), type_field("mark")))


def window_facts(
    workspace: Workspace, env: Mapping[str, str], settings: ConsolidationSettings, log: Log | None = None
) -> WindowFacts:
    """Return what became of sessions' windows, and whether a checkpoint comes before the harness compacts."""
    log = log or Log(workspace)
    try:
        events = list(log.read(sieve=_EVENTS))
        covered, absent = _covered(log)
        harness = newest_harness(log)
        host = window_host.of(harness, env, workspace.root, seen=window_host.observed(log, harness))
    except RecordError:  # what is wrong with the record has signals of its own
        return WindowFacts()
    last: dict[str, Event] = {}
    for event in events:
        if event.type == "prune" and event.body:
            last[event.session] = event
    refused = [event for event in last.values() if event.body.get("state") == REFUSED]
    return WindowFacts(
        refused=tuple(f"{event.session[:8]}: {event.body.get('reason', '')}" for event in refused),
        emergencies=_marks(events, EMERGENCY),
        truncated=_marks(events, TRUNCATED),
        covered=covered,
        absent=absent,
        harness=harness,
        host_tokens=host.tokens,
        window_tokens=settings.window_tokens or host.limit,
        limit_tokens=host.limit,
        limit_known=host.known,
        checkpoint_tokens=window_host.checkpoint_at(settings, host),
        fault=window_host.fault(harness, host, settings) if harness else "",  # nobody's window: nothing is known
    )


def _marks(events: list[Event], mark: str) -> int:
    return sum(event.type == "mark" and event.body.get("mark") == mark for event in events)


def _covered(log: Log) -> tuple[int, int]:
    """How many summaries of compactions there are, and how many turns that they cover the record lacks."""
    ids, summaries, absent = log.ids(), 0, 0
    for event in log.read(sieve=SUMMARIES):
        covers = event.body.get("covers")
        if isinstance(covers, list) and event.body.get("kind") == "summary":
            summaries += 1
            absent += sum(isinstance(name, str) and name not in ids for name in covers)
    return summaries, absent
