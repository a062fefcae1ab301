"""Runs that were declared cleared: what they began with is held against the summaries of earlier sessions."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from eval.planted_project import Project
from health.facts import Inherited, RunFacts
from health.gather_runs import DAYS, run_facts

TASK = "Find out why the third pump of the plant stops at night and write down what you changed and in which order."
SUMMARY = (
    "The pump stops since its float switch sticks at low water. The relay K7 was set to forty seconds, the cable of"
    " the switch was shortened by two metres, and the night watch was told to look at the gauge every second hour."
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a first run that worked on the task and was compacted once."""
    made = Project(tmp_path / "planted")
    made.say("run-1", TASK, "The float switch sticks.")
    compact(made, "run-1", SUMMARY)
    return made


def compact(project: Project, session: str, text: str) -> None:
    boundary: dict[str, Any] = {"subtype": "compact_boundary", "text": "", "compact": {"trigger": "auto"}}
    project.tell(project.event(session, "system", boundary, actor="system"))
    project.tell(project.event(session, "conversation_turn", {"kind": "summary", "text": text}))


def clear(project: Project) -> None:
    body = {"mark": "cleared", "session": "", "before": "run-1"}
    project.tell(project.event("recall:run", "mark", body, actor="system"))


def facts(project: Project) -> RunFacts:
    return run_facts(project.workspace, now=project.now)


def test_a_cleared_run_of_the_same_task_is_independent(project: Project) -> None:
    """LCA-D-06H: the task itself is shared, and the compaction that comes later is the run's own."""
    clear(project)
    project.say("run-2", TASK, "I begin with the relay.")
    compact(project, "run-2", SUMMARY)

    assert facts(project) == RunFacts(1, ())


def test_a_run_that_begins_with_the_summary_of_another_is_found_with_its_share(project: Project) -> None:
    """LCA-D-06H: n words make n - 7 runs of eight."""
    clear(project)
    compact(project, "run-2", SUMMARY)
    project.say("run-2", TASK, "I begin with the relay.")
    words, asked = len(SUMMARY.split()), len(TASK.split())

    (found,) = facts(project).inherited

    assert (found.session, found.compacted, found.of) == ("run-2", True, "run-1")
    assert found.share == pytest.approx((words - 7) / (words - 7 + asked - 7))


def test_words_of_a_summary_in_a_prompt_are_found_without_any_compaction(project: Project) -> None:
    """A harness or a person may put it in front of the task."""
    clear(project)
    project.say("run-2", f"{SUMMARY} {TASK}", "I begin with the relay.")

    (found,) = facts(project).inherited

    assert (found.compacted, found.of) == (False, "run-1")
    assert 0.5 < found.share < 0.8


@pytest.mark.parametrize(
    ("prompt", "leaks"),
    [
        ("The pump stops since its float switch sticks, I think; is that so?", False),
        (" ".join(SUMMARY.split()[:14]), False),
        (" ".join(SUMMARY.split()[:15]), True),
    ],
    ids=["a phrase", "seven runs of eight words", "eight of them"],
)
def test_a_phrase_alone_is_no_leak(project: Project, prompt: str, leaks: bool) -> None:
    clear(project)
    project.say("run-2", prompt, "I look.")

    assert bool(facts(project).inherited) is leaks


def test_what_every_summary_says_is_their_form(project: Project) -> None:
    for number in range(3):
        compact(project, f"session-{number}", SUMMARY)
    clear(project)
    project.say("run-2", SUMMARY, "I look.")

    assert facts(project).inherited == ()


def test_the_run_is_the_first_session_that_begins_after_the_mark(project: Project) -> None:
    """A session that goes on beside it, and a sub-agent, are none; later sessions are not declared."""
    clear(project)
    project.say("run-1", "Go on.", "I do.")
    worker = {"kind": "worker_prompt", "text": SUMMARY, "worker": "w1"}
    project.tell(project.event("run-2", "conversation_turn", worker))
    project.say("run-2", TASK, "I begin with the relay.")
    project.say("run-3", SUMMARY, "I go on.")

    assert facts(project) == RunFacts(1, ())


def test_runs_count_for_thirty_days_and_without_a_mark_nothing_is_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear(project)
    compact(project, "run-2", SUMMARY)
    project.say("run-2", TASK, "I look.")
    within = facts(project)
    project.now += timedelta(days=DAYS + 1)
    monkeypatch.setattr("health.gather_runs.sessions", lambda _log: pytest.fail("the record was read"))

    assert within.declared == 1
    assert isinstance(within.inherited[0], Inherited)
    assert facts(project) == RunFacts()


def test_a_mark_that_no_session_followed_declares_none(project: Project) -> None:
    clear(project)

    assert facts(project) == RunFacts()
