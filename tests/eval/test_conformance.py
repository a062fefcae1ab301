"""`recall conformance`: all eleven items hold as we ship it, and each turns red when its mechanism is broken.

LCA-C-01, LCA-C-02, LCA-C-03, LCA-C-04, LCA-C-05b, LCA-C-06, LCA-C-07, LCA-C-08, LCA-C-09, LCA-C-10, LCA-C-11.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from support.command import runner
from support.conformance import Broken, not_run

from eval import conformance, conformance_item
from health.report import Report
from health.signal import Level
from recall.cli.scratch import Ran, Scratch, scratch
from transcript.errors import EmbedderUnavailable


@pytest.fixture(scope="module")
def whole() -> Iterator[Scratch]:
    with scratch() as project:
        project("sync")
        project("index", "--words-only")
        yield project


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every item holds where there is no model; and loading one takes seconds."""

    def load(*args: Any, **more: Any) -> None:
        raise EmbedderUnavailable("there is none here")

    monkeypatch.setattr("indexer.embedder.load", load)


def log(project: Scratch):
    return project.workspace.log_dir / "activity.jsonl"


def nobody_told(project: Scratch, words: tuple[str, ...]) -> Ran:
    told = json.loads(project(*words).out)
    return Ran(0, json.dumps({**told, "entries": []}), "")


def verify_says_ok(project: Scratch, words: tuple[str, ...]) -> Ran:
    return Ran(0, "ok", "")


def applied_anyway(project: Scratch, words: tuple[str, ...]) -> Ran:
    return Ran(0, "{}", "")


def other_words(project: Scratch, words: tuple[str, ...]) -> Ran:
    shown = json.loads(project(*words).out)
    return Ran(0, json.dumps({**shown, "words": "something else"}), "")


def newest_only(project: Scratch, words: tuple[str, ...]) -> Ran:
    return Ran(0, "", "")


def loses_history(project: Scratch, words: tuple[str, ...]) -> Ran:
    kept = log(project).read_bytes()
    ran = project(*words)
    log(project).write_bytes(kept.replace(b"tide", b"tidE", 1))
    return ran


def always_complete(project: Scratch, words: tuple[str, ...]) -> Ran:
    told = json.loads(project(*words).out)
    return Ran(0, json.dumps({**told, "state": "complete", "steps": []}), "")


def always_well(project: Scratch, words: tuple[str, ...]) -> Ran:
    told = json.loads(project(*words).out)
    return Ran(0, json.dumps({**told, "areas": dict.fromkeys(told["areas"], "ok"), "exit_code": 0}), "")


def nothing_to_hand_over(project: Scratch, words: tuple[str, ...]) -> Ran:
    told = json.loads(project(*words).out)
    return Ran(0, json.dumps({**told, "sections": {name: [] for name in told["sections"]}}), "")


BROKEN: dict[int, tuple[tuple[str, ...], Callable[..., Ran]]] = {
    1: (("session-start",), nobody_told),
    2: (("verify",), verify_says_ok),
    3: (("coord", "apply"), applied_anyway),
    4: (("show",), other_words),
    5: (("query",), newest_only),
    7: (("window", "apply"), loses_history),
    8: (("checkpoint",), always_complete),
    9: (("health",), always_well),
    10: (("forget",), not_run),
    11: (("handoff",), nothing_to_hand_over),
}


def seen(number: int, project: Any) -> tuple[bool, str]:
    return conformance_item.seen(conformance.MINIMAL[number - 1].show, project)


def test_each_item_is_told_before_the_next_is_looked_at(capsys, monkeypatch):
    """All of them take minutes on a busy machine: nobody should look at an empty screen for so long."""
    told: list[str] = []

    def second(project: Scratch) -> tuple[bool, str]:
        told.append(capsys.readouterr().out)
        return True, "looked at"

    first = conformance_item.Claim("the first", "", lambda project: (True, "seen"))
    monkeypatch.setattr(conformance, "MINIMAL", (first, conformance_item.Claim("the second", "", second)))
    rest = runner(capsys)("conformance").out

    assert told == ["holds   1  the first  ()\n           seen\n"]
    assert rest.startswith("holds   2  the second")
    assert "2 of 2 minimal items hold" in rest
    assert rest.endswith("this installation may claim LCA-style continuity\n")


def test_all_eleven_hold(capsys):
    told = runner(capsys)("conformance", "--json")
    printed = json.loads(told.out)
    assert [item["number"] for item in printed["minimal"]] == list(range(1, 12))
    assert {item["number"]: item["evidence"] for item in printed["minimal"] if not item["holds"]} == {}
    assert all(item["evidence"] for item in printed["minimal"])
    assert (printed["held"], printed["may_claim"], told.code) == (11, True, 0)


@pytest.mark.parametrize("number", BROKEN)
def test_an_item_does_not_hold_when_its_mechanism_is_broken(number):
    words, broken = BROKEN[number]
    with scratch() as project:
        project("sync")
        project("index", "--words-only")
        holds, evidence = seen(number, Broken(project, words, broken))
    assert not holds
    assert evidence


@pytest.mark.parametrize("change", ["speaks", "too large"])
def test_a_block_where_silence_is_due_or_over_its_budget_breaks_item_six(whole, change):
    class Talks(Broken):
        def ask(self, prompt: str):
            turn = self.project.ask(prompt)
            if change == "speaks":
                return replace(turn, block="something")
            return replace(turn, tokens=self.project.budget + 1)

    assert seen(6, whole)[0]
    assert not seen(6, Talks(whole, ("none",), not_run))[0]


def test_what_raises_does_not_hold_and_says_what(whole):
    def raises(project, words):
        raise RuntimeError("no such thing")

    assert seen(4, Broken(whole, ("show",), raises)) == (False, "RuntimeError: no such thing")


def test_an_area_that_never_turns_red_breaks_item_nine(whole, monkeypatch):
    monkeypatch.setattr(Report, "area", lambda self, area: Level.OK)
    assert not seen(9, whole)[0]


def test_a_failing_item_takes_the_claim_back(capsys, monkeypatch):
    """LCA-C-12."""

    def fails(project):
        return False, "seen to fail"

    monkeypatch.setattr(conformance, "MINIMAL", (replace(conformance.MINIMAL[1], show=fails),))
    told = runner(capsys)("conformance")
    assert told.code == 1
    assert "seen to fail" in told.out
    assert "may not claim LCA-style continuity" in told.out
    assert "may claim" not in told.out
