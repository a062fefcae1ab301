"""Broken states that were met in practice, each planted in a healthy project, with the signal that must name it.

A signal that keeps silent on one of these, or speaks without it, is broken: `recall eval freshness` and the tests
replay them. Figures are those that were met, scaled 1:100 where they count rows.
"""

import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from consolidation import standing_set
from consolidation.model import Candidate
from consolidation.settings import Settings
from consolidation.span import marked
from eval.planted_project import EXCHANGES, HARNESS, SESSIONS, Project, Words, healthy
from health import series
from health.report import assess
from health.signal import Level, Signal
from indexer import damage, writer
from indexer.store import Store
from recall import launcher
from recall.version import VERSION
from transcript import memory_drafts as drafts
from transcript.event import stamp
from transcript.memory_told import Told

OLD = "0.0.9"
FILES, NESTED, CRITICAL_FILES = 292, 62, 3
ROWS, DISTINCT, MOST = 1663, 109, 96  # 166,267 rows, 10,899 of them distinct, one of them 96 times
CRITICAL, LARGE, LARGE_CHARS, CRITICAL_CHARS = 50, 8, 6050, 185_000
CITED = 1001
REFUSED, LONGER = "hopper of pump 3?", ("clutch of pump 1?", "damper of pump 2.")


@dataclass(frozen=True, slots=True)
class Expected:
    """A signal that must be at a level, with words that its text must hold."""

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
        said = "\n".join((found.text, *found.details))
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


def replay(incident: Incident, folder: Path) -> Replayed:
    """Plant an incident in a project of its own below folder and return what health says of it."""
    project = healthy(folder, incident.embedder)
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


# Planting --------------------------------------------------------------------------------------------------------


def stale_hook(project: Project) -> None:
    """Let the hooks run an older copy of the program, in a folder of its own."""
    site = project.folder / "old-site"
    (site / "recall").mkdir(parents=True)
    (site / "recall" / "client.py").write_text("", encoding="utf-8")
    (site / "recall" / "version.py").write_text(f'VERSION = "{OLD}"\n', encoding="utf-8")
    text = launcher.render(project.data, python=sys.executable, site=site, version=OLD)
    launcher.launcher_path(project.data).write_text(text, encoding="utf-8")


def waiting_session(project: Project) -> None:
    """Take a session in that nothing indexes; what the model refuses and cuts is the project's embedder's."""
    project.say("session-late", "Which valve leaks?", "The third valve from the left.")


def newer_index(project: Project) -> None:
    """Let a version of the future have written the index."""
    project.damage(damage.write_newer_schema)


def over_budget(project: Project) -> None:
    """Declare 50 memories critical that have 185,000 characters, eight of them the newest and largest."""
    small, rest = divmod(CRITICAL_CHARS - LARGE * LARGE_CHARS, CRITICAL - LARGE)
    for number in range(CRITICAL):
        size = LARGE_CHARS if number < LARGE else small + (rest if number == LARGE else 0)
        said_at = project.now - timedelta(minutes=number)
        remember(
            project, f"Rule {number:02d} of the pumps holds. ".ljust(size, "x"), said_at=stamp(said_at), critical=True
        )
    standing_set.after_apply(project.workspace, Settings(), now=project.now)


def copies(project: Project) -> None:
    """Let a writer that knows no keys append the same texts again, after a night that found none."""
    night = project.now - timedelta(days=1)
    facts = replace(project.facts(), now=night.timestamp())
    report = assess(facts)
    project.log.append([series.draft(facts, report.signals, report.level, night)], now=night)
    project.index()
    project.damage(damage.drop_key)
    fresh = DISTINCT - SESSIONS * EXCHANGES * 2
    left = ROWS - DISTINCT - (MOST - 1)
    project.damage(damage.add_foreign_rows, MOST, first=0)
    project.damage(damage.add_foreign_rows, fresh - 1, first=1, texts=fresh - 1)
    project.damage(damage.add_foreign_rows, left, first=1, texts=fresh - 1)


def silent_checkpoint(project: Project) -> None:
    """Hold three sessions, and let the indexing step say that it read them though it stored nothing."""
    for number in range(3):
        project.say(f"new-{number}", f"Who greases pump {number}?", f"Shift {number} greases it on Mondays.")

    def nothing() -> Mapping[str, Any]:
        at = next(project.log.read_back()).position
        project.damage(damage.pretend_read, writer.watermark(at))
        return {"watermark": at.seq, "data_version": 1, "chunks": 64, "pending": 0, "new": 0, "weighed": 0}

    project.checkpoint(nothing)


def foreign_writer(project: Project) -> None:
    """Register another program as a writer of the index."""
    project.damage(Store.register_writer, "other-memory", "1", project.now)


def unknown_layout(project: Project) -> None:
    """Keep 292 files of memories, 62 of them, the critical ones too, in a layout that the loader does not know."""
    folder = project.folder / "memories"
    folder.mkdir()
    for number in range(FILES):
        later = number >= FILES - NESTED
        keys = ["type: reference" if later else "type: project"]
        keys += ["critical: true"] if number >= FILES - CRITICAL_FILES else []
        keys = ["frontmatter:", *(f"  {key}" for key in keys)] if later else keys
        text = "\n".join(["---", *keys, "---", "", f"Module {number} listens on port {8000 + number}.", ""])
        (folder / f"memory-{number:03d}.md").write_text(text, encoding="utf-8")
    project.memory_folders = str(folder)


def lost_workers(project: Project) -> None:
    """Let a session have five sub-agents, and the index lose what two of them did; then one of them is corrected."""
    for number in range(5):
        asked = {"kind": "worker_prompt", "text": f"Look at valve {number}.", "worker": f"agent-{number}"}
        said = {"kind": "reply", "text": f"Valve {number} is tight.", "worker": f"agent-{number}"}
        first, last = (project.event("session-0", "conversation_turn", body) for body in (asked, said))
        project.tell(first, last)
    project.checkpoint()
    for worker in ("agent-1", "agent-3"):
        project.damage(damage.lose_worker, worker)
    told = {"kind": "correction", "of": last.id, "text": "Valve 4 leaks at the flange.", "worker": "agent-4"}
    project.tell(project.event("session-0", "correction", told | {"actor": "agent-4", "actor_kind": "agent"}))


def late_window(project: Project) -> None:
    """Set a window of a million tokens where the harness compacts at 155,000, and let it do so."""
    project.consolidation = replace(project.consolidation, window_tokens=1_000_000)
    project.say("session-0", "And the spare pump?", "It stands beside the others.")
    compact = {"trigger": "auto", "preTokens": 155_000}
    body = {"subtype": "compact_boundary", "text": "", "compact": compact}
    project.tell(project.event("session-0", "system", body, actor="system"))


def memory_against_command(project: Project) -> None:
    """Remember, and cite 1,001 times, a rule that a command denies."""
    command = project.root / ".recall" / "identity" / "commands" / "pump.md"
    command.parent.mkdir(parents=True)
    command.write_text("The staging pump listens on port 5432.\n", encoding="utf-8")
    rule = remember(project, "The staging pump listens on port 5433.", said_at=stamp(project.now))
    at = Told(stamp(project.now))
    project.tell(*(drafts.cited(at, rule, f"other-{number}", "named") for number in range(CITED)))
    project.checkpoint()


def remember(project: Project, text: str, *, said_at: str, critical: bool = False) -> str:
    """Put a memory of a statement into the record and return its id."""
    _, said = project.say("session-rules", "What holds here?", text)
    place = marked(said.id, text, 0, len(text), project.workspace.id_key())[0]
    found = Candidate(text=text, sources=(place,), found_by="cause", memory_type="design_decision", said_at=said_at)
    at = Told(stamp(project.now))
    made = drafts.written(
        at,
        found.id,
        found.memory_type,
        text,
        sources=found.sources,
        said_at=said_at,
        why="it was said",
        critical_for=("*",) if critical else (),
    )
    project.tell(drafts.candidate(at, found.body()), made)
    return made.id


STALE_HOOK = Incident(
    "stale-hook",
    "hooks run an older copy of the program",
    stale_hook,
    (
        Expected("code_mixed", Level.WARN, (f"hooks {OLD}", f"command {VERSION}")),
        Expected(f"hook_version.{HARNESS}", Level.WARN, (OLD, VERSION)),
        Expected("code_behind", Level.WARN, (OLD, VERSION)),
    ),
    rows="LCA-10.6-01, LCA-D-01H",
)
FAILED_BACKFILL = Incident(
    "failed-backfill",
    "of 64 passages one has no vector and two were cut, and a session was never indexed",
    waiting_session,
    (
        Expected("embeddings_failed", Level.FAIL, ("1 failed embedding",)),
        Expected("embeddings_truncated", Level.WARN, ("2 truncated embeddings",)),
        Expected("unindexed", Level.WARN, ("2 events not indexed",)),
    ),
    rows="LCA-10.6-04, LCA-D-02H",
    embedder=Words(refuses=(REFUSED,), longer=LONGER),
)
SCHEMA_DRIFT = Incident(
    "schema-drift",
    "a newer version wrote the index",
    newer_index,
    (Expected("schemas", Level.FAIL, ("newer than this program: index.sqlite", "version 99")),),
    rows="LCA-6.1-07",
)
OVER_BUDGET = Incident(
    "over-budget",
    "50 critical memories of 185,000 characters, with room for eight",
    over_budget,
    (Expected("standing_critical", Level.FAIL, ("8 of 50 critical memories", "185,000 of 50,000 characters")),),
    rows="LCA-D-04H",
)
COPIES = Incident(
    "copies",
    "a foreign writer appends the same texts again and again",
    copies,
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
    foreign_writer,
    (Expected("index_writers", Level.FAIL, ("unknown: other-memory", "other-memory: last 2026-06-20")),),
    rows="LCA-D-11b, LCA-D-11J",
)
LATE_WINDOW = Incident(
    "late-window",
    "a window of a million tokens is set where the harness compacts at 155,000",
    late_window,
    (
        Expected("window_trigger", Level.FAIL, ("700,000", "155,000")),
        Expected("compactions", Level.WARN, ("0 of 1 compacted session",)),
    ),
    rows="LCA-D-05H",
)
MEMORY_AGAINST_COMMAND = Incident(
    "memory-against-command",
    "a memory cited 1,001 times says otherwise than a command, for 20 days",
    memory_against_command,
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
    silent_checkpoint,
    (Expected("checkpoint_embedded", Level.FAIL, ("0 of 6 turns",)),),
    rows="LCA-10.6-02, LCA-D-01H",
)
NO_CHECKPOINT = Incident(
    "no-checkpoint",
    "a session has waited for a checkpoint for 15 days",
    waiting_session,
    (Expected("checkpoint_age", Level.FAIL, ("since 15",)),),
    rows="LCA-8.2-03",
    later=timedelta(days=15),
)
UNKNOWN_LAYOUT = Incident(
    "unknown-layout",
    "of 292 files of memories 62, three of them critical, have a layout that the loader does not know",
    unknown_layout,
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
    lost_workers,
    (
        Expected(
            "workers_unindexed", Level.WARN, ("3 of 5 sessions of workers indexed, 2 missing", "agent-1 of session")
        ),
        Expected("worker_corrections", Level.WARN, ("1 correction of workers not consolidated", "of agent-4")),
    ),
    rows="LCA-D-09H",
    later=timedelta(days=4),
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
)
