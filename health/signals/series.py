"""The series of kept reports: copies that come back, growth against the disk, how much of it is free."""

from statistics import median

from health.facts import Facts, Point
from health.known import Area, Known, indexed, one
from health.series import rate, stored_bytes
from health.signal import Level, Limits, Signal, size, span

TREND = Limits(warn=0.009999, fail=0.049999)  # from 1 and 5 points on; the ratio has six places
TREND_DAYS = 30
WEEK = 7
WARN_FULL_DAYS, FAIL_FULL_DAYS = 30.0, 7.0
FASTER = 3.0
WARN_FREE, WARN_FREE_SHARE, FAIL_FREE = 2e9, 0.05, 200e6
_DAY = 86_400.0


def duplicate_trend(facts: Facts) -> Signal:
    """Return by how much the duplicate ratio has risen above its lowest of the last 30 days."""
    index = facts.index
    now = (index.rows - index.distinct) / index.rows if index.rows else 0.0
    since = facts.now - TREND_DAYS * _DAY
    held = [p for p in facts.series.points if since <= p.at <= facts.now and "duplicate_ratio" in p.figures]
    lowest = min(held, key=lambda point: point.figures["duplicate_ratio"], default=None)
    rise = max(0.0, round(now - lowest.figures["duplicate_ratio"], 6)) if lowest else 0.0
    level = TREND.level(rise)
    text = "no earlier report to compare with"
    if lowest is not None:
        text = f"{rise * 100:.1f} points above the lowest of {TREND_DAYS} days, {span(facts.now - lowest.at)} ago"
    return Signal(
        id="duplicate_trend",
        value=rise,
        unit="ratio",
        level=level,
        text=text,
        meaning="Copies that come back are written by something; one that was mended once must not.",
        action="run 'recall index compact'; if copies return, something else writes this index" if level else "",
        limits=TREND,
    )


def sizes_growth(facts: Facts) -> Signal:
    """Return the bytes a day that record and index grew lately, and when the disk is full at that rate."""
    points, free = facts.series.points, facts.disk.free_bytes
    last, earlier = _rates(points)
    days = free / last if free is not None and last and last > 0 else None
    level, text = Level.OK, "not known: fewer than two nights were kept"
    if last is not None:
        text = f"{size(last)} a day" + (f"; before, {size(earlier)}" if earlier is not None else "")
        if days is not None and days < FAIL_FULL_DAYS:
            level = Level.FAIL
        elif days is not None and days < WARN_FULL_DAYS and (earlier is None or last > FASTER * max(earlier, 0.0)):
            level = Level.WARN
        text += f"; the disk is full in {span(days * _DAY)} at this rate" if level and days is not None else ""
    return Signal(
        id="sizes_growth",
        value=None if last is None else round(last),
        unit="bytes/day",
        level=level,
        text=text,
        meaning="How fast record and index grow; what was taken in stays until a person lets it go.",
        action="run 'recall retention --older-than 365d --dry-run' to see what may go, or give the disk room"
        if level
        else "",
    )


def disk_free(facts: Facts) -> Signal:
    """Return how much of the disk that holds the data is free."""
    free, total = facts.disk.free_bytes, facts.disk.total_bytes
    level, text = Level.OK, "not known"
    if free is not None:
        text = size(free) + (f" of {size(total)}" if total else "") + " free"
        few = free < WARN_FREE or bool(total and free < WARN_FREE_SHARE * total)
        level = Level.FAIL if free < FAIL_FREE else Level.WARN if few else Level.OK
    return Signal(
        id="disk_free",
        value=free,
        unit="bytes",
        level=level,
        text=text,
        meaning="A full disk takes nothing in: turns go on, and what happened in them is not kept.",
        action="give the disk that holds the data room; 'recall retention --older-than 365d --dry-run' says what may go"
        if level
        else "",
    )


def _rates(points: tuple[Point, ...]) -> tuple[float | None, float | None]:
    """Return the growth in bytes a day of the newest week, and the median of the weeks before it."""
    weeks: list[float] = []
    if not points:
        return None, None
    newest = points[-1].at
    while newest - len(weeks) * WEEK * _DAY > points[0].at:
        end = newest - len(weeks) * WEEK * _DAY
        inside = [p for p in points if end - WEEK * _DAY <= p.at <= end]
        totals = tuple(Point(p.at, p.level, figures={"stored": stored_bytes(p)}) for p in inside)
        found = rate(totals, "stored")
        if found is None:
            break
        weeks.append(found)
    return (weeks[0] if weeks else None), (median(weeks[1:]) if len(weeks) > 1 else None)


KNOWN = (
    Known(
        "duplicate_trend",
        indexed(duplicate_trend),
        Area.INDEXING,
        "index.sqlite, series",
        warn=">= 1 point above the lowest of 30 days",
        fail=">= 5 points above it",
        remedy="index compact",
        safe=True,
        rows="LCA-6.1-10",
    ),
    Known(
        "sizes_growth",
        one(sizes_growth),
        Area.RECORD,
        "series, disk",
        warn="> 3 times earlier weeks and the disk full within 30 days",
        fail="the disk full within 7 days",
        remedy="retention --older-than 365d --dry-run",
        rows="LCA-5.4-09, LCA-12.1-02",
    ),
    Known(
        "disk_free",
        one(disk_free),
        Area.RECORD,
        "the disk that holds the data",
        warn="< 2 GB or 5 %",
        fail="< 200 MB",
    ),
)
