from types import SimpleNamespace

import pytest

from eval.gate import UNRELATED, Scores, score_of, suggested


def turn(*evidence, terms=3, verdict="shown"):
    ranked = tuple(SimpleNamespace(candidate=SimpleNamespace(evidence=e), verdict=verdict) for e in evidence)
    return SimpleNamespace(ranked=ranked, terms=("w",) * terms, block="")


def test_the_score_is_the_best_evidence_damped_for_few_words():
    """0.8 with three content words: 0.8 * 3 / 4."""
    assert score_of(turn(0.2, 0.8)) == pytest.approx(0.6)


def test_what_policy_kept_out_does_not_open_the_gate():
    assert score_of(turn(0.9, verdict="private")) == 0.0


def test_nothing_found_scores_zero():
    assert score_of(turn()) == 0.0


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
