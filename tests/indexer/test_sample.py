"""Parts of an index for measurements, over a made-up store of three sessions."""

import pytest
from support.embedder import StubEmbedder

from eval.subset import copy_index
from eval.synthetic import FIRST_SECOND, SECONDS_A_CHUNK, build
from indexer.audit import Agreement, agreement
from indexer.rows import FINAL, PROMPT
from indexer.sample import add_random_vectors, keep_newest, newest_chunks, newest_prompts, without_vector
from indexer.settings import IndexSettings
from indexer.store import Store


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    data = tmp_path_factory.mktemp("made-up")
    return build(data, chunks=500, vectors=300, embedder=StubEmbedder(), settings=IndexSettings())


def test_the_newest_prompts_come_first_with_session_and_time(workspace):
    with Store.open(workspace.index_path) as store:
        found = newest_prompts(store, 2)

    assert [prompt.session for prompt in found] == ["made-up-2", "made-up-2"]
    assert [(prompt.said - FIRST_SECOND) // SECONDS_A_CHUNK for prompt in found] == [496, 488]
    assert found[0].text.split()


def test_the_newest_chunks_are_of_the_kinds_and_the_time_asked_for(workspace):
    """Of each eight chunks the first is a prompt and the last a final answer; ids count from 1."""
    with Store.open(workspace.index_path) as store:
        prompts = newest_chunks(store, [PROMPT], before=FIRST_SECOND + SECONDS_A_CHUNK * 16, limit=2)
        both = newest_chunks(store, [PROMPT, FINAL], before=FIRST_SECOND + SECONDS_A_CHUNK * 16, limit=2)

    assert prompts == [17, 9]
    assert both == [17, 16]


def test_dropping_the_old_leaves_an_index_whose_parts_agree(workspace, tmp_path):
    copy = copy_index(workspace, tmp_path)

    with Store.open(copy.index_path, "w") as store:
        assert keep_newest(store, 250) == (250, 250)
        assert agreement(store) == Agreement(0, 0, 0, 0)
        assert without_vector(store) == []


def test_a_random_vector_goes_to_each_chunk_named(workspace, tmp_path):
    copy = copy_index(workspace, tmp_path)

    with Store.open(copy.index_path, "w") as store:
        missing = without_vector(store)
        assert missing == list(range(1, 201))
        assert add_random_vectors(store, missing[:50], seed=0) == 350
        assert without_vector(store) == missing[50:]
