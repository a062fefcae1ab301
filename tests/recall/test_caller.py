"""Who runs a command, as the environment says it: the same for signing, reading and writing down."""

import pytest
from support.command import runner

from recall.cli import caller
from recall.cli.caller import AGENTS, CHILD


@pytest.mark.parametrize(
    ("env", "agent", "name"),
    [
        ({}, "", "ana"),
        ({"RECALL_ACTOR": "human:bo"}, "", "bo"),
        ({"RECALL_ACTOR": "agent:nightly"}, "nightly", "nightly"),
        ({"RECALL_ACTOR": "agent:"}, "an agent", "an agent"),
        ({"RECALL_ACTOR": " Agent : x"}, "x", "x"),
        ({"CLAUDECODE": "1"}, "claude-code", "claude-code"),
        ({"CLAUDECODE": "1", "RECALL_ACTOR": "human:bo"}, "claude-code", "claude-code"),
        ({"RECALL_CHILD": "1"}, CHILD, CHILD),
        ({"RECALL_CHILD": "0"}, "", "ana"),
        ({"CODEX_THREAD_ID": ""}, "", "ana"),
    ],
)
def test_an_agent_is_told_by_its_harness_by_recall_or_by_what_it_says(env, agent, name, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "ana")

    assert (caller.agent_of(env), caller.name_of(env)) == (agent, name)


def test_a_machine_without_a_name_for_its_user_still_has_a_caller(monkeypatch):
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)

    assert caller.name_of({}) == "unknown"


@pytest.mark.parametrize("env", [{"CLAUDECODE": "1"}, {"RECALL_ACTOR": "agent:nightly"}, {"RECALL_CHILD": "1"}])
def test_whoever_is_no_person_reads_nothing_private_and_cannot_ask_for_it(env, tmp_path, monkeypatch, capsys):
    for variable in (*AGENTS, "RECALL_CHILD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    monkeypatch.chdir(tmp_path)
    recall = runner(capsys)
    assert recall("init").code == 0
    made = recall(
        "observe", "Ana's salary review is in May.", "--channel", "dm", "--category", "review", "--private", "--json"
    )
    pointer = made.rows()[0]["id"][:10]
    assert "salary" in recall("show", pointer).out

    for variable, value in env.items():
        monkeypatch.setenv(variable, value)

    assert "salary" not in recall("show", pointer).out
    refused = recall("show", pointer, "--audience", "private")
    assert (refused.code, "for a person" in refused.err) == (2, True)
