"""What recall costs here: what it keeps, what a turn carries, how long a turn waits; with date and machine."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from health.facts import Facts
from health.facts_machine import MachineFacts
from health.series import STORED, rate
from health.signal import size, span
from health.stats import percentile
from recall import ledger
from recall.version import VERSION
from transcript.capture_state import CaptureState
from transcript.log import Log
from transcript.telling import counted, minute
from transcript.workspace import Workspace

TURNS = 1000  # newest turns whose tokens are told


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
class Cost:
    """The budget of LCA 12.1. Bytes, tokens, milliseconds, seconds; None where it is not known.

    `transcript_bytes` is what was read of the harnesses' session files, `record_bytes` all that the record keeps of
    them: events, long texts, source lines, some of it compressed. The shares are of the transcript. `standing` is what
    the start of a turn's session had put into its window, which every turn of it carries; `recalled` what was put in
    front of the turn itself.
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
            f"record            {size(self.record_bytes)}",
            f"index             {size(self.index_bytes)}, {_share(self.index_share)} of the transcript",
            f"                  {_bytes(self.bytes_per_chunk)} a passage, {counted(self.chunks, 'passage')}",
            f"turns             {counted(self.turns, 'turn')}",
            f"  tokens recalled {_spread(self.recalled)}, {self.recalled.sum:,.0f} in all",
            f"  tokens standing {_spread(self.standing)}, {self.standing.sum:,.0f} in all",
            f"  latency in ms   {_spread(self.latency_ms)}",
            f"night             {'not run yet' if self.nightly_seconds is None else span(self.nightly_seconds)}",
        ]
        lines += [f"growth a day      {name} {size(grown)}" for name, grown in self.growth_per_day.items()]
        return "\n".join(lines)


def read_bytes(workspace: Workspace) -> int:
    """Return how many bytes of the harnesses' session files were taken in."""
    return sum(source.offset for source in CaptureState(workspace).sources.values())


def cost(facts: Facts, log: Log, read: int, nightly_seconds: float | None = None, *, turns: int = TURNS) -> Cost:
    """Return the cost of a project: sizes from its facts, tokens and times of its newest turns from its ledger.

    read is how many bytes of session files were taken in, nightly_seconds how long the last night took.
    """
    record, index = facts.record, facts.index
    kept = record.log_bytes + record.native_bytes + record.blob_bytes
    held = index.file_bytes if index.present else 0
    recalled, standing, latencies = _turns(log, turns)
    grown = {name: rate(facts.series.points, name) for name in STORED}
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
        turns=len(recalled),
        recalled=Spread.of(recalled),
        standing=Spread.of(standing),
        latency_ms=Spread.of(latencies),
        nightly_seconds=nightly_seconds,
        growth_per_day={name: value for name, value in grown.items() if value is not None},
    )


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


def _over(amount: float, of: float) -> float | None:
    return amount / of if of else None


def _bytes(value: float | None) -> str:
    return "unknown" if value is None else size(value)


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _spread(spread: Spread) -> str:
    if spread.median is None or spread.p95 is None:
        return "none yet"
    return f"median {spread.median:,.0f}, p95 {spread.p95:,.0f}"
