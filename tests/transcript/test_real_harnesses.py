"""One workspace takes in the real files of every harness at once; nothing in them is unknown."""

from collections import defaultdict

import pytest
from support.capture import Project
from support.cells import REAL
from support.harness import nothing_new

from transcript.event import Event

pytestmark = pytest.mark.real_data

FRESH = {
    "aider": 1, "claude-code": 8, "cline": 1, "codex": 1, "copilot-cli": 1, "gemini-cli": 1, "grok-build": 2,
    "letta-code": 3, "opencode": 3, "pi": 1, "qwen-code": 1,
}  # fmt: skip
OLDER = {"codex": 13, "gemini-cli": 4, "pi": 2}
INJECTED = ("zebra-42", "RECALLED-MARKER")
ENVELOPES = {
    "command", "context", "environment", "ide", "local_command_output", "output", "reminder", "session_context",
    "skill", "task_notification",
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def test_todays_files_of_eleven_clients_are_taken_in_by_their_own_adapters(shared, project):
    report = project.sync(sources=shared / "clients" / "fresh", all_roots=True)

    assert {name: of.files for name, of in report.harnesses.items()} == FRESH
    assert (report.unknown, report.skipped, report.damaged, report.failed) == ({}, {}, [], [])
    assert all(of.added for of in report.harnesses.values())
    assert nothing_new(project.sync(sources=shared / "clients" / "fresh", all_roots=True))


@pytest.mark.slow
def test_one_workspace_holds_all_files_and_what_the_table_says_of_each_harness(
    shared, other_harnesses, real_sessions, project
):
    """Every source at once, then each again: files by harness, nothing skipped, failed or unknown, nothing twice."""
    folders = [
        shared / "clients" / "fresh",
        real_sessions,
        *(other_harnesses / name for name in ("codex", "gemini", "pi")),
    ]
    reports = [project.sync(sources=folder, all_roots=True) for folder in folders]

    files = defaultdict(int)
    for report in reports:
        assert (report.skipped, report.unknown, report.failed) == ({}, {}, [])
        for name, of in report.harnesses.items():
            files[name] += of.files
    assert files == {**FRESH, "claude-code": 281, "codex": 14, "gemini-cli": 5, "pi": 3}
    found = cells_in(project.events(), damaged={"claude-code"} if any(report.damaged for report in reports) else set())
    assert found == {name: set(cells) for name, cells in REAL.items() if cells}
    assert all(nothing_new(project.sync(sources=folder, all_roots=True)) for folder in folders)


def cells_in(events: list[Event], damaged: set[str]) -> dict[str, set[str]]:
    """Return what the record holds of each harness, in the words of the table."""
    found: dict[str, set[str]] = defaultdict(set)
    plain = {"tool_call": "tool call", "tool_result": "result", "sighting": "fork or branch"}
    turns = {"prompt": "user", "reply": "assistant"}
    for event in events:
        body, cells = event.body, found[event.agent]
        if event.type in plain:
            cells.add(plain[event.type])
        elif event.type == "conversation_turn" and body["kind"] in turns:
            cells.add(turns[body["kind"]])
        elif event.type == "system":
            injected = any(marker in body["text"] for marker in INJECTED)
            cells.add("injected text" if injected else "envelope" if body["subtype"] in ENVELOPES else "")
        elif event.type == "mark" and body["mark"] in ("abandoned", "rewound"):
            cells.add("fork or branch")
        if event.ts_source != "capture":
            cells.add("time source")
    return {name: (cells | ({"malformed line"} if name in damaged else set())) - {""} for name, cells in found.items()}


def test_no_text_that_a_hook_injected_is_taken_for_what_somebody_said(shared, project):
    project.sync(sources=shared / "clients" / "fresh", all_roots=True)

    said = [words for words in project.texts() if "zebra-42" in words or "RECALLED-MARKER" in words]
    kept = [event for event in project.events("system") if "zebra-42" in event.body.get("text", "")]
    assert said == []
    assert {event.agent for event in kept} >= {"claude-code", "codex", "cline", "opencode"}


@pytest.mark.parametrize("harness", OLDER)
def test_older_files_hold_nothing_unknown_and_are_taken_in_once(other_harnesses, project, harness):
    where = other_harnesses / harness.partition("-")[0]

    report = project.sync(sources=where, all_roots=True)

    assert {name: of.files for name, of in report.harnesses.items()} == {harness: OLDER[harness]}
    assert (report.unknown, report.skipped, report.failed) == ({}, {}, [])
    assert nothing_new(project.sync(sources=where, all_roots=True))
