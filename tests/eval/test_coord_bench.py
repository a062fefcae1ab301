"""The figures on approvals come from approvals that hold."""

import json
from pathlib import Path

import pytest

from eval import coord_bench


def test_every_approval_that_is_timed_holds(tmp_path: Path) -> None:
    report = coord_bench.run(tmp_path, approvals=20)

    assert (report.approvals, report.refused, report.problems) == (20, 0, 0)
    assert report.whole == report.read_files + report.fold_record + report.checks
    assert json.loads(report.to_json())["whole"] == report.whole
    assert "20 approved proposals, 0 refused, 0 problems" in report.to_text()


def test_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        coord_bench.run(tmp_path, approvals=0)
