"""Passages packed with a dictionary of the index's own: what is read, ranked, forgotten and brought up from it."""

import json
import shutil
import subprocess
import sys
from contextlib import closing

import apsw
import pytest
from support.embedder import StubEmbedder
from support.old_index import as_schema_4
from support.talk import NOW, Talk, indexed, recorded, rows, run_embed, run_index

from indexer import bring_up, dictionary, vocabulary, writer
from indexer.contents import contents, vectors_differ
from indexer.forget import forget
from indexer.rebuild import compact, rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from transcript.errors import IndexUnreadable
from transcript.workspace import Workspace

PASSAGES = 1100  # of which a dictionary is made
SECRET = "the-lighthouse-phrase"
HELD = "SELECT id, text FROM chunk_{g} ORDER BY id"
PLAIN = "SELECT id, plain_text(text) FROM chunk_{g} ORDER BY id"
ASKED = ("zephyr-17 connection pool", "ETIMEDOUT worker.py", "grüße über 接続", SECRET)


def lines() -> list[str]:
    """Return what is said and printed: alike, as an agent's passages are, and each distinct."""
    body = "the connection pool of the billing service answered with ETIMEDOUT at src/worker.py"
    return [f"zephyr-{n}: {body} line {n * 7}" for n in range(PASSAGES - 2)] + ["grüße über 接続", "short"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Workspace:
    """A record and its index, words and vectors; a phrase to be forgotten stands in every tenth passage of tools."""
    talk = Talk()
    for n, line in enumerate(lines()):
        if n % 5:
            talk.result(f"{line} {SECRET if n % 10 == 1 else ''}".strip())
        else:
            talk.prompt(line)
    workspace = recorded(tmp_path_factory.mktemp("packed"), talk)
    with indexed(workspace) as store:
        run_embed(store, StubEmbedder())
    return workspace


@pytest.fixture
def place(made, tmp_path) -> Workspace:
    """A copy of it, for what writes."""
    home = tmp_path / "data" / "workspaces" / made.id
    shutil.copytree(made.home, home)
    return Workspace(made.id, home, made.root)


def found(store: Store) -> list[object]:
    return [store.lexical(text.split(), limit=30) for text in ASKED]


def test_passages_are_packed_to_half_and_read_as_they_were(made):
    with Store.open(made.index_path) as store:
        held, plain = dict(rows(store, HELD)), dict(rows(store, PLAIN))
        shown = store.passages(list(plain))

        assert sum(isinstance(one, bytes) for one in held.values()) > 0.9 * PASSAGES
        assert 2 * sum(map(len, held.values())) < sum(len(text.encode()) for text in plain.values())
        assert {row.chunk_id: row.text for row in shown.values()} == plain == store.texts(plain)
        assert {line for line in lines() if "zephyr" not in line} <= set(plain.values())
        assert "short" in held.values()  # packing would make it longer


def test_the_standard_library_reads_them_in_a_process_of_its_own(made):
    code = (
        "import sqlite3, sys, json; from indexer.reader import Reader\n"
        "db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)\n"
        "reader = Reader(db.execute)\n"
        "ids = [i for i, _ in reader.lexical(['etimedout', 'zephyr17'], limit=40).hits]\n"
        "words = sorted(reader.words_with('zephyr17'))\n"
        "print(json.dumps([sorted(reader.texts(ids).items()), words, 'apsw' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code, made.index_path], capture_output=True, text=True, check=True)
    texts, words, has_apsw = json.loads(done.stdout)

    with Store.open(made.index_path) as store:
        ids = [i for i, _ in store.lexical(["etimedout", "zephyr17"], limit=40).hits]
        assert dict(texts) == store.texts(ids)
        assert set(words) == store.words_with("zephyr17") >= {"zephyr17", "zephyr", "17"}
    assert len(texts) == 40
    assert not has_apsw


def pages(store: Store) -> int:
    """Return the bytes that the passages take with all that stands beside them."""
    return int(rows(store, "SELECT sum(pgsize) FROM dbstat WHERE name IN ('chunk_1', 'dictionary')")[0][0])


def test_an_index_of_schema_4_becomes_what_a_fresh_one_is(place):
    with Store.open(place.index_path) as store:
        fresh, ranked = contents(store), found(store)
    with Store.open(place.index_path, "w") as store:
        with store.transaction():
            as_schema_4(store)
        store.vacuum()
    with Store.open(place.index_path) as store:  # until somebody writes it is read as it is
        assert found(store) == ranked
        before, size = pages(store), place.index_path.stat().st_size

    assert bring_up.bring_up(place.index_path) == (4, 7)

    with Store.open(place.index_path) as store:
        assert contents(store) == fresh
        assert found(store) == ranked
        assert rows(store, "SELECT count(*) FROM dictionary") == [(1,)]
        assert rows(store, "PRAGMA freelist_count") == [(0,)]
        assert 2 * pages(store) < before
    assert place.index_path.stat().st_size < size
    assert bring_up.copies(place.index_path) == []


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ("UPDATE chunk_1 SET text = 'another' WHERE id = 1", "a passage became another"),
        ("INSERT INTO chunk_fts_1 (rowid, tokens) VALUES (1, 'another')", "the words of the passages became others"),
    ],
)
def test_what_the_step_would_change_is_found_and_the_old_file_is_back(place, monkeypatch, damage, why):
    with Store.open(place.index_path, "w") as store, store.transaction():
        as_schema_4(store)
    with Store.open(place.index_path) as store:
        before = contents(store)
    renew = dictionary.renew
    monkeypatch.setattr(dictionary, "renew", lambda execute, *a, **k: (renew(execute, *a, **k), execute(damage, ())))

    with pytest.raises(Exception, match=why):
        bring_up.bring_up(place.index_path)

    with Store.open(place.index_path) as store:
        assert store.meta().schema == 4
        assert contents(store) == before


def test_a_reader_that_is_open_reads_what_another_process_packs_anew(place):
    with Store.open(place.index_path) as reader, Store.open(place.index_path, "w") as other:
        before = dict(rows(reader, PLAIN))
        first = rows(other, "SELECT id FROM dictionary")

        dictionary.renew(other.run, other.packing, transaction=other.transaction)

        assert rows(other, "SELECT id FROM dictionary") == [(first[0][0] + 1,)]
        assert dict(rows(reader, PLAIN)) == before
        assert reader.texts(before) == before


def test_stopped_between_two_transactions_all_passages_can_be_read(place, monkeypatch):
    monkeypatch.setattr(dictionary, "_BATCH", 300)
    with Store.open(place.index_path, "w") as store:
        before, left = dict(rows(store, PLAIN)), iter(range(3))

        def transaction():
            next(left)
            return store.transaction()

        with pytest.raises(StopIteration):
            dictionary.renew(store.run, store.packing, transaction=transaction)

        assert len(rows(store, "SELECT id FROM dictionary")) == 2
        assert dict(rows(store, PLAIN)) == before
        dictionary.renew(store.run, store.packing, transaction=store.transaction)
        assert len(rows(store, "SELECT id FROM dictionary")) == 1
        assert dict(rows(store, PLAIN)) == before


def test_what_is_forgotten_is_in_no_dictionary(place):
    with Store.open(place.index_path) as store:
        held = [bytes(made) for (made,) in rows(store, "SELECT bytes FROM dictionary")]
        assert any(SECRET.encode() in made for made in held)
        holding = f"SELECT id FROM chunk_{{g}} WHERE instr(plain_text(text), '{SECRET}')"
        sql = "SELECT v.event FROM event_{g} v JOIN pointer_{g} p ON p.event = v.id"
        events = [event for (event,) in rows(store, f"{sql} WHERE p.chunk_id IN ({holding})")]

    forget(place, events)

    with Store.open(place.index_path) as store:
        held = [bytes(made) for (made,) in rows(store, "SELECT bytes FROM dictionary")]
        assert not any(SECRET.encode() in made for made in held)
        assert not any(SECRET in text for _, text in rows(store, PLAIN))
        assert "lighthous" not in {stem for stem, _, _ in vocabulary.counts(store.run, store.generation)}
        assert rows(store, "SELECT count(*) FROM chunk_{g}") == [(PASSAGES - len(events),)]


@pytest.mark.parametrize("many", [300, 3000])
def test_an_index_that_came_in_at_once_has_no_gaps(tmp_path, monkeypatch, many):
    monkeypatch.setattr(writer, "MANY_CHUNKS", many)
    talk = Talk()
    for line in lines()[:600]:
        talk.prompt(line)
    with indexed(recorded(tmp_path, talk)) as store:
        before = rows(store, "PRAGMA page_count"), rows(store, "SELECT count(DISTINCT segid) FROM chunk_fts_{g}_idx")
        store.vacuum()
        after = rows(store, "PRAGMA page_count"), [(1,)]

    assert (before == after) is (many < 600)


@pytest.mark.parametrize("again", [compact, rebuild])
def test_compact_and_rebuild_leave_the_same_passages_words_and_vectors(place, again, made):
    with Store.open(place.index_path, "w") as store, Store.open(made.index_path) as before:
        if again is compact:
            compact(place, store, now=NOW, record=False)
        else:
            rebuild(place, store, IndexSettings(), now=NOW, embedder=StubEmbedder(), record=False)

        assert contents(store) == contents(before)
        assert vectors_differ(before, store)[0] == 0
        assert all(isinstance(held, bytes) for _, held in rows(store, HELD) if len(held) > 40)


def test_a_passage_that_comes_later_is_packed_too(place):
    from transcript.log import Log

    with Store.open(place.index_path, "w") as store:
        talk = Talk("two")
        talk.prompt("zephyr-5000: the connection pool of the billing service answered again")
        Log(place).append(talk.drafts, now=NOW)
        run_index(place, store)

        [(held, plain)] = rows(
            store, "SELECT text, plain_text(text) FROM chunk_{g} WHERE instr(plain_text(text), 'zephyr-5000')"
        )
        assert isinstance(held, bytes)
        assert plain == talk.drafts[0].body["text"]


@pytest.mark.parametrize(
    "damage", ["DELETE FROM dictionary", "UPDATE chunk_1 SET text = x'000001ffffffff' WHERE typeof(text) = 'blob'"]
)
def test_a_passage_that_cannot_be_unpacked_says_what_to_do(place, damage):
    with closing(apsw.Connection(str(place.index_path))) as connection:
        connection.execute(damage)

    with Store.open(place.index_path) as store, pytest.raises(IndexUnreadable, match="recall index rebuild"):
        store.texts([number for number, held in rows(store, HELD) if isinstance(held, bytes)])


def test_what_a_turn_asks_about_exchanges_is_found_by_index(made):
    with Store.open(made.index_path) as store:
        plans: list[str] = []

        def told(sql, values=()):
            plans.extend(row[3] for row in store.run(f"EXPLAIN QUERY PLAN {sql}", values))
            return store.run(sql, values)

        from indexer.reader import Reader

        reader = Reader(told)
        assert reader.exchange([1, 2]).keys() == reader.prompts([1, 2]).keys() == {1, 2}
        reader.passages([1, 2])
        plans = [plan for plan in plans if "pointer" in plan or " p " in f"{plan} "]
        assert len(plans) >= 3
        assert all(plan.startswith("SEARCH") for plan in plans)
        assert any("pointer_exchange_1" in plan for plan in plans)
