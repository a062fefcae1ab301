"""What runs of the index could not take in counts until a later run made it good, or it was forgotten."""

from pathlib import Path

import pytest

from eval.planted_project import NOW, Project
from health.gather_index_runs import index_run_facts
from health.signal import Level
from indexer import rebuild
from indexer.store import Store
from transcript.event import Event
from transcript.redaction import erase
from transcript.redaction_plan import plan_events


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose long answer stands in a blob that is gone."""
    project = Project(tmp_path / "planted")
    project.say("s", "What is known of the pumps?", "They run. " * 4000)
    project.say("s", "And the valves?", "They are tight.")
    return project


def blob_of(project: Project) -> Path:
    return next(path for path in project.workspace.blobs_dir.rglob("*") if path.is_file())


def long_answer(project: Project) -> Event:
    return next(event for event in project.log.read() if "blob" in str(event.body.get("text", "")))


def backfill(project: Project) -> None:
    with Store.open(project.workspace.index_path, "w") as store:
        rebuild.backfill(
            project.workspace, store, project.settings, since=NOW.replace(year=2020), now=NOW, embedder=project.embedder
        )


def test_a_failed_event_is_named_until_a_backfill_takes_it_in(project: Project) -> None:
    """LCA-10.6-04."""
    blob = blob_of(project)
    kept = blob.read_bytes()
    blob.unlink()
    project.index()
    pointer = long_answer(project).pointer

    failed = index_run_facts(project.workspace).failures
    backfill(project)
    again = index_run_facts(project.workspace).failures
    blob.write_bytes(kept)
    backfill(project)

    assert [line.partition(":")[0] for line in failed] == [pointer]
    assert [line.partition(":")[0] for line in again] == [pointer]
    assert index_run_facts(project.workspace).failures == ()


def test_what_was_forgotten_since_is_missed_by_nobody(project: Project) -> None:
    blob = blob_of(project)
    kept = blob.read_bytes()
    blob.unlink()
    project.index()
    blob.write_bytes(kept)
    gone = long_answer(project).id
    erase(project.workspace, lambda: plan_events(project.workspace, {gone}), (), now=NOW)

    assert index_run_facts(project.workspace).failures == ()


def test_estimated_tokens_count_until_the_index_is_made_anew(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case count-special-tokens (openai/tiktoken#290): a counter that fails is no silence."""
    with monkeypatch.context() as patched:
        patched.setattr("indexer.tokens._encoding", lambda: None)
        project.index()
    estimated = index_run_facts(project.workspace).estimated
    with Store.open(project.workspace.index_path, "w") as store:
        rebuild.rebuild(project.workspace, store, project.settings, now=NOW, embedder=project.embedder)

    assert estimated > 0
    assert index_run_facts(project.workspace).estimated == 0


def test_the_longest_hold_of_the_write_lock_is_told(project: Project) -> None:
    """Case store-locked 4 (doobidoo/mcp-memory-service#59): a long transaction starves every other writer."""
    project.index()
    longest = 3_600_000.0
    with Store.open(project.workspace.index_path, "w") as store:
        for held, kind in ((longest, "rebuild"), (1.0, "index")):
            store.longest_hold_ms = held
            store.note_run(kind, {}, NOW)
    project.checkpoint()

    found = project.signals()["index_write_hold"]

    assert (found.value, found.level) == (longest, Level.WARN)
    assert "waits 3,600,000 ms at most (in a run of 'rebuild')" in found.text
