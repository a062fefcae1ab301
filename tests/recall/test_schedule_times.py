"""One night for each local date, whatever the clocks do."""

import time as system_time
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from recall.schedule_times import Due, due_on, is_due, jitter, last_due, missed

ZONES = ["Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kolkata"]
NIGHTS = (date(2028, 12, 31) - date(2024, 1, 1)).days


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("at", [time(0, 0), time(1, 45), time(2, 30), time(3, 17), time(23, 59)], ids=str)
def test_each_local_date_of_five_years_has_one_night_and_they_follow_each_other(zone, at):
    """Every change of the clocks from 2024 to 2028 and both leap days lie in between."""
    place = ZoneInfo(zone)
    nights = [due_on(date(2024, 1, 1) + timedelta(days=n), at, place) for n in range(NIGHTS)]

    gaps = {after.moment - before.moment for before, after in pairwise(nights)}

    assert min(gaps) >= timedelta(hours=22, minutes=30)
    assert max(gaps) <= timedelta(hours=25)
    assert all(night.moment.astimezone(place).date() == night.day for night in nights)


@pytest.mark.parametrize("zone", ZONES)
def test_somebody_who_looks_each_hour_runs_each_night_once(zone):
    """The same instants as the hourly call has them, through both changes of a year."""
    place, at, last, ran = ZoneInfo(zone), time(2, 30), date(2025, 12, 31), []
    moment, end = datetime(2026, 1, 1, 12, 7, tzinfo=UTC), datetime(2027, 1, 1, 12, tzinfo=UTC)
    while moment < end:
        due = last_due(moment, at, place)
        if is_due(due, last):
            assert missed(due, last) == 0
            last = due.day
            ran.append(last)
        moment += timedelta(hours=1)

    assert ran == [date(2026, 1, 1) + timedelta(days=n) for n in range(366)]


@pytest.mark.parametrize(
    ("zone", "day", "at", "expected"),
    [
        ("Europe/Berlin", date(2026, 3, 29), time(2, 30), "2026-03-29T01:00"),  # 02:00 becomes 03:00: at 03:00
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), "2026-10-25T00:30"),  # the first of two, in summer time
        ("America/New_York", date(2028, 2, 29), time(3, 17), "2028-02-29T08:17"),
        ("Africa/Cairo", date(2026, 4, 24), time(0, 30), "2026-04-23T22:00"),  # midnight becomes 01:00
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 10), "2026-10-03T15:30"),  # half an hour: at 02:30
    ],
)
def test_a_wall_time_that_is_missing_or_there_twice(zone, day, at, expected):
    assert due_on(day, at, ZoneInfo(zone)).moment == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_the_moment_itself_is_due_and_a_second_before_it_is_not():
    at, moment = time(3, 17), datetime(2026, 6, 2, 3, 17, tzinfo=UTC)

    assert last_due(moment, at, UTC).day == date(2026, 6, 2)
    assert last_due(moment - timedelta(seconds=1), at, UTC).day == date(2026, 6, 1)


def test_after_three_days_asleep_one_night_is_due_and_two_were_missed():
    due = last_due(datetime(2026, 6, 5, 9, tzinfo=UTC), time(3, 17), UTC)

    assert is_due(due, date(2026, 6, 2))
    assert missed(due, date(2026, 6, 2)) == 2
    assert not is_due(due, due.day)


def test_a_traveller_has_no_second_night_and_a_wrong_clock_does_not_stop_the_nights_for_years():
    due = Due(date(2026, 6, 5), datetime(2026, 6, 5, 3, 17, tzinfo=UTC))

    assert not is_due(due, date(2026, 6, 6))  # it ran further east
    assert is_due(due, date(2038, 1, 19))
    assert missed(due, date(2038, 1, 19)) == 0
    assert is_due(due, None)


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    system_time.tzset()
    yield
    monkeypatch.undo()
    system_time.tzset()


@pytest.mark.skipif(not hasattr(system_time, "tzset"), reason="the system's zone cannot be set here")
@pytest.mark.usefixtures("in_berlin")
def test_the_systems_own_zone_has_the_same_nights_as_the_named_one():
    for day in (date(2026, 3, 28), date(2026, 3, 29), date(2026, 10, 25), date(2026, 10, 26)):
        assert due_on(day, time(2, 30)) == due_on(day, time(2, 30), ZoneInfo("Europe/Berlin"))


def test_jitter_is_the_machines_own_and_bounded():
    found = {jitter(f"host{n}", Path("/data"), 20) for n in range(400)}

    assert found == set(range(21))
    assert jitter("host", Path("/data"), 20) == jitter("host", Path("/data"), 20)
    assert jitter("host", Path("/data"), 0) == 0
