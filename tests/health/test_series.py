"""The kept reports: one a day, what they say together, and what is new since the last."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from support.health_cases import NOW, WELL, hooked, well
from support.record import NOW as THEN
from support.record import make_draft, make_log

from health import series
from health.facts import Facts, Point, SeriesFacts
from health.report import assess
from transcript.log import Log

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return make_log(tmp_path, [make_draft("a", text="hello")])


def night(log: Log, facts: Facts, *, days: float = 0) -> int:
    """Keep a report; return how many events that is."""
    now, report = THEN + timedelta(days=days), assess(facts)
    return len(log.append([series.draft(facts, report.signals, report.level, now)], now=now))


def points(*figures: dict[str, float], hours: float = 24.0) -> tuple[Point, ...]:
    return tuple(Point(NOW + hours * 3600 * n, "ok", figures=held) for n, held in enumerate(figures))


def test_a_day_keeps_one_report_and_the_next_another(log: Log) -> None:
    kept = [night(log, WELL), night(log, well("index", zero=1), days=0.05), night(log, WELL, days=1)]

    read = series.read(log)

    assert kept == [1, 0, 1]
    assert [point.level for point in read] == ["ok", "ok"]
    assert read[0].figures == series.figures(WELL)


def test_a_kept_report_is_small_and_names_signals_only(log: Log) -> None:
    """However many problems: no words of a conversation, at most 4 KiB."""
    bad = assess(Facts("w", NOW, broken=("canary",), hooks=WELL.hooks * 200))

    body = series.draft(Facts("w", NOW, broken=("canary",)), bad.signals * 3, bad.level, THEN).body

    assert "canary" not in json.dumps(body)
    assert len(json.dumps(body)) <= 4096
    assert body["level"] == "fail"
    assert "stored" in body["failing"]


def test_what_is_new_and_what_is_mended_since_the_last_night(log: Log) -> None:
    night(log, well("index", zero=1, stale=1))
    now = hooked(failures={"late": 2})

    told = series.changes(assess(well("index", stale=1, orphan_vectors=1)).signals, series.read(log))
    later = series.changes(assess(now).signals, series.read(log))

    assert (told.failing_new, told.warning_new, told.mended) == (("orphan_vectors",), (), ("embeddings_zero",))
    assert told.against == THEN.timestamp()
    assert later.warning_new == ("hook_failures.claude-code",)
    assert set(later.mended) == {"embeddings_zero", "embeddings_stale"}


def test_a_kept_report_holds_its_difference_to_the_one_before(log: Log) -> None:
    """LCA-14-07."""
    night(log, well("index", zero=1, stale=1))
    now = replace(well("index", stale=1, orphan_vectors=1), series=SeriesFacts(series.read(log)))
    night(log, now, days=1)

    first, second = (log.body(event) for event in log.read() if event.type == "health")

    assert (first["new"], first["mended"]) == ([], [])
    assert (second["new"], second["mended"]) == (["orphan_vectors"], ["embeddings_zero"])
    schema = json.loads(files("transcript.schema").joinpath("event.schema.json").read_bytes())
    for line in log.workspace.activity.read_bytes().splitlines():
        jsonschema.Draft202012Validator(schema).validate(json.loads(line))


def test_without_a_night_nothing_is_new(log: Log) -> None:
    report = assess(well("index", zero=1))

    assert report.changes == series.Changes()


@pytest.mark.parametrize(
    ("held", "hours", "rate"),
    [
        (({"x": 1.0}, {"x": 4.0}), 24.0, 3.0),
        (({"x": 1.0}, {}, {"x": 4.0}), 12.0, 3.0),
        (({"x": 4.0}, {"x": 1.0}), 48.0, -1.5),
        (({"x": 1.0}, {"x": 4.0}), 19.0, None),
        (({"x": 1.0}, {"y": 4.0}), 24.0, None),
        ((), 24.0, None),
    ],
    ids=["a day", "over one without it", "shrinking", "too close", "one point", "none"],
)
def test_the_rate_of_a_figure(held: tuple[dict[str, float], ...], hours: float, rate: float | None) -> None:
    assert series.rate(points(*held, hours=hours), "x") == rate


def test_a_year_is_thinned_and_its_newest_stays(log: Log) -> None:
    for day in range(25):
        night(log, WELL, days=day)

    read = series.read(log, most=10)

    assert len(read) == 9
    assert read[-1].at == (THEN + timedelta(days=24)).timestamp()


def test_the_table_has_a_line_a_night_and_leaves_out_what_was_not_known() -> None:
    """LCA-12.1-03."""
    lines = series.csv(points({"log_bytes": 12_345_678.0, "latency_p50": 1.5}, {})).splitlines()

    first, second = (dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:])
    assert first["at"] == datetime.fromtimestamp(NOW, UTC).isoformat(timespec="seconds")
    assert (first["log_bytes"], first["latency_p50"], first["vectors"]) == ("12345678", "1.5", "")
    assert (second["log_bytes"], second["level"]) == ("", "ok")


def test_figures_that_are_not_known_or_no_numbers_are_left_out() -> None:
    held = series.figures(well("turns", latencies_ms=()))

    assert "latency_p50" not in held
    assert "rss_mb" not in held
    assert held["chunks"] == 64
