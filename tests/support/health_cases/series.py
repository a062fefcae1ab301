"""The series of kept reports: copies that come back (LCA-6.1-10), growth, the disk."""

from dataclasses import replace

from health.facts import Facts, IndexFacts, Point, SeriesFacts
from health.facts_machine import DiskFacts
from support.health_cases import DAY, INDEX, NOW, WELL, Case

GB = 10**9


def kept(*figures: dict[str, float]) -> SeriesFacts:
    """Nights one after the other, the last of them yesterday."""
    return SeriesFacts(
        tuple(Point(NOW - DAY * (len(figures) - n), "ok", figures=held) for n, held in enumerate(figures))
    )


def risen(rows: int, distinct: int) -> Facts:
    index: IndexFacts = replace(INDEX, rows=rows, distinct=distinct)
    return replace(WELL, index=index, series=kept({"duplicate_ratio": 0.3}, {"duplicate_ratio": 0.0}))


def growing(a_day: float, free: float) -> Facts:
    """Four weeks of 1 MB a day, then one of another rate."""
    totals = [n * 1e6 for n in range(29)]
    totals += [totals[-1] + n * a_day for n in range(1, 8)]
    series = kept(*({"log_bytes": total} for total in totals))
    return replace(WELL, series=series, disk=DiskFacts(int(free), 10**12))


CASES = {
    "duplicate_trend": Case(
        risen(1000, 990),
        risen(1000, 950),
        ("0.9 points above the lowest of 30 days", "1.0 points above", "5.0 points above"),
        healthy=risen(1000, 991),
    ),
    "sizes_growth": Case(
        growing(4e6, 100e6),
        growing(4e6, 20e6),
        ("2.0 MB a day; before, 1.0 MB", "4.0 MB a day; before, 1.0 MB; the disk is full in 25.0 days", "5.0 days"),
        healthy=growing(2e6, 20e6),
    ),
    "disk_free": Case(
        replace(WELL, disk=DiskFacts(int(1.9 * GB), 20 * GB)),
        replace(WELL, disk=DiskFacts(199_000_000, 20 * GB)),
        ("3.0 GB of 20.0 GB free", "1.9 GB of 20.0 GB free", "199.0 MB of 20.0 GB free"),
        healthy=replace(WELL, disk=DiskFacts(3 * GB, 20 * GB)),
    ),
}
