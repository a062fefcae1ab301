"""Incidents that were met in practice, replayed: the named signal says the figures, and a healthy project is silent."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command import runner

from eval import incidents, planting
from eval.incidents import FRESHNESS, INCIDENTS, STALE_HOOK, Expected, Incident, replay
from eval.planted_project import Project, healthy
from health.known import Area
from health.report import assess
from health.signal import Level, Signal
from indexer.rebuild import compact
from indexer.store import Store
from recall import hook_counters

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Signal]:
    """The signals of the project that every incident is planted in, with nothing planted."""
    return healthy(tmp_path_factory.mktemp("well") / "planted").signals()


def nothing(_project: object) -> None:
    """Plant nothing."""


def test_a_healthy_project_has_no_signal_that_warns(well: dict[str, Signal]) -> None:
    assert [signal.text for signal in well.values() if signal.level] == []
    assert well["distinct_texts"].value == 64
    assert "hook_installed.claude-code" in well


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda one: one.id)
def test_an_incident_is_named_with_its_figures_and_only_then(
    incident: Incident, well: dict[str, Signal], tmp_path: Path
) -> None:
    """LCA-10.6-01, LCA-10.6-02, LCA-10.6-03, LCA-10.6-04, LCA-10.6-05, LCA-8.2-03, LCA-6.1-07, LCA-D-01H, LCA-D-02H,
    LCA-D-03H, LCA-D-04H, LCA-D-05H, LCA-D-06H, LCA-D-07H, LCA-D-08H, LCA-D-09H, LCA-D-10H, LCA-D-11H, LCA-D-11J,
    LCA-D-11b: each signal says the figures that were met.
    """
    found = replay(incident, tmp_path / "planted")

    assert found.faults == ()
    assert all(signal.action for signal in found.signals), "what is wrong comes with what to do"
    assert {one.signal: well[one.signal].level for one in incident.expected} == {
        one.signal: Level.OK for one in incident.expected
    }


def lose_the_index(project: Project) -> None:
    project.workspace.index_path.unlink()


def miss_deadlines(project: Project) -> None:
    for _ in range(2):
        hook_counters.add(project.data, "claude-code", "deadline:words:search")


@pytest.mark.parametrize(
    ("break_it", "area"),
    [(lose_the_index, Area.INDEXING), (miss_deadlines, Area.RECALL), (planting.over_budget, Area.LOADING)],
)
def test_a_part_that_breaks_turns_its_own_section_of_the_report_red(
    break_it: Callable[[Project], None], area: Area, tmp_path: Path
) -> None:
    """LCA-4.6-09."""
    project = healthy(tmp_path / "planted")
    watched = (Area.INDEXING, Area.RECALL, Area.LOADING)
    before = assess(project.facts())
    break_it(project)
    after = assess(project.facts())

    assert [before.area(one) for one in watched] == [Level.OK] * 3
    assert [one for one in watched if after.area(one) is Level.FAIL] == [area]


def test_a_compaction_mends_what_a_foreign_writer_left(tmp_path: Path) -> None:
    """Its copies have keys of their own, and it registered; rows of its own that are no copies need a rebuild."""
    project = healthy(tmp_path / "planted")
    planting.copies(project)
    planting.foreign_writer(project)
    with Store.open(project.workspace.index_path, "w") as store:
        report = compact(project.workspace, store, now=project.now)

    signals = project.signals()

    assert (report.rows, report.copies) == (planting.DISTINCT, planting.ROWS - planting.DISTINCT)
    assert [one.id for one in signals.values() if one.level] == ["orphan_pointers"]
    assert "recall index rebuild" in signals["orphan_pointers"].action


@pytest.mark.parametrize(
    ("expected", "fault"),
    [
        (Expected("stored", Level.FAIL), "stored is ok, not fail"),
        (Expected("stored", Level.OK, ("ten thousand",)), "does not say 'ten thousand'"),
        (Expected("no_such", Level.FAIL), "no_such is not told"),
    ],
)
def test_a_signal_that_keeps_silent_is_a_fault(expected: Expected, fault: str, tmp_path: Path) -> None:
    found = replay(Incident("none", "nothing", nothing, (expected,)), tmp_path / "planted")

    assert len(found.faults) == 1
    assert fault in found.faults[0]


def test_the_command_says_five_of_five_and_no_false_alarm(capsys: pytest.CaptureFixture[str]) -> None:
    """LCA-10.6-05, LCA-10.6-06."""
    done = runner(capsys)("eval", "freshness", "--json")

    held = json.loads(done.out)
    assert done.code == 0
    assert (held["named"], len(held["incidents"]), held["false_alarms"]) == (5, len(FRESHNESS), [])
    assert held["incidents"][0]["signals"][0]["id"] == "code_mixed"


def test_the_command_fails_on_a_missed_incident_and_on_a_false_alarm(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, well: dict[str, Signal]
) -> None:
    missed = Incident("missed", "a fault that nothing names", nothing, STALE_HOOK.expected)
    monkeypatch.setattr(incidents, "FRESHNESS", (missed,))
    monkeypatch.setattr(incidents, "false_alarms", lambda: [])
    first = runner(capsys)("eval", "freshness")
    monkeypatch.setattr(incidents, "FRESHNESS", ())
    monkeypatch.setattr(incidents, "false_alarms", lambda: [well["stored"]])
    second = runner(capsys)("eval", "freshness")

    assert (first.code, second.code) == (1, 1)
    assert "0 of 1 incident named" in first.out
    assert "code_mixed is ok, not warn" in first.out
    assert f"false alarm  stored: {well['stored'].text}" in second.out
