"""Codes of the ledger in words."""

import re
from pathlib import Path

import pytest
from support.record import make_draft

from recall import explain
from recall.cli.last import line, page, searched
from scoring.risk import RISKS

RECALL = Path(explain.__file__).parent


EVENT = make_draft(type="recall", ts="2026-04-02T16:25:07.000Z")  # a draft has all of an event that is told


def test_every_note_that_a_turn_may_carry_has_words():
    """Notes are the client's reasons to go by words, the service's answers, and the model's and the search's own."""
    lines = [
        line
        for name in ("hook_client.py", "warm_model.py", "resident.py")
        for line in (RECALL / name).read_text(encoding="utf-8").splitlines()
        if "why = " in line or "hook.why" in line or 'return None, "' in line or "reason = " in line
    ]
    codes = set(re.findall(r'f?"([a-z]+_\w+)(?=[":])', "\n".join(lines)))
    service = (RECALL / "service.py").read_text(encoding="utf-8")
    codes |= {f"service_{status}" for status in re.findall(r'"(old|failed|late|busy)"', service)}
    codes -= {"service_"}  # in front of the service's own answer

    assert {"no_service", "service_late", "service_failed", "model_slow", "other_model"} <= codes
    assert codes <= explain.NOTES.keys()


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("service_late:receive", "the service took too long, so words had to do (while it answered)"),
        ("model_failed:ValueError", "the model failed on this prompt; 'recall health' says more (ValueError)"),
        ("of another version", "of another version"),
    ],
)
def test_the_detail_of_a_note_stands_behind_it(note, expected):
    assert explain.note_text(note) == expected


def test_a_list_of_turns_uses_words():
    told = line(EVENT, {"prompt": "why?", "empty_reason": "twin", "mode": "words"})

    assert "2026-04-02 16:25Z" in told
    assert told.endswith("nothing: the same call runs twice, and the other one answered")


def test_one_item_is_told_as_one():
    assert line(EVENT, {"items": [{}]}).endswith("  1 item")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"empty_reason": "twin"}, "nothing was searched"),
        ({"empty_reason": "continuation", "stages": {}}, "nothing was searched"),
        ({"stages": {"candidates": 1.0}}, "by words and vectors"),
        ({"stages": {"candidates": 1.0}, "words_only": "no_vectors"}, "by words alone"),
    ],
    ids=["twin", "turned away", "both", "words"],
)
def test_a_silent_turn_says_how_it_was_searched(body, expected):
    assert searched(body) == expected
    assert expected in page(EVENT, body)


def test_a_reason_of_another_version_is_not_hidden():
    assert "moon_phase" in explain.silence("moon_phase")


def test_every_risk_that_holds_an_item_back_has_words():
    assert set(RISKS) <= set(explain.DEMOTIONS)
