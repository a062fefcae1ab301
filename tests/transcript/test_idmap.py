import os
import random
import tracemalloc

import pytest
from support.record import NOW, make_draft, make_log, make_turns

from transcript.canonical import b32id
from transcript.idmap import ENTRY, HEADER, IdMap, sighting_id
from transcript.log import Log


def fresh(log):
    """Return the map as a new process would load it, without catching up."""
    return IdMap(log.workspace.run_dir / "ids.bin", log.start)


def test_writer_keeps_the_file_at_the_heads_position(tmp_path):
    log = make_log(tmp_path, make_turns(10))
    log.append([make_draft("x")], now=NOW)

    ids = fresh(log)

    assert ids.position == log.head().position
    assert len(ids) == 11
    assert make_draft("x").id in ids
    assert b32id("never") not in ids


def test_deleted_map_is_built_again_the_same(tmp_path):
    log = make_log(tmp_path, make_turns(30, native={"source": "a" * 16}), segment_bytes=5000)
    path = log.workspace.run_dir / "ids.bin"
    before = path.read_bytes()
    path.unlink()

    Log(log.workspace).append([make_draft(0)], now=NOW)
    assert Log(log.workspace).get(make_draft(29).id).seq == 30
    Log(log.workspace).append([make_draft("x")], now=NOW)

    assert path.read_bytes()[HEADER.size :][: len(before) - HEADER.size] == before[HEADER.size :]


@pytest.mark.parametrize("place", [3, 20, HEADER.size + 5, -3], ids=["magic", "header", "entry", "end"])
def test_damaged_map_is_not_believed(tmp_path, place):
    log = make_log(tmp_path, make_turns(10))
    path = log.workspace.run_dir / "ids.bin"
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    path.write_bytes(raw)

    assert len(fresh(log)) == 0
    assert Log(log.workspace).append(make_turns(10), now=NOW) == []
    assert Log(log.workspace).get(make_draft(7).id).seq == 8


def test_map_that_is_behind_catches_up_from_the_tail(tmp_path):
    log = make_log(tmp_path, make_turns(5))
    path = log.workspace.run_dir / "ids.bin"
    old = path.read_bytes()
    log.append([make_draft(f"later {number}") for number in range(5)], now=NOW)
    path.write_bytes(old)

    assert fresh(log).position.seq == 5
    assert Log(log.workspace).get(make_draft("later 4").id).seq == 10
    assert Log(log.workspace).append([make_draft("later 4")], now=NOW) == []


def test_map_of_another_record_is_built_again(tmp_path):
    one, two = make_log(tmp_path / "1", make_turns(5)), make_log(tmp_path / "2", [make_draft("a"), make_draft("b")])
    (two.workspace.run_dir / "ids.bin").write_bytes((one.workspace.run_dir / "ids.bin").read_bytes())

    assert Log(two.workspace).append([make_draft("a")], now=NOW) == []
    assert len(Log(two.workspace).append([make_draft(0)], now=NOW)) == 1


def test_places_are_known_but_are_no_events(tmp_path):
    draft = make_draft(0, native={"source": "a" * 16})
    log = make_log(tmp_path, [draft])
    place = sighting_id(draft.id, "session-1", "a" * 16)

    ids = log.ids()

    assert place in ids
    assert ids.locate(place) is None
    assert ids.matching(place[:10]) == []
    assert len(ids) == 2


@pytest.mark.parametrize("seed", range(20))
def test_prefixes_find_what_a_plain_search_finds(tmp_path, seed):
    rng = random.Random(seed)
    names = [b32id(str(rng.random())) for _ in range(300)]
    ids = IdMap(tmp_path / "none", make_log(tmp_path).start)
    for number, name in enumerate(names):
        ids.add(name, "s", "", 1, number, 1)

    for length in (4, 5, 8, 10, 25, 26):
        prefix = rng.choice(names)[:length]
        expected = [(1, number, 1) for number, name in enumerate(names) if name.startswith(prefix)]
        assert ids.matching(prefix, limit=300) == expected


def test_two_hundred_thousand_ids_load_as_one_piece(tmp_path, monkeypatch):
    """No id is taken up one by one, and none is looked at before somebody asks for it."""
    ids = IdMap(tmp_path / "ids.bin", make_log(tmp_path).start)
    for number in range(200_000):
        ids._put(number.to_bytes(16, "big"), 1, number, 1)
    ids.save()

    def one_by_one(*args):
        raise AssertionError("an id is put in by itself")

    monkeypatch.setattr(IdMap, "_put", one_by_one)
    loaded = IdMap(tmp_path / "ids.bin", ids.position)

    assert len(loaded) == 200_000
    assert loaded._index is None
    assert loaded.has_key((123_456).to_bytes(16, "big"))
    assert not loaded.has_key((200_000).to_bytes(16, "big"))
    assert (tmp_path / "ids.bin").stat().st_size == HEADER.size + 200_000 * ENTRY.size


def test_what_the_file_holds_is_not_taken_into_memory(tmp_path):
    """A service writes a ledger row a turn, several at once: each would hold the ids of the whole record."""
    path, start = tmp_path / "ids.bin", make_log(tmp_path).start
    ids = IdMap(path, start)
    for number in range(20_000):
        ids._put(number.to_bytes(16, "big"), 1, number, 1)
    ids.save()

    tracemalloc.start()
    loaded = IdMap(path, start)
    found = loaded.has_key((19_999).to_bytes(16, "big")), loaded.has_key((20_000).to_bytes(16, "big"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found == (True, False)
    assert most < path.stat().st_size / 10


def test_ids_of_a_file_and_those_that_came_since_are_one_map(tmp_path):
    """Whatever another process does to the file meanwhile: it is put in anew, or taken away."""
    path, start = tmp_path / "ids.bin", make_log(tmp_path).start
    names = [b32id(f"name {number}") for number in range(60)]
    first = IdMap(path, start)
    for number, name in enumerate(names[:20]):
        first.add(name, "s", "", 1, number, 1)
    first.save()

    second = IdMap(path, start)
    for number, name in enumerate(names[20:40], 20):
        second.add(name, "s", "", 1, number, 1)
    second.save()
    IdMap(path, start).save()
    path.unlink()
    for number, name in enumerate(names[40:], 40):
        second.add(name, "s", "", 1, number, 1)
    second.save()

    for ids in (second, IdMap(path, start)):
        assert len(ids) == 60
        assert [ids.locate(name) for name in names[:10]] == [(1, number, 1) for number in range(10)]
        assert [ids.matching(name) for name in names] == [[(1, number, 1)] for number in range(60)]
        ids.prepare()
        assert [ids.locate(name) for name in names] == [(1, number, 1) for number in range(60)]


@pytest.mark.skipif(os.name != "posix", reason="no such pipes here")
def test_a_pipe_in_the_files_place_is_not_waited_for_and_replaced(tmp_path):
    path, start = tmp_path / "ids.bin", make_log(tmp_path).start
    os.mkfifo(path)

    ids = IdMap(path, start)
    ids.add(b32id("name"), "s", "", 1, 0, 1)
    ids.save()

    assert b32id("name") in IdMap(path, start)
