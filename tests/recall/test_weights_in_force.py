"""What memories are worth follows the record and the settings: after a changed setting, and after a lost index."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.claude import ClaudeSession
from support.command import Result, runner
from support.memory_events import AT, written
from support.record import NOW

from indexer import standing
from indexer.store import Store
from recall import background
from recall.cli.capture_job import weigh_if_due
from scoring.experience import experience
from transcript import memory_drafts as drafts
from transcript.log import Log
from transcript.workspace import Workspace, init

MEMORY = written("The importer listens on port 7431 behind gate_two.")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def workspace(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project whose record holds a memory that one session has cited."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    session = ClaudeSession(cwd=str(folder))
    session.user("Which port does the importer listen on?")
    session.assistant("It listens on port 7431.")
    session.write(Path(os.environ["HOME"]) / ".claude")
    made = init(folder, data)
    Log(made).append([MEMORY, drafts.cited(AT, MEMORY.id, "another", "named")], now=NOW)
    return made


@pytest.fixture
def recall(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return runner(capsys)


def raw(workspace: Workspace) -> float:
    with Store.open(workspace.index_path) as store:
        held = store.standing([MEMORY.id])
    return held[MEMORY.id].raw if held else 0.0


def e_of(result: Result) -> float:
    items = [item for row in result.rows() for item in row.get("items", [row])]
    return next(float(item["terms"]["E"]) for item in items if item["event"] == MEMORY.id)


def capture(workspace: Workspace, data: Path) -> None:
    assert workspace.root is not None
    background.capture(data, workspace.root, os.environ, weigh=weigh_if_due)


def test_the_capture_behind_a_turn_weighs_after_the_index_was_deleted(workspace: Workspace, data: Path) -> None:
    capture(workspace, data)
    first = raw(workspace)
    for part in workspace.index_path.parent.glob(f"{workspace.index_path.name}*"):
        part.unlink()

    capture(workspace, data)

    assert first == raw(workspace) == 1.0


def test_the_capture_behind_a_turn_weighs_by_the_settings_in_force(
    workspace: Workspace, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture(workspace, data)
    monkeypatch.setenv("RECALL_EXPERIENCE_CITED", "7")

    capture(workspace, data)

    assert raw(workspace) == 7.0


def test_what_is_weighed_by_the_settings_in_force_is_not_weighed_again(
    workspace: Workspace, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture(workspace, data)
    monkeypatch.setattr(standing, "write", lambda *_, **__: pytest.fail("weighed again"))

    capture(workspace, data)


@pytest.mark.parametrize("command", [("query", "--json", "importer port 7431"), ("explain", "--json")])
def test_a_search_goes_by_the_settings_in_force(
    command: tuple[str, ...], workspace: Workspace, recall: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recall("index", "--words-only").code == 0
    before = recall("query", "--json", "importer port 7431")
    monkeypatch.setenv("RECALL_EXPERIENCE_CITED", "20")

    after = recall(*command)

    assert e_of(before) == pytest.approx(experience(1.0, cap=50.0), abs=1e-6)
    assert e_of(after) == pytest.approx(experience(20.0, cap=50.0), abs=1e-6)


def test_an_index_that_nobody_may_write_to_is_searched_and_the_reader_told(
    workspace: Workspace, recall: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recall("index", "--words-only").code == 0
    monkeypatch.setenv("RECALL_EXPERIENCE_CITED", "20")

    def refuse(*_: object) -> int:
        raise OSError("read-only file system")

    monkeypatch.setattr("recall.cli.work.weigh", refuse)

    found = recall("query", "--json", "importer port 7431")

    assert e_of(found) == pytest.approx(experience(1.0, cap=50.0), abs=1e-6)
    assert "earlier settings of [experience]: read-only file system" in found.err


def test_indexing_takes_a_changed_setting_in(
    workspace: Workspace, recall: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recall("index", "--words-only").code == 0
    monkeypatch.setenv("RECALL_EXPERIENCE_CITED", "20")

    assert recall("index", "--words-only").code == 0

    assert raw(workspace) == 20.0
