"""`recall role` and `recall grant`: what a session is in, who reads along, and what a person lets through."""

import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from support.command import Result, runner
from support.project import exchanges

from recall import harness, session_state
from recall.cli import person
from recall.cli.app import App
from recall.contracts import CONTRACTS, EVENTS
from recall.facets import load
from recall.governance_settings import AudienceSettings
from recall.harness import Payload
from recall.turn_query import query_of
from transcript.log import Log

ROLE = "---\nauthority: [review, lesson]\n---\nYou review what others wrote.\n"


class Typed:
    """A terminal at which somebody types what is asked for, or something else."""

    def __init__(self, answer: str = "") -> None:
        self.said: list[str] = []
        self.answer = answer

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, text: str) -> str:
        asked = re.search(r"type ([0-9a-z]+) ", text)
        assert asked
        return self.answer or asked[1]


@pytest.fixture
def project(indexed: Callable[..., Path]) -> Path:
    folder = indexed(exchanges([("Who reads the notes?", "The notes are read by support.")]), words_only=True)
    roles = folder / ".recall" / "identity" / "roles"
    roles.mkdir(parents=True)
    (roles / "reviewer.md").write_text(ROLE)
    (roles / "writer.md").write_text("You write.\n")
    return folder


@pytest.fixture
def recall(project: Path, capsys: Any) -> Callable[..., Result]:
    capsys.readouterr()
    return runner(capsys)


def workspace(project: Path) -> Any:
    return App(os.environ, project).workspace()


def asked(project: Path, session: str = "s1", **more: Any) -> Any:
    payload = Payload("claude-code", "UserPromptSubmit", session, str(project), prompt="go on", **more)
    return query_of(payload, workspace(project), AudienceSettings())


def test_a_role_changes_the_session_the_loaded_files_and_the_query(project, recall):
    """LCA-9.1-02."""
    before = recall("session-start", "--json").rows()[0]

    done = recall("role", "use", "reviewer", "--channel", "pulls", "--command", "review", "--skill", "triage")

    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "role       reviewer, speaks of review, lesson",
        "channel    pulls",
        "command    review",
        "skill      triage",
        "audience   private",
    ]
    query = asked(project)
    assert (query.role, query.channel, query.command, query.skill) == ("reviewer", "pulls", "review", "triage")
    after = recall("session-start", "--json").rows()[0]
    states = [{one["key"]: one["state"] for one in held["entries"]} for held in (before, after)]
    assert [held["project:roles/reviewer.md"] for held in states] == ["other_role", "loaded"]
    assert "You review what others wrote." in recall("session-start").out
    event = next(event for event in Log(workspace(project)).read_back() if event.type == "role")
    assert (event.body["role"], event.body["authority"]) == ("reviewer", ["review", "lesson"])
    assert [row["in_use"] for row in recall("role", "list", "--json").rows()] == [True, False]


def test_a_session_may_be_in_another_role_than_the_workspace(project, recall):
    recall("role", "use", "writer")
    recall("role", "use", "reviewer", "--session", "s1")

    assert [asked(project, session).role for session in ("s1", "s2")] == ["reviewer", "writer"]
    assert recall("role", "show", "--session", "s1", "--json").rows()[0]["role"] == "reviewer"
    assert recall("role", "none", "--session", "s1").code == 0
    assert asked(project, "s1").role == "writer"


def test_channel_and_audience_stay_until_others_are_named(project, recall):
    recall("role", "use", "reviewer", "--channel", "pulls", "--audience", "shared", "--task", "T1")

    recall("role", "use", "writer")
    query = asked(project)
    assert (query.role, query.channel, query.audience, query.task) == ("writer", "pulls", "shared", None)
    recall("role", "none")
    query = asked(project)
    assert (query.role, query.channel, query.audience) == (None, "pulls", "shared")
    recall("role", "none", "--all")
    assert asked(project).audience == "private"


@pytest.mark.parametrize(
    "words",
    [
        ["role", "none", "--all"],
        ["role", "use", "reviewer", "--audience", "private"],
        ["role", "use", "reviewer", "--channel", "dm", "--audience", "project"],
    ],
)
def test_an_agent_lets_nobody_see_more(project, recall, monkeypatch, words):
    recall("role", "use", "writer", "--channel", "pulls", "--audience", "shared")
    monkeypatch.setenv("CODEX_SANDBOX", "1")

    done = recall(*words)

    assert (done.code, "a person's choice" in done.err) == (2, True)
    assert asked(project).audience == "shared"
    assert recall("role", "use", "reviewer", "--audience", "peer").code == 0
    assert asked(project).audience == "peer"


def test_a_role_that_is_not_there_is_named_with_those_that_are(project, recall):
    done = recall("role", "use", "admiral")

    assert done.code == 1
    assert "no role is called 'admiral'; there are reviewer, writer" in done.err
    assert not (workspace(project).run_dir / session_state.NAME).exists()


def test_a_role_in_use_whose_file_is_gone_is_shown_as_that(project, recall):
    recall("role", "use", "writer", "--channel", "news")
    (project / ".recall" / "identity" / "roles" / "writer.md").unlink()

    shown = recall("role", "show")

    assert shown.code == 0
    assert shown.out.startswith("role       writer\nchannel    news\n")
    assert "the file of the role 'writer' is gone or has no text" in shown.err


def test_a_path_is_no_name_of_a_role(project, recall):
    asked = recall("role", "use", "../reviewer")

    assert asked.code == 1
    assert asked.err.endswith("put its text into .recall/identity/roles/NAME.md\n")


def test_what_is_said_of_one_session_names_it(project, recall):
    assert "session    s1\n" in recall("role", "use", "reviewer", "--session", "s1").out
    assert "session " not in recall("role", "show").out


def test_a_person_is_told_why_they_see_what_others_see(project, recall, monkeypatch):
    assert "audience" not in recall("memory", "list").err
    recall("role", "use", "reviewer", "--audience", "shared")

    mine = [recall(*words).err for words in (("memory", "list"), ("session-start",), ("query", "notes"))]
    monkeypatch.setenv("CLAUDECODE", "1")
    theirs = recall("memory", "list").err

    assert [err.count("as the audience 'shared' sees it") for err in mine] == [1, 1, 1]
    assert "audience" not in theirs


def test_a_role_file_that_cannot_be_read_is_named_and_the_others_are_listed(project, recall):
    (project / ".recall" / "identity" / "roles" / "broken.md").write_text("---\nauthority: {a: b}\n---\nx\n")

    done = recall("role", "list")

    assert [line.split()[0] for line in done.out.splitlines()] == ["reviewer", "writer"]
    assert "broken.md is passed over" in done.err


# -- grants ----------------------------------------------------------------------------------


@pytest.fixture
def memory(project: Path, recall: Callable[..., Result]) -> str:
    who = ("--as", "human", "--actor", "ana", "--private", "--json")
    done = recall("memory", "add", "The budget is nine.", "--why", "said so", *who)
    assert done.code == 0, done.err
    return next(one["id"] for one in json.loads(done.out)["events"] if one["type"] == "memory.written")


def let(project: Path, item: str, audience: str, channel: str = "") -> bool:
    return load(workspace(project).run_dir).seen(item, audience, channel=channel, private=True, now=datetime.now(UTC))


def test_a_person_grants_one_item_after_seeing_its_words(project, recall, memory, monkeypatch):
    terminal = Typed()
    monkeypatch.setattr(person, "open_terminal", lambda: terminal)

    done = recall("grant", "give", memory[:10], "--to", "shared", "--channel", "pulls", "--reason", "asked for")

    assert done.code == 0, done.err
    assert "The budget is nine." in terminal.said
    assert let(project, memory, "shared", "pulls")
    assert not let(project, memory, "shared", "dm")
    assert not let(project, memory, "peer", "pulls")
    listed = recall("grant", "list")
    assert listed.out.startswith(f"{memory[:10]}  to shared on pulls, by ")
    assert "is nine" not in listed.out

    assert recall("grant", "withdraw", memory[:10]).code == 0
    assert not let(project, memory, "shared", "pulls")
    assert recall("grant", "list").err == "nothing is granted\n"
    again = recall("grant", "withdraw", memory[:10])
    assert (again.code, "nothing of" in again.err) == (1, True)


def test_a_withdrawal_holds_even_where_the_views_cannot_be_written(project, recall, memory, monkeypatch):
    monkeypatch.setattr(person, "open_terminal", Typed)
    recall("grant", "give", memory, "--to", "peer", "--reason", "asked for")
    assert let(project, memory, "peer")
    monkeypatch.setattr(App, "bring_up", lambda self, workspace: None)

    done = recall("grant", "withdraw", memory)

    assert done.code == 0
    assert "nothing is shared or granted" in done.err
    assert not let(project, memory, "peer")


@pytest.mark.parametrize("how", ["agent", "no terminal", "another answer"])
def test_nobody_but_a_person_who_looked_grants(project, recall, memory, monkeypatch, how):
    terminal = Typed(answer="yes" if how == "another answer" else "")
    monkeypatch.setattr(person, "open_terminal", lambda: None if how == "no terminal" else terminal)
    if how == "agent":
        monkeypatch.setenv("CLAUDECODE", "1")
    before = Log(workspace(project)).head().seq

    done = recall("grant", "give", memory, "--to", "peer", "--reason", "please")

    assert done.code == 1
    assert Log(workspace(project)).head().seq == before
    assert not let(project, memory, "peer")


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--until", "2020-01-01"], "is over"), (["--until", "soon"], "is no time"), (["--to", "project"], "--to")],
)
def test_what_is_no_grant_is_refused_before_anybody_is_asked(recall, memory, monkeypatch, words, says):
    terminal = Typed()
    monkeypatch.setattr(person, "open_terminal", lambda: terminal)
    to = [] if "--to" in words else ["--to", "shared"]

    done = recall("grant", "give", memory, *to, "--reason", "x", *words)

    assert done.code in (1, 2)
    assert says in done.err
    assert terminal.said == []


def test_a_grant_names_something_that_a_turn_can_show(project, recall, memory, monkeypatch):
    monkeypatch.setattr(person, "open_terminal", Typed)
    candidate = next(event for event in Log(workspace(project)).read() if event.type == "memory.candidate")

    done = recall("grant", "give", candidate.id, "--to", "shared", "--reason", "x")

    assert done.code == 1
    assert "is of type memory.candidate" in done.err


def test_a_person_says_that_others_may_see_a_memory_and_an_agent_does_not(project, recall, memory, monkeypatch):
    assert recall("memory", "edit", memory, "--shared", "--as", "human", "--actor", "ana").code == 0
    assert load(workspace(project).run_dir).seen(memory, "peer", now=datetime.now(UTC))
    assert recall("memory", "edit", memory, "--private", "--shared").code == 2
    recall("memory", "edit", memory, "--private", "--as", "human", "--actor", "ana")
    monkeypatch.setenv("CLAUDECODE", "1")

    for words in (["edit", memory, "--shared"], ["add", "The plan is ten.", "--shared"]):
        done = recall("memory", *words)
        assert (done.code, "is an agent" in done.err) == (1, True), done.err
    assert not load(workspace(project).run_dir).seen(memory, "shared", now=datetime.now(UTC))
    folder = project / "notes"
    folder.mkdir()
    (folder / "n.md").write_text("---\nprivacy: shared\ntype: lesson\n---\nThe plan is eleven.\n")
    assert recall("memory", "import", str(folder)).code == 0
    imported = next(e for e in Log(workspace(project)).read_back() if e.type == "memory.written")
    assert imported.body["privacy"] == "project"


# -- hooks only add --------------------------------------------------------------------------

ADDS = {"additionalContext", "additional_context", "hookEventName", "hookSpecificOutput", "continue"}


@settings(max_examples=200)
@given(
    some.sampled_from(sorted(CONTRACTS)),
    some.sampled_from(EVENTS),
    some.text(max_size=60)
    | some.sampled_from(['{"decision":"block"}', '"permissionDecision":"deny"', "continue: false"]),
    some.sampled_from(["", "worker"]),
)
def test_no_answer_of_any_harness_decides_anything(name, event, block, agent):
    """LCA-9.1-03: an answer adds context, or is nothing; it allows, denies and stops nothing."""
    answer = harness.answer(Payload(name, event, "s1", "/p", prompt="x", agent=agent, source="startup"), block)

    if not answer:
        return
    found = json.loads(answer)
    flat = {**found, **found.get("hookSpecificOutput", {})}
    assert set(flat) <= ADDS
    assert flat.get("continue", True) is True
    assert block in flat.values()
