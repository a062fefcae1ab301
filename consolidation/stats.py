"""How candidates ended, by reason, finder and reviewer; and what checkpoints there are."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from transcript.event import Event, moment
from transcript.log import Log
from transcript.memories import FOLDED
from transcript.sieve import Sieve, type_field

ENDS = ("accepted", "downgraded", "rejected", "superseded", "duplicate", "procedure", "pending")
_TOLD = Sieve(
    types=(b'"type":"memory.', type_field("checkpoint"), type_field("system")),
    groups=((b'"type":"memory.', type_field("checkpoint"), b'"subtype":"compact_boundary"'),),
)


@dataclass(frozen=True, slots=True)
class Stats:
    """How many candidates ended in which way, each counted once, where it stands now.

    `downgraded` are those among the accepted whose text was narrowed, `superseded` memories that another replaced.
    """

    ends: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    finders: Mapping[str, int] = field(default_factory=dict)
    reviewers: Mapping[str, int] = field(default_factory=dict)


def told(log: Log) -> list[tuple[Event, dict[str, Any]]]:
    """Return the events that memories, checkpoints and compactions are counted from, with their bodies opened."""
    found = log.read(sieve=_TOLD)
    return [(event, log.body(event)) for event in found if event.body and _counts(event)]


def _counts(event: Event) -> bool:
    return event.type in FOLDED or (event.type == "system" and event.body.get("subtype") == "compact_boundary")


def stats(events: Iterable[tuple[Event, Mapping[str, Any]]], *, since: datetime | None = None) -> Stats:
    """Return how candidates ended that were decided since a moment."""
    decided: dict[str, Mapping[str, Any]] = {}
    finders: dict[str, str] = {}
    last: dict[str, Mapping[str, Any]] = {}
    reviewers: Counter[str] = Counter()
    superseded = 0
    for event, body in events:
        recent = since is None or moment(event.ts) >= since
        of = str(body.get("of", ""))
        if event.type == "memory.candidate":
            finders[event.id] = str(body.get("found_by", ""))
        elif event.type == "memory.verdict":
            last[of] = body
            reviewers[str((body.get("reviewer") or {}).get("id", ""))] += recent
        elif event.type == "memory.decided":
            decided.pop(of, None)
            if recent:
                decided[of] = body
        elif event.type == "memory.superseded":
            superseded += recent
    ends = Counter(end for of, body in decided.items() for end in _ends(body, last.get(of, {})))
    ends["superseded"] = superseded
    return Stats(
        {name: ends[name] for name in ENDS},
        _most(str(body.get("reason", "")) for body in decided.values()),
        _most(finders.get(of, "") for of in decided),
        dict(+reviewers),
    )


def _most(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def _ends(body: Mapping[str, Any], verdict: Mapping[str, Any]) -> list[str]:
    """The words under which a decision counts."""
    if body.get("pending"):
        return ["procedure" if body.get("outcome") == "procedure" else "pending"]
    if body.get("outcome") == "memory":
        return ["accepted", "downgraded"] if verdict.get("verdict") == "downgrade" else ["accepted"]
    if body.get("reason") == "accepted":
        return []  # that a memory is put away: nothing came in, and nothing was turned down
    return ["duplicate" if body.get("reason") in ("duplicate", "confirmed") else "rejected"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint as the record has it."""

    id: str
    ts: str
    seq: int
    trigger: str
    state: str
    failed_step: str
    text: str
    through: int
    whole: bool = False  # archive and index were done in it


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The last checkpoint, and how many were elected and how many a trigger made."""

    last: Checkpoint | None = None
    elected: int = 0
    fixed: int = 0
    triggers: Mapping[str, int] = field(default_factory=dict)


def checkpoints(events: Iterable[tuple[Event, Mapping[str, Any]]]) -> Checkpoints:
    """Return what checkpoints there are; those that failed are none, but the last may be one."""
    triggers: Counter[str] = Counter()
    elected = 0
    last: Checkpoint | None = None
    for event, body in events:
        if event.type != "checkpoint":
            continue
        last = checkpoint_of(event, body)
        if last.state == "complete":
            triggers[last.trigger] += 1
            elected += bool(body.get("elected"))
    return Checkpoints(last, elected, sum(triggers.values()) - elected, dict(triggers.most_common()))


def checkpoint_of(event: Event, body: Mapping[str, Any]) -> Checkpoint:
    """Return a checkpoint's event as a value."""
    steps = {str(step.get("name")): str(step.get("state")) for step in body.get("steps") or ()}
    whole = all(steps.get(name) in ("done", "unchanged") for name in ("archive", "index", "check"))
    texts = {name: str(body.get(name, "")) for name in ("trigger", "state", "failed_step", "text")}
    through = (body.get("through") or {}).get("seq", 0)
    return Checkpoint(event.id, event.ts, event.seq, through=int(through), whole=whole, **texts)
