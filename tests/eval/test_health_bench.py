"""`recall eval health` times real processes and says over how much."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import runner
from support.project import exchanges, git_project, take_in
from support.record import make_log, make_turns

from eval.health_bench import run
from recall.cli.app import App
from transcript.errors import RecallError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_log(tmp_path, make_turns(3))
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    return tmp_path / "project"


def test_it_tells_every_time_and_over_how_much(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done: Any = runner(capsys)("eval", "health", "-n", "1", "--json")

    held = json.loads(done.out)
    assert (held["events"], held["rows"]) == (3, 0)
    assert [len(held[name]) for name in ("counted_wall_s", "counted_cpu_s", "kept_wall_s", "kept_cpu_s")] == [1] * 4
    assert held["machine"]["cores"] >= 1


@pytest.mark.slow
def test_a_store_of_a_stated_size_is_timed_on_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = git_project(tmp_path / "shop")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    take_in(
        folder,
        [exchanges([("why do ports come from a file?", "The importer reads config.toml.")] * 3)],
        words_only=True,
    )
    path = App.here().workspace().index_path
    before = path.read_bytes()
    capsys.readouterr()

    done: Any = runner(capsys)("eval", "health", "--chunks", "2", "-n", "1", "--json")

    assert json.loads(done.out)["rows"] == 2
    assert path.read_bytes() == before


def test_the_page_is_timed_in_a_browser_or_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    done: Any = runner(capsys)("eval", "health", "--page")

    assert done.code == 1
    assert "--page needs playwright" in done.err


def test_a_report_that_cannot_be_made_is_an_error_that_says_why(project: Path) -> None:
    with pytest.raises(RecallError, match="no report"):
        run(project, {**os.environ, "RECALL_GATE_THRESHOLD": "high"}, runs=1)
