"""`sync --readapt`: a newer adapter over the bytes that were kept appends only what is new."""

import pytest
from support.capture import NOW, Project

from transcript.adapters import claude_reader
from transcript.errors import LockBusy
from transcript.lock import FileLock
from transcript.readapt import readapt
from transcript.settings import CaptureSettings
from transcript.verify import verify


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    session = project.session()
    top = session.user("one")
    session.assistant({"type": "thinking", "thinking": "a plan", "signature": "x"}, "old way")
    session.user("new way", parentUuid=top["uuid"])
    session.record("system", subtype="turn_duration", content="12 s")
    session.write(project.config)
    project.sync()
    session.user("rewritten", uuid="other")
    session.lines[0] = session.lines.pop()
    session.write(project.config)
    project.sync()
    session.path(project.config).unlink()
    return project


def test_the_same_adapter_adds_nothing_even_when_the_files_are_gone(project):
    before = [event.id for event in project.events()]

    report = readapt(project.workspace, now=NOW)

    assert (report.files, report.added, report.marks, report.sightings) == (1, 0, 0, 0)
    assert [event.id for event in project.events()] == before


def test_a_newer_adapter_adds_what_it_understands_now(project, monkeypatch):
    monkeypatch.setattr(claude_reader, "SYSTEM_COUNTED", frozenset())

    report = readapt(project.workspace, now=NOW)
    again = readapt(project.workspace, now=NOW)

    assert dict(report.by_type) == {"system": 1}
    assert again.added == 0
    assert verify(project.workspace).problems == []


def test_reasoning_that_was_left_out_can_be_taken_in_later(project):
    report = readapt(project.workspace, now=NOW, settings=CaptureSettings(reasoning=True))

    assert report.by_type["reasoning"] == 1
    [event] = project.events("reasoning")
    assert event.body["text"] == "a plan"


def test_it_tells_how_far_it_is_in_files_and_bytes(project):
    told = []

    report = readapt(project.workspace, now=NOW, progress=told.append)

    assert [(at.files, at.files_total, at.bytes == at.bytes_total > 0) for at in told] == [(1, 1, True)]
    assert (report.files, report.sessions, report.bytes) == (1, 1, told[-1].bytes_total)


def test_it_waits_for_a_running_capture(project):
    lock = FileLock(project.workspace.run_dir / "capture.lock")
    assert lock.acquire(0)

    with pytest.raises(LockBusy):
        readapt(project.workspace, now=NOW, lock_timeout=0.01)

    lock.release()
