"""No command that writes leaves a view behind the record."""

import json

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder
from support.record import NOW, make_draft

from recall.cli.app import App
from recall.cli.group import run
from transcript.log import Log
from transcript.projections import views
from transcript.verify import verify

FIRST = make_draft(0).id
COMMANDS = {
    "decide": ["decide", "Use Python", "--keep"],
    "task add": ["task", "add", "Close the file"],
    "question ask": ["question", "ask", "Which port?"],
    "correct": ["correct", FIRST, "it is 8443"],
    "outcome": ["outcome", "tests pass", "--status", "verified"],
    "observe": ["observe", "the gate is red", "--channel", "synapse", "--category", "review"],
    "sync": ["sync"],
    "redact": ["redact", FIRST, "--authorised"],
    "forget": ["forget", "pelican-4711", "--authorised"],
    "retention": ["retention", "--older-than", "1d", "--authorised"],
    "index": ["index", "--words-only"],
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with three turns, whose views are up to date, and a session of the harness that is not taken in."""
    home, folder = tmp_path / "home", tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
    assert run(["init"]) == 0
    workspace = App.here().workspace()
    said = ("the port is 8080", "the key is pelican-4711", "good")
    Log(workspace).append([make_draft(n, text=text) for n, text in enumerate(said)], now=NOW)
    views.project(workspace)
    session = ClaudeSession(str(folder))
    session.user("And now?")
    session.write(home / ".claude")
    return workspace


@pytest.mark.parametrize("name", COMMANDS)
def test_after_a_command_that_writes_every_view_is_up_to_date(project, capsys, name):
    """ESAA-33: what each view folds last is its watermark, so that health counts nothing behind."""
    before = Log(project).head().seq

    assert run(COMMANDS[name]) == 0, capsys.readouterr().err

    assert Log(project).head().seq > before
    assert views.lag(project) == dict.fromkeys(views.NAMES, 0)
    assert verify(project).ok
    capsys.readouterr()
    run(["health", "--json"])
    signals = {signal["id"]: signal for signal in json.loads(capsys.readouterr().out)["signals"]}
    assert (signals["projection_lag"]["value"], signals["projection_lag"]["level"]) == (0, "ok")
