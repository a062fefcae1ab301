"""Counts and moments as people read them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from transcript.telling import UNKNOWN, counted, minute, session_name, visible


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [
        (0, ("turn",), "0 turns"),
        (1, ("turn",), "1 turn"),
        (2000, ("turn",), "2,000 turns"),
        (1, ("event waits", "events wait"), "1 event waits"),
        (3, ("event waits", "events wait"), "3 events wait"),
    ],
)
def test_one_is_told_as_one(number, words, expected):
    assert counted(number, *words) == expected


@pytest.mark.parametrize(
    "moment",
    [
        "2026-04-02T16:25:07.123Z",
        "2026-04-02T18:25:07+02:00",
        datetime(2026, 4, 2, 16, 25, 59, tzinfo=UTC),
        datetime(2026, 4, 2, 18, 25, tzinfo=timezone(timedelta(hours=2))),
        1_775_147_107,
    ],
    ids=["ISO", "offset", "time", "time elsewhere", "seconds"],
)
def test_every_form_of_a_moment_is_told_in_utc_and_says_so(moment):
    assert minute(moment) == "2026-04-02 16:25Z"


@pytest.mark.parametrize("moment", ["", "soon", 1e18], ids=["empty", "no time", "beyond the calendar"])
def test_what_is_no_moment_is_told_as_unknown(moment):
    assert minute(moment) == UNKNOWN


def test_sessions_begun_within_a_minute_have_names_of_their_own():
    """Ids that begin with a time: of the first eight characters the last one changes every 65 seconds."""
    one, two = "01a22a4d-5fb5-7545-8f9d-5da018d8f12d", "01a22a4d-71fc-7060-b940-98d8fb536798"

    assert [session_name(name) for name in (one, two, "s-1")] == ["01a22a4d-5fb5", "01a22a4d-71fc", "s-1"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb\tc\nd", "a\\x1b[2Jb\tc\nd"),
        ("over\rwritten\x85", "over\\rwritten\\x85"),
        ("not \u202eeurt \u2066x\u2069 \u200f", "not \\u202eeurt \\u2066x\\u2069 \\u200f"),
        ("pro\u200bxy \ufeff80\xad80 \u2060", "pro\\u200bxy \\ufeff80\\xad80 \\u2060"),
        ("a\u200db\u200c ", "a\\u200db\\u200c "),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("👩\u200d🚀 می\u200cخواهم ❤\ufe0f é ½ …", "👩\u200d🚀 می\u200cخواهم ❤\ufe0f é ½ …"),
    ],
    ids=["control", "line", "direction", "without width", "joiners beside ASCII", "tag", "what shapes something"],
)
def test_what_nobody_sees_is_told_as_an_escape(text, shown):
    assert visible(text) == shown
