from datetime import UTC, datetime

import pytest

from eval.judge import At, Item, judge
from eval.labels import LabelledQuery, Span
from eval.record_map import Place, RecordMap, cached, occurrences

NOW = datetime(2026, 2, 1, tzinfo=UTC)
BEFORE, AFTER = NOW.timestamp() - 60, NOW.timestamp() + 60

RECORD = RecordMap(
    places={
        "answer": Place(BEFORE, frozenset({"s1"})),
        "stale": Place(BEFORE, frozenset({"s1"})),
        "other": Place(BEFORE, frozenset({"s2"})),
        "late": Place(AFTER, frozenset({"s2"})),
        "copied": Place(BEFORE, frozenset({"s2", "here"})),
    },
    events_of={"u-answer": frozenset({"answer"}), "u-stale": frozenset({"stale"})},
    quotes={("u-answer", "because"): (("answer", 100, 107),), ("u-stale", "since"): (("stale", 0, 5),)},
)


def query(**changes):
    values = {
        "id": "q1",
        "query": "why",
        "type": "superseded",
        "now": NOW,
        "session": "here",
        "evidence": (Span("s1", "u-answer", "because"),),
        "stale": (Span("s1", "u-stale", "since"),),
    }
    return LabelledQuery(**(values | changes))


def item(event, start=0, end=400):
    return Item((At(event, start, end),))


def test_an_item_of_the_right_record_is_a_hit():
    outcome = judge(query(), [item("other"), item("answer")], RECORD)

    assert outcome.hits == (False, True)
    assert outcome.files == (frozenset(), frozenset({"s1"}))


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(0, 100, False), (0, 101, True), (106, 300, True), (107, 300, False)]
)
def test_strict_needs_an_overlap_with_the_quote(start, end, expected):
    """The quote stands at [100, 107); half-open spans that only touch do not overlap."""
    outcome = judge(query(), [item("answer", start, end)], RECORD)

    assert outcome.hits == (True,)
    assert outcome.strict == (expected,)


def test_any_pointer_of_an_item_may_hit():
    merged = Item((At("other", 0, 10), At("answer", 0, 10)))

    assert judge(query(), [merged], RECORD).hits == (True,)


def test_stale_items_are_marked():
    assert judge(query(), [item("stale"), item("answer")], RECORD).stale == (True, False)


@pytest.mark.parametrize("event", ["late", "copied", "nowhere"], ids=["not yet said", "own session", "unknown"])
def test_leaks_are_found(event):
    assert judge(query(), [item("answer"), item(event)], RECORD).leaks == 1


def test_a_record_said_at_the_very_moment_leaks():
    record = RecordMap({"answer": Place(NOW.timestamp(), frozenset())}, {}, {})

    assert judge(query(), [item("answer")], record).leaks == 1


def test_without_a_session_nothing_is_our_own():
    assert judge(query(session=""), [item("copied")], RECORD).leaks == 0


def test_occurrences_of_a_quote():
    assert occurrences("aXaXa", "aXa") == [(0, 3), (2, 5)]
    assert occurrences("abc", "") == []


def test_the_map_is_kept_and_made_anew_when_the_record_moves(tmp_path):
    made = []

    def make():
        made.append(1)
        return RECORD

    first = cached(tmp_path / "map.json", "head-1", make)
    again = cached(tmp_path / "map.json", "head-1", make)
    moved = cached(tmp_path / "map.json", "head-2", make)

    assert len(made) == 2
    assert first == again == moved == RECORD
