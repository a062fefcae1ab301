"""What nights kept, drawn: latency, tokens, use, quality, copies, failures, sizes."""

from collections.abc import Sequence

from health.charts import Chart, Figure, lines
from health.facts import Point
from health.markup import Html, join, tag
from health.series import stored_bytes
from health.signal import size
from transcript.telling import counted


def over_time(points: Sequence[Point]) -> Html:
    """Return a chart for each figure that was ever above 0; those that never were, or are not known, are named."""
    if not points:
        return tag(
            "p",
            "Nothing to draw yet: charts are made of the reports that nights keep. ",
            tag("code", "recall schedule install"),
            " has one made every night.",
        )
    tops = {chart.title: _top(chart, points) for chart in CHARTS}
    drawn = [lines(f"chart-{nr}", chart, points) for nr, chart in enumerate(CHARTS) if tops[chart.title]]
    zero = [chart for chart in CHARTS if tops[chart.title] == 0]
    unknown = [chart.title for chart in CHARTS if tops[chart.title] is None]
    return join(
        tag("div", *drawn, class_="charts") if drawn else None,
        *(
            tag("p", tag("b", chart.title), f": {chart.shown(0)} in {counted(len(points), 'kept report')}.")
            for chart in zero
        ),
        tag("p", f"No night has kept these figures yet: {'; '.join(unknown)}.", class_="soft") if unknown else None,
    )


def _top(chart: Chart, points: Sequence[Point]) -> float | None:
    return max((v for row in chart.values(points).values() for v in row if v is not None), default=None)


def _of(name: str) -> Figure:
    return lambda point: point.figures.get(name)


def _stored(point: Point) -> float | None:
    return stored_bytes(point) or None


def _silent(point: Point) -> float | None:
    seen, empty = point.figures.get("turns"), point.figures.get("empty")
    return empty / seen if seen and empty is not None else None


def _share(value: float) -> str:
    return f"{value:.0%}"


def _number(value: float) -> str:
    return f"{value:,.0f}"


CHARTS = (
    Chart(
        "Time a turn waits",
        {"median": _of("latency_p50"), "95th percentile": _of("latency_p95")},
        lambda v: f"{v:,.0f} ms",
    ),
    Chart("Tokens a turn is given", {"median": _of("tokens_p50"), "95th percentile": _of("tokens_p95")}, _number),
    Chart("Turns that were given nothing", {"share": _silent}, _share, least=0.01),
    Chart("Recalled items that were used", {"share": _of("items_used_share")}, _share, least=0.01),
    Chart(
        "Rank of what was asked for (100% is first)",
        {"mean": _of("mrr"), "95% interval from": _of("mrr_low"), "to": _of("mrr_high")},
        _share,
        least=0.01,
        joined=True,
    ),
    Chart("Duplicate rows", {"share of the index": _of("duplicate_ratio")}, lambda v: f"{v:.2%}", least=0.0001),
    Chart(
        "Failures",
        {"embeddings": _of("failed"), "hooks": _of("hook_failures"), "deadlines missed": _of("misses")},
        _number,
    ),
    Chart("Size on disk", {"record and index": _stored, "index": _of("index_bytes")}, size),
)
