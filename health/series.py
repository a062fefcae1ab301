"""The series: what each night keeps of its report in the record, and what follows from the kept ones together."""

import csv as csv_format
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from health.facts import Facts, Point
from health.signal import Level, Signal
from health.stats import percentile
from transcript.canonical import b32id
from transcript.errors import RecordError
from transcript.event import Draft, Event, moment, stamp
from transcript.log import Log
from transcript.sieve import Sieve, type_field

TYPE = "health"
MOST_POINTS = 400
MOST_IDS = 60  # of signals in one event: it stays below 4 KiB
MOST_CHANGED = 12  # and of those that are new and mended since the event before
MOST_CHARS = 48
RATE_SECONDS = 20 * 3600.0  # two points closer than this give no rate
_DAY = 86_400.0

# Name -> how it is read from the facts; None where it is not known.
FIGURES: dict[str, Callable[[Facts], float | None]] = {
    "transcript_bytes": lambda f: f.capture.read_bytes,
    "log_bytes": lambda f: f.record.log_bytes,
    "native_bytes": lambda f: f.record.native_bytes,
    "blob_bytes": lambda f: f.record.blob_bytes,
    "index_bytes": lambda f: f.index.file_bytes,
    "index_pages": lambda f: f.index.pages,
    "index_free_pages": lambda f: f.index.free_pages,
    "events": lambda f: f.record.events,
    "sessions": lambda f: f.record.sessions,
    "session_hours": lambda f: f.index.session_hours,
    "chunks": lambda f: f.index.rows,
    "vectors": lambda f: f.index.vectors,
    "duplicate_ratio": lambda f: (f.index.rows - f.index.distinct) / f.index.rows if f.index.rows else 0.0,
    "failed": lambda f: f.index.failed,
    "pending": lambda f: f.index.pending,
    "near_pairs": lambda f: f.index.near_pairs,
    "turns": lambda f: f.turns.seen,
    "empty": lambda f: f.turns.empty,
    "misses": lambda f: sum(f.turns.deadline_misses.values()),
    "latency_p50": lambda f: percentile(f.turns.latencies_ms, 50) if f.turns.latencies_ms else None,
    "latency_p95": lambda f: percentile(f.turns.latencies_ms, 95) if f.turns.latencies_ms else None,
    "tokens_p50": lambda f: percentile(f.turns.tokens, 50) if f.turns.tokens else None,
    "tokens_p95": lambda f: percentile(f.turns.tokens, 95) if f.turns.tokens else None,
    "items_used_share": lambda f: _used(f),
    "memories": lambda f: f.memories.states.get("current", 0),
    "conflicts": lambda f: f.memories.conflicts,
    "hook_failures": lambda f: sum(sum(hook.failures.values()) for hook in f.hooks),
    "rss_mb": lambda f: f.service.memory_mb,
    "mrr": lambda f: _measured(f, f.quality.mrr),
    "mrr_low": lambda f: _measured(f, f.quality.low),
    "mrr_high": lambda f: _measured(f, f.quality.high),
    "mrr_questions": lambda f: _measured(f, f.quality.questions),
}
STORED = ("log_bytes", "native_bytes", "blob_bytes", "index_bytes")


@dataclass(frozen=True, slots=True)
class Changes:
    """What is other than in the last kept report, whose time is `against`: signals newly bad, and those mended."""

    failing_new: tuple[str, ...] = ()
    warning_new: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    against: float | None = None


def figures(facts: Facts) -> dict[str, float]:
    """Return the figures of a report that are known, by name."""
    read = {name: of(facts) for name, of in FIGURES.items()}
    return {name: round(value, 6) for name, value in read.items() if value is not None and math.isfinite(value)}


def draft(facts: Facts, signals: Iterable[Signal], level: Level, now: datetime) -> Draft:
    """Return the event that keeps a report, with what is other than in the last kept one.

    Its id is one for a workspace and local day, so a day keeps one.
    """
    by_level: dict[Level, list[str]] = {Level.WARN: [], Level.FAIL: []}
    told = tuple(signals)
    changed = changes(told, facts.series.points)
    for signal in told:
        if signal.level:
            by_level[signal.level].append(signal.id[:MOST_CHARS])
    return Draft(
        type=TYPE,
        id=b32id(TYPE, facts.workspace, now.astimezone().date().isoformat()),
        ts=stamp(now),
        ts_source="record",
        session="recall:health",
        agent="recall",
        actor="system",
        origin="internal",
        native={"adapter": "health"},
        body={
            "level": level.name.lower(),
            "failing": by_level[Level.FAIL][:MOST_IDS],
            "warning": by_level[Level.WARN][:MOST_IDS],
            "new": [*changed.failing_new, *changed.warning_new][:MOST_CHANGED],
            "mended": list(changed.mended[:MOST_CHANGED]),
            "figures": figures(facts),
        },
    )


def read(log: Log, *, since: float | None = None, most: int = MOST_POINTS) -> tuple[Point, ...]:
    """Return the kept reports of a record, oldest first, thinned evenly to `most`; the newest always stays.

    With since, those from that moment on, and the newest in any case: what is new is told against it.
    """
    try:
        events = [event for event in log.read(sieve=Sieve((type_field(TYPE),))) if event.type == TYPE]
        points = sorted((_point(event, log.body(event)) for event in events if event.body), key=lambda one: one.at)
    except RecordError:  # what is wrong with the record has signals of its own
        return ()
    if since is not None:
        points = [point for point in points if point.at >= since] or points[-1:]
    step = -(-len(points) // most) or 1
    return tuple(reversed(points[::-1][::step]))


def _point(event: Event, body: dict[str, Any]) -> Point:
    held = body.get("figures")
    return Point(
        at=moment(event.ts).timestamp(),
        level=str(body.get("level", "")),
        failing=tuple(map(str, body.get("failing", ()))),
        warning=tuple(map(str, body.get("warning", ()))),
        figures={str(name): float(value) for name, value in held.items() if isinstance(value, (int, float))}
        if isinstance(held, dict)
        else {},
    )


def changes(signals: Iterable[Signal], points: Sequence[Point]) -> Changes:
    """Return what is other now than in the last kept report; nothing where none was kept."""
    if not points:
        return Changes()
    last = points[-1]
    levels = {signal.id[:MOST_CHARS]: signal.level for signal in signals}
    bad = [*last.failing, *last.warning]
    return Changes(
        failing_new=tuple(id for id, level in levels.items() if level is Level.FAIL and id not in last.failing),
        warning_new=tuple(id for id, level in levels.items() if level is Level.WARN and id not in bad),
        mended=tuple(id for id in bad if levels.get(id, Level.OK) is Level.OK),
        against=last.at,
    )


def rate(points: Sequence[Point], name: str) -> float | None:
    """Return by how much a figure grew a day between the first and the last point that hold it.

    None for fewer than two, or where they lie less than 20 hours apart.
    """
    held = [(point.at, point.figures[name]) for point in points if name in point.figures]
    if len(held) < 2 or held[-1][0] - held[0][0] < RATE_SECONDS:
        return None
    return (held[-1][1] - held[0][1]) / (held[-1][0] - held[0][0]) * _DAY


def stored_bytes(point: Point) -> float:
    """Return the bytes of record and index in a kept report."""
    return sum(point.figures.get(name, 0.0) for name in STORED)


def csv(points: Sequence[Point]) -> str:
    """Return the series as a table: one line a kept report, empty where a figure was not known."""
    out = io.StringIO()
    table = csv_format.writer(out, lineterminator="\n")
    table.writerow(["at", "level", *FIGURES])
    for point in points:
        at = datetime.fromtimestamp(point.at, UTC).isoformat(timespec="seconds")
        table.writerow([at, point.level, *(_shown(point.figures.get(name)) for name in FIGURES)])
    return out.getvalue()


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".")


def _measured(facts: Facts, value: float | None) -> float | None:
    """A figure of the newest evaluation, unless an earlier night has kept it: none is told twice."""
    at, kept = facts.quality.at, facts.series.points[-1:]
    return None if at is None or (kept and at <= kept[0].at) else value


def _used(facts: Facts) -> float | None:
    turns = facts.turns
    return (turns.items_named + turns.items_overlapping) / turns.items_judged if turns.items_judged else None
