"""Reads which runs that were declared cleared began with something of an earlier one; writes nothing.

A run is the first session that begins after `recall session new --cleared`. What it was given stands before its first
answer. That is held against the summaries of earlier sessions by the eight words in a row that both hold. What an
earlier prompt holds is the task, which two runs may share, and what the summaries of four sessions hold is their form.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from health.facts import Inherited, RunFacts
from transcript.canonical import canonical
from transcript.errors import RecordError
from transcript.event import Event, moment
from transcript.injected import strip_blocks
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

DAYS = 30
WORDS = 8
LEAST_SHARED, LEAST_SHARE = 8, 0.03
FORM = 4  # sessions whose summaries hold the same words
_MARKS = Sieve((type_field("mark"),))
_KINDS = (type_field("conversation_turn"), type_field("system"))
_SAID = Sieve(_KINDS, groups=((b'"kind":"prompt"', b'"kind":"summary"', b'"subtype":"compact_boundary"'),))
_WORD = re.compile(r"\w+")
Grams = frozenset[tuple[str, ...]]


@dataclass(slots=True)
class Session:
    """A session as far as it is looked at: its first event, its prompts, its summaries."""

    first: Event
    prompts: list[Event] = field(default_factory=list)
    summaries: list[Event] = field(default_factory=list)


def run_facts(workspace: Workspace, *, now: datetime, log: Log | None = None) -> RunFacts:
    """Return the runs of the last 30 days that were declared cleared, and what they inherited."""
    log, since = log or Log(workspace), now - timedelta(days=DAYS)
    try:
        marks = [
            event
            for event in log.read(sieve=_MARKS)
            if event.type == "mark" and event.body.get("mark") == "cleared" and moment(event.ts) >= since
        ]
        if not marks:  # the record is not read for those who make no experiments
            return RunFacts()
        held = sessions(log)
        runs = dict.fromkeys(run for mark in marks if (run := _begun_after(mark, held)))
        return RunFacts(len(runs), inherited(log, held, runs))
    except RecordError:  # what is wrong with the record has signals of its own
        return RunFacts()


def sessions(log: Log) -> dict[str, Session]:
    """Return the sessions of the record in the order in which they began, without what sub-agents said."""
    found: dict[str, Session] = {}
    for event in log.read(sieve=_SAID):
        kind = _kind(event)
        if kind in ("prompt", "summary", "boundary") and not event.session.startswith("recall:"):
            session = found.setdefault(event.session, Session(event))
            if kind != "boundary":
                (session.prompts if kind == "prompt" else session.summaries).append(event)
    return found


def _begun_after(mark: Event, held: dict[str, Session]) -> str:
    """Return the first session that the record has from after a mark, "" for none: one that went on began before it."""
    at = moment(mark.ts)
    return next((name for name, s in held.items() if s.first.seq > mark.seq and moment(s.first.ts) >= at), "")


def _opening(log: Log, first: Event) -> Iterator[Event]:
    """Yield what a session was given before its first answer; a compaction after that is its own."""
    yield first
    for event in log.read(first.position, sieve=Sieve(_KINDS, groups=((canonical(first.session),),))):
        kind = _kind(event) if event.session == first.session else ""
        if kind == "reply":
            return
        if kind:
            yield event


def inherited(log: Log, held: dict[str, Session], runs: Iterable[str]) -> tuple[Inherited, ...]:
    """Return what each of these sessions began with of earlier ones: a compaction, or words of a summary."""

    @cache
    def of_event(event: str) -> Grams:
        return _grams(log.text(log.get(event)))

    def grams(events: Iterable[Event], before: int) -> Grams:
        return frozenset().union(*(of_event(event.id) for event in events if event.seq < before))

    found = []
    for name in runs:
        opening = list(_opening(log, held[name].first))
        given = frozenset().union(*(of_event(event.id) for event in opening))
        others = {other: session for other, session in held.items() if other != name}
        shared = {other: given & grams(session.summaries, opening[0].seq) for other, session in others.items()}
        times = Counter(gram for words in shared.values() for gram in words)
        own = {other: frozenset(gram for gram in words if times[gram] < FORM) for other, words in shared.items()}
        if max(map(len, own.values()), default=0) >= LEAST_SHARED:
            asked = frozenset().union(*(given & grams(s.prompts, opening[0].seq) for s in others.values()))
            own = {other: words - asked for other, words in own.items()}
        of, words = max(own.items(), key=lambda told: len(told[1]), default=("", frozenset()))
        share = len(words) / max(1, len(given))
        told = len(words) >= LEAST_SHARED and share >= LEAST_SHARE
        compacted = any(_kind(event) in ("summary", "boundary") for event in opening)
        if compacted or told:
            found.append(Inherited(name, compacted, share if told else 0.0, of if told else ""))
    return tuple(found)


def _kind(event: Event) -> str:
    """Return the kind of a turn, "boundary" for that of a compaction, "" for anything else and for sub-agents."""
    if event.body.get("worker"):
        return ""
    if event.type == "conversation_turn":
        return str(event.body.get("kind", ""))
    return "boundary" if event.type == "system" and event.body.get("subtype") == "compact_boundary" else ""


def _grams(text: str) -> Grams:
    words = _WORD.findall(strip_blocks(text).casefold())
    return frozenset(zip(*(words[at:] for at in range(WORDS)), strict=False))
