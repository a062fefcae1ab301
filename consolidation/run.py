"""One verified consolidation pass over what is new in the record: its steps, in order, and the checkpoint behind them.

Every id follows from content, so a run that died is simply run again: what it wrote is found, the rest is done. Two
never work at once. Nothing is deleted, and nothing takes another's place before it was verified.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from consolidation.model import Candidate, Decision, Deps, Report, SessionView, StepResult, Verdict
from consolidation.sessions import last_input
from consolidation.settings import Settings
from consolidation.signatures import add
from transcript import memory_drafts as drafts
from transcript.errors import KeyFault, RecallError, clip
from transcript.event import Draft, Position, stamp
from transcript.lock import FileLock, holder
from transcript.log import Log
from transcript.memories import MemoryState, fold_memories
from transcript.memory_told import Told
from transcript.telling import counted
from transcript.workspace import Workspace

LOCK = "consolidation.lock"
COMPLETE, INCOMPLETE, FAILED, UNCHANGED, BUSY = "complete", "incomplete", "failed", "unchanged", "busy"
DONE, SAME, SKIPPED = "done", "unchanged", "skipped"
COUNTS = (
    "candidates",
    "accepted",
    "downgraded",
    "rejected",
    "superseded",
    "confirmed",
    "duplicate",
    "procedure",
    "pending",
)
OnStage = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with everything that was found about it, and the events that say so."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]
    decision: Decision
    found: tuple[Draft, ...]  # the candidate and its verdicts
    outcome: tuple[Draft, ...]  # the decision and what follows from it


@dataclass(slots=True)
class Run:
    """A run at work: what it was given and what its steps have come to so far."""

    deps: Deps
    settings: Settings
    now: datetime
    dry_run: bool
    state: MemoryState
    full: bool = False
    trigger: str = ""
    through: Position | None = None
    candidates: list[Candidate] = field(default_factory=list)
    views: list[SessionView] = field(default_factory=list)  # for the drafter alone
    judged: list[Judged] = field(default_factory=list)
    unread: tuple[tuple[str, str], ...] = ()
    proofs: list[Draft] = field(default_factory=list)  # citations and what else makes a memory weigh more
    checks: list[Draft] = field(default_factory=list)  # files that memories speak of and that changed
    wrote: list[Draft] = field(default_factory=list)
    changed: bool = False  # whether a memory was written, replaced or confirmed
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    artifacts: dict[str, Any] = field(default_factory=dict)

    @property
    def log(self) -> Log:
        """The record."""
        return self.deps.log

    @property
    def workspace(self) -> Workspace:
        """Whose record it is."""
        return self.deps.workspace

    @property
    def since(self) -> Position | None:
        """Where the last complete checkpoint had read to; None reads all."""
        return None if self.full else self.state.through

    @property
    def at(self) -> Told:
        """When this run tells what it tells."""
        return Told(stamp(self.now))

    @property
    def is_idle(self) -> bool:
        """Say whether nothing came in and nothing is left to do."""
        return self.through == self.state.through and not (self.candidates or self.checks)

    def write(self, events: list[Draft]) -> int:
        """Append events, or keep them for the account of a dry run; return how many were new."""
        if self.dry_run:
            known = self.log.ids()
            events = [event for event in events if event.id not in known]
            self.wrote += events
            return len(events)
        new = {event.id for event in self.log.append(events, now=self.now)}
        self.wrote += [event for event in events if event.id in new]
        return len(new)


Step = Callable[[Run], StepResult]


def consolidate(
    deps: Deps,
    settings: Settings,
    *,
    trigger: str,
    link: str = "",
    now: datetime,
    dry_run: bool = False,
    full: bool = False,
    on_stage: OnStage = lambda _name: None,
) -> Report:
    """Return what a run came to; its state is complete, incomplete, failed, unchanged (nothing new) or busy.

    `link` is the event that gave the occasion. A dry run writes nothing and lists what it would write; full reads the
    record from its beginning. `on_stage` hears of each step as it begins.
    """
    if dry_run:
        return work(deps, settings, trigger=trigger, link=link, now=now, dry_run=True, full=full, on_stage=on_stage)
    with alone(deps.workspace) as other:
        if other:
            return Report(trigger, BUSY, (StepResult("lock", SKIPPED, note=other),))
        on_stage("capture")
        if deps.capture():
            deps.index()
        return work(deps, settings, trigger=trigger, link=link, now=now, full=full, on_stage=on_stage)


@contextmanager
def alone(workspace: Workspace, *, wait_s: float = 0.0) -> Iterator[str]:
    """Hold a workspace's consolidation; yields "" or, where another holds it for all of wait_s, a line that says so."""
    lock = FileLock(workspace.run_dir / LOCK)
    if not lock.acquire(wait_s):
        yield f"another consolidation of this workspace runs (process {holder(lock.path) or '?'}); nothing done"
        return
    try:
        yield ""
    finally:
        lock.release()


def work(
    deps: Deps,
    settings: Settings,
    *,
    trigger: str,
    link: str = "",
    now: datetime,
    dry_run: bool = False,
    full: bool = False,
    on_stage: OnStage = lambda _name: None,
) -> Report:
    """Do a run whose record and index are up to date, by whoever holds the lock; see `consolidate`."""
    from consolidation.steps import FIND, STEPS
    from consolidation.steps_standing import is_due

    results: list[StepResult] = []
    run = Run(deps, settings, now, dry_run, fold_memories(deps.log, snapshot=not dry_run), full, trigger)
    run.through = last_input(deps.log, run.state.through) or run.state.through
    for name, step in STEPS:
        on_stage(name)
        try:
            results.append(step(run))
        except (RecallError, OSError) as error:
            results.append(StepResult(name, FAILED, note=clip(f"{error}" or type(error).__name__)))
        if results[-1].state == FAILED:
            break
        if name == FIND and run.is_idle and not _is_new(run, trigger, link) and not is_due(run):
            return Report(trigger, UNCHANGED, tuple(results), run.counts, _last(run.state), unread=run.unread)
    on_stage("checkpoint")
    return _checkpoint(run, trigger, link, results)


def _is_new(run: Run, trigger: str, link: str) -> bool:
    """Say whether an occasion that names an event is not in the record yet: it is recorded though nothing is new."""
    if not link or run.through is None:
        return False
    for event in run.log.read_back(only="checkpoint"):
        body, read = event.body, event.body.get("through") or {}
        if read.get("seq", 0) < run.through.seq:
            break
        if (body.get("trigger"), body.get("link"), body.get("state")) == (trigger, link, COMPLETE):
            return False
    return True


def _last(state: MemoryState) -> str:
    """Return the id of the last complete checkpoint, "" before the first."""
    return str(state.checkpoint["event"]) if state.checkpoint is not None else ""


def _checkpoint(run: Run, trigger: str, link: str, results: list[StepResult]) -> Report:
    """Write the run's last event and return the report."""
    failed = next((result.name for result in results if result.state == FAILED), "")
    state = COMPLETE if not failed else INCOMPLETE if run.changed else FAILED
    reviewer = run.deps.reviewer
    at = run.through or run.log.start
    event = drafts.checkpoint(
        run.at,
        trigger,
        {"segment": at.segment, "offset": at.offset, "seq": at.seq, "hash": at.hash},
        state,
        steps=[asdict(result) for result in results],
        counts=run.counts,
        artifacts=run.artifacts,
        link=link,
        failed_step=failed,
        reviewer=reviewer.id if reviewer is not None else "none",
        text=told(trigger, state, failed, run.counts),
        besides=[one.id for one in run.wrote] if run.through == run.state.through else (),
    )
    run.write([event])
    if state == COMPLETE and not run.dry_run:
        with suppress(KeyFault):  # the checkpoint stands without; health says that nothing is signed
            add(run.workspace, run.settings.signing, run.now)
    written = [{"type": one.type, "id": one.id, "body": one.body} for one in run.wrote] if run.dry_run else []
    return Report(trigger, state, tuple(results), run.counts, event.id, tuple(written), run.unread)


def told(trigger: str, state: str, failed: str, counts: Mapping[str, int]) -> str:
    """Return a checkpoint in one line."""
    if failed:
        return f"checkpoint ({trigger}) {state}: the step {failed} failed"
    said = [counted(counts.get("accepted", 0), "memory", "memories")]
    said += [
        f"{number:,} {name}" for name, number in counts.items() if number and name not in ("candidates", "accepted")
    ]
    return f"checkpoint ({trigger}): {', '.join(said)}"
