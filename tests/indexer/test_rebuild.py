"""A new generation beside the old, models that change, copies that are merged, old sources looked at again.

Case store-model-change: mnemosyne-oss/mnemosyne#238 and #335, Synaptic-Labs-AI/PACT-Plugin#227,
arabold/docs-mcp-server#352.
"""

import random
import subprocess
import sys
from datetime import timedelta

import pytest
from support.embedder import StubEmbedder
from support.talk import NOW, START, Talk, indexed, keys_and_pointers, passages, record, recorded, rows, run_embed

from indexer.rebuild import backfill, compact, fresh_store, rebuild
from indexer.segment import query_terms
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.words_table import refill
from indexer.writer import index, mismatch
from transcript.errors import IndexNewer, LockBusy
from transcript.log import Log

A = {"id": "model-a", "dimension": 384}
CHANGES = {
    "another dimension": StubEmbedder(id="model-b", dimension=256),
    "same dimension, other vectors": StubEmbedder(id="model-c", dimension=384),
    "another revision": StubEmbedder(id="model-a", dimension=384, revision="2"),
}


def talk_of(count=20):
    talk = Talk()
    rng = random.Random(count)
    for n in range(count):
        talk.prompt(f"question {n} about {rng.choice(['locks', 'pools', 'caches'])} of unit{n} " * 12)
        talk.reply(f"first a look at unit{n}", f"n{n}")
        talk.reply(f"the answer {n}: caracal-{1700 + n} holds it", f"a{n}")
    return talk


def top(store, embedder, text):
    return [hit.chunk_id for hit in store.nearest(embedder.vector(text), 6)]


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_vectors_of_another_model_are_never_mixed_and_a_rebuild_brings_them_back(tmp_path, changed):
    workspace = recorded(tmp_path, talk_of())
    old = StubEmbedder(**A)
    with indexed(workspace, old) as store:
        vectors = store.vectors.ids()
        assert (store.meta().model, store.meta().revision, store.meta().dimension) == ("model-a", "1", 384)
        assert not store.serves(changed.id, changed.revision, changed.dimension)
        assert "run 'recall index rebuild'" in mismatch(store, IndexSettings(), changed)

        report = run_embed(store, changed)

        assert report.embedded == 0
        assert "run 'recall index rebuild'" in report.refused
        assert store.vectors.ids() == vectors
        assert top(store, old, "caracal-1717")[0]

        done = rebuild(workspace, store, IndexSettings(), now=NOW, embedder=changed)

        assert done.flipped
        assert done.reused == 0
        assert store.serves(changed.id, changed.revision, changed.dimension)
        assert mismatch(store, IndexSettings(), changed) == ""
        best = store.nearest(changed.vector("caracal-1717"), 1)[0].chunk_id
        assert "caracal-1717" in store.passages([best])[best].text
        assert rows(store, "SELECT count(*) FROM generation") == [(1,)]


def test_opening_without_any_configuration_changes_nothing(tmp_path):
    """store-model-change (4)."""
    workspace = recorded(tmp_path, talk_of(5))
    with indexed(workspace, StubEmbedder(**A)) as store:
        store.checkpoint()
    before = workspace.index_path.read_bytes()

    with Store.open(workspace.index_path) as store:
        store.lexical(["caracal1701"], limit=5)
        store.meta()

    assert workspace.index_path.read_bytes() == before


def test_the_old_generation_serves_until_the_new_one_is_whole_and_a_stopped_rebuild_goes_on(tmp_path):
    workspace = recorded(tmp_path, talk_of())
    old, new = StubEmbedder(**A), StubEmbedder(id="model-b", dimension=256)
    with indexed(workspace, old) as store:
        calls = []

        def stop():
            calls.append(1)
            return len(calls) > 2

        first = rebuild(workspace, store, IndexSettings(), now=NOW, embedder=new, should_stop=stop)

        assert not first.flipped
        assert store.meta().model == "model-a"
        assert store.building() == first.generation == 2
        assert top(store, old, "question about caches")
        with Store.open(workspace.index_path) as reader:
            assert reader.generation == 1

        second = rebuild(workspace, store, IndexSettings(), now=NOW, embedder=new)

        assert second.resumed
        assert second.flipped
        assert second.words.chunks == 0, "the words were done"
        assert second.vectors.embedded < second.vectors.total + first.vectors.embedded
        assert store.meta().model == "model-b"
        assert store.building() is None
        assert not store.has_table("chunk_1")
        assert not store.has_table("chunk_vec_1")


def test_a_reader_that_was_open_before_a_rebuild_finds_the_new_generation(tmp_path):
    workspace = recorded(tmp_path, talk_of())
    embedder = StubEmbedder(**A)
    with indexed(workspace, embedder) as store, Store.open(workspace.index_path) as reader:
        rebuild(workspace, store, IndexSettings(), now=NOW, embedder=embedder)

        assert reader.meta().generation == 2


def test_a_search_sees_one_state_of_the_index_while_a_rebuild_flips_it(tmp_path, monkeypatch):
    monkeypatch.setattr("indexer.store.WRITER_BUSY_MS", 50)  # the last fold of the write-ahead log waits for the reader
    workspace = recorded(tmp_path, talk_of())
    embedder = StubEmbedder(**A)
    with indexed(workspace, embedder) as store, Store.open(workspace.index_path) as reader:
        before = top(reader, embedder, "question about caches")
        with reader.snapshot():
            rebuild(workspace, store, IndexSettings(), now=NOW, embedder=embedder)

            assert reader.generation == 1
            assert top(reader, embedder, "question about caches") == before
        reader.refresh()

        assert reader.generation == 2


def test_vectors_of_equal_chunks_are_taken_over(tmp_path):
    workspace = recorded(tmp_path, talk_of())
    embedder = StubEmbedder(**A)
    with indexed(workspace, embedder) as store:
        held = store.meta().n_vectors
        embedder.batches.clear()

        report = rebuild(workspace, store, IndexSettings(), now=NOW, embedder=embedder)

        assert report.reused == held == store.meta().n_vectors == len(store.vectors.ids())
        assert embedder.batches == []


def test_other_chunk_settings_build_other_chunks_and_reuse_what_is_equal(tmp_path):
    """CARD-05."""
    workspace = recorded(tmp_path, talk_of())
    embedder = StubEmbedder(**A)
    with indexed(workspace, embedder) as store:
        before = store.meta()
        settings = IndexSettings(chunk_chars=200)

        report = rebuild(workspace, store, settings, now=NOW, embedder=embedder)

        assert store.meta().config_hash != before.config_hash
        assert store.meta().n_chunks > before.n_chunks
        assert 0 < report.reused < before.n_vectors
        assert store.meta().n_vectors == len(store.vectors.ids())
        assert mismatch(store, settings, embedder) == ""


def test_a_model_with_a_smaller_limit_gets_smaller_chunks(tmp_path):
    """emb-silent-truncation 4."""
    workspace = recorded(tmp_path, talk_of())
    small = StubEmbedder(id="small", max_tokens=32)
    with indexed(workspace, StubEmbedder(**A)) as store:
        assert "takes 32" in run_embed(store, small).refused

        rebuild(workspace, store, IndexSettings(), now=NOW, embedder=small)

        assert all(small.count(text) <= 32 for batch in small.batches for text in batch)
        assert store.meta().max_tokens == 32


def test_without_an_embedder_the_words_are_built_anew_and_the_vectors_kept(tmp_path):
    workspace = recorded(tmp_path, talk_of())
    embedder = StubEmbedder(**A)
    with indexed(workspace, embedder) as store:
        held = store.meta().n_vectors
        report = rebuild(workspace, store, IndexSettings(), now=NOW)

        assert report.flipped
        assert store.meta().n_vectors == held
        assert store.serves(embedder.id, embedder.revision, embedder.dimension)


def test_what_is_recorded_during_a_rebuild_is_in_the_new_generation(tmp_path):
    workspace = recorded(tmp_path, talk_of(5))
    new = StubEmbedder(id="model-b", dimension=32)
    late = Talk("late")
    late.prompt("said while the rebuild ran")
    with indexed(workspace, StubEmbedder(**A)) as store:
        rebuild(
            workspace,
            store,
            IndexSettings(),
            now=NOW,
            embedder=new,
            embed_progress=lambda *_: record(workspace, late),
        )

        assert len(store.lexical(query_terms("rebuild ran"), limit=1).hits) == 1


def test_deleting_the_index_and_building_again_gives_the_same_chunks_pointers_and_results(tmp_path):
    """LCA-4.2-09, with 40 fixed queries."""
    workspace = recorded(tmp_path, talk_of(40))
    embedder = StubEmbedder(**A)
    queries = [f"answer {n} of unit{n} about caches" for n in range(40)]

    def state(store):
        texts = {row.chunk_id: row.key for row in passages(store)}
        words = [[texts[c] for c, _ in store.lexical(query_terms(q), limit=6).hits] for q in queries]
        near = [[texts[c] for c in top(store, embedder, q)] for q in queries]
        return keys_and_pointers(store), words, near

    with indexed(workspace, embedder) as store:
        before = state(store)
    for path in workspace.home.glob("index.sqlite*"):
        path.unlink()
    with indexed(workspace, embedder) as store:
        assert state(store) == before
        rebuild(workspace, store, IndexSettings(), now=NOW, embedder=embedder)
        assert state(store)[0] == before[0]


def test_compact_merges_copies_with_their_pointers_and_restores_the_key(tmp_path):
    """LCA-D-11c, scaled: 93 % of the rows are copies, written past a dropped key."""
    workspace = recorded(tmp_path, talk_of(30))
    embedder = StubEmbedder(dimension=32)
    rng = random.Random(3)
    with indexed(workspace, embedder) as store:
        distinct = store.meta().n_chunks
        before = {c: [h for h, _ in store.lexical(query_terms(f"caracal-17{c:02d}"), limit=6).hits] for c in range(30)}
        with store.transaction():
            store.run("DROP INDEX chunk_key_1")
            for copy in range(distinct * 14):
                source = rng.randint(1, distinct)
                store.run(
                    "INSERT INTO chunk_1 (key, source_class, role, n_tokens, text)"
                    " SELECT key, source_class, role, n_tokens, text FROM chunk_1 WHERE id = ?",
                    (source,),
                )
                made = store.last_row()
                store.run("INSERT INTO event_1 (event) VALUES (?)", (f"copy{copy}",))
                store.run(
                    "INSERT INTO pointer_1 (chunk_id, event, start, session, end, exchange, ts, kind, seq)"
                    " VALUES (?, ?, 0, 1, 9, 0, 1, 0, 1)",
                    (made, store.last_row()),
                )
                if copy % 10 == 0:
                    store.vectors.add([made * 4], embedder.vector("x")[None, :])
            refill(store.run, store.packing, 1)
            store.recount(1)
        pointers = rows(store, "SELECT count(*) FROM pointer_1")[0][0]
        assert store.meta().n_chunks == distinct * 15

        report = compact(workspace, store, now=NOW)

        assert (report.rows, report.copies) == (distinct, distinct * 14)
        assert rows(store, "SELECT count(*), count(DISTINCT key) FROM chunk_1") == [(distinct, distinct)]
        assert rows(store, "SELECT count(*) FROM pointer_1") == [(pointers,)]
        assert report.bytes_after < report.bytes_before
        assert store.meta().n_chunks == distinct
        assert store.meta().n_vectors == len(store.vectors.ids()) == distinct
        for c, expected in before.items():
            found = [h for h, _ in store.lexical(query_terms(f"caracal-17{c:02d}"), limit=6).hits]
            assert found == expected
            assert len(set(found)) == len(found)
        with pytest.raises(Exception, match="UNIQUE"), store.transaction():
            store.run("INSERT INTO chunk_1 SELECT NULL, key, source_class, role, 1, text FROM chunk_1 LIMIT 1")


_BYPASS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
try:
    db.execute("INSERT INTO chunk_1 SELECT NULL, key, source_class, role, 1, text FROM chunk_1 LIMIT 1")
except sqlite3.IntegrityError as error:
    print(error)
"""


def test_a_writer_that_bypasses_the_library_gets_an_error_not_a_duplicate(tmp_path):
    """LCA-6.1-09, in a process of its own: one SQLite library a process and file."""
    workspace = recorded(tmp_path, talk_of(2))
    with indexed(workspace):
        pass

    done = subprocess.run(
        [sys.executable, "-c", _BYPASS, workspace.index_path], capture_output=True, text=True, check=True
    )

    assert "UNIQUE constraint failed: chunk_1.key" in done.stdout


def test_backfill_looks_at_old_events_again_and_brings_nothing_twice(tmp_path):
    """LCA-8.2-04."""
    talk = Talk()
    for n in range(6):
        talk.prompt(f"lost words {n} " + "of a long text " * 3000)
    talk.prompt("short words")
    workspace = recorded(tmp_path, talk)
    hidden = workspace.blobs_dir.with_name("hidden")
    workspace.blobs_dir.rename(hidden)
    with Store.open(workspace.index_path, "w") as store:
        first = index(workspace, store, IndexSettings(), now=NOW, record=False)
        assert (first.indexed, len(first.failed)) == (1, 6)
        workspace.blobs_dir.mkdir(exist_ok=True)
        workspace.blobs_dir.rmdir()
        hidden.rename(workspace.blobs_dir)

        done = backfill(
            workspace, store, IndexSettings(), since=START - timedelta(days=1), now=NOW, embedder=StubEmbedder()
        )

        assert (done.scanned, done.inserted, done.deduped, done.failed) == (7, 6, 1, 0)
        assert done.vectors.embedded == store.meta().n_chunks
        assert len(store.lexical(query_terms("lost words 3"), limit=50).hits) > 1
        before = keys_and_pointers(store)
        again = backfill(workspace, store, IndexSettings(), since=START - timedelta(days=1), now=NOW)
        assert (again.scanned, again.inserted, again.deduped) == (7, 0, 7)
        assert keys_and_pointers(store) == before
        later = backfill(workspace, store, IndexSettings(), since=START + timedelta(minutes=6), now=NOW)
        assert later.scanned == 1
    assert [event.body["run"] for event in Log(workspace).read() if event.type == "index_run"] == ["backfill"] * 3


def test_an_index_of_a_newer_version_is_refused_in_one_sentence_and_can_be_built_anew(tmp_path):
    workspace = recorded(tmp_path, talk_of(3))
    with indexed(workspace) as store:
        keys = keys_and_pointers(store)
        store.run("UPDATE meta SET value = '99' WHERE key = 'schema'")
    for mode in ("r", "w"):
        with pytest.raises(IndexNewer, match=r"schema 99.*upgrade recall") as caught:
            Store.open(workspace.index_path, mode)
        assert "\n" not in str(caught.value)

    with fresh_store(workspace.index_path) as store:
        rebuild(workspace, store, IndexSettings(), now=NOW)
        assert keys_and_pointers(store) == keys


def test_two_rebuilds_at_once_are_not_possible(tmp_path, monkeypatch):
    from indexer import writer

    workspace = recorded(tmp_path, talk_of(2))
    monkeypatch.setattr(writer, "LOCK_SECONDS", 0.05)
    with indexed(workspace) as store:
        lock = writer.index_lock(workspace)
        assert lock.acquire(0.0)
        with pytest.raises(LockBusy, match="another process"):
            rebuild(workspace, store, IndexSettings(), now=NOW)
        lock.release()


def test_a_rebuild_without_the_extension_drops_the_old_vector_table_later(tmp_path):
    workspace = recorded(tmp_path, talk_of(5))
    embedder = StubEmbedder(dimension=16)
    with indexed(workspace, embedder):
        pass
    with Store.open(workspace.index_path, "w", extension=False) as store:
        rebuild(workspace, store, IndexSettings(), now=NOW, embedder=embedder)
        found = top(store, embedder, "question about locks")
        assert found
    with Store.open(workspace.index_path, "w") as store:
        assert top(store, embedder, "question about locks") == found
        assert not store.has_table("chunk_vec_1")
        assert store.has_table("chunk_vec_2")
