"""`recall health --json` is what its published schema says; three faults turn three areas red; --since looks back."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from support.command import Result, runner
from support.health_cases import HOUR, NOW, OK, WELL, cases, well
from support.record import make_draft, make_log

from health.facts import Facts, Point, SeriesFacts
from health.facts_machine import MachineFacts
from health.known import Area
from health.report import Report, assess
from health.signal import Level, Signal

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((files("health") / "schema" / "report.schema.json").read_text("utf-8"))
POINT = Point(NOW - HOUR, "fail", ("stored",), ("gate",), {"chunks": 3.0})
NIGHTS = replace(WELL, series=SeriesFacts((POINT,)), machine=MachineFacts("Linux", "3.11.7", 2), since=NOW - HOUR)
STRANGE = Signal("stored", {"x": float("nan"), "y": [float("inf")]}, "count", Level.OK, "x", "x")


def valid(text: str) -> dict[str, Any]:
    """The object, after the schema has let it pass."""
    found: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


@pytest.fixture
def recall(capsys: pytest.CaptureFixture[str]) -> Any:
    return runner(capsys)


@pytest.mark.parametrize(
    "report",
    [
        assess(Facts("w", NOW)),
        assess(NIGHTS),
        assess(replace(NIGHTS, broken=("turns: OSError",))),
        Report("w", NOW, (STRANGE,)),
        *(assess(case.fail) for case in cases().values()),
    ],
)
def test_every_report_is_valid_with_and_without_its_series(report: Report) -> None:
    plain, whole = valid(report.to_json()), valid(report.to_json(series=True))

    assert "series" not in plain
    assert len(whole["series"]) == len(report.series)
    assert plain["exit_code"] == report.exit_code
    assert set(plain["areas"]) == {str(area) for area in Area}


def test_what_is_no_number_is_null() -> None:
    assert valid(Report("w", NOW, (STRANGE,)).to_json())["signals"][0]["value"] == {"x": None, "y": [None]}


def test_the_schema_refuses_a_field_that_it_does_not_know() -> None:
    held = {**valid(assess(WELL).to_json()), "words": "of a conversation"}

    with pytest.raises(jsonschema.ValidationError, match="words"):
        jsonschema.Draft202012Validator(SCHEMA).validate(held)


def test_what_is_new_is_told_against_the_last_night() -> None:
    held = valid(assess(NIGHTS).to_json(series=True))

    assert held["changes"]["mended"] == ["stored", "gate"]
    assert held["changes"]["against"] == held["since"]
    assert held["series"][0]["figures"] == {"chunks": 3.0}


@pytest.mark.parametrize(
    ("facts", "area", "id"),
    [
        (well("index", words_missing=5), Area.INDEXING, "word_index"),
        (well("backend", embedder="down"), Area.RECALL, "embedder"),
        (well("standing", critical=50, critical_loaded=8, budget=50_000), Area.LOADING, "standing_critical"),
    ],
    ids=["indexing", "recall", "loading"],
)
def test_a_fault_turns_its_own_area_red_and_no_other(facts: Facts, area: Area, id: str) -> None:
    """LCA-4.6-09."""
    held = valid(assess(facts).to_json())

    assert [name for name, level in held["areas"].items() if level == "fail"] == [str(area)]
    assert [one["id"] for one in held["signals"] if one["level"] == "fail"] == [id]
    assert assess(WELL).area(area) is OK


def test_a_signal_that_cannot_be_read_fails_alone_and_is_named() -> None:
    strange = replace(WELL, turns=replace(WELL.turns, latencies_ms=("soon",)))  # type: ignore[arg-type]

    held = valid(assess(strange).to_json())

    broken = [one for one in held["signals"] if one["level"] == "fail"]
    assert [(one["id"], one["value"], one["area"]) for one in broken] == [
        ("signal_broken.recall_latency", "TypeError", "recall")
    ]


def test_the_command_prints_it_and_looks_back_as_far_as_asked(
    recall: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's turn of March is left out from April on; an age counts from now."""
    turn = make_draft("t", "recall", body={"mode": "words", "latency_ms": 3.0, "hook": True})
    log = make_log(tmp_path, [make_draft("a", text="hello"), turn])
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")

    def turns(*options: str) -> float | None:
        done: Result = recall("health", "--json", *options)
        held = valid(done.out)
        assert held["workspace"] == log.workspace.id
        found = next(one for one in held["signals"] if one["id"] == "recall_latency")
        return found["value"] and found["value"]["p95"]

    assert turns() == 3.0
    assert turns("--since", "2026-03-01") == 3.0
    assert turns("--since", "2026-04-01") is None
    assert turns("--since", "1d") is None
    for wrong in ("soon", "-3d", "99999999999d", "800000d"):
        refused = recall("health", "--since", wrong, "--json")
        assert refused.code == 64, refused
        assert f"'{wrong}' is" in refused.err
    assert recall("health", "--series").code == 64
    assert recall("health", "--json", "--csv").code == 64


def test_the_command_prints_the_kept_reports_as_a_table(
    recall: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LCA-12.1-03."""
    body = {"level": "warn", "failing": [], "warning": ["gate"], "figures": {"log_bytes": 12_345_678, "chunks": 3}}
    make_log(tmp_path, [make_draft("a", text="hello"), make_draft("n", "health", body=body)])
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")

    names, night = recall("health", "--csv").out.splitlines()

    held = dict(zip(names.split(","), night.split(","), strict=True))
    assert (held["at"], held["level"]) == ("2026-03-01T12:00:00+00:00", "warn")
    assert (held["log_bytes"], held["chunks"], held["turns"]) == ("12345678", "3", "")
