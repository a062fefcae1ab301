import pytest

from eval.gate import UNRELATED, Scores, suggested


def test_the_suggestion_stands_just_above_nine_in_ten():
    """Ten scores 0.01 .. 0.10: the ninth is 0.09, and the threshold must exceed it."""
    assert suggested([i / 100 for i in range(1, 11)]) == pytest.approx(0.10, abs=0.006)
    assert sum(score >= suggested([i / 100 for i in range(1, 11)]) for score in [0.095, 0.09]) <= 1


def test_no_suggestion_from_an_empty_store():
    assert suggested([0.0, 0.0]) is None
    assert suggested([]) is None


def test_unrelated_prompts_are_many_and_distinct():
    assert len(set(UNRELATED)) == len(UNRELATED) >= 30


def test_shares_count_silent_prompts_too():
    row = Scores("x", (0.1, 0.2, 0.3), silent=1, open=2).row()

    assert row[1] == 4
    assert row[-1] == 0.5
