"""Charts as inline SVG: each with a title, a description and its figures as a table, none with a script."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from health.facts import Point
from health.markup import Html, tag

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 350, 170, 58, 12, 24, 8
ROWS = 60  # of a table: the newest nights; a table of a year is what --csv is for
STEPS = (1, 2, 5, 10)

Figure = Callable[[Point], float | None]
Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Chart:
    """Up to three named figures over time, each in 0 and up; `shown` writes a value for people, with its unit.

    `least` is the smallest step between two marks of the axis. `joined` says that the figure is measured less often
    than once a night: its values are joined, where a gap of any other figure stays a gap.
    """

    title: str
    figures: Mapping[str, Figure]
    shown: Shown
    least: float = 1.0
    joined: bool = False

    def values(self, points: Sequence[Point]) -> dict[str, list[float | None]]:
        """Return the figures' values at each point, None where it holds none."""
        return {name: [of(point) for point in points] for name, of in self.figures.items()}


def lines(id: str, chart: Chart, points: Sequence[Point]) -> Html:
    """Return the chart, its newest values and its figures; ValueError where no point holds a value above 0."""
    values = chart.values(points)
    top = max((value for row in values.values() for value in row if value is not None), default=0.0)
    if top <= 0:
        raise ValueError(f"{chart.title}: nothing to draw")
    first, last = points[0].at, points[-1].at
    marks = _marks(top, chart.least)

    def place(at: float, value: float) -> tuple[float, float]:
        across = (at - first) / (last - first) if last > first else 0.5
        return round(LEFT + across * (WIDTH - LEFT - RIGHT), 1), _height(max(0.0, value) / marks[-1])

    body = [
        tag(
            "path", d="".join(f"M{LEFT} {_height(mark / marks[-1]):g}H{WIDTH - RIGHT}" for mark in marks), class_="axis"
        ),
        *(
            tag("text", chart.shown(mark), x=LEFT - 6, y=_height(mark / marks[-1]) + 4, text_anchor="end")
            for mark in marks
        ),
        tag("text", day(first), x=LEFT, y=HEIGHT - 6),
        *([tag("text", day(last), x=WIDTH - RIGHT, y=HEIGHT - 6, text_anchor="end")] if last > first else []),
        *(
            mark
            for nr, row in enumerate(values.values())
            for mark in _line(nr, [(point.at, value) for point, value in zip(points, row, strict=True)], place, chart)
        ),
    ]
    said = [
        f"{name}: {chart.shown(known[-1])} last, {chart.shown(min(known))} to {chart.shown(max(known))}"
        for name, row in values.items()
        if (known := [value for value in row if value is not None])
    ]
    return tag(
        "figure",
        tag("figcaption", chart.title),
        svg(id, chart.title, f"{day(first)} to {day(last)}. {'. '.join(said)}.", (WIDTH, HEIGHT), body),
        tag("ul", *(tag("li", _key(nr), _legend(chart, *row)) for nr, row in enumerate(values.items())), class_="row"),
        figures(f"{chart.title}: figures", chart, points),
    )


def figures(label: str, chart: Chart, points: Sequence[Point]) -> Html:
    """Return the newest nights' figures as a folded table, the newest first."""
    values = chart.values(points)
    newest = range(len(points) - 1, max(-1, len(points) - 1 - ROWS), -1)
    rows = [
        [_minute(points[nr].at), *(_cell(chart, row[nr]) for row in values.values())]
        for nr in newest
        if any(row[nr] is not None for row in values.values())
    ]
    left = len(points) - len(newest)
    note = tag("p", f"{left:,} older: recall health --csv", class_="soft") if left else None
    return folded(label, table(label, ["kept", *values], rows, numbers=True), note)


def table(label: str, head: Sequence[str], rows: Sequence[Sequence[Html | str]], *, numbers: bool = False) -> Html:
    """Return a table that can be scrolled by keyboard; with numbers, all columns but the first stand to the right."""
    return tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
            tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows)),
            class_="numbers" if numbers else None,
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=label,
    )


def folded(label: str, *content: Html | None) -> Html:
    """Return content that opens at its label."""
    return tag("details", tag("summary", label), *content)


def svg(id: str, title: str, desc: str, size: tuple[int, int], body: Sequence[Html]) -> Html:
    """Return a picture with its title and description; ids within it begin with `id`."""
    return tag(
        "svg",
        tag("title", title, id=f"{id}-title"),
        tag("desc", desc, id=f"{id}-desc"),
        *body,
        viewBox=f"0 0 {size[0]} {size[1]}",
        role="img",
        aria_labelledby=f"{id}-title {id}-desc",
    )


def day(at: float) -> str:
    """Return the day of a moment in UTC: 2026-04-02."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _marks(top: float, least: float) -> list[float]:
    """The values at which the axis is marked: 0, and two to four round ones up to the first that is not below top."""
    power = 10.0 ** math.floor(math.log10(top / 4))
    step = max(least, next(nr * power for nr in STEPS if nr * power >= top / 4))
    return [nr * step for nr in range(math.ceil(round(top / step, 9)) + 1)]


def _height(share: float) -> float:
    return round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)


def _legend(chart: Chart, name: str, row: Sequence[float | None]) -> str:
    newest = next((value for value in reversed(row) if value is not None), None)
    return name if newest is None else f"{name}: {chart.shown(newest)}"


def _cell(chart: Chart, value: float | None) -> str:
    return "" if value is None else chart.shown(value)


def _key(nr: int) -> Html:
    return tag("svg", tag("path", d="M0 6H32", class_=f"s{nr}"), viewBox="0 0 32 12", class_="key", aria_hidden="true")


def _line(
    nr: int,
    row: Sequence[tuple[float, float | None]],
    place: Callable[[float, float], tuple[float, float]],
    chart: Chart,
) -> list[Html]:
    """One path of all pieces: a line stops where nothing is known. A lone value is a dot, all of them one path."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for at, value in row:
        if value is not None:
            pieces[-1].append(place(at, value))
        elif pieces[-1] and not chart.joined:
            pieces.append([])
    drawn = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in _bent(piece)) for piece in pieces if len(piece) > 1)
    dots = "".join(f"M{x:g} {y:g}h0" for piece in pieces if len(piece) == 1 or chart.joined for x, y in piece)
    return [tag("path", d=path, class_=f"{kind}s{nr}") for path, kind in ((drawn, ""), (dots, "dot ")) if path]


def _bent(piece: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a line but those between two of the same height."""
    inner = [
        here
        for before, here, after in zip(piece, piece[1:], piece[2:], strict=False)
        if not before[1] == here[1] == after[1]
    ]
    return [piece[0], *inner, piece[-1]]


def _minute(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
