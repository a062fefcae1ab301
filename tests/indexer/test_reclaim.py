"""An index that grew bit by bit gives back what it holds in vain, once, and stays what it was for who searches it."""

import shutil

import pytest
from support.record import NOW
from support.talk import Talk, keys_and_pointers, passages, record, recorded

from indexer import reclaim as module
from indexer.reclaim import DONE, IN_USE, NO_ROOM, NO_TIME, UNUSED, reclaim, unused_bytes
from indexer.segment import query_terms
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import index, index_lock
from transcript.errors import StoreError


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A workspace whose index took in a long talk in small pieces, newest keys between older ones."""
    folder = tmp_path_factory.mktemp("grown")
    workspace = recorded(folder, Talk())
    with Store.open(workspace.index_path, "w") as store:
        for part in range(40):
            talk = Talk(f"s{part}")
            for n in range(10):
                talk.prompt(f"question {part} {n} about unit{part * n} and word{part}x{n}")
                talk.reply(f"the answer {part} {n}: caracal-{part}{n} holds it, why{n}y{part}")
            record(workspace, talk)
            index(workspace, store, IndexSettings(), now=NOW, record=False)
        store.checkpoint()
    return workspace


@pytest.fixture
def workspace(grown, tmp_path, monkeypatch):
    """A copy of it, where a few kilobytes pay."""
    monkeypatch.setattr(module, "LEAST_BYTES", 1 << 13)
    home = tmp_path / "copy" / grown.id
    shutil.copytree(grown.home, home)
    return type(grown)(grown.id, home, grown.root)


def seen(store):
    """What a search sees: passages with their places, and what words find."""
    found = [store.lexical(query_terms(f"caracal-{n}1"), limit=5).hits for n in range(0, 40, 7)]
    assert all(found)
    return passages(store), keys_and_pointers(store), found


def test_a_grown_index_becomes_smaller_and_finds_the_same_and_a_second_time_does_nothing(workspace):
    with Store.open(workspace.index_path, "w") as store:
        before, vain = seen(store), unused_bytes(store)

        done = reclaim(workspace, store, now=NOW)

        assert (done.state, done.unused) == (DONE, vain)
        assert done.bytes_after < done.bytes_before
        assert unused_bytes(store) < vain
        assert workspace.index_path.stat().st_size == done.bytes_after
        assert seen(store) == before
        again = reclaim(workspace, store, now=NOW)
        assert (again.state, again.bytes_after) == (UNUSED, done.bytes_after)


def test_what_a_file_holds_in_vain_even_when_written_anew_is_no_reason_to_write_it_again(workspace, monkeypatch):
    """Rows of some lengths leave gaps that nobody can close; a night must not try each night."""
    with Store.open(workspace.index_path, "w") as store:
        reclaim(workspace, store, now=NOW)
        monkeypatch.setattr(module, "LEAST_BYTES", 1)
        monkeypatch.setattr(module, "LEAST_SHARE", 0.0001)

        assert unused_bytes(store) > 1
        assert reclaim(workspace, store, now=NOW).state == UNUSED


def test_a_small_gain_does_not_pay(workspace, monkeypatch):
    monkeypatch.setattr(module, "LEAST_BYTES", 1 << 20)
    with Store.open(workspace.index_path, "w") as store:
        assert reclaim(workspace, store, now=NOW).state == UNUSED


def writing(workspace):
    lock = index_lock(workspace)
    assert lock.acquire()
    return lock.release


def reading(workspace):
    """Somebody reads the index as it was before the newest write."""
    reader = Store.open(workspace.index_path)
    snapshot = reader.snapshot()
    snapshot.__enter__()
    list(reader.run("SELECT count(*) FROM meta"))

    def leave():
        snapshot.__exit__(None, None, None)
        reader.close()

    return leave


@pytest.mark.parametrize("use", [writing, reading])
def test_while_the_index_is_in_use_nothing_is_done(workspace, monkeypatch, use):
    monkeypatch.setattr(module, "PATIENCE_MS", 1)
    leave = use(workspace)
    with Store.open(workspace.index_path, "w") as store:
        with store.transaction():
            pass  # a page that the reader has not seen
        size = workspace.index_path.stat().st_size

        assert reclaim(workspace, store, now=NOW).state == IN_USE

        assert workspace.index_path.stat().st_size == size
        leave()
        assert reclaim(workspace, store, now=NOW).state == DONE


def test_neither_a_full_disk_nor_a_short_night_is_made_worse(workspace, monkeypatch):
    with Store.open(workspace.index_path, "w") as store:
        assert reclaim(workspace, store, now=NOW, seconds=0.0).state == NO_TIME
        monkeypatch.setattr(module.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 1000))
        assert reclaim(workspace, store, now=NOW).state == NO_ROOM


def test_where_sqlite_tells_of_no_gaps_free_pages_are_counted(workspace, monkeypatch):
    with Store.open(workspace.index_path, "w") as store:
        real = store.run

        def without(sql, values=()):
            if "dbstat" in sql:
                raise StoreError("no such table: dbstat")
            return real(sql, values)

        monkeypatch.setattr(store, "run", without)
        (free,), (size,) = (next(iter(real(f"PRAGMA {name}"))) for name in ("freelist_count", "page_size"))

        assert unused_bytes(store) == free * size
