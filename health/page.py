"""The health report as one HTML page: no script, no request, light and dark, readable without a mouse."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

from health.calendars import calendar
from health.charts import table
from health.known import Area
from health.layout import CARD, one_line, since
from health.markup import Html, join, page, tag
from health.over_time import over_time
from health.report import Report
from health.signal import Level, Signal
from health.style import STYLE
from recall.version import VERSION
from transcript.telling import counted, minute

_TYPED = re.compile(r"(?:(?<=run )|(?='recall ))'([^']*)'")
ALL_DETAILS = 400
MOST_DETAILS = 10  # of one signal; --json has all of them


def render(report: Report, captures: Mapping[str, Mapping[date, int]]) -> str:
    """Return the report as a page of its own.

    `captures` gives for each harness the turns taken in by day. Problems come first; each signal has the anchor
    `#signal-<id>`. Texts and lists of details are cut where they are long, and say so.
    """
    name = f" of {report.project}" if report.project else ""
    return page(f"recall health{name}: {_level(report.level)}", body(report, captures), style=STYLE)


def body(report: Report, captures: Mapping[str, Mapping[date, int]]) -> Html:
    """Return the page's content: heading, problems, charts, calendars and every signal."""
    return join(
        tag("header", tag("h1", "recall health: ", badge(report.level)), summary(report)),
        tag("main", sections(report, captures)),
    )


def summary(report: Report) -> Html:
    """Return what stands first: of what and when it is, the two figures, areas, what is new, links to the sections."""
    return join(
        tag(
            "p",
            join(tag("strong", one_line(report.project)), " · ") if report.project else None,
            f"workspace {report.workspace} · ",
            tag("time", minute(report.at)),
            f" · recall {VERSION}",
            class_="soft",
        ),
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
    most = max(1, min(MOST_DETAILS, ALL_DETAILS // max(1, len(bad))))  # where all is wrong the page stays small
    return join(
        _section(
            "problems", *([_HOW, *(problem(s, most=most) for s in bad)] if bad else [tag("p", "Nothing is wrong.")])
        ),
        _section("charts", over_time(report.series)),
        _section("captures", *_calendars(captures, report.at)),
        _section("signals", *(_signals(report, area) for area in Area)),
    )


_SECTIONS = (
    ("problems", "Problems"),
    ("charts", "Over time"),
    ("captures", "Turns taken in, by day"),
    ("signals", "All signals"),
)


_HOW = tag(
    "p",
    tag("code", "recall doctor SIGNAL"),
    " explains one and shows its evidence; with ",
    tag("code", "--fix"),
    " it runs what is safe, after asking.",
    class_="soft",
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


def problem(signal: Signal, *, most: int = MOST_DETAILS) -> Html:
    """Return a problem under its anchor: level, id, figure, meaning, at most so many details, what to do."""
    details = [tag("li", one_line(detail)) for detail in signal.details[:most]]
    left = len(signal.details) - len(details)
    if left > 0:
        details.append(tag("li", f"and {left:,} more; recall health --json lists them"))
    return tag(
        "article",
        tag("h3", badge(signal.level), f" {signal.id}", id=f"{_anchor(signal.id)}-head"),
        tag("p", _commands(one_line(signal.text))),
        tag("p", _commands(one_line(signal.meaning)), class_="soft"),
        tag("ul", *details) if details else None,
        tag("p", tag("b", "To do: "), _commands(one_line(signal.action)), class_="todo") if signal.action else None,
        id=_anchor(signal.id),
        class_=_level(signal.level),
        aria_labelledby=f"{_anchor(signal.id)}-head",
    )


def _calendars(captures: Mapping[str, Mapping[date, int]], at: float) -> list[Html]:
    until = datetime.fromtimestamp(at, UTC).date()
    found = [calendar(f"days-{nr}", name, days, until) for nr, (name, days) in enumerate(captures.items())]
    return found or [tag("p", "No turn of the last year is in the record.")]


def _signals(report: Report, area: Area) -> Html:
    rows = [[_name(s), badge(s.level), _commands(one_line(s.text))] for s in report.of_area(area)]
    if not rows:
        return Html("")
    return tag(
        "details",
        tag("summary", f"{area}: {counted(len(rows), 'signal')}"),
        table(f"signals of {area}", ["signal", "level", "what it says"], rows),
        open=True,
    )


def _name(signal: Signal) -> Html:
    """A signal's name, which leads to what is wrong, and is itself the anchor of one that is well."""
    if signal.level:
        return tag("a", _parted(signal.id), href=f"#{_anchor(signal.id)}")
    return tag("span", _parted(signal.id), id=_anchor(signal.id))


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


def _commands(text: str) -> Html:
    """A text, with what is to be typed ('recall …', or after "run") set as code."""
    return join(*(tag("code", part) if nr % 2 else part for nr, part in enumerate(_TYPED.split(text))))
