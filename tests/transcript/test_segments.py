import threading

import pytest

from transcript.errors import RecordError
from transcript.segments import HEAD_BYTES, Head, open_segment, read_head, write_head


def test_head_reads_back_and_keeps_its_size(tmp_path):
    for head in (Head(1, 0, "a" * 64, 0), Head(999_999, 10**12, "b" * 64, 10**12)):
        write_head(tmp_path, head)

        assert read_head(tmp_path) == head
        assert (tmp_path / "head").stat().st_size == HEAD_BYTES


def test_any_changed_byte_of_the_head_is_noticed(tmp_path):
    write_head(tmp_path, Head(1, 7, "a" * 64, 1234))
    good = (tmp_path / "head").read_bytes()

    for place in range(0, HEAD_BYTES, 17):
        (tmp_path / "head").write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(RecordError, match="log/head is damaged"):
            read_head(tmp_path)


def test_reader_never_meets_half_a_head(tmp_path):
    write_head(tmp_path, Head(1, 0, "0" * 64, 0))
    done = threading.Event()

    def write():
        for number in range(1, 200):
            write_head(tmp_path, Head(1, number, f"{number % 10}" * 64, number * 1000))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        head = read_head(tmp_path)
        seen.append(head)
        assert (head.hash, head.length) == (f"{head.seq % 10}" * 64, head.seq * 1000)
    writer.join()

    assert [head.seq for head in seen] == sorted(head.seq for head in seen)


def test_a_segment_that_is_gone_is_a_fault_of_the_record(tmp_path):
    with pytest.raises(RecordError, match="segment 1 of the record is missing"):
        open_segment(tmp_path, 1)


def test_a_segment_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "activity.jsonl").mkdir()

    with pytest.raises(RecordError, match=r"cannot read .*activity\.jsonl"):
        open_segment(tmp_path, 1)
