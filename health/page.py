"""The health report as one HTML page: no script, no request, light and dark, readable without a mouse."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

from health import charts
from health.charts import Figure, Shown
from health.facts import Point
from health.known import Area
from health.layout import CARD, one_line, since
from health.markup import Html, join, page, tag
from health.report import Report
from health.series import stored_bytes
from health.signal import Level, Signal, size
from health.style import STYLE
from recall.version import VERSION
from transcript.telling import counted, minute

MOST_DETAILS = 20  # of one signal; --json has all of them


def render(report: Report, captures: Mapping[str, Mapping[date, int]]) -> str:
    """Return the report as a page of its own.

    `captures` gives for each harness the turns taken in by day. Problems come first; each signal has the anchor
    `#signal-<id>`. Texts and lists of details are cut where they are long, and say so.
    """
    return page(f"recall health: {_level(report.level)}", body(report, captures), style=STYLE)


def body(report: Report, captures: Mapping[str, Mapping[date, int]]) -> Html:
    """Return the page's content: heading, problems, charts, calendars and every signal."""
    return join(
        tag("header", tag("h1", "recall health: ", badge(report.level)), summary(report)),
        tag("main", sections(report, captures)),
    )


def summary(report: Report) -> Html:
    """Return what stands first: of what and when it is, the figures told before others, areas, changes, the sections."""
    return join(
        tag("p", f"workspace {report.workspace} · {minute(report.at)} · recall {VERSION}", class_="soft"),
        _cards(report),
        _areas(report),
        _changes(report),
        tag(
            "nav",
            tag("ul", *(tag("li", tag("a", text, href=f"#{id}")) for id, text in _SECTIONS)),
            aria_label="page",
        ),
    )


def sections(report: Report, captures: Mapping[str, Mapping[date, int]]) -> Html:
    """Return the sections: problems, charts, calendars and every signal; their headings are of the second level."""
    bad = sorted((s for s in report.signals if s.level), key=lambda s: -s.level)
    return join(
        _section("problems", *([problem(s) for s in bad] or [tag("p", "Nothing is wrong.")])),
        _section("charts", _nights(report.series)),
        _section("captures", *_calendars(captures, report.at)),
        _section("signals", *(_signals(report, area) for area in Area)),
    )


_SECTIONS = (
    ("problems", "Problems"),
    ("charts", "Nights"),
    ("captures", "Turns taken in, by day"),
    ("signals", "All signals"),
)


def _section(id: str, *content: Html) -> Html:
    return tag(
        "section", tag("h2", dict(_SECTIONS)[id], id=f"{id}-head"), *content, id=id, aria_labelledby=f"{id}-head"
    )


def _cards(report: Report) -> Html:
    held = {signal.id: signal for signal in report.signals}
    cards = [
        tag(
            "div",
            tag("dt", id.replace("_", " ")),
            tag(
                "dd",
                join(badge(held[id].level), " ", one_line(held[id].text)) if id in held else "not known: no index",
            ),
        )
        for id in CARD
    ]
    return tag("dl", *cards, class_="cards")


def _areas(report: Report) -> Html:
    return tag("ul", *(tag("li", f"{area} ", badge(report.area(area))) for area in Area), class_="row")


def _changes(report: Report) -> Html:
    return tag("p", since(report) or "No night has kept a report yet: nothing to compare with.", class_="soft")


def problem(signal: Signal) -> Html:
    """Return a problem under its anchor: level, id, figure, meaning, details, and what to do."""
    details = [tag("li", one_line(detail)) for detail in signal.details[:MOST_DETAILS]]
    left = len(signal.details) - len(details)
    if left > 0:
        details.append(tag("li", f"and {left:,} more; recall health --json lists them"))
    return tag(
        "article",
        tag("h3", badge(signal.level), f" {signal.id}", id=f"{_anchor(signal.id)}-head"),
        tag("p", one_line(signal.text)),
        tag("p", one_line(signal.meaning), class_="soft"),
        tag("ul", *details) if details else None,
        tag("p", _commands(one_line(signal.action))) if signal.action else None,
        id=_anchor(signal.id),
        class_=_level(signal.level),
        aria_labelledby=f"{_anchor(signal.id)}-head",
    )


def _nights(points: Sequence[Point]) -> Html:
    if not points:
        return tag("p", "Nothing to draw yet: charts are made of the reports that nights keep.")
    return tag("div", *_charts(points), class_="charts")


def _charts(points: Sequence[Point]) -> list[Html]:
    drawn: tuple[tuple[str, dict[str, Figure], Shown], ...] = (
        (
            "Time a turn waits",
            {"median": _of("latency_p50"), "95th percentile": _of("latency_p95")},
            lambda v: f"{v:,.0f} ms",
        ),
        (
            "Tokens a turn is given",
            {"median": _of("tokens_p50"), "95th percentile": _of("tokens_p95")},
            lambda v: f"{v:,.0f}",
        ),
        ("Duplicate rows", {"share of the index": _of("duplicate_ratio")}, lambda v: f"{v:.2%}"),
        (
            "Failures",
            {"embeddings": _of("failed"), "hooks": _of("hook_failures"), "deadlines": _of("misses")},
            lambda v: f"{v:,.0f}",
        ),
        ("Size on disk", {"record and index": _stored, "index": _of("index_bytes")}, size),
        ("Recalled items that were used", {"share": _of("items_used_share")}, lambda v: f"{v:.0%}"),
        (
            "Recall quality (rank of what was asked for; 100 % is first)",
            {"mean": _of("mrr"), "95 % interval, low": _of("mrr_low"), "high": _of("mrr_high")},
            lambda v: f"{v:.0%}",
        ),
        ("Turns", {"looked at": _of("turns"), "given nothing": _of("empty")}, lambda v: f"{v:,.0f}"),
    )
    return [charts.lines(f"chart-{nr}", title, points, of, shown) for nr, (title, of, shown) in enumerate(drawn)]


def _of(name: str) -> Figure:
    return lambda point: point.figures.get(name)


def _stored(point: Point) -> float | None:
    return stored_bytes(point) or None


def _calendars(captures: Mapping[str, Mapping[date, int]], at: float) -> list[Html]:
    until = datetime.fromtimestamp(at, UTC).date()
    found = [charts.calendar(f"days-{nr}", name, days, until) for nr, (name, days) in enumerate(captures.items())]
    return found or [tag("p", "No turn of the last year is in the record.")]


def _signals(report: Report, area: Area) -> Html:
    rows = [
        [tag("span", _parted(s.id), id=None if s.level else _anchor(s.id)), badge(s.level), one_line(s.text)]
        for s in report.of_area(area)
    ]
    if not rows:
        return Html("")
    return tag(
        "details",
        tag("summary", f"{area}: {counted(len(rows), 'signal')}"),
        charts.table(f"signals of {area}", ["signal", "level", "figure"], rows),
        open=True,
    )


def badge(level: Level) -> Html:
    """Return a level as a word in its colour."""
    return tag("span", _level(level), class_=f"level {_level(level)}")


def _level(level: Level) -> str:
    return level.name.lower()


def _anchor(id: str) -> str:
    return "signal-" + re.sub(r"[^A-Za-z0-9_.-]", "-", id)


def _parted(id: str) -> Html:
    """The id, which a narrow screen breaks between its words and not within one."""
    return join(*(join(part, tag("wbr")) if nr % 2 else part for nr, part in enumerate(re.split("([_.])", id))))


def _commands(action: str) -> Html:
    """The action, with what is to be typed ('recall …') set as code."""
    return join(
        *(tag("code", part) if nr % 2 else part for nr, part in enumerate(re.split(r"'(recall [^']*)'", action)))
    )
