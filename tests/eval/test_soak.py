"""The soak: what it does to an installation, and that it would see what was lost."""

from pathlib import Path

import pytest

from eval import soak
from eval.soak import Plan, Report, run

pytestmark = pytest.mark.slow
BY_WORDS = {"RECALL_INDEX_MODEL": "none:at-all"}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s")  # a service's socket needs a short path


def test_nothing_is_lost_in_two_days_in_which_everything_goes_wrong(folder):
    plan = Plan(turns=200, clients=8, seed=1, turns_an_hour=4, kills=5, disk_mb=256, settings=BY_WORDS)

    report = run(plan, folder)

    assert (report.lost, report.twice, report.problems, report.left) == ((), (), (), ())
    assert (report.bad_answers, report.nights_missing) == ({}, ())
    assert report.ok
    assert report.kills >= 1
    assert report.answered > 0
    assert report.nights["complete"] >= 1
    if report.clock_moved:
        assert report.clock_jumps == 2
        assert report.nights["not due"] > report.nights["complete"]


def test_a_prompt_that_is_lost_or_doubled_is_seen(folder, monkeypatch):
    """The harness writes one prompt nowhere and another twice: in the record one is missing, one is there twice."""
    plain = soak.line

    def torn(world, session, kind, number, at, content):
        if kind == "user" and number == 3:
            return b""
        again = plain(world, session, kind, 1000 + number, at, content) if kind == "user" and number == 5 else b""
        return plain(world, session, kind, number, at, content) + again

    monkeypatch.setattr(soak, "line", torn)

    report = run(Plan(turns=8, clients=2, turns_an_hour=4, kills=0, disk_mb=0, settings=BY_WORDS), folder)

    assert (report.lost, report.twice, report.ok) == ((3,), (5,), False)


@pytest.mark.parametrize(
    "bad",
    [
        {"lost": (1,)},
        {"twice": (1,)},
        {"problems": ("chain",)},
        {"left": ("recall.cli.serve",)},
        {"bad_answers": {"no JSON": 1}},
        {"nights_missing": ("2026-06-02",)},
        {"growth_mb": 1.1, "growth_turns": 1000},
    ],
    ids=str,
)
def test_each_thing_that_must_hold_decides_by_itself(bad):
    assert Report().ok
    assert not Report(**bad).ok
    assert Report(**bad).to_text().startswith("BROKEN\n")
