"""`recall graph show` as a user runs it."""

import json

import pytest
from support.record import NOW, make_draft

from recall.cli.app import App
from recall.cli.group import run
from transcript.log import Log


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")

    def call(*args: str):
        code = run(list(args))
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    assert call("init")[0] == 0
    return call


def test_a_thing_is_known_by_its_new_name_over_the_words_of_the_old(recall):
    said = "I renamed `deploy_queue` to `deploy_stream` in the scheduler."
    Log(App.here().workspace()).append([make_draft("said", text=said)], now=NOW)
    recall("decide", "Items of deploy_queue are kept for nine days.")
    recall("index", "--words-only")

    code, out, _ = recall("graph", "show", "deploy_stream")

    assert code == 0
    assert "decision        Items of deploy_queue are kept for nine days." in out
    assert out.rstrip().endswith("(as deploy_queue)")


def test_a_decision_ends_where_another_replaces_it(recall):
    _, first, _ = recall("decide", "Logs go to a file.", "--json")
    recall("decide", "Logs go to syslog.", "--supersedes", json.loads(first)["id"][:10])

    _, out, err = recall("graph", "show", "logs", "--json")

    new, old = [json.loads(line) for line in out.splitlines()]
    assert (new["text"], old["text"]) == ("Logs go to syslog.", "Logs go to a file.")
    assert old["valid_to"] == new["valid_from"]
    assert new["valid_to"] == ""
    assert "no index yet" in err


def test_what_nothing_is_known_of_says_so_and_names_what_is(recall):
    recall("decide", "Items of deploy_queue are kept for nine days.")

    code, out, err = recall("graph", "show", "wagtail")

    assert (code, out) == (0, "")
    assert "nothing is known of wagtail; most is known of deploy_queue" in err
