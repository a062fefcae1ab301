"""Commands where something is kept out: an excluded project, a switched-off shell, a turn, a path nobody knows."""

import json
import os
from pathlib import Path

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder

from recall.cli.group import run
from transcript.canonical import b32id
from transcript.event import Draft
from transcript.kept_out import OPTED_OUT, keep_out


@pytest.fixture
def recall(capsys, monkeypatch):
    """Run one command line in this process and give back exit code, output and notes."""
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
    monkeypatch.setattr("indexer.embedder.check", lambda *args, **kwargs: StubEmbedder())

    def call(*args: str) -> tuple[int, str, str]:
        code = run(list(args))
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return call


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def said(cwd: Path | str, *prompts: str, seed: str = "one") -> str:
    """Write a session in which these were asked, and return its id."""
    session = ClaudeSession(cwd=str(cwd), seed=seed)
    for prompt in prompts:
        session.user(prompt)
        session.assistant(f"answer to {prompt}")
    session.write(Path(os.environ["HOME"]) / ".claude")
    return session.session


def signals(recall) -> dict[str, dict]:
    return {signal["id"]: signal for signal in json.loads(recall("health", "--json")[1])["signals"]}


# -- a shell, a turn ------------------------------------------------------------------------


def test_sync_says_how_many_sessions_opted_out(project, recall):
    recall("init")
    keep_out(os.environ["RECALL_HOME"], said(project, "which port is the wagtail's").encode(), OPTED_OUT)

    code, out, _ = recall("sync")

    assert code == 0
    assert "0 new events" in out
    assert "of sessions that opted out" in out


def test_a_session_that_opted_out_after_it_was_taken_in_is_not_behind(project, recall):
    recall("init")
    session = said(project, "which port is the wagtail's")
    recall("sync")
    keep_out(os.environ["RECALL_HOME"], session.encode(), OPTED_OUT)
    said(project, "which port is the wagtail's", "and the heron's")

    lag = signals(recall)["capture_lag"]
    assert (lag["level"], lag["value"]["files"]) == ("ok", 0)


def test_a_norecall_turn_is_recorded_and_never_found(project, recall):
    recall("init")
    said(project, "which port is the wagtail's", "!norecall where is the osprey key", "who rotates the heron key")
    for command in ("sync", "index"):
        assert recall(command)[0] == 0

    assert "osprey" not in recall("query", "where is the osprey key", "--json")[1]
    assert "heron" in recall("query", "who rotates the heron key", "--json")[1]
    assert "answer to !norecall where is the osprey key" in recall("context")[1]


# -- which turn, which verdict ---------------------------------------------------------------


def turn_of_a_hook(project: Path) -> str:
    """Append a ledger event as a hook leaves it, and return its id."""
    from recall import ledger
    from recall.cli.app import App

    app = App(os.environ, project)
    log = app.log(app.workspace())
    search = ledger.last(log)
    body = {**log.body(search), "mode": "warm"}
    body.pop("salt", None)
    draft = Draft(
        "recall", b32id("hook"), search.ts, search.ts_source, search.session, search.agent, search.actor,
        search.origin, {}, body,
    )  # fmt: skip
    [event] = log.append([draft], now=app.now())
    return event.id


def test_explain_and_replay_take_the_last_turn_of_a_hook_as_last_does(project, recall):
    recall("init")
    said(project, "which port is the wagtail's", "who rotates the heron key")
    for command in ("sync", "index"):
        recall(command)
    recall("query", "the wagtail's port")
    hook = turn_of_a_hook(project)
    recall("query", "the heron key")

    last = recall("last")[1]
    explained = json.loads(recall("explain", "--json")[1])
    replayed = json.loads(recall("replay-turn", "--json")[1])

    assert hook[:10] in last
    assert "wagtail" in json.dumps(explained)
    assert "wagtail" in replayed["block"]


def test_explain_takes_a_search_where_no_hook_has_answered(project, recall):
    recall("init")
    said(project, "who rotates the heron key")
    for command in ("sync", "index"):
        recall(command)
    recall("query", "the heron key")

    assert recall("explain")[0] == 0


def test_health_of_a_broken_configuration_is_one_line_and_2(project, recall):
    recall("init")
    (project / ".recall" / "config.toml").write_text("[budget\n")

    code, out, error = recall("health")

    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "mend that line" in error


def test_the_demo_is_well_without_hooks(recall, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert recall("demo")[0] == 0

    code, out, _ = recall("health", "--demo", "--all")

    assert "hook_" not in out
    assert code == 0, out


# -- enable-hooks ---------------------------------------------------------------------------


def test_enable_hooks_says_that_the_project_is_excluded(project, recall):
    recall("exclude", str(project.parent))

    _, _, notes = recall("enable-hooks", "claude-code")

    assert "is excluded: the hooks do nothing here" in notes
    recall("exclude", str(project.parent), "--remove")
    assert "excluded" not in recall("enable-hooks", "claude-code")[2]


@pytest.mark.parametrize(("value", "told"), [("1", True), ("0", False), ("", False)])
def test_enable_hooks_says_that_this_shell_is_switched_off(value, told, project, recall, monkeypatch):
    monkeypatch.setenv("RECALL_OFF", value)

    code, _, notes = recall("enable-hooks", "claude-code", "--dry-run")

    assert code == 0
    assert ("RECALL_OFF is set in this shell" in notes) is told


# -- adopt ----------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_adopting_a_path_that_nobody_knows_is_refused_and_writes_nothing(more, project, recall):
    said("/gone/app", "which port")
    before = sorted(Path(os.environ["RECALL_HOME"]).rglob("*"))

    code, out, error = recall("adopt", "/gone/ap", *more)

    assert (code, out) == (1, "")
    assert error == "recall: no workspace ever held /gone/ap, and no session names it; check the path\n"
    assert sorted(Path(os.environ["RECALL_HOME"]).rglob("*")) == before


def test_adopting_a_gone_folder_that_sessions_name_takes_them_in(project, recall):
    said("/gone/app/src", "which port is the wagtail's")
    recall("init")

    code, out, _ = recall("adopt", "/gone/app")

    assert code == 0
    assert "'recall sync' takes in the sessions that were held in /gone/app" in out
    assert "2 new events" in recall("sync")[1]


def test_adopting_a_folder_that_is_there_needs_no_session(project, tmp_path, recall):
    (tmp_path / "second").mkdir()

    assert recall("adopt", str(tmp_path / "second"))[0] == 0
