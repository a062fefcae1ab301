import numpy as np
import pytest
from support.embedder import StubEmbedder

from eval.subset import copy_index, fill_vectors, newest
from eval.synthetic import build, made_prompts, made_texts
from indexer.audit import Agreement, agreement
from indexer.segment import query_terms
from indexer.settings import IndexSettings
from indexer.store import Store


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    data = tmp_path_factory.mktemp("made-up")
    return build(data, chunks=500, vectors=300, embedder=StubEmbedder(), settings=IndexSettings())


def test_it_holds_as_many_rows_and_vectors_as_asked(workspace):
    with Store.open(workspace.index_path) as store:
        meta = store.meta()

        assert (meta.n_chunks, meta.n_vectors) == (500, 300)
        assert len(store.vectors.ids()) == 300
        assert store.sessions() == 3


def test_words_and_vectors_find_rows(workspace):
    with Store.open(workspace.index_path) as store:
        vector = np.zeros(store.meta().dimension)
        vector[0] = 1.0

        assert store.lexical(query_terms(made_prompts(1)[0]), limit=10).hits
        assert len(store.nearest(vector, 5)) == 5


def test_the_newest_rows_have_the_vectors(workspace):
    with Store.open(workspace.index_path) as store:
        assert min(store.vectors.ids()) // 4 == 201


def test_made_texts_are_distinct_and_the_same_for_a_seed():
    texts = list(made_texts(50, 1))

    assert len(set(texts)) == 50
    assert texts == list(made_texts(50, 1))


def test_more_vectors_than_chunks_are_refused(tmp_path):
    with pytest.raises(ValueError, match="vectors is 2"):
        build(tmp_path, chunks=1, vectors=2, embedder=StubEmbedder(), settings=IndexSettings())


def test_a_copy_is_cut_to_its_newest_chunks(workspace, tmp_path):
    copy = copy_index(workspace, tmp_path)

    assert newest(copy, 400) == (400, 300)
    with Store.open(copy.index_path) as store:
        assert agreement(store) == Agreement(0, 0, 0, 0)
        assert min(row[0] for row in store.run(f"SELECT id FROM chunk_{store.generation}")) == 101
    with Store.open(workspace.index_path) as store:
        assert store.meta().n_chunks == 500


def test_missing_vectors_are_made_up(workspace, tmp_path):
    copy = copy_index(workspace, tmp_path)

    assert fill_vectors(copy) == 500
    with Store.open(copy.index_path) as store:
        assert len(store.vectors.ids()) == store.meta().n_vectors == 500
