"""The calendars of the page: each half of the year says its own most."""

import re
from datetime import date

from health.calendars import calendar


def test_each_half_of_the_year_tells_the_most_of_its_own_days():
    """The shades are of the whole year; a half without a turn is not said to hold as many as the other."""
    page = str(calendar("c", "codex", {date(2026, 1, 5): 184, date(2026, 2, 3): 9}, date(2026, 11, 30)))

    assert re.findall(r"at most ([\d,]+) a day", page) == ["184", "0"]
