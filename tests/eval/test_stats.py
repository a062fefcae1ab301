import pytest

from eval.stats import duel, interval


def test_interval_holds_the_mean_and_narrows_with_more_queries():
    few = interval([0.0, 1.0] * 10, samples=2000)
    many = interval([0.0, 1.0] * 200, samples=2000)

    assert few[0] < 0.5 < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    # 20 fair coins: 1.96 * sqrt(0.25 / 20) = 0.219
    assert few[1] - 0.5 == pytest.approx(0.219, abs=0.05)


def test_interval_leaves_out_queries_that_do_not_count():
    assert interval([1.0, None, 1.0, None], samples=100) == (1.0, 1.0)
    assert interval([None], samples=100) is None


def test_interval_is_the_same_every_time():
    values = [0.0, 1.0, 1.0, 0.0, 1.0]

    assert interval(values, samples=500) == interval(values, samples=500)


def test_duel_counts_query_by_query():
    ours = {"a": 1.0, "b": 0.0, "c": 1.0, "d": None}
    theirs = {"a": 0.0, "b": 1.0, "c": 1.0, "d": 1.0}

    result = duel(ours, theirs)

    assert (result.wins, result.losses, result.ties) == (("a",), ("b",), 1)
