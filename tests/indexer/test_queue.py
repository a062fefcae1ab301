"""Vectors are filled in by worth, batch by batch; no failure, crash or bad vector loses or spoils the others.

Cases store-crash-mid-batch (mem0ai/mem0#5245, introfini/ZotSeek#53, BYK/loreai#1176, raphasouthall/neurostack#54,
eric-cielo/moflo#1383), emb-oversize-aborts-batch (JSONbored/loopover#5072, itlackey/akm#874,
elara-labs/code-context-engine#86), store-zero-nan-vector (vlasky/sqlite-vec#8, spiceai/spiceai#11621,
qdrant/qdrant#1087), emb-silent-truncation (huggingface/sentence-transformers#4060).
"""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from support.embedder import StubEmbedder
from support.talk import START, Talk, indexed, recorded, rows, run_embed, run_index

from indexer import audit
from indexer.power import lower_priority, on_battery, thread_count
from indexer.queue import pending, wanted_chunks
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.vectors import KINDS
from transcript.errors import LockBusy
from transcript.lock import FileLock


def messages(count=30, odd=""):
    talk = Talk()
    for n in range(1, count + 1):
        talk.prompt(f"message {n:02d} speaks of topic{n:02d}{odd if n == 11 else ''}.")
    return talk


def texts_with_vectors(store):
    ids = {number // KINDS for number in store.vectors.ids()}
    return [text for i, text in rows(store, "SELECT id, text FROM chunk_{g} ORDER BY id") if i in ids]


def test_newest_session_first_and_what_people_said_before_what_the_agent_muttered(tmp_path):
    old, new = Talk("old", start=START), Talk("new", start=START + timedelta(days=5))
    for talk in (old, new):
        name = talk.session
        talk.prompt(f"{name} prompt")
        talk.reply(f"{name} narration", "m1")
        talk.call("Bash", {"command": f"{name} call"})
        talk.result(f"{name} result")
        talk.reply(f"{name} final", "m2")
        talk.add("decision", "human", {"text": f"{name} decision"})
    with indexed(recorded(tmp_path, old, new)) as store:
        order = [
            rows(store, f"SELECT text FROM chunk_{{g}} WHERE id = {c}")[0][0]
            for c, _ in pending(store, 1, IndexSettings())
        ]
        with_tools = pending(store, 1, IndexSettings(embed_tools=True))

    assert [text.split()[0] + " " + text.split()[1] for text in order] == [
        "new final", "new prompt", "old final", "old prompt",
        "new decision", "old decision", "new narration", "old narration",
    ]  # fmt: skip
    assert len(with_tools) == len(order) + 4


def test_every_wanted_chunk_gets_a_vector_once(tmp_path):
    embedder = StubEmbedder()
    with indexed(recorded(tmp_path, messages())) as store:
        first = run_embed(store, embedder)
        again = run_embed(store, embedder)

        assert (first.total, first.embedded, first.remaining) == (30, 30, 0)
        assert (again.total, again.embedded) == (0, 0)
        assert store.meta().n_vectors == len(store.vectors.ids()) == wanted_chunks(store, 1, IndexSettings()) == 30
        assert sum(map(len, embedder.batches)) == 30
        assert max(map(len, embedder.batches)) <= IndexSettings().embed_batch
        hit = store.nearest(embedder.vector("message 07 speaks of topic07."), 1)[0]
        assert store.passages([hit.chunk_id])[hit.chunk_id].text == "message 07 speaks of topic07."
        assert hit.similarity == pytest.approx(1.0, abs=1e-5)


def test_a_text_that_fails_once_is_embedded_by_the_next_run(tmp_path):
    """store-crash-mid-batch (1)."""
    calls = []

    def once():
        calls.append(1)
        if len(calls) <= 2:  # in its batch, and alone
            raise RuntimeError("the model hiccupped")

    with indexed(recorded(tmp_path, messages(odd=" HICCUP"))) as store:
        embedder = StubEmbedder(failures={"HICCUP": once})
        embedder_report = run_embed(store, embedder)
        while embedder_report.remaining:
            embedder_report = run_embed(store, embedder)

        assert len(texts_with_vectors(store)) == 30
        assert rows(store, "SELECT count(*) FROM embed_state_{g}") == [(0,)]


def test_a_text_that_always_fails_is_listed_and_found_by_words(tmp_path):
    """store-crash-mid-batch (2), LCA-D-02b."""
    embedder = StubEmbedder(failures={"POISON": ValueError("cannot encode")})
    with indexed(recorded(tmp_path, messages(64, odd=" POISON"))) as store:
        for _ in range(3):
            report = run_embed(store, embedder)

        assert len(texts_with_vectors(store)) == 63
        assert report.failed == 1
        assert "cannot encode" in report.failures[0]
        assert rows(store, "SELECT attempts, error FROM embed_state_{g}") == [(3, "ValueError: cannot encode")]
        assert len(store.lexical(["topic11"], limit=1).hits) == 1
        assert audit.embeddings(store).failed == 1
        assert audit.agreement(store).orphan_vectors == 0


_KILLER = """
import os, signal, sys
from pathlib import Path
from indexer.store import Store
from support.embedder import StubEmbedder
from support.talk import run_embed
def die():
    if not Path(sys.argv[2]).exists():
        os.kill(os.getpid(), signal.SIGKILL)
with Store.open(Path(sys.argv[1]), "w") as store:
    run_embed(store, StubEmbedder(failures={"message 21 ": die}))
"""


def _embed_in_a_process(index, spared):
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"}
    return subprocess.run([sys.executable, "-c", _KILLER, index, spared], env=environment, check=False).returncode


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_text_that_kills_the_process_is_set_aside_and_the_others_go_on(tmp_path):
    """store-crash-mid-batch (3): two deaths, then everything else; a third try last of all, then only on request."""
    workspace = recorded(tmp_path, messages())
    with indexed(workspace):
        pass
    spared = tmp_path / "spared"
    first, second = (_embed_in_a_process(workspace.index_path, spared) for _ in range(2))
    assert (first, second) == (-9, -9)
    with Store.open(workspace.index_path) as store:
        assert rows(store, "SELECT count(*) FROM embed_state_{g} WHERE crashes >= 1 AND in_flight = 0")[0][0] >= 1
    assert _embed_in_a_process(workspace.index_path, spared) == -9
    with Store.open(workspace.index_path, "w") as store:
        assert len(texts_with_vectors(store)) == 29, "all the others are done before the third try"
        report = run_embed(store, StubEmbedder(failures={"message 21 ": AssertionError("not to be touched")}))
        assert (report.set_aside, report.failed) == (1, 0)
        assert audit.embeddings(store).set_aside == 1
        [aside] = audit.embeddings(store).aside
        assert aside.endswith(": 3 processes died on it")
        assert len(store.lexical(["topic21"], limit=1).hits) == 1

        run_embed(store, StubEmbedder(), retry_set_aside=True)

        assert len(texts_with_vectors(store)) == 30
        assert audit.embeddings(store).set_aside == 0


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_text_that_killed_two_runs_and_then_does_not_ends_with_a_vector(tmp_path):
    workspace = recorded(tmp_path, messages())
    with indexed(workspace):
        pass
    spared = tmp_path / "spared"
    assert [_embed_in_a_process(workspace.index_path, spared) for _ in range(2)] == [-9, -9]
    spared.touch()

    assert _embed_in_a_process(workspace.index_path, spared) == 0

    with Store.open(workspace.index_path) as store:
        assert len(texts_with_vectors(store)) == 30
        agreement = audit.agreement(store)
        assert (agreement.orphan_vectors, agreement.orphan_pointers) == (0, 0)
        assert rows(store, "SELECT count(*) FROM embed_state_{g}") == [(0,)]


@pytest.mark.parametrize(
    "options", [{}, {"max_text_chars": 390}, {"max_batch_chars": 900}], ids=["splits", "long text raises", "timeout"]
)
def test_one_oversized_line_does_not_cost_its_neighbours_their_vectors(tmp_path, options):
    """emb-oversize-aborts-batch."""
    talk = Talk()
    for n in range(6):
        talk.prompt(f"ordinary message {n}")
    talk.result("z" * 60_000)
    for n in range(6, 12):
        talk.prompt(f"ordinary message {n}")
    settings = IndexSettings(embed_tools=True, chunk_chars=400)
    with indexed(recorded(tmp_path, talk)) as store:
        from indexer.queue import embed

        report = embed(store, StubEmbedder(**options), settings)
        found = texts_with_vectors(store)
        total = rows(store, "SELECT count(*) FROM chunk_{g}")[0][0]

    assert sum(text.startswith("ordinary") for text in found) == 12
    assert total <= 12 + 5
    if options.get("max_text_chars"):
        assert report.failed >= 1
        assert "refused" in report.failures[0]


def test_progress_is_committed_by_batch(tmp_path):
    with indexed(recorded(tmp_path, messages(48))) as store:
        seen = []

        def stop_after_two():
            seen.append(len(store.vectors.ids()))
            return len(seen) == 3

        report = run_embed(store, StubEmbedder(), should_stop=stop_after_two)

        assert seen == [0, 16, 32]
        assert report.stopped
        assert (report.embedded, report.remaining) == (32, 16)


def test_ctrl_c_keeps_what_is_done_and_blames_nobody(tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    with indexed(recorded(tmp_path, messages(40, odd=" STOP"))) as store:
        with pytest.raises(KeyboardInterrupt):
            run_embed(store, StubEmbedder(failures={"STOP": interrupt}))
        assert rows(store, "SELECT count(*) FROM embed_state_{g}") == [(0,)]

        run_embed(store, StubEmbedder())

        assert len(texts_with_vectors(store)) == 40


def test_zero_nan_infinite_and_short_vectors_never_enter_and_are_tried_again(tmp_path):
    """store-zero-nan-vector."""
    bad = {"gnu": "zero", "ibex": "nan", "kudu": "inf", "moose": "short"}
    talk = Talk()
    for name in bad:
        talk.prompt(f"{name} says the paging size is wrong")
    talk.prompt("ermine-6464 the paging size is 4096")
    with indexed(recorded(tmp_path, talk)) as store:
        report = run_embed(store, StubEmbedder(failures=bad))

        assert report.failed == 4
        assert texts_with_vectors(store) == ["ermine-6464 the paging size is 4096"]
        hits = store.nearest(StubEmbedder().vector("paging size"), 10)
        assert len(hits) == 1
        assert np.isfinite(hits[0].similarity)
        assert len(store.lexical(["paging"], limit=10).hits) == 5
        assert sorted(error for (error,) in rows(store, "SELECT error FROM embed_state_{g}")) == [
            "vector is not finite", "vector is not finite", "vector is zero", "vector of length 63, not 64",
        ]  # fmt: skip

        run_embed(store, StubEmbedder())

        assert len(texts_with_vectors(store)) == 5


def test_the_last_sentence_of_a_long_message_is_found_by_its_vector(tmp_path):
    """emb-silent-truncation: no text sent to the model is longer than its limit, special tokens included."""
    talk = Talk()
    talk.prompt("short note about kitchen furniture")
    filler = " ".join(f"step{n} retried job{n}." for n in range(1200))
    talk.reply(f"{filler} Root cause: clock skew on civet-4949.")
    embedder = StubEmbedder(dimension=2048)
    with indexed(recorded(tmp_path, talk), embedder) as store:
        best = store.nearest(embedder.vector("root cause clock skew"), 1)[0]
        assert "civet-4949" in store.passages([best.chunk_id])[best.chunk_id].text

    assert all(embedder.count(text) <= embedder.max_tokens for batch in embedder.batches for text in batch)


def test_a_text_that_would_be_cut_after_all_is_counted(tmp_path):
    with indexed(recorded(tmp_path, messages(3))) as store:
        embedder = StubEmbedder()
        embedder.count = lambda text: 300 if "topic02" in text else 5  # type: ignore[method-assign]

        report = run_embed(store, embedder)

        assert (report.embedded, report.truncated) == (3, 1)
        assert audit.embeddings(store).truncated == 1


def test_since_and_limit_leave_the_rest_pending(tmp_path):
    with indexed(recorded(tmp_path, messages(20))) as store:
        since = int((START + timedelta(minutes=15)).timestamp())

        assert run_embed(store, StubEmbedder(), limit=2).embedded == 2
        assert run_embed(store, StubEmbedder(), since=since).embedded == 3
        assert store.meta().n_vectors == 5


def test_only_one_process_embeds_at_a_time(tmp_path):
    workspace = recorded(tmp_path, messages(2))
    with indexed(workspace) as store:
        lock = FileLock(workspace.run_dir / "embed.lock")
        assert lock.acquire(0.0)
        with pytest.raises(LockBusy, match="another process is embedding"):
            run_embed(store, StubEmbedder())
        lock.release()


def test_text_is_indexed_while_another_process_embeds(tmp_path):
    workspace = recorded(tmp_path, messages(2))
    with indexed(workspace) as store:
        lock = FileLock(workspace.run_dir / "embed.lock")
        assert lock.acquire(0.0)
        assert run_index(workspace, store).scanned == 0
        lock.release()


def test_one_thread_on_battery_and_what_was_asked_for_otherwise(tmp_path):
    (tmp_path / "BAT0").mkdir()
    (tmp_path / "BAT0" / "status").write_text("Discharging\n")

    assert on_battery(tmp_path)
    assert thread_count(0, supplies=tmp_path) == 1
    assert thread_count(4, supplies=tmp_path) == 4
    (tmp_path / "BAT0" / "status").write_text("Charging\n")
    assert thread_count(0, supplies=tmp_path) == 0
    assert not on_battery(tmp_path / "absent")


@pytest.mark.skipif(sys.platform == "win32", reason="priorities as on Unix")
@pytest.mark.parametrize(("before", "after"), [(0, 10), (15, 15)])
def test_indexing_gives_way_and_takes_no_more_than_it_was_given(monkeypatch, before, after):
    asked = []
    monkeypatch.setattr(os, "getpriority", lambda which, who: before)
    monkeypatch.setattr(os, "setpriority", lambda which, who, priority: asked.append((who, priority)))

    lower_priority()

    assert asked == [(0, after)]
