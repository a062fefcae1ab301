"""The health report as Prometheus metrics in text, for a textfile collector. It needs the extra `metrics`."""

import math
import re
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import generate_latest

from health.known import Area
from health.report import Report

# A key of a value that is a name of ours. What harnesses, files and sessions are called is not put into labels.
_PART = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SIGNAL = re.compile(r"[A-Za-z0-9_.-]{1,80}")


def render(report: Report) -> str:
    """Return the report's levels (0 ok, 1 warn, 2 fail) and numbers, one line each, without any text of it.

    A value that is a mapping gives a line for each number in it, its key as `part`; what is no number gives none.
    """
    registry = CollectorRegistry()

    def gauge(name: str, help: str, *labels: str) -> Gauge:
        return Gauge(name, help, ("workspace", *labels), registry=registry)

    level = gauge("recall_level", "Worst level of all signals: 0 ok, 1 warn, 2 fail.")
    areas = gauge("recall_area_level", "Worst level of an area's signals: 0 ok, 1 warn, 2 fail.", "area")
    signals = gauge("recall_signal_level", "Level of a signal: 0 ok, 1 warn, 2 fail.", "id", "area")
    values = gauge("recall_signal_value", "Figure of a signal, in its unit.", "id", "unit", "part")
    at = gauge("recall_report_timestamp_seconds", "When the report was made, in seconds since 1970.")
    level.labels(report.workspace).set(report.level)
    at.labels(report.workspace).set(report.at)
    for area in Area:
        areas.labels(report.workspace, area).set(report.area(area))
        for signal in report.of_area(area):
            if not _SIGNAL.fullmatch(signal.id):
                continue
            signals.labels(report.workspace, signal.id, area).set(signal.level)
            for part, number in _numbers(signal.value):
                values.labels(report.workspace, signal.id, signal.unit, part).set(number)
    return generate_latest(registry).decode()


def _numbers(value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str) and _PART.fullmatch(key) and _is_number(inner):
                yield key, float(inner)
    elif isinstance(value, (int, float)) and _is_number(value):
        yield "", float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)
