"""Every metric against cases worked by hand."""

import math

import pytest

from eval.metrics.abstention import abstention_precision, abstention_recall
from eval.metrics.coverage import coverage_at
from eval.metrics.discounted import discounted
from eval.metrics.injected_tokens import tokens_mean, tokens_p95, tokens_per_hit
from eval.metrics.leak import leaks
from eval.metrics.recall_at import recall_at
from eval.metrics.reciprocal_rank import reciprocal_rank
from eval.metrics.stale_order import stale_order
from eval.metrics.strict_at import strict_at
from eval.outcome import Outcome, mean


def outcome(hits="", *, type="decision_why", strict=None, stale=None, files=None, evidence=(), leaks=0, tokens=0):
    """Build an outcome from a string such as "..x": a dot is a miss, an x a hit."""
    flags = tuple(c == "x" for c in hits)
    blank = "." * len(flags)
    return Outcome(
        query="q1",
        type=type,
        hits=flags,
        strict=tuple(c == "x" for c in (hits if strict is None else strict)),
        stale=tuple(c == "x" for c in (stale or blank)),
        files=tuple(frozenset(f) for f in files) if files else tuple(frozenset() for _ in flags),
        evidence_files=frozenset(evidence),
        leaks=leaks,
        tokens=tokens,
    )


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 0.0), (3, 1.0), (6, 1.0)])
def test_recall_looks_at_the_first_k_only(k, expected):
    assert recall_at(outcome("..x.x"), k) == expected


def test_recall_leaves_out_queries_without_an_answer():
    values = [recall_at(outcome("x"), 6), recall_at(outcome("..."), 6), recall_at(outcome("", type="abstention"), 6)]

    assert values == [1.0, 0.0, None]
    assert mean(values) == 0.5


def test_recall_of_an_empty_list_is_zero_not_unknown():
    assert recall_at(outcome(""), 6) == 0.0


def test_strict_asks_for_the_quoted_words():
    case = outcome("x.x", strict="..x")

    assert recall_at(case, 1) == 1.0
    assert strict_at(case, 1) == 0.0
    assert strict_at(case, 3) == 1.0


@pytest.mark.parametrize(("hits", "expected"), [("x", 1.0), (".x", 1 / 2), ("...xx", 1 / 4), ("....", 0.0), ("", 0.0)])
def test_reciprocal_rank(hits, expected):
    assert reciprocal_rank(outcome(hits)) == expected


def test_discounted_first_hit():
    assert discounted(outcome("..x")) == pytest.approx(1 / math.log2(4))
    assert discounted(outcome("..x"), depth=2) == 0.0


def test_coverage_counts_distinct_evidence_files_in_the_first_k():
    """Three evidence files; the first six items touch a, a and b, the seventh c: two thirds."""
    case = outcome(
        "xx.x..x",
        type="multi_session",
        files=[{"a"}, {"a"}, set(), {"b"}, set(), set(), {"c"}],
        evidence=["a", "b", "c"],
    )

    assert coverage_at(case, 6) == pytest.approx(2 / 3)
    assert coverage_at(case, 7) == 1.0
    assert coverage_at(outcome("x"), 6) is None


def test_coverage_ignores_files_that_are_no_evidence():
    case = outcome("x", type="multi_session", files=[{"a", "z"}], evidence=["a", "b"])

    assert coverage_at(case, 6) == 0.5


@pytest.mark.parametrize(
    ("hits", "stale", "expected"),
    [
        ("x..", ".x.", 0.0),
        (".x.", "x..", 1.0),
        ("...", ".x.", 1.0),
        ("...", "...", 0.0),
        ("x..", "x..", 0.0),
        ("", "", 0.0),
    ],
    ids=["current first", "stale first", "stale without a hit", "neither", "one item says both", "empty"],
)
def test_stale_order(hits, stale, expected):
    assert stale_order(outcome(hits, stale=stale, type="superseded")) == expected


def test_stale_order_counts_superseded_queries_only():
    assert stale_order(outcome(".", stale="x")) is None


def test_abstention():
    """Silent: one of two that ask for silence, and one answerable: precision 1/2, recall 1/2."""
    cases = [outcome("", type="abstention"), outcome(".", type="chitchat_no_recall"), outcome(""), outcome("x")]

    assert mean([abstention_precision(c) for c in cases]) == 0.5
    assert mean([abstention_recall(c) for c in cases]) == 0.5


def test_abstention_precision_is_unknown_when_never_silent():
    assert mean([abstention_precision(outcome("x"))]) is None


def test_injected_tokens():
    cases = [outcome("x", tokens=100), outcome("..", tokens=200), outcome("", tokens=0), outcome(".x", tokens=300)]

    assert tokens_mean(cases) == 150
    assert tokens_p95(cases) == 300
    assert tokens_per_hit(cases) == 300
    assert tokens_per_hit([outcome("..", tokens=200)]) is None


def test_leaks_add_up():
    assert leaks([outcome("x", leaks=2), outcome("", leaks=0), outcome("x", leaks=1)]) == 3
