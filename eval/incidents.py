"""Broken states that were met in practice, each planted in a healthy project, with the signal that must name it.

A signal that keeps silent on one of these, or speaks without it, is broken: `recall eval freshness` and the tests
replay them.
"""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from eval import planting
from eval.planted_project import HARNESS, Project, Words, healthy
from health.signal import Level, Signal
from recall.version import VERSION


@dataclass(frozen=True, slots=True)
class Expected:
    """A signal that must be at a level, with words that its text, its details or what it says to do must hold."""

    signal: str
    level: Level
    says: tuple[str, ...] = ()

    def fault(self, signals: dict[str, Signal]) -> str:
        """Return in a line what is not as expected, "" for nothing."""
        found = signals.get(self.signal)
        if found is None:
            return f"{self.signal} is not told"
        if found.level is not self.level:
            return f"{self.signal} is {found.level.name.lower()}, not {self.level.name.lower()}: {found.text}"
        said = "\n".join((found.text, *found.details, found.action))
        return "".join(f"{self.signal} does not say {word!r}: {said}" for word in self.says if word not in said)


@dataclass(frozen=True, slots=True)
class Incident:
    """A broken state: how it is planted in a healthy project, and which signals must name it.

    `embedder` makes the vectors of the project it is planted in, `later` is when the report is made after that.
    """

    id: str
    title: str
    plant: Callable[[Project], None]
    expected: tuple[Expected, ...]
    rows: str = ""
    embedder: Words = field(default_factory=Words)
    later: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one incident; `faults` is empty where every signal named it."""

    id: str
    title: str
    rows: str
    signals: tuple[Signal, ...]
    faults: tuple[str, ...]


def replay(incident: Incident, folder: Path, make: Callable[[Path, Words], Project] = healthy) -> Replayed:
    """Plant an incident in a project of its own below folder and return what health says of it."""
    project = make(folder, incident.embedder)
    incident.plant(project)
    signals = project.signals(now=project.now + incident.later)
    named = tuple(signals[one.signal] for one in incident.expected if one.signal in signals)
    faults = tuple(fault for one in incident.expected if (fault := one.fault(signals)))
    return Replayed(incident.id, incident.title, incident.rows, named, faults)


def replay_all(incidents: Iterable[Incident]) -> list[Replayed]:
    """Replay incidents, each in a temporary folder that is removed again."""
    found = []
    for incident in incidents:
        with tempfile.TemporaryDirectory(prefix="recall-incident-") as folder:
            found.append(replay(incident, Path(folder).resolve() / "planted"))
    return found


def false_alarms() -> list[Signal]:
    """Return every signal that is not ok in a project in which nothing is wrong."""
    with tempfile.TemporaryDirectory(prefix="recall-incident-") as folder:
        project = healthy(Path(folder).resolve() / "planted")
        return [signal for signal in project.signals().values() if signal.level]


STALE_HOOK = Incident(
    "stale-hook",
    "hooks run an older copy of the program",
    planting.stale_hook,
    (
        Expected("code_mixed", Level.WARN, (f"hooks {planting.OLD}", f"command {VERSION}")),
        Expected(f"hook_version.{HARNESS}", Level.FAIL, (planting.OLD, VERSION)),
        Expected("code_behind", Level.WARN, (planting.OLD, VERSION)),
    ),
    rows="LCA-10.6-01, LCA-6.1-06, LCA-D-01H",
)
FAILED_BACKFILL = Incident(
    "failed-backfill",
    "of 64 passages one has no vector, one an old one and two were cut, and a session was never indexed",
    planting.failed_backfill,
    (
        Expected("embeddings_failed", Level.FAIL, ("1 failed embedding",)),
        Expected("embeddings_truncated", Level.WARN, ("2 truncated embeddings",)),
        Expected("embeddings_stale", Level.WARN, ("1 stale vector", "63 of 63 compared")),
        Expected("unindexed", Level.WARN, ("2 events not indexed",)),
    ),
    rows="LCA-10.6-04, LCA-D-02H",
    embedder=Words(refuses=(planting.REFUSED,), longer=planting.LONGER),
)
SCHEMA_DRIFT = Incident(
    "schema-drift",
    "a newer version wrote the index",
    planting.newer_index,
    (Expected("schemas", Level.FAIL, ("newer than this program: index.sqlite", "version 99")),),
    rows="LCA-6.1-07",
)
OVER_BUDGET = Incident(
    "over-budget",
    "50 critical memories of 185,000 characters, with room for eight",
    planting.over_budget,
    (Expected("standing_critical", Level.FAIL, ("8 of 50 critical memories", "185,000 of 50,000 characters")),),
    rows="LCA-D-04H",
)
COPIES = Incident(
    "copies",
    "a foreign writer appends the same texts again and again",
    planting.copies,
    (
        Expected("duplicate_ratio", Level.FAIL, ("93.4%", "1,663 rows", "109 distinct", "1,554 copies")),
        Expected("duplicate_rows", Level.FAIL, ("1,554 duplicate rows", "conversation: 1,554")),
        Expected("duplicate_trend", Level.FAIL, ("93.4 points",)),
        Expected("most_repeated_text", Level.WARN, ("96 times",)),
        Expected("index_writers", Level.FAIL, ("no run accounts for 1,599 rows",)),
    ),
    rows="LCA-D-11H, LCA-D-11J",
)
FOREIGN_WRITER = Incident(
    "foreign-writer",
    "another program says that it writes the index",
    planting.foreign_writer,
    (Expected("index_writers", Level.FAIL, ("unknown: other-memory", "other-memory: last 2026-06-20")),),
    rows="LCA-D-11b, LCA-D-11J",
)
LATE_WINDOW = Incident(
    "late-window",
    "a window of a million tokens is set where the harness compacts at 155,000",
    planting.late_window,
    (
        Expected("window_trigger", Level.FAIL, ("700,000", "155,000")),
        Expected("compactions", Level.WARN, ("0 of 1 compacted session",)),
    ),
    rows="LCA-D-05H",
)
MEMORY_AGAINST_COMMAND = Incident(
    "memory-against-command",
    "a memory cited 1,001 times says otherwise than a command, for 20 days",
    planting.memory_against_command,
    (
        Expected("procedure_conflicts", Level.FAIL, ("1 memory says", "20")),
        Expected("rules_in_memory_only", Level.WARN, ("1 much-cited rule",)),
    ),
    rows="LCA-D-08H",
    later=timedelta(days=20),
)
SILENT_CHECKPOINT = Incident(
    "silent-checkpoint",
    "a checkpoint over three new sessions says that it is complete, and its indexing did nothing",
    planting.silent_checkpoint,
    (Expected("checkpoint_embedded", Level.FAIL, ("0 of 6 turns",)),),
    rows="LCA-10.6-02, LCA-D-01H",
)
NO_CHECKPOINT = Incident(
    "no-checkpoint",
    "a session has waited for a checkpoint for 15 days",
    planting.waiting_session,
    (Expected("checkpoint_age", Level.FAIL, ("since 15",)),),
    rows="LCA-8.2-03",
    later=timedelta(days=15),
)
UNKNOWN_LAYOUT = Incident(
    "unknown-layout",
    "of 292 files of memories 62, three of them critical, have a layout that the loader does not know",
    planting.unknown_layout,
    (
        Expected("loader_lost", Level.FAIL, ("230 of 292 memories on disk loaded, 62 lost, 3 of them critical",)),
        Expected(
            "memory_types_loaded", Level.FAIL, ("none loaded of runbook (62 on disk)", "project_fact: 230 of 230")
        ),
    ),
    rows="LCA-10.6-03, LCA-D-03H",
)
LOST_WORKERS = Incident(
    "lost-workers",
    "of five sessions of workers the index lacks two, and a worker's correction waits for four days",
    planting.lost_workers,
    (
        Expected(
            "workers_unindexed", Level.WARN, ("3 of 5 sessions of workers indexed, 2 missing", "agent-1 of session")
        ),
        Expected("worker_corrections", Level.WARN, ("1 correction of workers not consolidated", "of agent-4")),
    ),
    rows="LCA-D-09H",
    later=timedelta(days=4),
)
INHERITED_RUN = Incident(
    "inherited-run",
    "a run that was declared cleared begins with the compaction's summary of the run before it",
    planting.inherited_run,
    (
        Expected(
            "runs_not_independent",
            Level.FAIL,
            ("1 of 1 run declared cleared is not independent", "session run-2: begins with a compaction", "72% of its"),
        ),
    ),
    rows="LCA-D-06H",
)
ECHOING_PARSER = Incident(
    "echoing-parser",
    "a parser repeats the oversized text that it refuses in its error",
    planting.echoing_parser,
    (Expected("rejected_echo", Level.FAIL, ("characters of a refused text", "packs: 88,000 characters")),),
    rows="LCA-D-07H",
)
JUDGED_BELOW_CHANCE = Incident(
    "judged-below-chance",
    "two raters of a judged measure agree on 80 % of it, which is less than by chance",
    planting.judged_below_chance,
    (
        Expected(
            "uncalibrated_measures",
            Level.FAIL,
            ("rated continuity, kappa -0.08, in favour of author", "raw 80%, by chance 82%", "in 3 of 4 disagreements"),
        ),
    ),
    rows="LCA-D-10H",
)
FRESHNESS = (STALE_HOOK, FAILED_BACKFILL, SCHEMA_DRIFT, OVER_BUDGET, COPIES)
INCIDENTS = (
    *FRESHNESS,
    SILENT_CHECKPOINT,
    NO_CHECKPOINT,
    FOREIGN_WRITER,
    UNKNOWN_LAYOUT,
    LOST_WORKERS,
    LATE_WINDOW,
    MEMORY_AGAINST_COMMAND,
    INHERITED_RUN,
    ECHOING_PARSER,
    JUDGED_BELOW_CHANCE,
)
