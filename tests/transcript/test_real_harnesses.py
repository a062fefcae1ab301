"""One workspace takes in the real files of every harness at once; nothing in them is unknown."""

import tarfile

import pytest
from support.capture import Project
from support.harness import nothing_new

pytestmark = pytest.mark.real_data

FRESH = {
    "aider": 1, "claude-code": 8, "cline": 1, "codex": 1, "copilot-cli": 1, "gemini-cli": 1, "grok-build": 2,
    "letta-code": 3, "opencode": 3, "pi": 1, "qwen-code": 1,
}  # fmt: skip
OLDER = {"codex": 13, "gemini-cli": 4, "pi": 2}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


@pytest.fixture(scope="module")
def older(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    with tarfile.open(shared / "transcripts" / "other-harnesses.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_todays_files_of_eleven_clients_are_taken_in_by_their_own_adapters(shared, project):
    report = project.sync(sources=shared / "clients" / "fresh", all_roots=True)

    assert {name: of.files for name, of in report.harnesses.items()} == FRESH
    assert (report.unknown, report.skipped, report.damaged, report.failed) == ({}, {}, [], [])
    assert all(of.added for of in report.harnesses.values())
    assert nothing_new(project.sync(sources=shared / "clients" / "fresh", all_roots=True))


def test_no_text_that_a_hook_injected_is_taken_for_what_somebody_said(shared, project):
    project.sync(sources=shared / "clients" / "fresh", all_roots=True)

    said = [words for words in project.texts() if "zebra-42" in words or "RECALLED-MARKER" in words]
    kept = [event for event in project.events("system") if "zebra-42" in event.body.get("text", "")]
    assert said == []
    assert {event.agent for event in kept} >= {"claude-code", "codex", "cline", "opencode"}


@pytest.mark.parametrize("harness", OLDER)
def test_older_files_hold_nothing_unknown_and_are_taken_in_once(older, project, harness):
    where = older / harness.partition("-")[0]

    report = project.sync(sources=where, all_roots=True)

    assert {name: of.files for name, of in report.harnesses.items()} == {harness: OLDER[harness]}
    assert (report.unknown, report.skipped, report.failed) == ({}, {}, [])
    assert nothing_new(project.sync(sources=where, all_roots=True))
