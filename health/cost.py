"""What recall costs here: what it keeps, what a turn carries, how long a turn waits; with date and machine."""

import csv as csv_format
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from health.facts import Facts, Point
from health.facts_machine import MachineFacts
from health.series import STORED, rate, stored_bytes
from health.signal import size, span
from health.stats import percentile
from recall import ledger
from recall.version import VERSION
from transcript.capture_state import CaptureState
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.telling import counted, minute

TURNS = 1000  # newest turns whose tokens are told
GROWTH = (
    "transcript_bytes", "stored_bytes", "index_bytes", "sessions", "session_hours", "index_share", "bytes_per_session",
    "bytes_per_session_hour", "transcript_bytes_a_day", "transcript_bytes_a_session_hour", "stored_bytes_a_day",
    "stored_bytes_a_session_hour", "chunks", "index_pages", "index_free_pages", "bytes_per_chunk", "chunks_a_day",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, 95th percentile and sum of what was measured; None where nothing was."""

    median: float | None = None
    p95: float | None = None
    sum: float = 0

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of values."""
        return cls(percentile(values, 50), percentile(values, 95), sum(values)) if values else cls()


@dataclass(frozen=True, slots=True)
class Archive:
    """What the manifests of checkpoints say is kept of sessions' files: sessions, and bytes of their newest version."""

    sessions: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """The budget of LCA 12.1. Bytes, tokens, milliseconds, seconds; None where it is not known.

    `transcript_bytes` is what was read of the harnesses' session files, `record_bytes` all that the record keeps of
    them: events, long texts, source lines, some of it compressed. The shares are of the transcript. `standing` is what
    the start of a turn's session had put into its window, which every turn of it carries; `recalled` what was put in
    front of the turn itself. `archive` counts what was read back at checkpoints, of which every byte is kept.
    """

    at: float
    version: str
    machine: MachineFacts
    index_settings: str
    transcript_bytes: int
    record_bytes: int
    index_bytes: int
    index_share: float | None
    bytes_per_chunk: float | None
    chunks: int
    sessions: int
    bytes_per_session: float | None
    bytes_per_session_hour: float | None
    archive: Archive
    bytes_per_archived_session: float | None
    turns: int
    recalled: Spread
    standing: Spread
    latency_ms: Spread
    nightly_seconds: float | None
    growth_per_day: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return the cost as plain JSON values."""
        return {**asdict(self), "at": datetime.fromtimestamp(self.at, UTC).isoformat(timespec="seconds")}

    def to_text(self) -> str:
        """Return the cost for people: what the turns carry stands beside what they carry anyway."""
        where = f"{self.machine.system}, Python {self.machine.python}, {counted(self.machine.cpus or 0, 'core')}"
        hourly = _bytes(self.bytes_per_session_hour)
        lines = [
            f"cost  {minute(self.at)}  recall {self.version}, {where}, settings {self.index_settings or 'unknown'}",
            "",
            f"transcript        {size(self.transcript_bytes)} of {counted(self.sessions, 'session')}",
            f"                  {_bytes(self.bytes_per_session)} a session, {hourly} a session hour",
            f"archive           {self._archived()}",
            f"record            {size(self.record_bytes)}",
            f"index             {size(self.index_bytes)}, {_share(self.index_share)} of the transcript",
            f"                  {_bytes(self.bytes_per_chunk)} a passage, {counted(self.chunks, 'passage')}",
            f"turns             {counted(self.turns, 'turn')}",
            f"  tokens recalled {_spread(self.recalled)}, {self.recalled.sum:,.0f} in all",
            f"  tokens standing {_spread(self.standing)}, {self.standing.sum:,.0f} in all",
            f"  latency in ms   {_spread(self.latency_ms)}",
            f"night             {'not run yet' if self.nightly_seconds is None else span(self.nightly_seconds)}",
        ]
        grown = itertools.starmap(_grown, self.growth_per_day.items())
        lines += [f"growth a day      {', '.join(grown)}"] if self.growth_per_day else []
        return "\n".join(lines)

    def _archived(self) -> str:
        if not self.archive.sessions:
            return "nothing yet: 'recall checkpoint' reads back what is kept of each session's file"
        each = _bytes(self.bytes_per_archived_session)
        return f"{size(self.archive.bytes)} of {counted(self.archive.sessions, 'session')}, {each} a session"


def archive(log: Log) -> Archive:
    """Return what the manifests in a record's checkpoints say is kept; a file of a sub-agent is its session's."""
    newest: dict[tuple[str, str], int] = {}
    for event in log.read(sieve=Sieve((type_field("checkpoint"),))):
        if event.type == "checkpoint" and event.body:
            kept = log.body(event).get("artifacts", {}).get("archive") or ()
            newest |= {(one["harness"], one["source"]): int(one["bytes"]) for one in kept}
    state = CaptureState(log.workspace).sources.values()
    whose = {(source.harness, source.identity): source.session for source in state}
    return Archive(len({(place[0], whose.get(place, place[1])) for place in newest}), sum(newest.values()))


def cost(facts: Facts, log: Log, nightly_seconds: float | None = None, *, turns: int = TURNS) -> Cost:
    """Return the cost of a project: sizes from its facts, tokens and times of its newest turns from its ledger.

    nightly_seconds is how long the last night took, None where none ran.
    """
    record, index, read = facts.record, facts.index, facts.capture.read_bytes
    archived = archive(log)
    kept = record.log_bytes + record.native_bytes + record.blob_bytes
    held = index.file_bytes if index.present else 0
    recalled, standing, latencies = _turns(log, turns)
    grown = {name: rate(facts.series.points, name) for name in (*STORED, "chunks")}
    return Cost(
        at=facts.now,
        version=VERSION,
        machine=facts.machine,
        index_settings=index.wanted_config_hash,
        transcript_bytes=read,
        record_bytes=kept,
        index_bytes=held,
        index_share=_over(held, read),
        bytes_per_chunk=_over(held, index.rows),
        chunks=index.rows,
        sessions=record.sessions,
        bytes_per_session=_over(read, record.sessions),
        bytes_per_session_hour=_over(read, index.session_hours),
        archive=archived,
        bytes_per_archived_session=_over(archived.bytes, archived.sessions),
        turns=len(recalled),
        recalled=Spread.of(recalled),
        standing=Spread.of(standing),
        latency_ms=Spread.of(latencies),
        nightly_seconds=nightly_seconds,
        growth_per_day={name: value for name, value in grown.items() if value is not None},
    )


def csv(points: Sequence[Point]) -> str:
    """Return the growth of a project as a table: a line a kept report, empty where a figure was not known.

    Bytes, hours and counts of that day; shares of the transcript; growth since the line before, a day and a session
    hour, None of it for the first.
    """
    out = io.StringIO()
    table = csv_format.writer(out, lineterminator="\n")
    table.writerow(("at", *GROWTH))
    before: Mapping[str, float] | None = None
    for point in points:
        row = _growth(point, before)
        at = datetime.fromtimestamp(point.at, UTC).isoformat(timespec="seconds")
        table.writerow(
            (at, *("" if row[name] is None else f"{row[name]:.6f}".rstrip("0").rstrip(".") for name in GROWTH))
        )
        before = _figures(point)
    return out.getvalue()


def _figures(point: Point) -> dict[str, float]:
    known = {"stored_bytes": stored_bytes(point)} if any(name in point.figures for name in STORED) else {}
    return {**point.figures, **known, "at": point.at}


def _growth(point: Point, before: Mapping[str, float] | None) -> dict[str, float | None]:
    now = _figures(point)
    read, hours = now.get("transcript_bytes"), now.get("session_hours")

    def grown(name: str) -> float | None:
        return None if before is None or name not in before or name not in now else now[name] - before[name]

    days = (grown("at") or 0) / 86_400
    return {
        "transcript_bytes": read,
        "stored_bytes": now.get("stored_bytes"),
        "index_bytes": now.get("index_bytes"),
        "sessions": now.get("sessions"),
        "session_hours": hours,
        "index_share": _rate(now.get("index_bytes"), read),
        "bytes_per_session": None if read is None else _over(read, now.get("sessions")),
        "bytes_per_session_hour": None if read is None else _over(read, hours),
        "transcript_bytes_a_day": _rate(grown("transcript_bytes"), days),
        "transcript_bytes_a_session_hour": _rate(grown("transcript_bytes"), grown("session_hours")),
        "stored_bytes_a_day": _rate(grown("stored_bytes"), days),
        "stored_bytes_a_session_hour": _rate(grown("stored_bytes"), grown("session_hours")),
        "chunks": now.get("chunks"),
        "index_pages": now.get("index_pages"),
        "index_free_pages": now.get("index_free_pages"),
        "bytes_per_chunk": _rate(now.get("index_bytes"), now.get("chunks")),
        "chunks_a_day": _rate(grown("chunks"), days),
    }


def _grown(name: str, amount: float) -> str:
    kind, _, unit = name.rpartition("_")
    return f"{kind} {size(amount)}" if unit == "bytes" else counted(round(amount), "passage")


def _rate(amount: float | None, of: float | None) -> float | None:
    return None if amount is None or not of or of < 0 else amount / of


def _turns(log: Log, most: int) -> tuple[list[float], list[float], list[float]]:
    """Tokens recalled and standing, and the latency, of each of the newest turns of hooks."""
    recalled: list[float] = []
    latencies: list[float] = []
    open_: dict[str, int] = {}  # session -> its turns seen, newest first, whose start is still to come
    standing: list[float] = []
    for event in ledger.turns(log, modes=(*ledger.HOOK_MODES, ledger.START_MODE)):
        tokens = float(event.body.get("tokens") or 0)
        if event.body.get("mode") == ledger.START_MODE:
            standing += [tokens] * open_.pop(event.session, 0)
            if len(recalled) >= most and not open_:
                break
        elif len(recalled) < most:
            recalled.append(tokens)
            latencies.append(float(event.body.get("latency_ms") or 0))
            open_[event.session] = open_.get(event.session, 0) + 1
    return recalled, standing + [0.0] * sum(open_.values()), latencies


def _over(amount: float, of: float | None) -> float | None:
    return amount / of if of else None


def _bytes(value: float | None) -> str:
    return "unknown" if value is None else size(value)


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _spread(spread: Spread) -> str:
    if spread.median is None or spread.p95 is None:
        return "none yet"
    return f"median {spread.median:,.0f}, p95 {spread.p95:,.0f}"
