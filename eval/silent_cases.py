"""Faults that make no noise of their own: nothing fails, less is found. Each with the signal that must name it."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from eval.incidents import Expected, Incident
from eval.planted_project import DIMENSION, HARNESS, Project
from health.signal import Level
from indexer import damage
from indexer.store import Store
from recall import hook_registry, launcher
from transcript.capture import sync
from transcript.event import stamp
from transcript.workspace import exclude

QUIET = timedelta(hours=3)


def words_short(project: Project) -> None:
    """Take the words of five passages out of the index of words."""
    project.damage(damage.lose_words, 5)


def other_model(project: Project) -> None:
    """Let the model be another than the one that made the vectors."""
    project.embedder = replace(project.embedder, revision="2")


def no_direction(project: Project) -> None:
    """Make two vectors zero."""
    with Store.open(project.workspace.index_path, "w") as store, store.transaction():
        two = sorted(store.vectors.ids())[:2]
        store.vectors.remove(two)
        store.vectors.add(two, np.zeros((2, DIMENSION), dtype=np.float32))


def future_stamp(project: Project) -> None:
    """Take in a prompt of a harness whose clock is ten years ahead."""
    body = {"kind": "prompt", "text": "When is the next inspection?"}
    said = project.event("session-ahead", "conversation_turn", body, actor="user")
    project.tell(replace(said, ts=stamp(project.now + timedelta(days=3650))))
    project.index()


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

SILENT = (
    Incident("words-short", "five passages have no words in the index", words_short,
             (Expected("word_index", Level.FAIL, ("5",)),)),
    Incident("other-model", "another model than the one that made the vectors", other_model,
             (Expected("embeddings_stale", Level.WARN, ("64 stale vectors",)),)),
    Incident("no-direction", "vectors without a direction", no_direction,
             (Expected("embeddings_zero", Level.FAIL, ("2",)),)),
    Incident("future-stamp", "a harness whose clock is years ahead", future_stamp,
             (Expected("implausible_times", Level.WARN, ("1",)),)),
    Incident("excluded-project", "the project is excluded, and nobody remembers", excluded_project,
             (Expected("project_excluded", Level.WARN, ("excluded",)),)),
    Incident("edited-hook", "the hook's line was edited", edited_hook,
             (Expected(f"hook_installed.{HARNESS}", Level.FAIL, ("changed",)),)),
    Incident("removed-environment", "the environment that hooks run in is gone", removed_environment,
             (Expected("code_mixed", Level.FAIL, ("gone: no hook answers",)),
              Expected(f"hook_installed.{HARNESS}", Level.FAIL))),
    Incident("quiet-hook", "no hook fires while the harness writes", quiet_hook,
             (Expected(f"hook_last_fired.{HARNESS}", Level.FAIL),), later=QUIET),
    Incident("unheard-of-record", "an upgraded harness writes records that nobody knows", unheard_of_record,
             (Expected("unknown_types", Level.WARN, ("hologram",)),)),
    Incident("damaged-line", "a line of a session file is torn", damaged_line,
             (Expected("damaged_lines", Level.WARN, ("1",)),)),
)  # fmt: skip
