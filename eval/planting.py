"""How each known incident is planted in a healthy project: the broken state as it was met, its figures included.

Figures that count rows are those that were met, scaled 1:100.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from consolidation import packs, standing_set
from consolidation.model import Candidate
from consolidation.settings import Settings
from consolidation.span import marked
from eval.agreement import Ratings, agreement, keep
from eval.planted_project import EXCHANGES, SESSIONS, Project
from eval.swapped import Swapped
from health import series
from health.report import assess
from indexer import damage, writer
from indexer.store import Store
from recall import launcher
from transcript import memory_drafts as drafts
from transcript.errors import PackError
from transcript.event import Draft, stamp
from transcript.memory_told import Told

OLD = "0.0.9"
FILES, NESTED, CRITICAL_FILES = 292, 62, 3
ROWS, DISTINCT, MOST = 1663, 109, 96  # 166,267 rows, 10,899 of them distinct, one of them 96 times
CRITICAL, LARGE, LARGE_CHARS, CRITICAL_CHARS = 50, 8, 6050, 185_000
CITED = 1001
REFUSED, LONGER = "hopper of pump 3?", ("clutch of pump 1?", "damper of pump 2.")


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


def failed_backfill(project: Project) -> None:
    """Leave a session waiting, and a passage with the vector that it had when it said something else."""
    waiting_session(project)
    project.damage(damage.put_vector, project.embedder.encode(["Nobody greases the old compressor any more."]))


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


def judged_below_chance(project: Project) -> None:
    """Judge a measure by two raters who agree on 80 % of it, less than by chance, mostly the author's way."""
    pairs = [("yes", "yes")] * 16 + [("yes", "no")] * 3 + [("no", "yes")]
    found = agreement(Ratings("author", "blind", tuple(pairs)), "rated continuity", at=project.now)
    keep(project.workspace, found)


def inherited_run(project: Project) -> None:
    """Declare a run cleared that begins with the summary of the compaction of the run before it."""
    task = "Find out why the third pump stops at night, and write down what you changed in which order."
    summary = (
        "The pump stops since its float switch sticks at low water. The relay was set to forty seconds, its cable was"
        " shortened by two metres, and the night watch looks at the gauge every second hour."
    )
    project.say("run-1", task, "The float switch sticks.")
    project.tell(*_compaction(project, "run-1", summary))
    mark = {"mark": "cleared", "session": "", "before": "run-1"}
    project.tell(project.event("recall:run", "mark", mark, actor="system"))
    project.tell(*_compaction(project, "run-2", summary))
    project.say("run-2", task, "I begin with the float switch.")
    project.index()
    project.checkpoint()


def _compaction(project: Project, session: str, summary: str) -> tuple[Draft, Draft]:
    """Return the boundary of a compaction and the summary that stands behind it."""
    boundary = {"subtype": "compact_boundary", "text": "", "compact": {"trigger": "auto"}}
    told = {"kind": "summary", "text": summary}
    return (
        project.event(session, "system", boundary, actor="system"),
        project.event(session, "conversation_turn", told),
    )


def echoing_parser(project: Project) -> None:
    """Let the parser of packs' manifests repeat what it refuses, as a channel did with a post that was too long."""
    refuse = packs.manifest_of

    def echo(data: bytes) -> object:
        try:
            return refuse(data)
        except PackError as error:
            raise PackError(f"{error}: {data.decode()}") from None

    project.during.append(Swapped(packs, "manifest_of", echo))
