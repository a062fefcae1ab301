"""The detached checkpoint: one for each mark, failures counted and never shown to anybody."""

from pathlib import Path

import pytest
from support.dialogue import Dialogue
from support.hooks import counted
from support.running import CAUSE, make_running, talk_of_causes

from consolidation.run import LOCK
from recall import spawn
from recall.cli import checkpoint_job
from recall.cli.app import App
from transcript.lock import FileLock
from transcript.log import Log


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(spawn, "detach", lambda *words, **more: 0)
    talk: Dialogue = talk_of_causes(CAUSE)
    make_running(tmp_path, talk)
    return App({"RECALL_INDEX_MODEL": "none:at-all"}, tmp_path / "project", tmp_path / "data")


def mark(app: App, trigger: str, link: str = "") -> Path:
    spawn.start_checkpoint(str(app.data), "", str(app.cwd), workspace="x", trigger=trigger, link=link)
    return app.data / "run" / "checkpoint-x.again"


def triggers(app: App) -> list[tuple[str, str]]:
    return [(e.body["trigger"], e.body["state"]) for e in Log(app.workspace()).read() if e.type == "checkpoint"]


def test_each_trigger_that_a_hook_left_is_recorded_with_its_checkpoint(app: App) -> None:
    again = mark(app, "session_end")

    assert checkpoint_job.rounds(app, again) == 1

    assert triggers(app) == [("session_end", "complete")]
    assert counted(app.data) == {}
    assert not again.exists()


def test_marks_of_one_kind_are_one_checkpoint(app: App) -> None:
    again = [mark(app, "pressure", "s1#0"), mark(app, "pressure", "s1#0")][0]

    assert checkpoint_job.rounds(app, again) == 1


def test_it_waits_while_another_consolidation_works_and_counts_what_it_could_not_do(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_job, "WAITS", 2)
    monkeypatch.setattr(checkpoint_job, "WAIT_S", 0)
    lock = FileLock(app.workspace().run_dir / LOCK)
    assert lock.acquire()

    checkpoint_job.rounds(app, mark(app, "session_end"))
    lock.release()

    assert triggers(app) == []
    assert counted(app.data) == {"busy": 1}


def test_a_setting_that_cannot_be_read_is_counted(app: App) -> None:
    (app.data / "config.toml").write_text("[reviewer]\nkind = 'oracle'\n")

    checkpoint_job.rounds(app, mark(app, "session_end"))

    assert counted(app.data) == {"ConfigError": 1}


def test_files_of_the_project_are_taken_in_as_they_are_now(app: App) -> None:
    readme = app.cwd / "README.md"
    readme.write_text("The shop listens on port 8443.\n")
    checkpoint_job.rounds(app, mark(app, "session_end"))
    readme.write_text("The shop listens on port 9443.\n")

    checkpoint_job.rounds(app, mark(app, "pre_compact"))

    said = [e.body["text"] for e in Log(app.workspace()).read() if e.type == "memory.source"]
    assert said == ["The shop listens on port 8443.\n", "The shop listens on port 9443.\n"]
