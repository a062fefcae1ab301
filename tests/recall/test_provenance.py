"""A deliberate search says which results a hook has put in front of the running session already."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.project import exchanges

from recall.cli.app import App
from recall.cli.group import run
from recall.provenance import injected
from transcript.log import Log

SAID = "The pelican gate listens on port 8713, behind the heron proxy."


@pytest.fixture
def project(indexed: Callable[..., Path]) -> Path:
    return indexed(exchanges([("Which port does the pelican gate use?", SAID)]))


def told_by_a_hook(project: Path, session: str) -> None:
    app = App(os.environ, project)
    app.ask("which port has the pelican gate behind the heron proxy", mode="turn", ledger_mode="warm", session=session)


def rows(capsys: Any, *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["query", "pelican gate port", "--json", *words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_before_any_turn_nothing_is_marked(project: Path, capsys: Any) -> None:
    assert {row["injected"] for row in rows(capsys)} == {""}


def test_what_a_hook_injected_carries_its_turn_and_the_mode_stays_that_of_the_search(
    project: Path, capsys: Any
) -> None:
    told_by_a_hook(project, "s1")
    log = Log(App(os.environ, project).workspace())
    (turn,) = [event for event in log.read() if event.type == "recall"]
    shown = {item["event"] for item in turn.body["items"]}
    assert shown

    found = rows(capsys)

    assert {row["injected"] for row in found if row["event"] in shown} == {turn.pointer}
    assert {row["mode"] for row in found} == {"tool"}
    run(["query", "pelican gate port"])
    assert f"injected already: a hook put it in front of this session in turn {turn.pointer}" in capsys.readouterr().out


def test_what_another_session_was_told_is_not_marked(project: Path, capsys: Any) -> None:
    told_by_a_hook(project, "s1")

    assert {row["injected"] for row in rows(capsys, "--session", "s2")} == {""}
    assert {row["injected"] for row in rows(capsys, "--session", "s1")} != {""}


def test_a_search_of_a_person_injects_nothing(project: Path, capsys: Any) -> None:
    rows(capsys)

    assert injected(Log(App(os.environ, project).workspace())) == {}
