import json

import pytest

from eval.devrecall_report import DevRecallReport, Line, Setting
from eval.engines import EngineResult
from eval.machine import machine
from eval.outcome import Outcome
from eval.scorecard import scorecard, values
from eval.tables import table


def outcome(query, hits, type="decision_why", tokens=0):
    flags = tuple(c == "x" for c in hits)
    none = tuple(False for _ in flags)
    return Outcome(query, type, flags, none, none, tuple(frozenset() for _ in flags), frozenset(), 0, tokens)


RANKED = (outcome("a", "x"), outcome("b", ".x"), outcome("c", "......x"), outcome("d", "..", "abstention"))


def test_a_scorecard_counts_only_what_counts():
    card = scorecard(RANKED, samples=100)

    assert card.overall["recall@1"].value == pytest.approx(1 / 3)
    assert card.overall["recall@6"].value == pytest.approx(2 / 3)
    assert card.overall["recall@6"].n == 3
    assert card.overall["mrr"].value == pytest.approx((1 + 1 / 2 + 1 / 7) / 3)
    assert card.overall["coverage@6"].value is None
    assert card.by_type["decision_why"]["recall@6"].n == 3
    assert card.by_type["abstention"]["recall@6"].value is None


def test_intervals_hold_the_value():
    figure = scorecard(RANKED, samples=1000).overall["recall@6"]

    assert figure.low <= figure.value <= figure.high


def test_values_are_per_query():
    assert values(RANKED, "recall@1") == {"a": 1.0, "b": 0.0, "c": 0.0, "d": None}


def line(name, outcomes):
    card = scorecard(outcomes, samples=0)
    return Line(EngineResult(name, tuple(outcomes), tuple(outcomes), 0.5), card, card)


def report():
    setting = Setting("d" * 64, "h", "s", "i", "m", "cl100k", 10, 9, 4, 3, (), machine(), 1.0)
    other = (outcome("a", "."), outcome("b", "x"), outcome("c", "x"), outcome("d", "", "abstention"))
    return DevRecallReport(setting, (line("recall", RANKED), line("FTS5", other)))


def test_the_report_names_wins_and_losses_query_by_query():
    duel = report().duels()["FTS5"]

    assert (duel.wins, duel.losses, duel.ties) == (("a",), ("c",), 1)


def test_the_report_prints_every_engine_and_its_own_first_hits():
    text = report().to_text()

    assert "FTS5" in text
    assert "a:1 b:2 c:7" in text


def test_the_report_as_json_has_every_query():
    data = json.loads(report().to_json())

    assert data["engines"]["recall"]["queries"][2]["first_hit"] == 7
    assert data["setting"]["answerable"] == 3


def test_a_table_aligns_numbers_right():
    assert table(["name", "n"], [["a", 1], ["bb", 1000]]).splitlines()[2:] == ["a         1", "bb    1,000"]
