"""The quality of recall over time: what `recall eval self` writes is what the report tells, once a run."""

from dataclasses import replace

import pytest
from support.health_cases import DAY, NOW, well
from support.record import make_log

from eval.self_series import Entry, append, path, read
from health import series
from health.facts import Point, QualityFacts, SeriesFacts
from health.gather_quality import quality_facts
from health.report import assess
from health.signal import Level


@pytest.fixture
def workspace(tmp_path):
    return make_log(tmp_path, []).workspace


def run(day: int, rank: float, *, questions: int = 40) -> Entry:
    ranks = {f"q{nr}": rank for nr in range(questions)}
    return Entry(f"2026-05-{day:02}T08:00:00+00:00", "c", "s", "m", "q", {"turn MRR": rank}, ranks, (rank, rank))


def test_a_drop_stays_told_until_it_is_undone_or_a_month_old(workspace):
    """A second run of the same engine mends nothing."""
    told = []
    for entry in (run(1, 0.8), run(5, 0.6), run(6, 0.6), run(7, 0.8), run(8, 0.785)):
        append(path(workspace), entry)
        quality = quality_facts(workspace)
        report = (
            assess(well("record", events=1)) if quality.at is None else assess(replace(well("record"), quality=quality))
        )
        told.append(next(s for s in report.signals if s.id == "recall_quality"))

    assert [s.level for s in told] == [Level.OK, Level.FAIL, Level.FAIL, Level.OK, Level.WARN]
    assert "20.0 points lower than before" in told[2].text
    assert "best before: 2026-05-01 08:00Z" in told[2].details
    append(path(workspace), replace(run(8, 0.6), at="2026-06-20T08:00:00+00:00"))
    assert quality_facts(workspace).change is None


def test_runs_that_share_too_few_questions_are_not_held_against_each_other(workspace):
    append(path(workspace), run(1, 0.8, questions=9))
    append(path(workspace), run(2, 0.1))

    assert quality_facts(workspace).change is None
    assert quality_facts(workspace).mrr == 0.1


def test_a_torn_last_line_and_an_older_line_are_read_past(workspace):
    append(path(workspace), run(3, 0.7))
    with path(workspace).open("a") as out:
        out.write('{"at": "torn')

    assert quality_facts(workspace) == QualityFacts(1_777_795_200.0, 0.7, 0.7, 0.7, 40)
    path(workspace).write_text('{"at":"2026-05-03T08:00:00+00:00","commit":"c","settings_hash":"s","model":"m",'
                               '"questions_sha256":"q","figures":{"turn MRR":0.5},"ranks":{"a":0.5}}\n')  # fmt: skip
    assert quality_facts(workspace) == QualityFacts(1_777_795_200.0, 0.5, None, None, 1)
    assert len(read(path(workspace))) == 1


def test_a_night_keeps_each_evaluation_once():
    facts = well("quality", at=NOW - 2 * DAY, mrr=0.7, low=0.6, high=0.8, questions=40)
    kept = replace(facts, series=SeriesFacts((Point(NOW - DAY, "ok"),)))

    held = series.figures(facts)
    assert {name: held[name] for name in held if name.startswith("mrr")} == {
        "mrr": 0.7,
        "mrr_low": 0.6,
        "mrr_high": 0.8,
        "mrr_questions": 40,
    }
    assert "mrr" not in series.figures(kept)
    assert "mrr" not in series.figures(well("quality"))
