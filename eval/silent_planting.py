"""How faults that make no noise are planted in a healthy project."""

import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from consolidation import coord_apply, coord_decide
from consolidation.coord_desk import CoordDesk
from eval.planted_project import Project
from eval.swapped import Swapped
from indexer import connection, embed_onnx, embedder
from indexer.store import Store
from recall import hook_registry, hooks_install, launcher, nights
from recall.governance_settings import ApprovalSettings
from transcript.capture import sync
from transcript.event import stamp
from transcript.lock import FileLock
from transcript.projections import views
from transcript.workspace import exclude

QUIET = timedelta(hours=3)


def excluded_project(project: Project) -> None:
    """Exclude the project and forget that."""
    exclude(project.root, project.data)


def edited_hook(project: Project) -> None:
    """Edit the line that the harness runs."""
    for entry in hook_registry.registered(project.data):
        file = Path(entry.file)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("recall-hook", "recall-hook-old"), encoding="utf-8")


def removed_environment(project: Project) -> None:
    """Remove the environment that the hooks' launcher names."""
    site = project.folder / "gone"
    text = launcher.render(project.data, python=str(site / "python"), site=site, version="0.0.9")
    launcher.launcher_path(project.data).write_text(text, encoding="utf-8")


def quiet_hook(project: Project) -> None:
    """Let the harness write for three hours while no hook fires."""
    later = (project.now + QUIET).timestamp()
    os.utime(_session(project, [_LINE]), (later, later))


def unheard_of_record(project: Project) -> None:
    """Take in a session of a harness that writes a kind of record since its upgrade that nobody knows."""
    _session(project, [_LINE, {**_LINE, "type": "hologram", "uuid": "11111111-2222-4333-8444-000000000002"}])
    sync(project.workspace, project.data, project.env, now=project.now)


def damaged_line(project: Project) -> None:
    """Take in a session in the middle of which a line is torn."""
    _session(project, [_LINE, None, {**_LINE, "uuid": "11111111-2222-4333-8444-000000000002"}])
    sync(project.workspace, project.data, project.env, now=project.now)


def _session(project: Project, lines: Sequence[Mapping[str, Any] | None]) -> Path:
    """Write a session file of the harness and return its path; None stands for a torn line."""
    slug = "".join(c if c.isalnum() else "-" for c in str(project.root))
    file = project.home / ".claude" / "projects" / slug / f"{_LINE['sessionId']}.jsonl"
    file.parent.mkdir(parents=True)
    said = ['{"type":"user","mess' if one is None else json.dumps({**one, "cwd": str(project.root)}) for one in lines]
    file.write_text("".join(f"{line}\n" for line in said), encoding="utf-8")
    return file


_LINE: dict[str, Any] = {
    "parentUuid": None,
    "isSidechain": False,
    "userType": "external",
    "sessionId": "11111111-2222-4333-8444-555555555555",
    "version": "2.1.197",
    "type": "user",
    "uuid": "11111111-2222-4333-8444-000000000001",
    "timestamp": "2026-06-20T11:59:00.000Z",
    "message": {"role": "user", "content": "Which pump is loudest?"},
}


# Hooks and capture -------------------------------------------------------------------------------------------------


def untrusted_hook(project: Project) -> None:
    """Install Codex's hook and let Codex work for three hours without ever running it, as until it is reviewed."""
    folder = project.home / ".codex" / "sessions" / "2026" / "06" / "20"
    folder.mkdir(parents=True)
    for plan in hooks_install.plan_install("codex", "user", project.root, project.data, project.env):
        hooks_install.install(plan, project.data, now=project.now)
    name = "22222222-2222-4333-8444-555555555555"
    meta = {"id": name, "timestamp": stamp(project.now), "cwd": str(project.root), "cli_version": "0.142.5"}
    file = folder / f"rollout-2026-06-20T12-00-00-{name}.jsonl"
    line = {"timestamp": stamp(project.now), "type": "session_meta", "payload": {**meta, "originator": "codex_cli_rs"}}
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    later = (project.now + QUIET).timestamp()
    os.utime(file, (later, later))


def deleted_source(project: Project) -> None:
    """Take in a session whose file the harness then deletes."""
    file = _session(project, [_LINE])
    sync(project.workspace, project.data, project.env, now=project.now)
    file.unlink()
    sync(project.workspace, project.data, project.env, now=project.now)


def doomed_source(project: Project) -> None:
    """Leave a session untaken until the harness is two days from deleting it."""
    old = (project.now - timedelta(days=28)).timestamp()
    os.utime(_session(project, [_LINE]), (old, old))


def cut_tail(project: Project) -> None:
    """Take in a session whose last line was never finished."""
    file = _session(project, [_LINE, None])
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    sync(project.workspace, project.data, project.env, now=project.now)


# This machine ------------------------------------------------------------------------------------------------------


def missing_model(project: Project) -> None:
    """Take the model's file away."""
    home = str(project.home)
    place = Path(home, "models", embed_onnx.MODEL_NAME, embed_onnx.MODEL_FILE)
    project.during.append(Swapped(embed_onnx, "model_candidates", lambda data_home=None: [place]))
    project.load = functools.partial(embedder.check, data_home=home)


def no_extension(project: Project) -> None:
    """Take the vector extension away."""

    def missing() -> Path:
        raise ImportError("the package sqlite-vec is not installed")

    project.during.append(Swapped(connection, "extension_path", missing))


def no_full_text(project: Project) -> None:
    """Let SQLite have been built without FTS5."""
    without = classmethod(functools.partial(vars(Store)["open"].__func__, fts=False))
    project.during.append(Swapped(Store, "open", without))


# The record, its views, decisions and nights -----------------------------------------------------------------------


def stuck_spool(project: Project) -> None:
    """Leave an event in the spool for two days: nobody writes the record any more."""
    with FileLock(project.workspace.run_dir / "log.lock"):
        late = project.event("session-late", "conversation_turn", {"kind": "prompt", "text": "Which valve?"})
        project.log.append_or_spool(late, now=project.now, lock_timeout=0.0)
    old = (project.now - timedelta(days=2)).timestamp()
    for path in (project.workspace.run_dir / "spool").glob("*.json"):
        os.utime(path, (old, old))


def edited_record(project: Project) -> None:
    """Change a word of the record."""
    file = project.workspace.log_dir / "activity.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"agent":"claude-code"', b'"agent":"claude-coda"', 1))


def open_files(project: Project) -> None:
    """Let others on the machine read the record."""
    (project.workspace.log_dir / "activity.jsonl").chmod(0o644)


def stale_views(project: Project) -> None:
    """Write the views, then decide something, and write them no more."""
    views.project(project.workspace)
    body = {"text": "Pump 0 is greased on Mondays.", "actor": "dana", "actor_kind": "human"}
    project.tell(project.event("session-0", "decision", body, actor="human"))
    project.index()


def refused_application(project: Project) -> None:
    """Approve a proposal, change what it rests on, and try to apply it."""
    evidence = project.root / "docs" / "pumps.md"
    evidence.parent.mkdir()
    evidence.write_text("Pump 0 is greased on Mondays.\n", encoding="utf-8")
    desk = CoordDesk(project.workspace, project.data, ApprovalSettings(), project.now)
    desk.keys.create()
    action = {
        "operation": "add",
        "target_ref": None,
        "summary": "Grease on Mondays.",
        "evidence_refs": ["docs/pumps.md"],
    }
    document = desk.propose(action, source_task="T1", by="an agent")
    coord_decide.decide(desk, coord_decide.show(desk, document.id), "approve", person=_Person(), rationale="it is so")
    evidence.write_text("Pump 0 is greased on Fridays.\n", encoding="utf-8")
    coord_apply.apply(desk, document.id)
    project.index()


class _Person:
    """Somebody who decides."""

    name = "dana"


def missed_nights(project: Project) -> None:
    """Let a scheduler have been given the nights, and call none for days."""
    held = nights.Nights(kind="launchd", due=date(2026, 6, 16), at=stamp(datetime(2026, 6, 16, 3, 20, tzinfo=UTC)))
    nights.write(project.data, replace(held, state="complete"))


def failing_nights(project: Project) -> None:
    """Let the night of this project have failed thrice in a row."""
    held = nights.Held(str(project.root), stamp(project.now), "2026-06-20", "failed", ("capture",), in_a_row=3)
    nights.write(project.data, nights.Nights(due=date(2026, 6, 20), projects={project.workspace.id: held}))
