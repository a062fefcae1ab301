"""The ledger: one event of type `recall` per turn, empty ones included, with what was shown and why.

On the hook path: standard library only. What policy kept out stands in it with a pointer and a reason, never with
its words.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from indexer.rows import IndexMeta
from recall.injection import POINTER_CHARS, pointer_text
from recall.query import Query
from recall.selection import POLICY
from recall.settings import Settings, settings_hash
from recall.turn import Before, Ranked, Turn
from transcript.canonical import b32id
from transcript.event import Draft, Event, stamp
from transcript.log import Log

TYPE = "recall"
MODES = ("warm", "words", "tool", "posthoc", "demo")
HOOK_MODES = ("warm", "words")  # a harness asked, not a person
START_MODE = "handoff"  # a session started and was told where the work stands; nothing was searched
MOST_LEFT_OUT = 50
SCORED_LEFT_OUT = 10  # so many of them with what speaks for them
PROMPT_CHARS = 80_000


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the caller knows of a turn and the engine does not."""

    mode: str  # one of MODES, or START_MODE
    latency_ms: float
    index: IndexMeta | None = None
    already: frozenset[str] = frozenset()
    call: str = ""  # makes the event's id unique: random, or the harness's id of the prompt
    note: str = ""  # why there was no service, no index, no vectors
    source: str = ""  # of a session that starts: startup, resume, clear, compact
    told: tuple[str, ...] = ()  # the events of the lines it was told
    standing: Mapping[str, Any] = field(default_factory=dict)  # what of the standing context it was told
    pruned: frozenset[str] = frozenset()  # events that had left the session's window, so that they could be found
    facets: str = ""  # what was known of memories' privacy, grants and roles: the hash of that file


def draft(query: Query, turn: Turn, settings: Settings, how: Circumstances, *, now: datetime) -> Draft:
    """The ledger event of one turn."""
    if how.mode not in (*MODES, START_MODE):
        raise ValueError(f"mode is {how.mode!r}, must be one of {', '.join((*MODES, START_MODE))}")
    body = {
        **_asked(query, now),
        "mode": how.mode,
        "settings_hash": settings_hash(settings),
        "settings": changed(settings),
        "weights": asdict(settings.weights),
        "already": sorted(how.already),
        "pruned": sorted(how.pruned),
        "items": [_shown(r) for r in turn.items] or [{"pointer": e[:POINTER_CHARS], "event": e} for e in how.told],
        "left_out": _left_out(turn),
        "counts": counts(turn),
        "tokens": turn.tokens,
        "bytes": len(turn.block.encode("utf-8", "surrogatepass")),
        "latency_ms": round(how.latency_ms, 2),
        "stages": turn.stages,
        "block": turn.block,
        "block_hash": turn.block_hash,
        "empty_reason": turn.empty_reason,
        "words_only": turn.words_only,
        "note": how.note,
        "facets": how.facets,
        "source": how.source,
        "standing": dict(how.standing),
        "budget": budgeted(turn) if turn.stages else None,
    }
    if how.index is not None:
        body["index"] = {
            "generation": how.index.generation,
            "watermark": how.index.watermark,
            "data_version": how.index.data_version,
            "model": how.index.model,
        }
    call = how.call or turn.block_hash
    return Draft(
        type=TYPE,
        id=b32id(TYPE, query.session, stamp(now), how.mode, call, query.prompt[:PROMPT_CHARS]),
        ts=stamp(now),
        ts_source="record",
        session=query.session or f"recall:{call or 'none'}",
        agent=query.harness,
        actor="human" if how.mode in ("tool", "posthoc", "demo") else "system",
        origin="internal",
        body={key: value for key, value in body.items() if value not in ("", [], {}, None)},
    )


def _asked(query: Query, now: datetime) -> dict[str, Any]:
    return {
        "prompt": query.prompt[:PROMPT_CHARS],
        "harness": query.harness,
        "asked_in": query.session,
        "cwd": query.cwd,
        "role": query.role,
        "channel": query.channel,
        "audience": query.audience,
        "command": query.command,
        "skill": query.skill,
        "task": query.task,
        "project": query.project,
        "root": query.root,
        "history": query.history or None,
        "query_mode": query.mode,
        "now": now.isoformat(),
        "as_of": query.as_of.isoformat() if query.as_of else None,
    }


def _pointer(ranked: Ranked) -> str:
    return pointer_text(ranked.candidate.pointer)


def _shown(ranked: Ranked) -> dict[str, Any]:
    item = ranked.candidate
    at = item.pointer
    return {
        "pointer": _pointer(ranked),
        "event": at.event,
        "start": at.start,
        "end": at.end,
        "kind": at.source,
        "ts": at.said,
        "also": [p.event for p in item.pointers[1:]],
        **({"noted": sorted(item.behind)} if item.behind else {}),
        **_scored(ranked),
    }


def _left_out(turn: Turn) -> list[dict[str, Any]]:
    """What was not shown, in the order of the list: a pointer and a reason, and of the first ones why they stood there.

    What policy keeps out has no more than that.
    """
    found: list[dict[str, Any]] = []
    for number, r in enumerate(turn.left_out[:MOST_LEFT_OUT]):
        scored = number < SCORED_LEFT_OUT and r.verdict not in POLICY
        found.append({"pointer": _pointer(r), "reason": r.verdict, **(_scored(r) if scored else {})})
    return found


def _scored(ranked: Ranked) -> dict[str, Any]:
    item = ranked.candidate
    return {
        "terms": {letter: round(value, 6) for letter, value in ranked.score.terms().items()},
        "R": round(ranked.score.total, 6),
        "cosine": None if item.cosine is None else round(item.cosine, 6),
        "bm25": round(item.bm25, 4),
        "relevance": round(item.relevance, 6),
        "words": sorted(item.matched),
        "demoted": list(item.demoted),
    }


def budgeted(turn: Turn) -> dict[str, Any]:
    """How much was to be injected, why, and the signals behind it; with them a replay decides the same."""
    decision = turn.budget
    signals = {name: value for name, value in asdict(decision.signals).items() if value is not None}
    return {
        "mode": decision.mode,
        "branch": decision.branch,
        "reason": decision.reason,
        "signals": {name: round(value, 6) if isinstance(value, float) else value for name, value in signals.items()},
    }


def before(body: Mapping[str, Any]) -> Before:
    """What a recorded turn knew of the injection before it."""
    signals = body.get("budget", {}).get("signals", {})
    return Before(signals.get("used"), float(signals.get("continues", 0.0)))


def counts(turn: Turn) -> dict[str, int]:
    """Candidates, shown ones, and how many were left out for each reason."""
    found = {"candidates": turn.candidates, "shown": len(turn.items)}
    for ranked in turn.left_out:
        found[ranked.verdict] = found.get(ranked.verdict, 0) + 1
    return found


def changed(settings: Settings) -> dict[str, Any]:
    """Settings that differ from their defaults: section.name -> value."""
    default, different = Settings(), {}
    for section in fields(settings):
        ours, theirs = getattr(settings, section.name), getattr(default, section.name)
        if is_dataclass(ours):
            for name in fields(ours):
                value = getattr(ours, name.name)
                if value != getattr(theirs, name.name):
                    different[f"{section.name}.{name.name}"] = list(value) if isinstance(value, tuple) else value
    return different


def turns(log: Log, *, modes: tuple[str, ...] = MODES) -> Iterator[Event]:
    """Ledger events, newest first."""
    from transcript.sieve import Sieve, type_field

    for event in log.read_back(only=TYPE, sieve=Sieve((type_field(TYPE),))):  # passes over blocks without any
        if event.type == TYPE and event.body.get("mode") in modes:
            yield event


def last(log: Log, *, modes: tuple[str, ...] = MODES) -> Event | None:
    """The newest ledger event, None before the first turn."""
    return next(turns(log, modes=modes), None)


def recent(log: Log, count: int) -> list[Event]:
    """The newest ledger events, newest first."""
    return list(islice(turns(log), count))


def find(log: Log, name: str) -> Event | None:
    """The ledger event with this id or its first characters, or the one whose block carried this hash."""
    for event in turns(log, modes=(*MODES, START_MODE)):
        if event.id.startswith(name) or (name and event.body.get("block_hash") == name):
            return event
    return None
