"""A year of days as two halves of a calendar, beside each other or one above the other, with its figures as a table."""

from collections.abc import Mapping
from datetime import date, timedelta

from health.charts import folded, svg, table
from health.markup import Html, tag
from transcript.telling import counted

CELL, STEP, TOP, LEFT = 9, 11, 14, 28
HALF = 27  # weeks
SHADES = 4
WEEK = timedelta(days=7)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def calendar(id: str, harness: str, days: Mapping[date, int], until: date) -> Html:
    """Return the days up to `until` that a harness's turns were taken in, a square each, its shade the number of turns.

    The older half of the year is left out where nothing was taken in then.
    """
    newer = until - timedelta(days=until.weekday()) - (HALF - 1) * WEEK
    start = newer - HALF * WEEK
    inside = {day: number for day, number in days.items() if start <= day <= until and number > 0}
    most = max(inside.values(), default=0)
    halves = [(newer, until)]
    if any(day < newer for day in inside):
        halves.insert(0, (start, newer - timedelta(days=1)))
    return tag(
        "figure",
        tag("figcaption", harness),
        tag("p", _said(inside), " from ", tag("time", f"{start}"), " to ", tag("time", f"{until}"), class_="soft"),
        tag(
            "div", *(_half(f"{id}-{nr}", harness, inside, *half, most) for nr, half in enumerate(halves)), class_="year"
        ),
        _scale(most) if most else None,
        folded(f"{harness}: days", _weeks(harness, inside)),
        class_="wide",
    )


def _said(inside: Mapping[date, int]) -> str:
    return f"{counted(sum(inside.values()), 'turn')} on {counted(len(inside), 'day')}"


def _half(id: str, harness: str, inside: Mapping[date, int], start: date, until: date, most: int) -> Html:
    """One path a shade: a year of squares that are each an element takes a browser longer than all the rest."""
    squares = [""] * (SHADES + 1)
    months = []
    held = {day: number for day, number in inside.items() if start <= day <= until}
    for nr in range((until - start).days + 1):
        day = start + timedelta(days=nr)
        x, y = LEFT + nr // 7 * STEP, TOP + nr % 7 * STEP
        squares[_shade(held.get(day, 0), most)] += f"M{x} {y}h{CELL}v{CELL}h-{CELL}z"
        if day.day == 1 and nr // 7 < HALF - 1:
            months.append(tag("text", f"{day:%b}", x=x, y=10))
    body = [
        *(tag("path", d=path, class_=f"d{shade}") for shade, path in enumerate(squares) if path),
        *months,
        *(tag("text", DAYS[row], x=0, y=TOP + row * STEP + CELL) for row in (0, 2, 4, 6)),
    ]
    said = f"{_said(held)} from {start} to {until}, at most {max(held.values(), default=0):,} a day."
    return svg(id, f"{harness}, {start:%B %Y} to {until:%B %Y}", said, (LEFT + HALF * STEP, TOP + 7 * STEP), body)


def _shade(number: int, most: int) -> int:
    return 0 if number < 1 else 1 + min(SHADES - 1, SHADES * (number - 1) // most)


def _scale(most: int) -> Html:
    """What each shade stands for; with few turns a day some shades stand for none."""
    lowest = {shade: 1 - (1 - shade) * most // SHADES for shade in range(1, SHADES + 1)}
    used = [shade for shade, number in lowest.items() if number <= most and _shade(number, most) == shade]
    keys = [(0, "none")]
    for shade, after in zip(used, [*used[1:], 0], strict=True):
        low, high = lowest[shade], lowest[after] - 1 if after else most
        keys.append((shade, f"{low:,}" if low == high else f"{low:,} to {high:,}"))
    return tag(
        "ul", *(tag("li", _square(shade), words) for shade, words in keys), tag("li", "turns a day"), class_="row soft"
    )


def _square(shade: int) -> Html:
    square = tag("path", d=f"M0 0h{CELL}v{CELL}h-{CELL}z", class_=f"d{shade}")
    return tag("svg", square, viewBox=f"0 0 {CELL} {CELL}", class_="square", aria_hidden="true")


def _weeks(harness: str, inside: Mapping[date, int]) -> Html:
    weeks = sorted({day - timedelta(days=day.weekday()) for day in inside}, reverse=True)
    rows = [[week.isoformat(), *(_number(inside.get(week + timedelta(days=nr))) for nr in range(7))] for week in weeks]
    return table(f"{harness}: days", ["week of", *DAYS], rows, numbers=True)


def _number(turns: int | None) -> str:
    return f"{turns:,}" if turns else ""
