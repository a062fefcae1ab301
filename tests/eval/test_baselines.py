import pytest

from eval.baselines import generative_agents, rrf


def test_rrf_adds_reciprocal_ranks():
    """1: 1/61 + 1/62; 2: 1/62 + 1/61; 3: 1/63 once. A tie goes to the smaller id."""
    assert rrf([[1, 2, 3], [2, 1]]) == [1, 2, 3]


def test_rrf_prefers_what_both_arms_find():
    """9 is third twice: 2/63 = 0.0317, more than one first place, 1/61 = 0.0164."""
    assert rrf([[1, 2, 9], [3, 4, 9]])[0] == 9


def test_rrf_of_nothing():
    assert rrf([[], []]) == []


def test_generative_agents_adds_scaled_recency_and_relevance():
    """Relevance scales to 1, 0.5, 0; recency 0.995^age to 0, 1, 1: sums 1, 1.5, 1."""
    assert generative_agents({1: 0.9, 2: 0.5, 3: 0.1}, {1: 100, 2: 0, 3: 0}) == [2, 1, 3]


@pytest.mark.parametrize("newer", [1, 2])
def test_generative_agents_puts_the_newer_of_equals_first(newer):
    """The released code had the sign of recency the wrong way round; ours must not."""
    ages = {1: 10.0, 2: 10.0} | {newer: 1.0}

    assert generative_agents({1: 0.5, 2: 0.5}, ages)[0] == newer


def test_generative_agents_of_one_and_none():
    assert generative_agents({7: 0.3}, {7: 1.0}) == [7]
    assert generative_agents({}, {}) == []
