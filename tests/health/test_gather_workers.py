"""What is read of sub-agents' corrections: they wait until consolidation decided, whatever it decided."""

from pathlib import Path

import pytest

from consolidation.model import Candidate
from eval.planted_project import Project
from health.facts import WorkerFacts
from health.gather_workers import worker_facts
from transcript import memory_drafts as drafts
from transcript.event import Draft, stamp
from transcript.memories import Span
from transcript.memory_told import Told

TEXT = "The importer listens on port 8443, see config/importer.toml."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "planted")
    made.talk()
    return made


def facts(project: Project) -> WorkerFacts:
    return worker_facts(project.workspace)


def correct(project: Project, **changes: str) -> Draft:
    """Let a sub-agent be corrected."""
    _, reply = project.say("session-w", "Which port?", "The importer listens on port 8080.")
    body = {"kind": "correction", "of": reply.id, "text": TEXT, "worker": "a1", "actor": "a1", "actor_kind": "agent"}
    said = project.event("session-w", "correction", body | changes)
    project.tell(said)
    return said


def decide(project: Project, said: Draft, *, pending: bool) -> None:
    """Tell what became of a candidate that quotes it."""
    at = Told(stamp(project.now))
    place = Span(said.id, 0, len(TEXT))
    found = Candidate(text=TEXT, sources=(place,), found_by="correction", memory_type="lesson", said_at=said.ts)
    told = drafts.decided(at, found.id, "transcript_only", "awaits_person", pending=pending, tier="governed")
    project.tell(drafts.candidate(at, found.body()), told)


def test_a_correction_waits_until_a_checkpoint_consolidates_it(project: Project) -> None:
    """LCA-D-09H."""
    said = correct(project)
    before = facts(project)
    project.checkpoint()

    assert before.corrections == (f"{said.id[:10]} of a1, 2026-06-20",)
    assert before.corrections_oldest is not None
    assert before.corrections_passed == 0
    assert facts(project).corrections == ()


@pytest.mark.parametrize(("pending", "waits"), [(True, 1), (False, 0)])
def test_one_that_is_put_before_a_person_still_waits(project: Project, pending: bool, waits: int) -> None:
    said = correct(project)
    decide(project, said, pending=pending)

    assert len(facts(project).corrections) == waits


def test_a_checkpoint_that_read_on_without_it_passed_it_over(project: Project) -> None:
    said = correct(project)
    decide(project, said, pending=True)
    through = next(project.log.read_back()).position
    body = {"state": "complete", "trigger": "nightly", "through": {"seq": through.seq}, "steps": [], "counts": {}}
    project.tell(project.event("recall:run", "checkpoint", body, actor="system"))

    assert facts(project).corrections_passed == 1


@pytest.mark.parametrize(
    "changes",
    [{"worker": ""}, {"kind": "critique"}, {"kind": "confirmation"}],
    ids=["the agent's own", "a critique", "a confirmation"],
)
def test_what_no_memory_comes_of_does_not_wait(project: Project, changes: dict[str, str]) -> None:
    correct(project, **changes)

    assert facts(project).corrections == ()


def test_a_correction_that_a_later_one_replaces_does_not_wait(project: Project) -> None:
    first = correct(project)
    second = correct(project, supersedes=first.id)

    assert facts(project).corrections == (f"{second.id[:10]} of a1, 2026-06-20",)
