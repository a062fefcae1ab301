"""The metrics over sets of ids, each against cases worked by hand."""

import math

import pytest

from eval.metrics.all_at import all_at
from eval.metrics.any_at import any_at
from eval.metrics.first_at import first_reciprocal
from eval.metrics.frac_at import frac_at
from eval.metrics.ndcg_at import ndcg_at
from eval.metrics.newest_first import newest_first
from eval.metrics.token_budget import LABEL_TOKENS, budget_recall


def found(*items):
    """Items from words: "ab" is an item that holds the turns a and b."""
    return [frozenset(item) for item in items]


GOLD = frozenset("ab")


@pytest.mark.parametrize(
    ("items", "k", "any_", "all_", "frac"),
    [
        (("x", "a", "b"), 1, 0.0, 0.0, 0.0),
        (("x", "a", "b"), 2, 1.0, 0.0, 0.5),
        (("x", "a", "b"), 3, 1.0, 1.0, 1.0),
        (("ab",), 1, 1.0, 1.0, 1.0),
        (("a", "a"), 2, 1.0, 0.0, 0.5),
        ((), 5, 0.0, 0.0, 0.0),
    ],
)
def test_any_all_and_frac(items, k, any_, all_, frac):
    assert any_at(found(*items), GOLD, k) == any_
    assert all_at(found(*items), GOLD, k) == all_
    assert frac_at(found(*items), GOLD, k) == frac


def test_without_gold_no_set_metric_counts():
    for metric in (any_at, all_at, frac_at, ndcg_at):
        assert metric(found("a"), frozenset(), 1) is None
    assert first_reciprocal(found("a"), frozenset()) is None
    assert budget_recall(found("a"), [1], frozenset(), 100) is None


def test_reciprocal_rank_of_the_first_item_with_gold():
    assert first_reciprocal(found("x", "y", "b", "a"), GOLD) == pytest.approx(1 / 3)
    assert first_reciprocal(found("x"), GOLD) == 0.0


def test_ndcg_divides_by_the_best_list_there_is_and_not_by_the_best_of_what_was_found():
    """One of two gold ids at rank 2: 1/log2(3) over 1 + 1/log2(3)."""
    gain, ideal = 1 / math.log2(3), 1 + 1 / math.log2(3)

    assert ndcg_at(found("x", "a", "y"), GOLD, 3) == pytest.approx(gain / ideal)
    assert ndcg_at(found("a", "b"), GOLD, 2) == pytest.approx(1.0)


def test_ndcg_counts_an_id_once_and_stops_at_k():
    assert ndcg_at(found("a", "a"), GOLD, 2) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert ndcg_at(found("x", "a"), GOLD, 1) == 0.0


def test_ndcg_at_one_has_an_ideal_of_one_item():
    assert ndcg_at(found("a"), GOLD, 1) == pytest.approx(1.0)


def test_the_budget_takes_items_until_the_next_would_exceed_it():
    """Costs with labels are 100 and 100: 199 tokens hold the first alone, 200 both."""
    costs = [100 - LABEL_TOKENS] * 2

    assert budget_recall(found("a", "b"), costs, GOLD, 199) == 0.5
    assert budget_recall(found("a", "b"), costs, GOLD, 200) == 1.0
    assert budget_recall(found("x", "a"), costs, GOLD, 199) == 0.0


def test_a_budget_that_is_spent_takes_no_later_item_though_it_would_fit():
    assert budget_recall(found("a", "x", "b"), [10, 500, 10], GOLD, 200) == 0.5


def test_the_newest_stands_above_every_outdated_one():
    now, old = frozenset({"s9"}), frozenset({"s1", "s4"})

    assert newest_first(["s2", "s9", "s1"], now, old) == 1.0
    assert newest_first(["s4", "s9"], now, old) == 0.0
    assert newest_first(["s2"], now, old) == 0.0
    assert newest_first(["s9"], now, old) == 1.0
    assert newest_first(["s9"], now, frozenset()) is None
