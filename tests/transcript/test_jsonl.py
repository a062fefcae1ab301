"""Lines that other programs wrote, whole and broken."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcript.adapters.jsonl import CHUNK_BYTES, MAX_LINE_BYTES, parse_line, raw_lines


def is_record(value):
    return "sessionId" in value


def parse(raw):
    return parse_line(1, 0, len(raw) + 1, raw, is_record)


A = {"type": "user", "sessionId": "s", "message": {"type": "text", "text": "a"}}
B = {"type": "user", "sessionId": "s", "message": {"type": "text", "text": "b"}}
RAW_A, RAW_B = json.dumps(A).encode(), json.dumps(B).encode()


@pytest.mark.parametrize(
    ("raw", "objects", "reasons"),
    [
        (RAW_A, [A], []),
        (b"  " + RAW_A + b" \r", [A], []),
        (b"\xef\xbb\xbf" + RAW_A, [A], []),
        (RAW_A + RAW_B, [A, B], ["more than one record"]),
        (RAW_A + b"\0" * 300, [A], ["zero bytes"]),
        (b"\0" * 512, [], ["zero bytes"]),
        (b"\0" * 5 + RAW_A + b"\0" * 5 + RAW_B, [A, B], ["zero bytes"]),
        (b"null", [], ["not an object"]),
        (b"[]", [], ["not an object"]),
        (b'"just text"', [], ["not an object"]),
        (b"42", [], ["not an object"]),
        (RAW_A[:40], [], ["unreadable JSON"]),
        (RAW_A[:40] + RAW_B, [B], ["unreadable JSON"]),
        (RAW_A + RAW_B[:40], [A], ["more than one record", "unreadable JSON"]),
        (RAW_A[:-1], [], ["unreadable JSON"]),
        (b"[" * 100_000, [], ["unreadable JSON"]),
        (b'{"sessionId":"s","n":' + b"9" * 5000 + b"}", [], ["unreadable JSON"]),
        (b'{"sessionId":"s\xff"}', [{"sessionId": "s\ufffd"}], ["not UTF-8"]),
        (b'{"sessionId":"s\xed\xa0\x80"}', [{"sessionId": "s\ud800"}], []),
        (b"", [], []),
    ],
)
def test_a_line_gives_its_whole_records_and_says_what_was_wrong(raw, objects, reasons):
    """log-corrupt-lines (claude-code#76059, #49876, claude-code-trace#66, codex#24425)."""
    line = parse(raw)

    assert line.objects == objects
    assert [damage.reason for damage in line.damage] == reasons


def test_a_part_of_a_broken_record_is_no_record():
    """The message inside a record that was cut off must not come out as one."""
    outer = {"sessionId": "s", "data": {"type": "user", "uuid": "u", "text": "inner"}, "more": 1}

    line = parse(json.dumps(outer).encode()[:-12])

    assert line.objects == []
    assert [damage.reason for damage in line.damage] == ["unreadable JSON"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_noted(number):
    line = parse(f'{{"a": 1.5}}{{"n": {number}}}'.encode())

    assert line.odd == {1}


def test_a_line_of_broken_openings_costs_little():
    line = parse(b'{"a":' * 200_000)

    assert [damage.reason for damage in line.damage] == ["unreadable JSON"]


def test_records_are_separated_by_the_byte_0a_only():
    """log-line-separators (coding-harness-tracing#148)."""
    texts = ["a\u2028b\u2029c\u0085d", "e\u000bf\u000cg\u001ch\u001di\u001ej"]
    data = b"".join(json.dumps({"sessionId": text}, ensure_ascii=False).encode() + b"\n" for text in texts)

    lines = list(raw_lines(io.BytesIO(data), 0))

    assert [parse(raw).objects[0]["sessionId"] for _, _, raw, _ in lines] == texts
    assert [parse(raw).damage for _, _, raw, _ in lines] == [[], []]
    assert lines[1][0] == data.index(b"\n") + 1


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")), max_size=20), st.integers(0, 30))
def test_lines_and_offsets_rebuild_the_file(pieces, cut):
    data = b"\n".join(pieces)

    lines = list(raw_lines(io.BytesIO(data), 0))

    assert b"".join(raw + (b"\n" if ended else b"") for _, _, raw, ended in lines) == data
    for start, end, raw, ended in lines:
        assert data[start : end - ended] == raw
    limited = list(raw_lines(io.BytesIO(data), 0, limit=min(cut, len(data))))
    assert b"".join(raw + (b"\n" if ended else b"") for _, _, raw, ended in limited) == data[: min(cut, len(data))]


def test_a_line_longer_than_a_chunk_comes_whole_and_reading_can_go_on_behind_it():
    data = b"x" * (CHUNK_BYTES * 2 + 5) + b"\nsecond\n"

    lines = list(raw_lines(io.BytesIO(data), 0))
    again = list(raw_lines(io.BytesIO(data), lines[0][1]))

    assert [len(raw) for _, _, raw, _ in lines] == [CHUNK_BYTES * 2 + 5, 6]
    assert again == [lines[1]]


class Endless(io.RawIOBase):
    """A file of one line that is far too long, and a short one behind it."""

    def __init__(self, length):
        self.length, self.at = length, 0

    def seek(self, at, whence=0):
        self.at = at
        return at

    def read(self, size=-1):
        left = self.length - self.at
        if left > 0:
            size = min(size, left)
            self.at += size
            return b"x" * size
        data = b"\n{}\n"[self.at - self.length :][:size]
        self.at += len(data)
        return data


def test_a_line_too_long_to_hold_is_damage_and_the_next_one_is_read():
    length = MAX_LINE_BYTES + 5 * CHUNK_BYTES

    lines = list(raw_lines(Endless(length), 0))

    assert [(start, end) for start, end, _, _ in lines] == [(0, length + 1), (length + 1, length + 4)]
    assert len(lines[0][2]) <= MAX_LINE_BYTES + 2 * CHUNK_BYTES
    assert [damage.reason for damage in parse(lines[0][2]).damage] == [f"longer than {MAX_LINE_BYTES >> 20} MiB"]
    assert lines[1][2] == b"{}"
