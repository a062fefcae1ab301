"""`recall health` writes its report as a page: beside what it prints, for its owner alone, and nothing half."""

import os
import sys
from typing import Any

import pytest
from support.command import runner
from support.record import NOW, make_draft, make_log

from recall.cli.app import App


@pytest.fixture
def health(capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command over a record of two exchanges and a sub-agent's words."""
    make_log(tmp_path, [make_draft("a", text="hello"), make_draft("b", text="<script>"), make_draft("c", text="again")])
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    monkeypatch.setattr(App, "now", lambda app: NOW)  # the page shows a year
    recall = runner(capsys)
    return lambda *options: recall("health", *options)


def test_the_page_stands_beside_the_same_report_with_the_same_exit_code(health: Any, tmp_path: Any) -> None:
    plain = health()
    done = health("--html", str(tmp_path / "health.html"))

    page = (tmp_path / "health.html").read_text("utf-8")
    assert (done.code, done.out) == (plain.code, plain.out)
    assert f"page: {tmp_path / 'health.html'}" in done.err
    assert 'recall health: <span class="level fail">fail</span>' in page
    assert "3 turns on 1 day" in page
    assert "<script" not in page
    if os.name == "posix":
        assert (tmp_path / "health.html").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(health: Any, tmp_path: Any) -> None:
    done = health("--html", str(tmp_path / "no-folder" / "health.html"))

    assert done.code == 2
    assert f"cannot use {tmp_path / 'no-folder' / 'health.html'} (" in done.err
    assert not (tmp_path / "no-folder").exists()
    assert health("--html", str(tmp_path)).code == 64
    assert health("--html", "").code == 2
    pytest.importorskip("prometheus_client", reason="needs the extra metrics")
    assert f"cannot use {tmp_path / 'no' / 'x.prom'} (" in health("--prometheus", str(tmp_path / "no" / "x.prom")).err


def test_the_page_can_be_printed_in_place_of_the_report(health: Any, tmp_path: Any) -> None:
    done = health("--html", "-")

    assert done.out.startswith("<!doctype html>")
    assert done.out.endswith("</html>\n")
    assert done.code == 2
    assert not (tmp_path / "project" / "-").exists()
    refused = health("--html", "-", "--json")
    assert refused.code == 64
    assert "--json and --html - are forms of one report" in refused.err


def test_metrics_are_for_a_collector_or_printed_in_place_of_the_report(health: Any, tmp_path: Any) -> None:
    pytest.importorskip("prometheus_client", reason="needs the extra metrics")
    file = tmp_path / "recall.prom"
    file.write_text("old")
    before = os.umask(0o022)
    done = health("--prometheus", str(file))
    os.umask(before)
    printed = health("--prometheus", "-")

    assert done.code == printed.code == 2
    assert "fail  project  workspace" in done.out
    assert printed.out.startswith("# HELP recall_level ")
    assert 'recall_signal_level{area="record",id="stored"' in file.read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir() if "recall.prom" in path.name) == ["recall.prom"]
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o644
    assert health("--prometheus", "-", "--json").code == 64


def test_metrics_without_their_extra_name_it(health: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "health.prometheus", raising=False)
    done = health("--prometheus", "-")

    assert done.code == 2  # 1 would be a report's
    assert "pip install 'lca-recall[metrics]'" in done.err
    assert done.out == ""
