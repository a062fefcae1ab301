"""What only a sub-agent said is part of the session's history, and is recalled with the sub-agent's id."""

import json

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder
from support.record import NOW, make_workspace

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.cli.group import run
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings
from scoring.pool import score_pool
from transcript.capture import sync
from transcript.log import Log

FACT = "The kestrel gateway listens on port 8713, behind the heron proxy, and forwards to the pelican ledger."
ASKED = (
    "Which port does the kestrel gateway listen on, behind the heron proxy, before it forwards to the pelican ledger?"
)
WORKER = "a3f9c0d1"


def take_in(workspace, folder, *sessions):
    for session in sessions:
        session.write(folder / "home" / ".claude")
    sync(workspace, folder / "data", {}, sources=folder / "home" / ".claude" / "projects")


@pytest.fixture
def log(tmp_path) -> Log:
    """A project in which a sub-agent alone said the fact; its session went on and was compacted."""
    workspace = make_workspace(tmp_path)
    cwd = str(workspace.root)
    parent = ClaudeSession(cwd, seed="parent")
    parent.user("look around in the gateway's settings")
    parent.assistant("I send a sub-agent.")
    worker = ClaudeSession(cwd, session=parent.session, seed="worker", agent=WORKER)
    worker.user("Find out what the gateway does.", isSidechain=True)
    worker.assistant(FACT, isSidechain=True)
    parent.assistant("It is done.")
    take_in(workspace, tmp_path, parent, worker)
    parent.compact("The gateway was looked at.")
    take_in(workspace, tmp_path, parent)
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    return Log(workspace)


@pytest.fixture
def in_project(log, monkeypatch):
    monkeypatch.setenv("RECALL_HOME", str(log.workspace.data))
    monkeypatch.chdir(log.workspace.root)
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())


def said_by_worker(log: Log):
    (event,) = [event for event in log.read() if event.body.get("text") == FACT]
    return event


def test_events_of_a_worker_are_internal_and_name_it(log):
    """LCA-4.7-02."""
    events = [event for event in log.read() if event.body.get("worker")]

    assert [event.body["worker"] for event in events] == [WORKER, WORKER]
    assert {event.origin for event in events} == {"internal"}
    assert {event.session for event in events} == {said_by_worker(log).session}


@pytest.mark.parametrize("where", ["the parent session", "another session"])
def test_fact_of_a_worker_is_recalled_with_its_id_on_the_pointer_line(log, where):
    """LCA-4.7-05: in the parent session once a compaction has taken the worker's report out of its context."""
    event = said_by_worker(log)
    session = event.session if where == "the parent session" else "another"
    with Store.open(log.workspace.index_path) as store:
        query = Query(ASKED, session=session, harness="claude-code")
        turn = recall(query, store, None, Settings(), now=NOW, count_tokens=TokenCounter(), scorer=score_pool)

    lines = turn.block.splitlines()
    (at,) = [number for number, line in enumerate(lines) if FACT in line]
    header = next(line for line in reversed(lines[:at]) if " | " in line)
    assert header.split(" | ")[0].endswith(f"sub-agent {WORKER}")
    assert f"{event.id[:10]}#0-{len(FACT)}" in header


def test_fact_of_a_worker_is_not_recalled_while_its_session_still_holds_it(tmp_path):
    workspace = make_workspace(tmp_path)
    parent = ClaudeSession(str(workspace.root), seed="parent")
    parent.user("look around")
    worker = ClaudeSession(str(workspace.root), session=parent.session, seed="worker", agent=WORKER)
    worker.user("Find out what the gateway does.", isSidechain=True)
    worker.assistant(FACT, isSidechain=True)
    take_in(workspace, tmp_path, parent, worker)
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        turn = recall(
            Query(ASKED, session=parent.session),
            store,
            None,
            Settings(),
            now=NOW,
            count_tokens=TokenCounter(),
            scorer=score_pool,
        )

    assert turn.block == ""


def test_commands_name_the_worker(log, in_project, capsys):
    """LCA-4.7-05, LCA-4.7-02."""
    event = said_by_worker(log)

    assert run(["query", ASKED, "--words-only", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["worker_id"] for row in found if row["text"] == FACT] == [WORKER]
    assert {row["worker_id"] for row in found if row["event"] != event.id} <= {"", WORKER}

    assert run(["query", ASKED, "--words-only"]) == 0
    assert f"{event.id[:10]}#0-{len(FACT)}  sub-agent {WORKER}," in capsys.readouterr().out

    assert run(["show", event.id[:10]]) == 0
    assert f"sub-agent {WORKER}" in next(line for line in capsys.readouterr().out.splitlines() if line.startswith("> "))

    assert run(["show", event.id[:10], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["event"]
    assert (shown["worker_id"], shown["origin"]) == (WORKER, "internal")

    assert run(["context", "--include-workers", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["worker_id"] for row in rows if row.get("text") == FACT] == [WORKER]

    assert run(["context"]) == 0
    assert FACT not in capsys.readouterr().out
