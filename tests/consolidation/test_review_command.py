"""`recall review run`: somebody else tries to refute a candidate, and what they found is printed by its severity."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import Result, runner
from support.running import CAUSE, make_running, talk_of_causes

SCRIPT = Path(__file__).parents[1] / "support" / "reviewer.py"
LOW = {"severity": "low", "evidence_pointer": "abcdefghij#0-9", "text": "loosely said", "kind": "wording"}
HIGH = {"severity": "high", "evidence_pointer": "klmnopqrst#0-9", "text": "only on CI", "kind": "support"}


@pytest.fixture
def review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs `recall review run` on the one candidate of a project, with a reviewer that gives these answers."""
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    project.run()
    [candidate] = project.state().candidates
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "onnx:none")
    monkeypatch.chdir(tmp_path / "project")

    def call(answers: Any, *options: str, name: str = candidate[:10]) -> Result:
        (tmp_path / "table.json").write_text(json.dumps({"*": answers}))
        command = f"{sys.executable} {SCRIPT} {tmp_path / 'table.json'}"
        return runner(capsys)("review", "run", name, "--reviewer", command, *options)

    return call


def test_findings_are_printed_the_severest_first_each_with_its_place(review: Any) -> None:
    result = review([{"verdict": "refuted", "findings": [LOW, HIGH]}])

    assert result.code == 1
    lines = [line.split() for line in result.out.splitlines() if line.startswith("  ")]
    assert [line[:2] for line in lines] == [["high", "klmnopqrst#0-9"], ["low", "abcdefghij#0-9"]]
    assert "only on CI" in result.out


def test_the_object_holds_every_round_with_severity_place_and_text(review: Any) -> None:
    result = review([{"findings": [LOW]}], "--json")

    [found] = result.rows()
    assert result.code == 0
    assert [(v["round"], v["reviewer"], v["verdict"]) for v in found["verdicts"]] == [
        (0, ["computed", "recall-checks/1"], "not_refuted"),
        (1, ["command", "reviewer.py"], "not_refuted"),
    ]
    assert found["verdicts"][1]["findings"] == [LOW]


def test_a_reviewer_that_says_nothing_leaves_it_unverified(review: Any) -> None:
    result = review("silent")

    assert result.code == 0
    assert "reviewer.py, round 1: unverified (the answer is empty)" in result.out


def test_a_name_that_no_candidate_has_is_told(review: Any) -> None:
    result = review([{}], name="zzzzzzzzzz")

    assert result.code == 1
    assert "no candidate is called zzzzzzzzzz" in result.err
