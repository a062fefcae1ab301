"""Charts as inline SVG: each with a title, a description and the same figures as a table, none with a script."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from health.facts import Point
from health.markup import Html, tag
from transcript.telling import counted

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 350, 170, 58, 12, 24
CELL, STEP, MONTH_ROW = 9, 11, 14
WEEKS = 53
CALENDAR_LEFT = 28

Figure = Callable[[Point], float | None]
Shown = Callable[[float], str]


def lines(id: str, title: str, points: Sequence[Point], drawn: Mapping[str, Figure], shown: Shown) -> Html:
    """Return a chart of up to three named figures over time; `shown` writes a value for people.

    A figure that a point does not hold leaves a gap. Without any value the chart says so in words.
    """
    values = {name: [(point.at, of(point)) for point in points] for name, of in drawn.items()}
    held = [value for row in values.values() for _, value in row if value is not None]
    if not held:
        return tag("figure", tag("figcaption", title), tag("p", "no night has kept this figure yet", class_="soft"))
    top = max(held) or 1.0
    first, last = points[0].at, points[-1].at

    def place(at: float, value: float) -> tuple[float, float]:
        across = (at - first) / (last - first) if last > first else 0.5
        x = LEFT + across * (WIDTH - LEFT - 8)
        return round(x, 1), round(TOP + (1 - max(0.0, value) / top) * (HEIGHT - TOP - BOTTOM), 1)

    said = [
        f"{name}: {shown(known[-1])} last, {shown(min(known))} to {shown(max(known))}"
        for name, row in values.items()
        if (known := [value for _, value in row if value is not None])
    ]
    base = HEIGHT - BOTTOM
    body = [
        tag("path", d=f"M{LEFT} {TOP}V{base}H{WIDTH - 8}", class_="axis", fill="none"),
        tag("text", shown(top), x=LEFT - 6, y=TOP + 8, text_anchor="end"),
        tag("text", shown(0), x=LEFT - 6, y=base, text_anchor="end"),
        tag("text", _day(first), x=LEFT, y=HEIGHT - 6),
        *([tag("text", _day(last), x=WIDTH - 8, y=HEIGHT - 6, text_anchor="end")] if last > first else []),
        *(mark for nr, row in enumerate(values.values()) for mark in _line(nr, row, place)),
    ]
    return tag(
        "figure",
        tag("figcaption", title),
        _svg(id, title, f"{_day(first)} to {_day(last)}. {'. '.join(said)}.", (WIDTH, HEIGHT), body),
        tag("ul", *(tag("li", _key(nr), name) for nr, name in enumerate(values)), class_="row"),
        _table(
            f"{title}: figures",
            ["kept", *values],
            [
                [
                    _minute(point.at),
                    *("" if row[nr][1] is None else shown(row[nr][1] or 0.0) for row in values.values()),
                ]
                for nr, point in reversed(list(enumerate(points)))
            ],
        ),
    )


def calendar(id: str, harness: str, days: Mapping[date, int], until: date) -> Html:
    """Return a year of days up to `until`, one square each, the darker (in light) the more was taken in that day."""
    start = until - timedelta(days=7 * (WEEKS - 1) + until.weekday())
    inside = {day: number for day, number in days.items() if start <= day <= until and number > 0}
    most = max(inside.values(), default=0)
    empty, body = [], []
    for nr in range((until - start).days + 1):
        day = start + timedelta(days=nr)
        x, y = CALENDAR_LEFT + nr // 7 * STEP, MONTH_ROW + nr % 7 * STEP
        if day.day == 1 and nr // 7 < WEEKS - 2:
            body.append(tag("text", f"{day:%b}", x=x, y=10))
        if day not in inside:
            empty.append(f"M{x} {y}h{CELL}v{CELL}h-{CELL}z")
            continue
        label = tag("title", f"{day.isoformat()}: {counted(inside[day], 'turn')}")
        shade = 1 + min(3, 4 * (inside[day] - 1) // most)
        body.append(tag("rect", label, x=x, y=y, width=CELL, height=CELL, class_=f"d{shade}"))
    for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri")):
        body.append(tag("text", name, x=0, y=MONTH_ROW + row * STEP + CELL))
    total = sum(inside.values())
    said = f"{counted(total, 'turn')} on {counted(len(inside), 'day')} from {start.isoformat()} to {until.isoformat()}"
    title = f"{harness}: {said}"
    size = (CALENDAR_LEFT + WEEKS * STEP, MONTH_ROW + 7 * STEP)
    return tag(
        "figure",
        tag("figcaption", harness),
        tag("p", said, class_="soft"),
        _svg(
            id,
            title,
            f"At most {counted(most, 'turn')} a day.",
            size,
            [tag("path", d="".join(empty), class_="d0"), *body],
        ),
        _table(
            f"{harness}: days",
            ["day", "turns"],
            [[day.isoformat(), f"{inside[day]:,}"] for day in sorted(inside, reverse=True)],
        ),
        class_="wide",
    )


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


def _table(label: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    return tag("details", tag("summary", label), table(label, head, rows, numbers=True))


def _svg(id: str, title: str, desc: str, size: tuple[int, int], body: Sequence[Html]) -> Html:
    return tag(
        "svg",
        tag("title", title, id=f"{id}-title"),
        tag("desc", desc, id=f"{id}-desc"),
        *body,
        viewBox=f"0 0 {size[0]} {size[1]}",
        role="img",
        aria_labelledby=f"{id}-title {id}-desc",
    )


def _key(nr: int) -> Html:
    return tag("svg", tag("path", d="M0 6H32", class_=f"s{nr}"), viewBox="0 0 32 12", class_="key", aria_hidden="true")


def _line(
    nr: int, row: Sequence[tuple[float, float | None]], place: Callable[[float, float], tuple[float, float]]
) -> list[Html]:
    """The pieces of one line: it stops where nothing is known, and a lone value is a dot."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for at, value in row:
        if value is not None:
            pieces[-1].append(place(at, value))
        elif pieces[-1]:
            pieces.append([])
    drawn = []
    for piece in filter(None, pieces):
        if len(piece) == 1:
            drawn.append(tag("circle", cx=piece[0][0], cy=piece[0][1], r=3, class_=f"dot s{nr}"))
        else:
            drawn.append(tag("path", d="M" + "L".join(f"{x:g} {y:g}" for x, y in piece), class_=f"s{nr}"))
    return drawn


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _minute(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
