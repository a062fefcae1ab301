"""What every registered term must hold, and the sum with them."""

import math
import random
from dataclasses import replace

import pytest

from scoring.applicability import FACETS
from scoring.authority import AUTHORITY
from scoring.pool import pool_terms, score_pool
from scoring.risk import RISKS
from scoring.score import TERMS, Features, Term, score, score_all
from scoring.weights import EXPERIENCE_FORMS, Scales, Weights

LETTERS = [term.letter for term in TERMS]


def draw(rng: random.Random) -> Features:
    return Features(
        relevance=rng.uniform(0, 2.5),
        age_days=rng.choice([0.0, rng.uniform(0, 30), rng.uniform(0, 4000)]),
        raw_experience=rng.choice([0.0, -3.0, rng.uniform(0, 80), 1e9]),
        hits=rng.choice([0, 3, 10**9]),
        source=rng.choice(sorted(AUTHORITY)),
        matches=tuple((facet, rng.random() < 0.5) for facet in sorted(FACETS) if rng.random() < 0.5),
        risks=tuple(reason for reason in sorted(RISKS) if rng.random() < 0.2),
    )


def weights_of(rng: random.Random) -> Weights:
    return Weights(*(rng.uniform(0.01, 1) for _ in range(6)))


@pytest.mark.parametrize("term", TERMS, ids=LETTERS)
@pytest.mark.parametrize("form", EXPERIENCE_FORMS)
def test_every_term_is_finite_and_in_range(term: Term, form: str) -> None:
    rng = random.Random(0)
    for _ in range(400):
        features = draw(rng)
        value = term.of(features, Scales(experience_form=form))

        assert math.isfinite(value), features
        assert 0.0 <= value <= 1.0, features


def test_the_registry_is_the_six_terms_and_only_risk_is_subtracted() -> None:
    assert LETTERS == ["S", "E", "T", "A", "Q", "K"]
    assert [t.letter for t in TERMS if t.sign < 0] == ["K"]


def test_the_score_is_the_weighted_sum() -> None:
    for seed in range(100):
        rng = random.Random(seed)
        features, w = draw(rng), weights_of(rng)

        result = score(features, w)
        t = result.terms()
        by_hand = (
            w.alpha * t["S"]
            + w.beta * t["E"]
            + w.gamma * t["T"]
            + w.delta * t["A"]
            + w.epsilon * t["Q"]
            - w.lambda_ * t["K"]
        )

        assert result.total == pytest.approx(by_hand, abs=1e-9)
        assert sum(part.contribution for part in result.parts) == result.total


def test_the_explanation_shows_every_term_weight_and_the_sum() -> None:
    line = score(Features(2.0, age_days=14, source="prompt", risks=("stale",)), Weights()).explain()

    # 0.5*0.5 + 0.15*0 + 0.1*0.5 + 0.1*0.6 + 0.15*0.5 - 0.5*0.5 = 0.185
    assert line == (
        "R 0.1850 = 0.50*S(0.500) + 0.15*E(0.000) + 0.10*T(0.500) + 0.10*A(0.600) + 0.15*Q(0.500) - 0.50*K(0.500)"
    )


@pytest.mark.parametrize("size", [0, 1, 2, 50])
def test_the_pool_version_equals_the_scalar_one(size: int) -> None:
    rng = random.Random(size)
    pool = [draw(rng) for _ in range(size)]
    w, scales = weights_of(rng), Scales(experience_form=rng.choice(EXPERIENCE_FORMS))

    together, one_by_one = score_pool(pool, w, scales), score_all(pool, w, scales)

    assert len(together) == len(one_by_one) == size
    for a, b in zip(together, one_by_one, strict=True):
        assert a.total == pytest.approx(b.total, abs=1e-12)
        assert a.terms() == pytest.approx(b.terms(), abs=1e-12)
    assert set(pool_terms(pool)) == set(LETTERS)


def test_a_score_does_not_depend_on_the_pool() -> None:
    rng = random.Random(5)
    pool = [draw(rng) for _ in range(20)]

    assert score_pool(pool, Weights())[3].total == score_pool(pool[3:4], Weights())[0].total


def test_a_seventh_term_needs_no_change_of_the_core() -> None:
    seventh = Term("X", "length", 1, lambda f, s: min(1.0, f.age_days / 100))
    old, new = Features(0.7, age_days=100), Features(0.7, age_days=0)

    silent = [score(f, Weights(extra=(("X", 0.0),)), terms=(*TERMS, seventh)).total for f in (old, new)]
    loud = [score(f, Weights(extra=(("X", 1.0),)), terms=(*TERMS, seventh)).total for f in (old, new)]

    assert silent == [score(f, Weights()).total for f in (old, new)]
    assert silent[0] < silent[1]
    assert loud[0] > loud[1]


def test_changing_a_weight_changes_the_order_as_predicted() -> None:
    """LCA 5.2: the weights are configurable; a fixed pair trades places when recency counts more."""
    near, young = Features(0.8, age_days=60), Features(0.7, age_days=0)

    def first(w: Weights) -> Features:
        return max((near, young), key=lambda f: score(f, w).total)

    assert first(Weights(gamma=0.0)) is near
    assert first(Weights(gamma=0.5)) is young


def test_the_whole_pull_of_experience_is_bounded() -> None:
    """LCA 5.2.2-10: its own term plus its effect through T stay within (beta + gamma) / alpha in units of S."""
    for seed in range(60):
        rng = random.Random(seed)
        f, w = draw(rng), weights_of(rng)
        plain = Features(f.relevance, f.age_days, 0.0, f.source, f.matches, f.risks)
        famous = replace(plain, raw_experience=1e9, hits=10**9)

        for form in EXPERIENCE_FORMS:
            scales = Scales(experience_form=form)
            pull = (score(famous, w, scales).total - score(plain, w, scales).total) / w.alpha

            assert 0.0 <= pull <= (w.beta + w.gamma) / w.alpha + 1e-12


@pytest.mark.parametrize("bad", [{"alpha": 0.0}, {"beta": -0.1}, {"gamma": math.nan}, {"extra": (("X", -1.0),)}])
def test_weights_outside_their_range_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="weight"):
        Weights(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"half_life_days": 0.0}, {"stretch": -1.0}, {"similarity_half_at": math.inf}])
def test_scales_outside_their_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Scales(**bad)


def test_a_term_without_a_weight_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="'X'"):
        Weights().of("X")
