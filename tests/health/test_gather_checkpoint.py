"""What is read of checkpoints: the turns that the last one read, and since when others wait."""

from datetime import timedelta
from pathlib import Path

import pytest

from eval.planted_project import Project, healthy
from health.facts_memories import CheckpointFacts
from health.gather_checkpoint import checkpoint_facts


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return healthy(tmp_path / "planted")


def facts(project: Project) -> CheckpointFacts:
    return checkpoint_facts(project.workspace)


def test_turns_of_the_checkpoint_that_had_some_are_counted(project: Project) -> None:
    """The second of the new checkpoints reads an event that is no turn, and the first is told."""
    first = facts(project)
    project.say("late", "Which valve leaks?", "The third one.")
    project.say("late", "!norecall What is the code of the safe?", "It is on the board.")
    project.checkpoint()
    project.tell(project.event("late", "tool_call", {"tool": "Read", "call_id": "c1", "input": {}}))
    project.checkpoint()

    assert (first.expected, first.embedded, first.waiting_since) == (64, 64, None)
    assert facts(project) == CheckpointFacts(expected=2, embedded=2)


def test_what_stays_out_on_purpose_is_not_expected(project: Project) -> None:
    """LCA-10.6-02, LCA-D-01H: of one turn that should be there and is not the checkpoint fails, and of these none is.

    The answer's prompt, which keeps it out, came before the checkpoint that read it; the other holds own words alone.
    """
    asked, answered = project.exchange("late", "!norecall What is the code of the safe?", "It is on the board.")
    project.tell(asked)
    project.checkpoint()
    project.tell(answered, *project.exchange("later", "Which valve leaks?", "[recall 1a2b3c4d] x [/recall 1a2b3c4d]"))
    project.checkpoint()

    assert facts(project) == CheckpointFacts(expected=1, embedded=1)


def test_turns_wait_from_the_checkpoint_on_or_from_when_they_were_said(project: Project) -> None:
    made_at = project.now.timestamp()
    project.say("late", "Which valve leaks?", "The third one.")
    before = facts(project).waiting_since
    project.checkpoint()
    project.now += timedelta(days=3)
    project.say("later", "And which is tight?", "The first one.")

    assert before == made_at
    assert facts(project).waiting_since == pytest.approx(made_at + 3 * 86_400, abs=2 * 3600)


def test_without_an_index_it_is_not_known_how_many_are_in_it(project: Project) -> None:
    project.workspace.index_path.unlink()

    assert facts(project) == CheckpointFacts(expected=64, embedded=None)


def test_without_a_checkpoint_nothing_is_expected(tmp_path: Path) -> None:
    project = Project(tmp_path / "planted")
    project.talk()

    assert facts(project) == CheckpointFacts()
