"""The report as metrics, read back by the client's own parser: every number, no text, no name that is not ours."""

from dataclasses import replace

import pytest
from support.health_cases import INDEX, NOW, WELL, cases

pytest.importorskip("prometheus_client", reason="needs the extra metrics")

from prometheus_client.parser import text_string_to_metric_families

from health import prometheus
from health.facts import Facts
from health.known import Area
from health.report import Report, assess
from health.signal import Level, Signal

BAD = assess(replace(WELL, index=replace(INDEX, rows=1_663, distinct=109)))


def samples(report):
    """Every sample by its name and labels (workspace aside): value."""
    found = {}
    for family in text_string_to_metric_families(prometheus.render(report)):
        assert family.type == "gauge"
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("workspace") == report.workspace
            key = (sample.name, *(labels[name] for name in sorted(labels)))
            assert key not in found
            found[key] = sample.value
    return found


def test_level_areas_and_every_signal_are_there():
    found = samples(BAD)

    assert found["recall_level",] == 2
    assert found["recall_report_timestamp_seconds",] == NOW
    assert {key[1]: level for key, level in found.items() if key[0] == "recall_area_level"} == {
        str(area): (2 if area is Area.INDEXING else 0) for area in Area
    }
    levels = {key[2]: level for key, level in found.items() if key[0] == "recall_signal_level"}
    assert levels == {signal.id: int(signal.level) for signal in BAD.signals}
    assert levels["duplicate_ratio"] == 2


def test_figures_stand_with_their_unit_and_mappings_with_their_parts():
    values = {key[1:]: value for key, value in samples(BAD).items() if key[0] == "recall_signal_value"}

    assert values["duplicate_rows", "", "count"] == 1_554
    assert values["recall_latency", "p95", "ms"] == 40
    assert (values["turn_modes", "words", "share"], values["turn_modes", "warm", "share"]) == (0.1, 0.9)
    assert all(unit for _, _, unit in values)


def test_text_and_foreign_names_are_in_no_line():
    canary = "canary-of-a-conversation"
    value = {"rows": 1, canary: 2, "/home/x/canary.md": 3, "0198c1de-aaaa": 4, "text": canary, "nan": float("nan")}
    signals = (
        Signal("stored", value, "count", Level.FAIL, canary, canary, canary, details=(canary,)),
        Signal("chain", canary, "name", Level.OK, canary, canary),
        Signal("head", float("inf"), "count", Level.OK, canary, canary),
        Signal("hook_installed.x\n\x1b[31m" + canary, 1, "count", Level.OK, canary, canary),
    )
    made = prometheus.render(Report("w", NOW, signals))

    assert "canary" not in made
    assert "0198c1de" not in made
    assert "\x1b" not in made
    values = {key[1:]: value for key, value in samples(Report("w", NOW, signals)).items() if "value" in key[0]}
    assert values == {("stored", "rows", "count"): 1}


def test_a_name_with_quotes_and_line_ends_breaks_no_line():
    report = replace(BAD, workspace='a"b\\c\nd')

    assert samples(report)["recall_level",] == 2


@pytest.mark.parametrize("report", [assess(Facts("w", NOW)), *(assess(case.fail) for case in cases().values())])
def test_every_report_can_be_read_back(report):
    assert samples(report)["recall_level",] == report.exit_code
