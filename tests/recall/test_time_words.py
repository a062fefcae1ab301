"""The stretch of time that a prompt names: relative words, weekdays, months, dates, in four languages."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from recall.time_words import stretch

NOW = datetime(2026, 3, 20, 15, 0, tzinfo=UTC)  # a Friday


def named(text: str, **more: str) -> tuple[str, str] | None:
    found = stretch(text, NOW, UTC, **more)
    return None if found is None else tuple(f"{datetime.fromtimestamp(at, UTC):%m-%d %H}" for at in found)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "begin", "before"),
    [
        ("what did we do yesterday", "03-19 00", "03-20 00"),
        ("the day before yesterday", "03-18 00", "03-19 00"),
        ("this morning", "03-20 00", "03-21 00"),
        ("last night", "03-19 18", "03-20 06"),
        ("two days ago", "03-18 00", "03-19 00"),
        ("2 weeks ago", "03-03 03", "03-10 03"),
        ("a few days ago", "03-13 15", "03-19 03"),
        ("in the last 3 days", "03-17 15", "03-20 15"),
        ("last week", "03-09 00", "03-16 00"),
        ("this week", "03-16 00", "03-23 00"),
        ("last month", "02-01 00", "03-01 00"),
        ("on Monday", "03-16 00", "03-17 00"),
        ("last Friday", "03-13 00", "03-14 00"),
        ("in January", "01-01 00", "02-01 00"),
        ("on 2026-03-11", "03-11 00", "03-12 00"),
        ("on March 3rd", "03-03 00", "03-04 00"),
        ("the 8th of February", "02-08 00", "02-09 00"),
        ("gestern", "03-19 00", "03-20 00"),
        ("vor zwei Tagen", "03-18 00", "03-19 00"),
        ("letzte Woche", "03-09 00", "03-16 00"),
        ("am Dienstag", "03-17 00", "03-18 00"),
        ("im Februar", "02-01 00", "03-01 00"),
        ("la semaine dernière", "03-09 00", "03-16 00"),
        ("il y a deux jours", "03-18 00", "03-19 00"),
        ("lundi dernier", "03-16 00", "03-17 00"),
        ("ayer", "03-19 00", "03-20 00"),
        ("hace tres días", "03-17 00", "03-18 00"),
        ("el mes pasado", "02-01 00", "03-01 00"),
    ],
)
def test_a_named_time_is_read_as_a_stretch(text: str, begin: str, before: str) -> None:
    assert named(text) == (begin, before)


@pytest.mark.parametrize(
    "text",
    ["", "may I ask", "the march of time", "next week", "on 2026-13-45", "the last item", "on 2027-01-01",
     "version 3.11", "die Datei liegt hier"],
)  # fmt: skip
def test_other_words_and_times_to_come_name_no_time(text: str) -> None:
    assert named(text) is None


def test_hier_is_a_day_in_french_alone() -> None:
    assert named("ce que nous avons fait hier", language="fr") == ("03-19 00", "03-20 00")
    assert named("was steht hier", language="de") is None


def test_a_month_that_is_still_to_come_is_that_of_the_year_before() -> None:
    found = stretch("in November", NOW, UTC)

    assert found == tuple(int(datetime(2025, month, 1, tzinfo=UTC).timestamp()) for month in (11, 12))


def test_days_begin_at_midnight_of_the_zone() -> None:
    found = stretch("yesterday", NOW, timezone(timedelta(hours=9)))  # there it is already the 21st

    assert found == tuple(int(datetime(2026, 3, day, 15, tzinfo=UTC).timestamp()) for day in (19, 20))
