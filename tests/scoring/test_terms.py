"""Each term against figures worked by hand."""

import math
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from scoring.applicability import FACETS, applicability
from scoring.authority import authority
from scoring.experience import experience, experience_by_hits, experience_capped, experience_sigmoid
from scoring.recency import age_days, temporal_salience
from scoring.risk import risk
from scoring.score import Features, score
from scoring.similarity import similarity
from scoring.weights import Scales, Weights

CURVE = {"half_at": 0.7, "steepness": 3.0}
DECAY = {"half_life_days": 14, "stretch": 12}


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [(0, 0.0), (0.7, 0.5), (1.4, 8 / 9), (0.35, 1 / 9)],
    ids=["none", "half", "twice", "under"],
)
def test_similarity_follows_its_curve(relevance: float, expected: float) -> None:
    assert similarity(relevance, **CURVE) == pytest.approx(expected)


def test_similarity_keeps_the_order_of_relevance() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        low = rng.uniform(0, 2.2)
        high = low + rng.uniform(1e-6, 0.5)

        assert 0.0 <= similarity(low, **CURVE) < similarity(high, **CURVE) < 1.0


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf])
def test_similarity_refuses_what_is_no_relevance(bad: float) -> None:
    with pytest.raises(ValueError, match="relevance"):
        similarity(bad, **CURVE)


@pytest.mark.parametrize(("raw", "expected"), [(0, 0.0), (-7, 0.0), (50, 1.0), (1e9, 1.0), (math.sqrt(51) - 1, 0.5)])
def test_experience_is_logarithmic_and_capped(raw: float, expected: float) -> None:
    assert experience(raw, cap=50) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("hits", "max_hits", "expected"), [(0, 0, 0.0), (0, 9, 0.0), (9, 9, 1.0), (2, 8, 0.5), (5, 0, 0.0), (12, 9, 1.0)]
)
def test_experience_by_hits_is_bounded_also_without_hits(hits: float, max_hits: float, expected: float) -> None:
    assert experience_by_hits(hits, max_hits=max_hits) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("age", "exp", "expected"),
    [(0, 0, 1.0), (14, 0, 0.5), (28, 0, 0.25), (14 * 13, 1, 0.5)],
    ids=["new", "one half-life", "two half-lives", "stretched half-life"],
)
def test_salience_halves_each_half_life(age: float, exp: float, expected: float) -> None:
    assert temporal_salience(age, exp, **DECAY) == pytest.approx(expected)


def test_salience_stays_in_range_and_never_rises_with_age() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        age, gap, exp = rng.uniform(0, 4000), rng.uniform(0, 4000), rng.random()

        new, old = (temporal_salience(a, exp, **DECAY) for a in (age, age + gap))

        assert 0.0 <= old <= new <= 1.0


def test_an_important_old_item_outlasts_chatter_and_chatter_follows_age() -> None:
    """LCA 5.2.3-01."""

    def total(age: float, raw: float) -> float:
        return score(Features(0.7, age_days=age, raw_experience=raw), Weights()).total

    assert total(180, 50) > total(2, 0)
    assert total(2, 0) > total(180, 0)


def test_a_time_after_now_counts_as_now() -> None:
    """A record dated ahead must not outrank everything: headroomlabs-ai/headroom#3139, scrypster/muninndb#493."""
    now = datetime(2026, 6, 20, 12, tzinfo=UTC)

    ahead, same, old, epoch = (
        age_days(now.timestamp() + d, now) for d in (400 * 86400, 0, -2 * 86400, -now.timestamp())
    )

    assert (ahead, same, old) == (0.0, 0.0, 2.0)
    assert 0.0 <= temporal_salience(epoch, 0.0, **DECAY) < 1e-300 or temporal_salience(epoch, 0.0, **DECAY) == 0.0


def test_an_approved_memory_stands_above_any_fragment() -> None:
    fragments = ("prompt", "final", "narration", "summary", "tool", "worker", "reasoning")

    assert all(authority("curated") > authority("memory") > authority(fragment) for fragment in fragments)


def test_an_unknown_source_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'rumour'"):
        authority("rumour")


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        ((), 0.5),
        ((("project", True),), 0.65),
        ((("project", False),), 0.35),
        ((("project", True), ("role", False)), 0.525),
        (tuple((facet, True) for facet in FACETS), 1.0),
        (tuple((facet, False) for facet in FACETS), 0.0),
    ],
    ids=["nothing known", "same project", "other project", "same project, other role", "all agree", "all differ"],
)
def test_applicability_weighs_what_is_shared(matches: tuple[tuple[str, bool], ...], expected: float) -> None:
    assert applicability(matches) == pytest.approx(expected)


def test_a_memory_of_this_project_beats_an_equal_one_of_another() -> None:
    here, there = (Features(0.7, source="memory", matches=(("project", same),)) for same in (True, False))

    assert score(here, Weights()).total > score(there, Weights()).total


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [((), 0.0), (("stale",), 0.5), (("stale", "conflict"), 1 - 0.5 * 0.6), (("stale", "stale"), 0.5)],
    ids=["none", "one", "two combine", "a reason counts once"],
)
def test_risk_combines_reasons(reasons: tuple[str, ...], expected: float) -> None:
    assert risk(reasons) == pytest.approx(expected)


@pytest.mark.parametrize(("call", "name"), [(risk, "gossip"), (lambda r: applicability(((r[0], True),)), "gossip")])
def test_unknown_reasons_and_facets_are_refused(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        call((name,))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(5, 0.5), (5 + 2 * math.log(3), 0.75), (0, 1 / (1 + math.exp(2.5))), (-9, 1 / (1 + math.exp(2.5))), (1e9, 1.0)],
)
def test_the_sigmoid_is_a_half_at_mu(raw: float, expected: float) -> None:
    """k 1/2 and mu 5; evidence below none counts as none."""
    assert experience_sigmoid(raw, k=0.5, mu=5) == pytest.approx(expected)


@pytest.mark.parametrize(("raw", "expected"), [(0, 0.0), (-3, 0.0), (5, 0.1), (50, 1.0), (1e9, 1.0)])
def test_the_capped_form_is_a_straight_line(raw: float, expected: float) -> None:
    assert experience_capped(raw, cap=50) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("log", experience(10, cap=50)),
        ("hits", experience_by_hits(3, max_hits=50)),
        ("sigmoid", experience_sigmoid(10, k=0.5, mu=5)),
        ("cap", 0.2),
    ],
)
def test_the_form_of_experience_is_a_setting(form: str, expected: float) -> None:
    features = Features(1.0, raw_experience=10.0, hits=3)

    assert score(features, Weights(), Scales(experience_form=form)).value("E") == pytest.approx(expected)


@pytest.mark.parametrize(
    "bad", [{"experience_form": "fame"}, {"experience_k": 0.0}, {"experience_mu": -1.0}, {"experience_mu": math.nan}]
)
def test_a_form_that_there_is_not_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Scales(**bad)
