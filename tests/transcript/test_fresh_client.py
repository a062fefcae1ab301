"""What today's client really writes (2.1.197), read through the adapter and captured."""

import pytest
from support.capture import Project, adapt, said

pytestmark = pytest.mark.real_data
MARKER = "zebra-42"


@pytest.fixture
def fresh(shared):
    return shared / "clients" / "fresh" / "claude-code"


def files(folder):
    return sorted(folder.rglob("*.jsonl"))


def test_nothing_that_a_hook_injected_is_a_turn_and_nothing_is_unknown(fresh, tmp_path):
    project = Project(tmp_path)

    report = project.sync(sources=fresh, all_roots=True)

    assert (report.damaged, report.failed, dict(report.unknown), dict(report.skipped)) == ([], [], {}, {})
    assert report.files == len(files(fresh)) == 8
    turns = project.events("conversation_turn", "tool_call", "tool_result")
    assert not [event for event in turns if MARKER in str(event.body)]
    assert [event for event in project.events("system") if MARKER in str(event.body)]


def test_resume_fork_and_compaction(fresh, tmp_path):
    project = Project(tmp_path)

    project.sync(sources=fresh / "resume-fork-compact", all_roots=True)
    again = project.sync(sources=fresh / "resume-fork-compact", all_roots=True)

    assert sorted(project.texts("prompt")) == [
        "after the compaction",
        "please run the echo",
        "second question: which file is it",
        "third question, forked",
    ]
    assert len(project.texts("summary")) == 1
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    sighted = {event.session for event in project.events("sighting")}
    assert len(sighted) == 1
    assert (again.added, again.sightings, again.marks) == (0, 0, 0)
    assert [event.body["text"] for event in project.events("system") if event.body["subtype"] == "command"] == [
        "/compact keep the echo"
    ]


def test_a_sub_agent_belongs_to_its_parents_session(fresh):
    worker, main = [adapt(path) for path in files(fresh / "subagent")]
    if "worker" not in str(worker[0].body):
        worker, main = main, worker

    assert said(worker, "conversation_turn") == [
        ("worker_prompt", "Run the echo command and report"),
        ("reply", "Understood."),
    ]
    assert {draft.session for draft in worker} == {draft.session for draft in main}
    assert {draft.body["worker"] for draft in worker} == {"adc06e4870b7bebd4"}


def test_a_blocked_prompt_leaves_no_turn(fresh):
    [path] = files(fresh / "prompt-blocked")

    assert [name for name, _ in said(adapt(path))] == ["system:informational"]
