"""Single values of foreign records: what is a time, a medium, a type, and what is none."""

import pytest

from transcript.adapters.values import data_url, inline, media_entries, moment, type_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-06-15T10:00:00.000Z", "2026-06-15T10:00:00.000Z"),
        ("2026-06-15T12:00:00+02:00", "2026-06-15T10:00:00.000Z"),
        (1781517600, "2026-06-15T10:00:00.000Z"),
        (1781517600250, "2026-06-15T10:00:00.250Z"),
        (1781517600.25, "2026-06-15T10:00:00.250Z"),
        ("2026-06-15T10:00:00", ""),
        ("yesterday", ""),
        (17, ""),
        (0, ""),
        (10**30, ""),
        (float("nan"), ""),
        (True, ""),
        (None, ""),
    ],
    ids=[
        "the record's form", "another zone", "seconds", "milliseconds", "a fraction", "no zone", "words",
        "a small count", "the epoch", "out of range", "not a number", "a truth value", "nothing",
    ],
)  # fmt: skip
def test_a_time_is_written_as_the_record_writes_it_and_what_is_none_is_empty(given, expected):
    assert moment(given) == expected


def test_media_are_decoded_with_their_type_and_named_by_their_hash():
    assert inline("aGk=", "image/png") == (b"hi", "image/png")
    assert inline("aGk=", None) == (b"hi", "application/octet-stream")
    assert data_url("data:image/gif;base64,aGk=") == (b"hi", "image/gif")
    assert [inline("not base64", ""), inline("", ""), inline(7, ""), data_url("data:text/plain,hi")] == [None] * 4
    [entry] = media_entries([(b"hi", "image/png")])
    assert (entry["blob"][:8], entry["mime"], entry["size"]) == ("8f434346", "image/png", 2)


def test_the_type_of_what_is_no_object_is_the_name_of_what_it_is():
    assert [type_of({"type": "user"}), type_of({"type": 3}), type_of([]), type_of(None)] == [
        "user", "int", "list", "NoneType",
    ]  # fmt: skip
