"""What a handoff saves, counted on the log of the case study (ESAA-53)."""

import json
from pathlib import Path

import pytest
from support.record import make_draft, make_log
from support.story import story

from eval import case_study
from eval.handoff_tokens import TokenReport, measure, run
from indexer.tokens import TokenCounter
from transcript.errors import CurationError


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> TokenReport:
    return run(tmp_path_factory.mktemp("case"))


def test_the_case_study_gives_both_counts(report):
    """562 turns; the handoff is counted with a full window of twenty turns that belong to its task."""
    assert report.turns == sum(case_study.TURNS.values()) == 562
    assert report.events >= case_study.EVENTS == 570
    assert report.window_turns == 20
    assert 0 < report.short < report.handoff
    assert report.read == report.handoff + report.window < report.whole / 10


def test_the_report_says_both_counts_as_text_and_as_json(report):
    text = report.to_text()

    assert f"{report.whole:,}" in text
    assert f"{report.read:,}" in text
    found = json.loads(report.to_json())
    assert found["saved"] == 1 - report.read / report.whole


def test_counts_are_tokens_of_the_words(tmp_path: Path):
    said = ["one two three", "four five six seven"]
    log = make_log(tmp_path, [make_draft(number, text=text) for number, text in enumerate(said)])

    found = measure(log.workspace)

    assert found.whole == sum(map(TokenCounter(), said))
    assert found.window == found.whole
    assert (found.turns, found.short) == (2, 0)


def test_a_task_of_the_own_record_and_one_that_is_not_there(tmp_path: Path):
    log = make_log(tmp_path, story())

    assert measure(log.workspace, task="T1").handoff < measure(log.workspace).handoff
    with pytest.raises(CurationError, match="no task T9"):
        measure(log.workspace, task="T9")
