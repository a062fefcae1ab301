"""What the signals look at: plain numbers and names, read once by gather.py and changed by nobody.

A None means "not known", never "zero": a signal over it says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from health.facts_machine import (
    BackendFacts,
    BackupFacts,
    DiskFacts,
    FreshnessFacts,
    MachineFacts,
    ScheduleFacts,
    ServiceFacts,
)
from health.facts_memories import (
    ApprovalFacts,
    CheckpointFacts,
    LoaderFacts,
    MemoryFacts,
    StandingFacts,
    WindowFacts,
)


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """The record: how much, how whole."""

    events: int = 0
    by_type: Mapping[str, int] = field(default_factory=dict)
    sessions: int = 0
    last_event_seq: int = 0
    log_bytes: int = 0
    native_bytes: int = 0
    blob_bytes: int = 0
    quarantine_bytes: int = 0
    chain_checked_from: int | None = None
    chain_checked_to: int | None = None
    chain_problems: tuple[str, ...] = ()
    head_ok: bool | None = None
    spooled: int = 0
    spool_oldest: float | None = None
    view_lag: Mapping[str, int] | None = None  # events behind, by view
    reasoning_withheld: int = 0
    own_text: int = 0  # notices of harnesses that hold what recall had shown, and that the index leaves out
    open_to_others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The index: rows, copies, vectors, how far it has read."""

    present: bool = False
    error: str = ""
    schema: int = 0
    generation: int = 0
    building_generation: int | None = None
    building_since: float | None = None
    building_rows: int = 0
    building_vectors: int = 0
    longest_hold: tuple[float, str] | None = None  # milliseconds that one run held the write lock at once; which
    model: str = ""
    wanted_model: str = ""
    models: Mapping[str, int] = field(default_factory=dict)
    config_hash: str = ""
    wanted_config_hash: str = ""
    rows: int = 0
    distinct: int = 0
    most_repeated: int = 0
    file_bytes: int = 0
    pages: int = 0
    free_pages: int = 0  # of those; the file gives them back when it is packed
    bytes: int = 0
    bytes_needed: int = 0
    duplicates_by_class: Mapping[str, int] = field(default_factory=dict)
    near_copies: int | None = None
    near_pairs: int = 0  # pairs of vectors with a cosine of at least 0.98, among the newest `near_compared`
    near_compared: int = 0
    chunks_by_class: Mapping[str, int] = field(default_factory=dict)
    vectors: int = 0
    wanted_vectors: int = 0
    pending: int = 0
    failed: int = 0
    set_aside: int = 0
    truncated: int = 0
    zero: int | None = 0
    stale: int = 0
    vectors_compared: int = 0  # with those that the model makes of their texts now
    failures: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    orphan_vectors: int = 0
    orphan_pointers: int = 0
    words_missing: int = 0
    words_extra: int = 0
    unindexed: int = 0
    unindexed_oldest: float | None = None
    last_run: float | None = None
    implausible_times: int = 0
    secrets_masked: int = 0
    writers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # that registered -> audit.Writers.seen
    unaccounted: int = 0  # rows more, or less, than our writer counted
    own_text: int = 0  # passages that hold what recall itself had shown
    prompts: int = 0  # passages of prompts
    envelopes: int = 0  # of those, a client's wrapping that nobody typed
    session_hours: float = 0.0  # between exchanges of one session, breaks of more than half an hour left out
    marks_missing: bool = False  # made before later marks, of wishes, corrections and replacements, were kept
    gate_fitted: float | None = None  # when the gate was last fitted to this store
    gate_passages: int = 0  # that the index held then
    gate_model: str = ""
    gate_safe: bool = False  # whether every way of searching got a threshold


@dataclass(frozen=True, slots=True)
class IndexRunFacts:
    """What the runs that made the index could not do."""

    failures: tuple[str, ...] = ()  # events that are still not in it: pointer, reason, day
    estimated: int = 0  # tokens that were estimated, not counted


@dataclass(frozen=True, slots=True)
class Expiring:
    """A session file that its harness will delete soon: when, after how many seconds of age, and whether we have it."""

    path: str
    harness: str
    at: float
    after: float
    taken_in: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """What one harness wrote that the record lacks: files, bytes, and when the oldest was written."""

    harness: str
    files: int
    bytes: int
    oldest: float


@dataclass(frozen=True, slots=True)
class CaptureFacts:
    """Capture: what the harness's own logs hold that the record does not."""

    excluded: bool = False
    sources: int = 0
    read_bytes: int = 0  # of them that were taken in
    missing: tuple[str, ...] = ()
    behind: int = 0
    behind_bytes: int = 0
    behind_oldest: float | None = None
    uncaptured: int = 0
    waiting: tuple[Waiting, ...] = ()
    expiring: tuple[Expiring, ...] = ()  # soonest first
    unknown_types: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    damaged: int = 0
    mended: int = 0
    damaged_where: tuple[str, ...] = ()
    incomplete_tails: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HookFacts:
    """One harness's hook: is it there, is it ours, does it fire."""

    harness: str
    installed: bool = False
    drift: str = ""
    untrusted: str = ""  # which file of the harness says that it skips the hook
    launcher_ok: bool | None = None
    installed_at: float | None = None
    last_fired: float | None = None
    native_last_write: float | None = None
    failures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replaced:
    """An item that a turn was shown although it no longer held; `read` where the index had read what ended it."""

    turn: str
    pointer: str
    read: bool


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """The last turns, from the ledger."""

    modes: Mapping[str, int] = field(default_factory=dict)
    latencies_ms: tuple[float, ...] = ()
    tokens: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    empty: int = 0
    empty_reasons: Mapping[str, int] = field(default_factory=dict)
    candidates: int = 0  # that all of them weighed
    below_floor: int = 0  # of those, neither near enough in meaning nor holding a rare word
    deadline_misses: Mapping[str, int] = field(default_factory=dict)
    bad_query_vectors: int = 0
    items_judged: int = 0  # injected items whose answer is in the record by now
    items_named: int = 0  # of those, named by their pointer in it
    items_overlapping: int = 0  # of those, repeated in it
    cut: int = 0  # turns that found more than is weighed
    replaced: tuple[Replaced, ...] = ()
    lexical_failures: Mapping[str, int] = field(default_factory=dict)  # by kind
    estimated: int = 0  # turns whose tokens were estimated

    @property
    def seen(self) -> int:
        """How many turns the ledger holds, at most the number asked for."""
        return sum(self.modes.values())


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """Sub-agents of the record, up to where the index has read."""

    seen: int = 0
    indexed: int = 0
    missing: tuple[str, ...] = ()  # each with its session and day
    corrections: tuple[str, ...] = ()  # of theirs that no consolidation decided, each with its worker and day
    corrections_oldest: float | None = None
    corrections_passed: int = 0  # of those, said before the last complete checkpoint had read on


@dataclass(frozen=True, slots=True)
class Point:
    """What a night kept of its report: when, how bad, which signals, which figures."""

    at: float
    level: str
    failing: tuple[str, ...] = ()
    warning: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """The kept reports of the past, newest last, thinned to 400."""

    points: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class QualityFacts:
    """The newest run of `recall eval self`: mean reciprocal rank in 0..1, its 95 % interval, what it changed."""

    at: float | None = None
    mrr: float | None = None
    low: float | None = None
    high: float | None = None
    questions: int = 0
    change: float | None = None  # against the best of the 30 days before it, over the questions of both
    change_low: float = 0.0
    change_high: float = 0.0
    shared: int = 0
    against: float | None = None  # when that one was


@dataclass(frozen=True, slots=True)
class Inherited:
    """A run that did not begin cleared: with a compaction, or with words of an earlier session's summary."""

    session: str
    compacted: bool
    share: float = 0.0  # of what it was given, in runs of eight words
    of: str = ""  # the session whose summary holds them


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Sessions that were declared cleared (`recall session new --cleared`)."""

    declared: int = 0
    inherited: tuple[Inherited, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusalFacts:
    """What parsers repeat of an oversized text that they refuse."""

    parsers: int = 0
    echoed: Mapping[str, int] = field(default_factory=dict)  # parser -> characters


@dataclass(frozen=True, slots=True)
class JudgedMeasure:
    """A measure that somebody judges, with the newest agreement of two raters; kappa is None where none is known."""

    name: str
    n: int = 0
    raw: float = 0.0
    chance: float = 0.0
    kappa: float | None = None
    favours: str = ""
    direction: str = ""


@dataclass(frozen=True, slots=True)
class JudgedFacts:
    """The judged measures in use."""

    measures: tuple[JudgedMeasure, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything one report is made of."""

    workspace: str
    now: float
    record: RecordFacts = field(default_factory=RecordFacts)
    index: IndexFacts = field(default_factory=IndexFacts)
    index_runs: IndexRunFacts = field(default_factory=IndexRunFacts)
    capture: CaptureFacts = field(default_factory=CaptureFacts)
    hooks: tuple[HookFacts, ...] = ()
    backend: BackendFacts = field(default_factory=BackendFacts)
    turns: TurnFacts = field(default_factory=TurnFacts)
    memories: MemoryFacts = field(default_factory=MemoryFacts)
    checkpoints: CheckpointFacts = field(default_factory=CheckpointFacts)
    window: WindowFacts = field(default_factory=WindowFacts)
    approvals: ApprovalFacts = field(default_factory=ApprovalFacts)
    standing: StandingFacts = field(default_factory=StandingFacts)
    loader: LoaderFacts = field(default_factory=LoaderFacts)
    workers: WorkerFacts = field(default_factory=WorkerFacts)
    judged: JudgedFacts = field(default_factory=JudgedFacts)
    runs: RunFacts = field(default_factory=RunFacts)
    refusals: RefusalFacts = field(default_factory=RefusalFacts)
    freshness: FreshnessFacts = field(default_factory=FreshnessFacts)
    service: ServiceFacts = field(default_factory=ServiceFacts)
    schedule: ScheduleFacts = field(default_factory=ScheduleFacts)
    backup: BackupFacts = field(default_factory=BackupFacts)
    disk: DiskFacts = field(default_factory=DiskFacts)
    series: SeriesFacts = field(default_factory=SeriesFacts)
    quality: QualityFacts = field(default_factory=QualityFacts)
    machine: MachineFacts = field(default_factory=MachineFacts)
    since: float | None = None  # turns, counters and series are those from then on
    project: str = ""  # what its folder is called
    broken: tuple[str, ...] = ()  # groups of these facts that could not be read, each with the kind of error
