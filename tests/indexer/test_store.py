"""Opening, locking, falling back: what a process can rely on.

Cases store-locked (doobidoo/mcp-memory-service#59, mem0ai/mem0#7196, AVIDS2/memorix#291, cq27-dev/rag-rat#143,
buildingjoshbetter/TrueMemory#449) and store-no-extension (asg017/sqlite-vec#83, doobidoo/mcp-memory-service#97,
sqliteai/sqlite-rag#4).
"""

import json
import os
import platform
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from support.embedder import StubEmbedder
from support.talk import NOW, Talk, indexed, record, recorded, rows, run_embed, run_index

from indexer import audit
from indexer import connection as connection_module
from indexer import store as store_module
from indexer.connection import load_extension
from indexer.rebuild import compact, rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from transcript.errors import IndexMissing, IndexUnreadable, LockBusy, StoreError, WorkspaceError

ROOT = Path(__file__).resolve().parents[2]


def python(code, *arguments, **options):
    """Run code in a process of its own with the project and the test helpers on its path."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def finished(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def small_talk(count=5, session="one"):
    talk = Talk(session)
    for n in range(count):
        talk.prompt(f"the caracal number {n} of {session} sleeps")
    return talk


def test_a_missing_index_is_named_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(IndexMissing, match="run 'recall index' first"):
        Store.open(tmp_path / "index.sqlite")
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(IndexMissing, match="run 'recall index' first"):
        Store.open(tmp_path / "empty.sqlite")


def test_an_index_on_a_network_is_refused_and_none_is_begun_there(tmp_path, monkeypatch):
    mounts = f"/dev/a / ext4 rw 0 0\nsrv:/x {tmp_path} nfs4 rw 0 0\n"
    monkeypatch.setattr("transcript.places.mounts_text", lambda: mounts)

    with pytest.raises(WorkspaceError, match=r"nfs4.*cannot hold an index; set RECALL_HOME to a local folder"):
        Store.open(tmp_path / "index.sqlite", "w")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_damaged_index_is_named_with_the_command_that_mends_it(tmp_path, mode):
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"this is no database at all" * 100)

    with pytest.raises(IndexUnreadable, match="recall index rebuild"):
        Store.open(path, mode)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_an_index_without_permission_is_named(tmp_path):
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"")
    path.chmod(0)

    with pytest.raises(IndexUnreadable, match="permissions"):
        Store.open(path)


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.skipif(os.name != "posix", reason="names are text elsewhere")
@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_path_that_is_no_text_is_named_with_what_to_set(tmp_path, mode):
    place = tmp_path / os.fsdecode(b"no\xfftext")
    place.mkdir()
    (place / "index.sqlite").touch()

    with pytest.raises(IndexUnreadable, match=r"no\\udcfftext.* is not UTF-8; set RECALL_HOME"):
        Store.open(place / "index.sqlite", mode)


def test_the_file_is_its_owners_alone(tmp_path):
    with indexed(recorded(tmp_path, small_talk())) as store:
        for path in store.path.parent.glob("index.sqlite*"):
            assert path.stat().st_mode & 0o077 == 0, path.name


def test_a_full_disk_leaves_the_index_as_it_was(tmp_path):
    talk = small_talk(300)
    workspace = recorded(tmp_path, small_talk(5))
    with indexed(workspace) as store:
        before = store.meta().n_chunks
        pages = rows(store, "PRAGMA page_count")[0][0]
        store.run(f"PRAGMA max_page_count = {pages + 2}")
        record(workspace, talk)
        with pytest.raises(StoreError, match="disk is full"):
            run_index(workspace, store)
        store.run("PRAGMA max_page_count = 1000000")

        run_index(workspace, store)

        assert (before, store.meta().n_chunks) == (5, 300)


def test_migrations_are_numbered_and_recorded(tmp_path):
    with indexed(recorded(tmp_path, small_talk())) as store:
        assert rows(store, "SELECT id FROM migration ORDER BY id") == [(1,), (2,), (3,), (4,), (5,), (6,), (7,)]
        assert store.meta().schema == 7
        assert rows(store, "SELECT name FROM index_writers") == [("recall-index",)]


def test_writers_are_kept_with_version_host_and_last_write_and_read_where_no_host_was_noted(tmp_path):
    """LCA-D-11b."""
    with indexed(recorded(tmp_path, small_talk())) as store:
        store.register_writer("other-memory", "1", NOW, host="desk")
        store.register_writer("other-memory", "2", NOW + timedelta(days=1), host="lap")
        seen = audit.writers(store).seen
        store.run("ALTER TABLE index_writers DROP COLUMN host")
        before = audit.writers(store).seen

    last = (NOW + timedelta(days=1)).isoformat()
    assert seen["other-memory"] == {"version": "2", "host": "lap", "last_write": last}
    assert (seen["recall-index"]["version"], seen["recall-index"]["host"]) == ("7", platform.node())
    assert before["other-memory"] == {"version": "2", "host": "", "last_write": last}


def test_stock_features_only(tmp_path):
    """Any SQLite from 3.35 reads the file."""
    with indexed(recorded(tmp_path, small_talk()), StubEmbedder()) as store:
        schema = " ".join(sql for (sql,) in rows(store, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))

    assert "STRICT" not in schema
    assert "jsonb" not in schema.lower()
    for option in ("contentless_delete", "secure-delete", "tokendata"):
        assert option not in schema
    assert "tokenize='porter unicode61'" in schema


# -- the standard sqlite3, in a process of its own ----------------------------------------


_READ = """
import json, sqlite3, sys
from indexer.reader import Reader
from indexer.segment import query_terms
assert "apsw" not in sys.modules and "numpy" not in sys.modules
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
reader = Reader(lambda sql, values=(): db.execute(sql, values))
hits = reader.lexical(query_terms("which caracal 3"), limit=3, allowed=reader.allowed(session="other")).hits
rows = reader.passages([c for c, _ in hits])
pointers = [p for row in rows.values() for p in row.pointers]
print(json.dumps([[rows[c].text, s] for c, s in hits]))
exchanges = reader.exchange([p.exchange_id for p in pointers])
assert exchanges and reader.meta().n_chunks and db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
"""


def test_the_standard_sqlite3_reads_the_index_after_each_write_command(tmp_path):
    workspace = recorded(tmp_path, small_talk())
    embedder = StubEmbedder(dimension=16)

    def read():
        return json.loads(finished(python(_READ, workspace.index_path)))

    with Store.open(workspace.index_path, "w") as store:
        run_index(workspace, store)
        first = read()
        run_embed(store, embedder)
        assert read() == first
        rebuild(workspace, store, IndexSettings(), now=NOW, embedder=embedder)
        assert read() == first
        compact(workspace, store, now=NOW)
        assert read() == first
        here = store.lexical(["caracal", "3"], limit=3)
        assert [score for _, score in here.hits] == pytest.approx([score for _, score in first])

    assert first[0][0] == "the caracal number 3 of one sleeps"


def test_reading_in_one_process_sees_what_another_writes(tmp_path):
    workspace = recorded(tmp_path, small_talk())
    with indexed(workspace) as store, Store.open(workspace.index_path) as reader:
        before = reader.meta().n_chunks
        record(workspace, small_talk(9))
        run_index(workspace, store)

        assert (before, reader.meta().n_chunks) == (5, 9)


# -- several processes ----------------------------------------------------------------------


_INDEX = """
import sys
from pathlib import Path
from indexer.store import Store
from support.talk import run_index
from transcript.workspace import Workspace
workspace = Workspace(sys.argv[1], Path(sys.argv[2]))
with Store.open(workspace.index_path, "w") as store:
    print(run_index(workspace, store).chunks)
"""


def test_two_processes_indexing_at_once_store_every_chunk_once(tmp_path):
    """CARD-04, store-locked 1."""
    workspace = recorded(tmp_path, small_talk(60), small_talk(60, "two"))
    running = [python(_INDEX, workspace.id, workspace.home) for _ in range(3)]

    stored = [int(finished(process)) for process in running]

    assert sorted(stored) == [0, 0, 120]
    with Store.open(workspace.index_path) as store:
        assert rows(store, "SELECT count(*), count(DISTINCT key) FROM chunk_{g}") == [(120, 120)]


_HOLD = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
db.execute("COMMIT")
"""


def test_a_reader_never_waits_for_a_writer_and_a_writer_waits_its_turn(tmp_path):
    """store-locked 2 and 3: another process holds the write lock while a reader reads, and when a writer comes."""
    workspace = recorded(tmp_path, small_talk())
    with indexed(workspace):
        pass
    holder = python(_HOLD, workspace.index_path, stdin=subprocess.PIPE)
    assert holder.stdout.readline() == "held\n"
    with Store.open(workspace.index_path) as reader:
        assert len(reader.lexical(["caracal"], limit=9).hits) == 5
        with pytest.raises(IndexUnreadable):
            reader.run("CREATE TABLE x (y)")
    record(workspace, small_talk(7))
    lets_go = threading.Timer(0.2, lambda: holder.stdin.write("\n") and holder.stdin.flush())
    lets_go.start()
    with Store.open(workspace.index_path, "w") as writer:
        run_index(workspace, writer)
        assert writer.meta().n_chunks == 7
    lets_go.join()
    finished(holder)


def test_two_that_make_the_same_index_wait_for_each_other(tmp_path):
    """Turning the write-ahead log on is refused at once while another process writes: SQLite does not wait there."""
    path = tmp_path / "index.sqlite"
    holder = python(_HOLD, path, stdin=subprocess.PIPE)
    assert holder.stdout.readline() == "held\n"
    lets_go = threading.Timer(0.1, lambda: holder.stdin.write("\n") and holder.stdin.flush())
    lets_go.start()

    with Store.open(path, "w") as store:
        assert rows(store, "PRAGMA journal_mode") == [("wal",)]
    lets_go.join()
    finished(holder)


def test_a_writer_that_waits_in_vain_says_who_is_to_blame(tmp_path, monkeypatch):
    workspace = recorded(tmp_path, small_talk())
    with indexed(workspace):
        pass
    monkeypatch.setattr(store_module, "WRITER_BUSY_MS", 50)
    holder = python(_HOLD, workspace.index_path, stdin=subprocess.PIPE)
    assert holder.stdout.readline() == "held\n"

    with (
        Store.open(workspace.index_path, "w") as writer,
        pytest.raises(LockBusy, match="another process"),
        writer.transaction(),
    ):
        raise AssertionError("the lock was not free")
    holder.kill()
    holder.communicate()


def test_transactions_of_the_writer_are_short_and_the_longest_is_reported(tmp_path):
    """store-locked 4."""
    talk = Talk()
    for n in range(300):
        talk.prompt(" ".join(f"caracal {n} speaks of thing{m}." for m in range(60)))
    workspace = recorded(tmp_path, talk)
    with Store.open(workspace.index_path, "w") as store:
        report = run_index(workspace, store)

        assert report.longest_hold_ms > 0
        assert report.chunks > 900
        assert store.data_version() > 5, "many short transactions, not one"


# -- without the extension ------------------------------------------------------------------


def test_without_the_extension_vectors_are_searched_by_numpy_with_the_same_top_six(tmp_path):
    """LCA-4.4-03, LCA-4.4-05."""
    talk = Talk()
    for n in range(50):
        talk.prompt(f"number {n} speaks of subject{n % 7} and thing{n % 11}")
    workspace = recorded(tmp_path, talk)
    embedder = StubEmbedder()
    with indexed(workspace, embedder) as store:
        native = [store.nearest(embedder.vector(f"subject{n} thing{n}"), 6) for n in range(7)]
    with Store.open(workspace.index_path, extension=False) as store:
        assert store.backend.vectors == "numpy"
        found = [store.nearest(embedder.vector(f"subject{n} thing{n}"), 6) for n in range(7)]

    assert [[h.chunk_id for h in hits] for hits in found] == [[h.chunk_id for h in hits] for hits in native]


class _NoLoading:
    """A connection of a Python whose SQLite cannot load extensions: the method is missing."""

    def __init__(self, connection):
        self.execute = connection.execute


def test_a_sqlite_that_cannot_load_extensions_is_named(tmp_path):
    """store-no-extension (a)."""
    reason, version = load_extension(_NoLoading(apsw.Connection(str(tmp_path / "x.sqlite"))))

    assert "enable_load_extension" in reason
    assert version == ""


def test_a_missing_extension_file_is_named_and_everything_goes_on(tmp_path, monkeypatch):
    """store-no-extension (b)."""
    monkeypatch.setattr(connection_module, "extension_path", lambda: tmp_path / "vec0")
    embedder = StubEmbedder()
    with indexed(recorded(tmp_path, small_talk()), embedder) as store:
        assert store.backend.vectors == "numpy"
        assert "vec0" in store.backend.reason
        assert store.backend.sqlite == apsw.sqlite_lib_version()
        assert len(store.lexical(["caracal"], limit=9).hits) == 5
        assert len(store.nearest(embedder.vector("caracal 3"), 9)) == 5


def test_the_loaded_extension_says_its_version(tmp_path):
    """CARD-03."""
    with indexed(recorded(tmp_path, small_talk()), StubEmbedder()) as store:
        assert store.backend.extension.startswith("v0.1")
        assert rows(store, "SELECT vec_version()") == [(store.backend.extension,)]
        tables = {name for (name,) in rows(store, "SELECT name FROM sqlite_master WHERE type = 'table'")}

    assert {"chunk_vec_1", "chunk_1", "pointer_1", "meta", "generation"} <= tables


def test_the_search_for_the_extension_does_not_import_its_package():
    code = (
        "import sys\nfrom indexer.connection import extension_path\nfrom indexer.store import Store\nextension_path()\n"
        "assert 'sqlite_vec' not in sys.modules\n"
    )
    finished(python(code))
