"""A pipe in the place of a file is never waited for: whoever asks is told, or goes on without it."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from support.command import runner
from support.project import exchanges, git_project, take_in

from recall.hook_client import ADDRESS, COUNTERS, Hook, ask_service
from transcript.workspace import locate

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
COMMANDS = (("backup", "{disk}"), ("verify",), ("sync",), ("query", "port of the pilot", "--words-only"), ("health",))
ENOUGH_S = 300  # whoever waits for a pipe waits for ever


@contextlib.contextmanager
def a_pipe_in_its_place(path):
    """Put a pipe where a file stands, or would; the file is back at the end."""
    aside = path.with_name(f"{path.name}.aside")
    there = path.exists()
    if there:
        path.rename(aside)
    os.mkfifo(path)
    signal.alarm(ENOUGH_S)  # which ends the tests, as no exception is passed over
    try:
        yield
    finally:
        signal.alarm(0)
        path.unlink()
        if there:
            aside.rename(path)


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    folder = git_project(tmp_path / "shop")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    take_in(folder, [exchanges([("Which port does the pilot use?", "Port 8080.")])], words_only=True)
    capsys.readouterr()
    return locate(folder, Path(os.environ["RECALL_HOME"]))


@pytest.mark.parametrize(
    "name", ["id.key", "calibration.json", "log/head", "log/activity.jsonl", "run/capture.json", "run/facets.json"]
)
def test_no_command_waits_for_a_pipe_in_the_place_of_a_file_of_ours(project, tmp_path, capsys, name):
    recall = runner(capsys)
    with a_pipe_in_its_place(project.home / name):
        codes = {command[0]: recall(*(part.format(disk=tmp_path / "disk") for part in command)) for command in COMMANDS}

    assert all(done.code in (0, 1, 2) for done in codes.values())
    assert not any("Traceback" in done.err for done in codes.values())
    if name in ("id.key", "log/head", "log/activity.jsonl"):  # without those there is no whole copy
        assert codes["backup"].code == 1
        assert codes["backup"].err.startswith("recall: ")
        assert codes["backup"].err.count("\n") == 1
        assert not list((tmp_path / "disk").rglob("manifest*"))
    recall(*COMMANDS[3])  # a write sets aside what one without a head left behind the record's end
    assert recall("verify").code == 0


def test_a_hook_neither_waits_for_a_pipe_nor_says_a_word(project):
    hook = Hook(os.environ["RECALL_HOME"], "claude-code", "")
    (Path(hook.data) / ADDRESS).parent.mkdir(exist_ok=True)
    with a_pipe_in_its_place(Path(hook.data) / COUNTERS), a_pipe_in_its_place(Path(hook.data) / ADDRESS):
        hook.count("turn")

        assert ask_service(hook, b"{}") is None
        assert hook.why == "no_service"
