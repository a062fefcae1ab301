import pytest
import zstandard
from support.record import make_workspace

from transcript.errors import RecordError
from transcript.native import NativeStore

SOURCE = "0123456789abcdef"


@pytest.fixture
def store(tmp_path):
    return NativeStore(make_workspace(tmp_path))


def kept(store, source=SOURCE):
    return list(store.read("claude-code", source))


def test_bytes_come_back_with_offset_and_generation(store):
    store.append("claude-code", SOURCE, 0, b"one\n")
    store.append("claude-code", SOURCE, 4, b"two\xff\n")
    store.append("claude-code", SOURCE, 0, b"rewritten\n", generation=1)

    assert kept(store) == [(0, 0, b"one\n"), (0, 4, b"two\xff\n"), (1, 0, b"rewritten\n")]
    assert store.end("claude-code", SOURCE) == (1, 10)
    assert store.sources() == [("claude-code", SOURCE)]
    assert kept(store, "f" * 16) == []
    assert store.end("claude-code", "f" * 16) == (0, 0)


def test_reading_a_source_again_adds_nothing(store):
    assert store.append("claude-code", SOURCE, 0, b"one\n") == 4
    before = store.path("claude-code", SOURCE).read_bytes()

    assert store.append("claude-code", SOURCE, 0, b"one\n") == 0
    assert store.path("claude-code", SOURCE).read_bytes() == before
    assert store.append("claude-code", SOURCE, 0, b"one\ntwo\n") == 4
    assert kept(store)[1] == (0, 4, b"two\n")


def test_common_tools_open_the_file(store):
    store.append("claude-code", SOURCE, 0, b"one\n" * 1000)
    store.append("claude-code", SOURCE, 4000, b"two\n")

    reader = zstandard.ZstdDecompressor().stream_reader(
        store.path("claude-code", SOURCE).read_bytes(), read_across_frames=True
    )

    assert reader.read() == b"one\n" * 1000 + b"two\n"


def test_large_reads_are_cut_into_frames(store, monkeypatch):
    monkeypatch.setattr("transcript.native._FRAME_BYTES", 1000)
    data = bytes(range(256)) * 20

    store.append("claude-code", SOURCE, 7, data)

    assert [(offset, len(part)) for _, offset, part in kept(store)] == [
        (7 + 1000 * number, 1000 if number < 5 else 120) for number in range(6)
    ]
    assert b"".join(part for _, _, part in kept(store)) == data


@pytest.mark.parametrize("cut", [1, 20, 70])
def test_frame_that_a_crash_left_unfinished_is_written_again(store, cut):
    store.append("claude-code", SOURCE, 0, b"one\n")
    path = store.path("claude-code", SOURCE)
    whole = path.stat().st_size
    store.append("claude-code", SOURCE, 4, b"two\n")
    path.write_bytes(path.read_bytes()[:-cut])
    if cut < 70:
        assert store.torn_bytes("claude-code", SOURCE) == path.stat().st_size - whole

    assert kept(store) == [(0, 0, b"one\n")]
    assert store.append("claude-code", SOURCE, 4, b"two\n") == 4
    assert kept(store) == [(0, 0, b"one\n"), (0, 4, b"two\n")]


def test_changed_bytes_are_noticed(store):
    store.append("claude-code", SOURCE, 0, b"one\n" * 100)
    path = store.path("claude-code", SOURCE)
    raw = bytearray(path.read_bytes())
    raw[-2] ^= 4
    path.write_bytes(raw)

    with pytest.raises(RecordError, match="are damaged"):
        kept(store)


@pytest.mark.parametrize(("harness", "source"), [("../x", SOURCE), ("claude-code", "../" * 6), ("", SOURCE)])
def test_names_cannot_leave_the_folder(store, harness, source):
    with pytest.raises(ValueError, match="a source is named by"):
        store.append(harness, source, 0, b"x")
