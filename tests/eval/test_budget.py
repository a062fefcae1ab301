"""The budget comparison: its arms, the knee by hand, and the rule of the verdict."""

from dataclasses import replace

import pytest

from eval.budget import DEFAULT, Arms, Asked, arms
from eval.budget_report import BudgetReport, SetReport, knee, report_of
from eval.machine import machine
from recall.settings import Settings


def asked(hits: list[float], tokens: int, ms: float = 1.0) -> list[Asked]:
    return [Asked(str(i), hit, hit, hit, tokens, ms) for i, hit in enumerate(hits)]


def set_of(adaptive: list[Asked], name: str = "locomo") -> SetReport:
    held = {"none": asked([0.0] * 40, 0), "items 1": asked([1.0] * 10 + [0.0] * 30, 100)}
    held |= {"items 2": asked([1.0] * 20 + [0.0] * 20, 200), DEFAULT: asked([1.0] * 30 + [0.0] * 10, 600)}
    return report_of(Arms(name, "0" * 64, asked={**held, "adaptive": adaptive}), samples=200)


def verdict(*sets: SetReport) -> str:
    return BudgetReport(sets, "0", machine()).verdict


def test_every_arm_differs_in_its_budget_alone() -> None:
    default = Settings()

    made = arms(default)

    assert made["none"] is None
    assert made["items 3"] is not None
    assert made["items 3"].budget.items == 3
    assert made[DEFAULT] == default
    assert [made[f"tokens {n}"].budget.tokens for n in (250, 2000)] == [250, 2000]  # type: ignore[union-attr]
    assert made["adaptive"] == replace(default, budget=replace(default.budget, mode="adaptive"))
    assert {replace(one, budget=default.budget) for one in made.values() if one is not None} == {default}


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # Scaled to [0, 1]: b lies at (.1, .8), .7 above the chord; c at (.5, .9), .4 above it.
        ([("a", 0, 0.0), ("b", 10, 0.4), ("c", 50, 0.45), ("d", 100, 0.5)], "b"),
        ([("a", 0, 0.0), ("b", 50, 0.25), ("c", 100, 0.5)], ""),
        ([("a", 0, 0.0), ("b", 50, 0.1), ("c", 100, 0.5)], ""),
        ([("a", 0, 0.5), ("b", 50, 0.5), ("c", 100, 0.5)], ""),
        ([("a", 0, 0.0), ("d", 100, 0.5)], ""),
    ],
    ids=["bends", "straight", "bends the other way", "flat", "two points"],
)
def test_the_knee_is_the_point_farthest_above_the_chord(curve: list[tuple[str, float, float]], expected: str) -> None:
    assert knee(curve[::-1]) == expected


def test_a_set_passes_where_the_result_is_kept_at_a_quarter_fewer_tokens() -> None:
    same = [1.0] * 30 + [0.0] * 10

    assert set_of(asked(same, 450)).passes
    assert not set_of(asked(same, 451)).passes
    assert not set_of(asked([1.0] * 26 + [0.0] * 14, 300)).passes


def test_a_line_has_means_and_the_interval_is_paired() -> None:
    made = set_of(asked([1.0] * 26 + [0.0] * 14, 300))
    line = next(line for line in made.lines if line.arm == "adaptive")
    (hit,) = [p for p in made.paired if (p.against, p.measure) == (DEFAULT, "hit")]

    assert (line.hit, line.tokens, line.n) == (0.65, 300, 40)
    assert hit.points == pytest.approx(-10.0)
    assert hit.low < -10.0 < hit.high <= 0.0
    assert hit.saved == pytest.approx(0.5)


def test_adaptive_becomes_the_default_only_where_both_deciding_sets_allow_it() -> None:
    same = [1.0] * 30 + [0.0] * 10
    good, bad = asked(same, 300), asked([1.0] * 20 + [0.0] * 20, 300)

    assert verdict(set_of(good), set_of(good, "memorycode")).startswith("adaptive may become the default")
    assert verdict(set_of(good), set_of(bad, "memorycode")).startswith("fixed stays the default: on memorycode not met")
    assert verdict(set_of(good)) == "no verdict: not run on memorycode"
