"""`recall migrate` on what the first version wrote (tests/data/first-format, made with its code): all of it or none.

The old index there has schema 1, ten passages and eight vectors of the stub embedder; the old head has no checksum.
"""

import base64
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
import zstandard
from support.backups import tree
from support.command import runner
from support.embedder import StubEmbedder

from health.gather_freshness import schemas
from indexer import bring_up as index
from indexer import queue, schema, writer
from indexer.reader import SCHEMA_VERSION
from indexer.settings import IndexSettings
from indexer.store import Store
from transcript import bring_up as record
from transcript.canonical import canonical
from transcript.errors import IndexNewer, IndexUnreadable, RecordError, StoreError
from transcript.log import Log
from transcript.redaction_plan import plan_text
from transcript.verify import verify
from transcript.workspace import Workspace, locate

FIRST = Path(__file__).resolve().parents[1] / "data" / "first-format"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EVENTS = 11


@pytest.fixture
def recall(capsys):
    return runner(capsys)


@pytest.fixture
def old(tmp_path, monkeypatch) -> Workspace:
    """A project as the first version left it."""
    data, root = Path(os.environ["RECALL_HOME"]), tmp_path / "shop"
    name = (FIRST / "workspace").read_text(encoding="ascii").strip()
    workspace = Workspace(name, data / "workspaces" / name, root)
    root.mkdir()
    workspace.log_dir.mkdir(parents=True)
    workspace.run_dir.mkdir()
    shutil.copy(FIRST / "events", workspace.activity)
    shutil.copy(FIRST / "head", workspace.head_file)
    packed = base64.decodebytes((FIRST / "index.b64").read_bytes())
    workspace.index_path.write_bytes(zstandard.ZstdDecompressor().decompress(packed))
    table = {"version": 1, "workspaces": {name: {"roots": [str(root)], "former": [], "common": None}}}
    (data / "roots.json").write_bytes(canonical(table))
    monkeypatch.chdir(root)
    assert locate(root, data) == workspace
    return workspace


def passages(path):
    """Return what an index holds: passages with class and role, where they are said, what words find, vectors."""
    with Store.open(path) as store:
        g = store.generation
        texts = set(store.run(f"SELECT text, source_class, role FROM chunk_{g}"))
        places = set(
            store.run(
                f"SELECT c.text, e.event, p.start, p.end, p.ts, p.kind FROM pointer_{g} p"
                f" JOIN chunk_{g} c ON c.id = p.chunk_id JOIN event_{g} e ON e.id = p.event"
            )
        )
        words = {
            word: {text for (text,) in store.run(_MATCH.format(g=g), (word,))}
            for word in ("port", "linter", "warehouse", "pnpm")
        }
        return texts, places, words, len(store.vectors.ids())


_MATCH = "SELECT c.text FROM chunk_fts_{g} f JOIN chunk_{g} c ON c.id = f.rowid WHERE chunk_fts_{g} MATCH ?"


def test_the_first_versions_record_and_index_are_brought_up(old, recall):
    before = passages(old.index_path)
    assert "run 'recall migrate'" in recall("health").out

    done = recall("migrate", "--json")

    steps = json.loads(done.out)["steps"]
    assert done.code == 0
    assert [(one["file"], one["held"], one["state"]) for one in steps] == [
        ("log/head", 1, "brought up"),
        ("index.sqlite", 1, "brought up"),
    ]
    assert verify(old).ok
    assert Log(old).head().seq == EVENTS
    assert schema.held(old.index_path) == SCHEMA_VERSION
    assert passages(old.index_path) == before
    assert before[3] == 8
    assert "8080" in recall("query", "port of the pilot").out
    assert index.copies(old.index_path) == []


def test_it_is_then_what_a_fresh_index_of_the_same_record_is(old, recall, tmp_path):
    assert recall("migrate").code == 0
    path, embedder = tmp_path / "fresh.sqlite", StubEmbedder()

    with Store.open(path, "w") as store:
        writer.index(old, store, IndexSettings(), now=NOW, embedder=embedder, record=False)
        queue.embed(store, embedder, IndexSettings())

    assert passages(path) == passages(old.index_path)


def test_a_second_run_and_a_dry_run_change_nothing(old, recall):
    held = kept(old)
    looked = recall("migrate", "--dry-run")
    assert (looked.code, looked.out.count("would be brought up")) == (0, 2)
    assert kept(old) == held
    assert recall("migrate").code == 0
    held = kept(old)

    again = recall("migrate")

    assert (again.code, again.out.count("current")) == (0, 2)
    assert kept(old) == held


def test_a_folder_that_cannot_be_used_is_told_in_its_row_and_the_rest_is_brought_up(old, recall):
    (old.run_dir / "log.lock").mkdir()

    done = recall("migrate", "--json")

    [head, index_row] = json.loads(done.out)["steps"]
    assert (done.code, head["state"], index_row["state"]) == (1, "refused", "brought up")
    assert head["why"] == f"cannot use {old.run_dir / 'log.lock'} (Is a directory); mend that first"


def test_a_dry_run_says_why_it_would_refuse(old, recall):
    old.head_file.unlink()

    planned = recall("migrate", "--dry-run")

    assert planned.code == 1
    assert "unknown -> 2 refused: missing or damaged" in planned.out


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (apsw.CantOpenError("unable to open database file"), "check its permissions, and that its disk takes writes"),
        (apsw.ReadOnlyError("attempt to write a readonly database"), "and that its disk takes writes"),
        (apsw.IOError("disk I/O error"), "check that its disk is whole and has room"),
        (apsw.FullError("database or disk is full"), "the disk is full"),
        (apsw.BusyError("database is locked"), "being written by another process; try again"),
    ],
    ids=["cannot open", "read-only", "no room for what readers share", "full", "busy"],
)
def test_an_index_that_may_not_be_opened_is_told_by_why_and_called_neither_damaged_nor_newer(
    old, recall, monkeypatch, error, says
):
    """On a read-only or full disk SQLite can only not make the files beside it; its schema is then not known."""

    def refuses(*_, **__):
        raise error

    monkeypatch.setattr(schema, "connect", refuses)

    for done in (recall("migrate", "--json"), recall("migrate", "--dry-run", "--json")):
        [_, row] = json.loads(done.out)["steps"]
        assert (done.code, row["state"], row["held"]) == (1, "refused", None)
        assert says in row["why"]
        assert "rebuild" not in row["why"]
        assert "upgrade" not in row["why"]
    named = [name for name, _, _ in schemas(old, Path(os.environ["RECALL_HOME"]))]
    assert old.index_path.name not in named


def kept(workspace):
    """Return the files of a workspace but SQLite's own beside a database, which a reader makes."""
    return {name: data for name, data in tree(workspace.home).items() if not name.endswith(("-shm", "-wal"))}


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("step", [2, 3, 4])
def test_killed_in_any_step_the_old_rows_and_the_copy_are_whole_and_the_next_run_goes_on(old, monkeypatch, step):
    before = passages(old.index_path)

    def killed(execute):
        execute("DELETE FROM chunk_1")
        raise Killed

    steps = tuple((number, killed if number == step else made) for number, made in schema.MIGRATIONS)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", steps)
        with pytest.raises(Killed):
            index.bring_up(old.index_path)

    [copy] = index.copies(old.index_path)
    assert (schema.held(copy), schema.held(old.index_path)) == (1, step - 1)
    assert passages(copy) == passages(old.index_path) == before
    assert index.bring_up(old.index_path) == (step - 1, SCHEMA_VERSION)
    assert passages(old.index_path) == before
    assert index.copies(old.index_path) == []


def test_a_step_that_loses_rows_is_found_and_the_old_index_is_back(old, monkeypatch, recall):
    before = passages(old.index_path)

    def loses(execute):
        schema._add_standing(execute)
        execute("DELETE FROM pointer_1 WHERE start = 0")

    steps = tuple((number, loses if number == 4 else made) for number, made in schema.MIGRATIONS)
    monkeypatch.setattr(schema, "MIGRATIONS", steps)

    with pytest.raises(StoreError, match=r"rows of pointer_1 became .*the old one is back"):
        index.bring_up(old.index_path)

    assert schema.held(old.index_path) == 1
    assert passages(old.index_path) == before
    done = recall("migrate")
    assert done.code == 1
    assert "refused: the index could not be brought up" in done.out


def cut_off(old, monkeypatch, *, steps=schema.MIGRATIONS) -> None:
    """Bring the index up and end the process before the result is checked."""

    def ends(*given):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", steps)
        patch.setattr(index, "_wrong", ends)
        with pytest.raises(Killed):
            index.bring_up(old.index_path)
    assert schema.held(old.index_path) == SCHEMA_VERSION


def test_a_run_that_was_killed_before_the_check_is_checked_by_the_next(old, monkeypatch, recall):
    before = passages(old.index_path)

    def loses(execute):
        schema._add_standing(execute)
        execute("DELETE FROM pointer_1 WHERE start = 0")

    cut_off(old, monkeypatch, steps=[(number, loses if number == 4 else made) for number, made in schema.MIGRATIONS])
    done = recall("migrate")

    assert done.code == 1
    assert "rows of pointer_1 became" in done.out
    assert passages(old.index_path) == before
    assert recall("migrate").code == 0
    assert passages(old.index_path) == before
    assert index.copies(old.index_path) == []


def test_what_was_written_after_a_killed_run_is_no_fault(old, monkeypatch):
    cut_off(old, monkeypatch)
    with Store.open(old.index_path, "w") as store, store.transaction():
        store.run("DELETE FROM pointer_1 WHERE start = 0")
    held = passages(old.index_path)

    assert index.bring_up(old.index_path) == (SCHEMA_VERSION, SCHEMA_VERSION)

    assert passages(old.index_path) == held
    assert index.copies(old.index_path) == []


def test_a_full_disk_leaves_the_old_index_and_no_half_copy(old, monkeypatch, recall):
    held = kept(old)
    copied = index._copy

    def fills(source, target):
        copied(source, target)
        raise apsw.FullError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(index, "_copy", fills)
        with pytest.raises(StoreError, match="the disk is full"):
            index.bring_up(old.index_path)

    assert kept(old) == held
    assert recall("migrate").code == 0


def test_a_newer_index_is_refused_and_left_as_it_is(old, recall):
    connection = apsw.Connection(str(old.index_path))
    connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    connection.close()
    held = old.index_path.read_bytes()

    with pytest.raises(IndexNewer, match="schema 99, this version writes"):
        index.bring_up(old.index_path)

    done = recall("migrate")
    assert done.code == 1
    assert "upgrade recall" in done.out
    assert verify(old).ok  # the record's own step was made
    assert old.index_path.read_bytes() == held
    assert index.copies(old.index_path) == []


def test_what_is_no_index_is_named(old):
    old.index_path.write_bytes(b"no database at all" * 100)

    with pytest.raises(IndexUnreadable, match="recall index rebuild"):
        index.bring_up(old.index_path)


def test_a_damaged_record_keeps_its_old_head(old):
    data = old.activity.read_bytes()
    old.activity.write_bytes(data.replace(b"8080", b"8081"))
    held = old.head_file.read_bytes()

    with pytest.raises(RecordError, match=r"damaged .commit_mismatch.; its head is unchanged"):
        record.bring_up(old)

    assert old.head_file.read_bytes() == held


@pytest.mark.parametrize("head", [b"", b"[]", b'{"v":1}', b'{"v":3,"hash":"a","length":1,"segment":1,"seq":1}'])
def test_a_head_of_no_known_form_is_refused(old, head):
    old.head_file.write_bytes(head)

    with pytest.raises(RecordError, match="recall verify"):
        record.bring_up(old)

    assert old.head_file.read_bytes() == head


def test_health_says_what_is_older_until_it_is_brought_up(old, recall):
    data = old.home.parent.parent
    roots = ("roots.json", 1, 1)
    assert schemas(old, data) == (("log/head", 1, 2), ("index.sqlite", 1, SCHEMA_VERSION), roots)

    assert recall("migrate").code == 0

    assert [held == wanted for _, held, wanted in schemas(old, data)] == [True, True, True]


def test_forgetting_takes_a_copy_that_was_left(old, recall):
    assert recall("migrate").code == 0
    shutil.copy(old.index_path, old.index_path.with_name("index.sqlite.before-1"))

    plan = plan_text(old, "8080")

    assert "index.sqlite.before-1" in plan.drop
