"""A consolidation run: what it writes, that it can be repeated, and what it says of a step that fails."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.dialogue import Dialogue
from support.record import NOW
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation import steps
from consolidation.find import find as finding
from consolidation.model import Candidate, SessionView
from consolidation.run import LOCK
from consolidation.sessions import views
from recall.memory_settings import ConsolidationSettings
from transcript.errors import RecallError
from transcript.lock import FileLock
from transcript.verify import verify

OTHER = (
    "The root cause is that `loadConfig()` reads `settings.toml` before the variable `APP_HOME` is set by the shell."
)


@pytest.fixture
def project(tmp_path: Path) -> Running:
    return make_running(tmp_path, talk_of_causes(CAUSE, OTHER))


def kinds(project: Running) -> list[str]:
    """The types of what runs wrote, in order."""
    return [event.type for event in project.events() if event.session == "recall:consolidation"]


def test_a_run_writes_candidate_verdict_decision_memory_and_a_complete_checkpoint(project: Running) -> None:
    """Proposed, verified, decided and applied are events of their own (LCA-4.3-08)."""
    report = project.run()

    assert report.state == "complete", report.steps
    assert [step.name for step in report.steps] == [
        "find", "search", "draft", "verify", "write", "archive", "standing", "index", "check", "handoff", "procedures",
    ]  # fmt: skip
    assert kinds(project) == [
        "memory.candidate", "memory.verdict", "memory.candidate", "memory.verdict",
        "memory.decided", "memory.written", "memory.decided", "memory.written", "checkpoint",
    ]  # fmt: skip
    assert {memory.statement for memory in project.state().current(NOW)} == {CAUSE, OTHER}
    assert report.counts["accepted"] == 2


def test_the_checkpoint_names_all_six_artifacts_with_their_hashes(project: Running) -> None:
    """LCA-6.3-01: memories, log, handoff, summaries, archive and index, health."""
    project.run()

    (event,) = project.events("checkpoint")
    found = project.log.body(event)["artifacts"]
    assert found.keys() >= {"memories", "log", "handoff", "summaries", "archive", "index", "health"}
    assert len(found["handoff"]["sha256"]) == 64
    assert found["index"]["watermark"] >= found["log"]["seq"] - 1
    assert found["health"]["level"] == "ok"


def test_a_second_run_over_the_same_record_appends_nothing(project: Running) -> None:
    first = project.run()
    before = project.workspace.activity.read_bytes()

    again = project.run(later=5)

    assert (again.state, again.checkpoint) == ("unchanged", first.checkpoint)
    assert project.workspace.activity.read_bytes() == before


def test_two_runs_from_empty_come_to_the_same_memories(tmp_path: Path) -> None:
    one = make_running(tmp_path / "one", talk_of_causes(CAUSE, OTHER))
    two = make_running(tmp_path / "two", talk_of_causes(CAUSE, OTHER))

    one.run()
    two.run("nightly", later=30)

    assert [m.id for m in one.state().memories.values()] == [m.id for m in two.state().memories.values()]


def test_only_what_came_in_since_is_read_again(project: Running) -> None:
    project.run()
    said = "The problem is that `rotateKeys()` writes the file `keys.json` without taking the lock of the folder."
    project.goes_on(talk_of_causes(said, session="s2"))

    report = project.run(later=1)

    assert report.counts["candidates"] == 1
    assert report.counts["accepted"] == 1
    assert report.checkpoint == project.events("checkpoint")[-1].id


def test_said_again_in_another_session_confirms_and_in_the_same_is_a_copy(tmp_path: Path) -> None:
    talk = talk_of_causes(CAUSE)
    project = make_running(tmp_path, talk)
    project.run()
    project.goes_on(talk_of_causes(CAUSE, session="s2"))

    report = project.run(later=1)

    assert report.counts["confirmed"] == 1
    (promoted,) = project.events("memory.promoted")
    assert promoted.body["session"] == "s2"
    assert len(project.state().memories) == 1


def test_a_dry_run_writes_nothing_and_lists_what_it_would_write(project: Running) -> None:
    before = project.workspace.activity.read_bytes()

    report = project.run(dry_run=True)

    assert project.workspace.activity.read_bytes() == before
    assert [one["type"] for one in report.would_write].count("memory.written") == 2
    assert project.run().counts == report.counts


def test_who_comes_while_another_works_does_nothing_and_names_it(project: Running) -> None:
    lock = FileLock(project.workspace.run_dir / LOCK)
    assert lock.acquire()
    before = project.workspace.activity.read_bytes()

    report = project.run()

    lock.release()
    assert report.state == "busy"
    assert report.steps[0].note.startswith("another consolidation of this workspace runs (process ")
    assert project.workspace.activity.read_bytes() == before


@pytest.mark.parametrize("name", [name for name, _ in steps.STEPS])
def test_a_step_that_fails_fails_the_checkpoint_and_is_named(
    name: str, project: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LCA-4.3-12, LCA-8.2-02. What was written before stays, and the next run completes it."""

    def breaks(run: object) -> None:
        raise RecallError("the disk is gone")

    whole = steps.STEPS
    monkeypatch.setattr(steps, "STEPS", tuple((n, breaks if n == name else step) for n, step in whole))
    report = project.run()
    monkeypatch.setattr(steps, "STEPS", whole)

    written = [n for n, _ in whole].index(name) > [n for n, _ in whole].index("write")
    assert report.state == ("incomplete" if written else "failed")
    assert (report.steps[-1].name, report.steps[-1].note) == (name, "the disk is gone")
    (event,) = project.events("checkpoint")
    assert event.body["failed_step"] == name
    assert project.state().through is None
    assert project.run(later=1).state == "complete"
    assert len(project.state().memories) == 2
    assert verify(project.workspace).ok


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"health": lambda light, keep: {"level": "fail", "failing": ["chain", "hook_last_fired"]}}, "health: chain"),
        ({"probe": lambda names: len(names) - 1}, "only 1 of 2 memories can be recalled"),
        ({"index": lambda: {"watermark": 1, "data_version": 1, "chunks": 0, "pending": 0}}, "before the record"),
    ],
    ids=["record broken", "not recalled", "index behind"],
)
def test_a_checkpoint_is_whole_only_when_archive_index_and_recall_are(
    changes: dict[str, Any], said: str, project: Running
) -> None:
    project.changes = changes

    report = project.run()

    assert report.state == "incomplete"
    assert said in report.steps[-1].note
    project.changes = {}
    assert project.run(later=1).state == "complete"


def drafting(answer: Any) -> dict[str, Any]:
    def draft(views: Sequence[SessionView]) -> list[Candidate]:
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    return {"draft": draft}


def test_a_drafter_that_fails_changes_nothing_but_the_failed_checkpoint(project: Running) -> None:
    project.changes = drafting(RecallError("the drafter said nothing"))

    report = project.run()

    assert (report.state, report.steps[-1].name) == ("failed", "draft")
    assert kinds(project) == ["checkpoint"]
    assert project.state().memories == {}


def test_a_long_statement_stays_in_the_transcript(project: Running) -> None:
    project.settings = replace(project.settings, consolidation=ConsolidationSettings(statement_chars=100))

    report = project.run()

    assert (report.counts["accepted"], report.counts["rejected"]) == (1, 1)
    assert {c.decided["reason"] for c in project.state().candidates.values() if c.decided} == {"accepted", "too_long"}


def test_an_occasion_that_names_an_event_is_recorded_though_nothing_is_new(project: Running) -> None:
    """LCA-4.6-05: a checkpoint after a mistake links the correction, whatever ran in between."""
    project.run("session_end")
    link = project.events("conversation_turn")[0].id

    report = project.run("mistake", link=link, later=1)

    assert report.state == "complete"
    assert [(e.body["trigger"], e.body["link"], e.body["elected"]) for e in project.events("checkpoint")] == [
        ("session_end", "", False), ("mistake", link, True),
    ]  # fmt: skip
    assert project.run("mistake", link=link, later=2).state == "unchanged"


def test_a_file_that_a_memory_speaks_of_is_watched(tmp_path: Path) -> None:
    talk = talk_of_causes("The issue is that `cmd/hooks.go` runs in the current folder, not in the test's repository.")
    project = make_running(tmp_path, talk)
    file = tmp_path / "project" / "cmd" / "hooks.go"
    file.parent.mkdir()
    file.write_text("package cmd\n")
    project.run()
    (memory,) = project.state().memories.values()
    assert [path for path, _ in memory.files] == ["cmd/hooks.go"]

    found = []
    for hour, text in enumerate(["package hooks\n", "package cmd\n", "package hooks\n"], 1):  # as branches are switched
        file.write_text(text)
        project.run(later=hour)
        found.append(project.state().memories[memory.id].stale_paths)

    assert found == [("cmd/hooks.go",), (), ("cmd/hooks.go",)]
    assert project.run(later=9).state == "unchanged"


def test_what_a_person_kept_out_is_not_read(tmp_path: Path) -> None:
    talk = Dialogue()
    talk.prompt(f"!norecall {CAUSE}")
    talk.reply(f"I looked into it. {CAUSE}")
    talk.edit("src/hooks.go")
    talk.bash("go test ./...")
    project = make_running(tmp_path, talk)

    project.run()

    assert project.state().candidates == {}


def edited(project: Running, old: str, new: str) -> None:
    """Change the file of the memory whose words `old` stands in."""
    folder = (project.workspace.root or Path()) / ".recall" / "memory"
    [path] = [path for path in folder.glob("*.md") if path.name != "MEMORY.md" and old in path.read_text("utf-8")]
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def test_each_run_that_takes_in_an_edit_alone_leaves_its_checkpoint(project: Running) -> None:
    project.run()
    found = []
    for hour, (old, new) in enumerate([("by the shell", "by the login shell"), ("APP_HOME", "APP_ROOT")], 1):
        edited(project, old, new)
        found.append(project.run(later=hour))

    assert [report.state for report in found] == ["complete", "complete"]
    assert [event.id for event in project.events("checkpoint")][1:] == [report.checkpoint for report in found]
    idle = project.run(later=3)
    assert (idle.state, idle.checkpoint) == ("unchanged", found[-1].checkpoint)


def test_what_two_sessions_say_a_person_is_asked_about_once(project: Running) -> None:
    def said_in(number: int) -> Candidate:
        view = next(one for one in views(project.log, None) if one.session == f"s{number}")
        found = next(one for one in finding(view, project.state(), b"k" * 32, lambda _: []) if one.text == OTHER)
        return replace(found, found_by="drafter", memory_type="runbook", drafted_by="model/1")

    project.goes_on(talk_of_causes(OTHER, session="s2"))
    first, second, apart = said_in(1), said_in(2), replace(said_in(2), memory_type="role_standard")
    project.changes = drafting([first])
    project.run()
    project.goes_on(talk_of_causes(CAUSE, session="s3"))
    project.changes = drafting([second, apart])
    project.run(later=1)

    held = project.state().candidates
    assert [name for name in (first.id, second.id, apart.id) if held[name].pending] == [first.id, apart.id]
    ended = held[second.id].decided or {}
    assert (ended["reason"], ended["target"]) == ("duplicate", first.id)


def test_a_standing_wish_that_a_person_gave_in_rejecting_a_call_is_remembered(tmp_path: Path) -> None:
    """Claude Code keeps it in the error of the call alone."""
    before = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
        "the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
    )
    talk = Dialogue()
    talk.prompt("please check the branch")
    talk.bash("make ci", f"{before}don't run CI or integration tests, too slow.", fails=True)
    project = make_running(tmp_path, talk)

    assert project.run().counts["accepted"] == 1

    [memory] = project.state().memories.values()
    assert memory.statement == "don't run CI or integration tests, too slow."
    assert memory.why == 'said when asked: "please check the branch"'
    place = memory.sources[0]
    assert project.log.text(project.log.get(place.event))[place.start : place.end] == memory.statement
