"""One contract for both ways of searching vectors; limits, filters and unusable vectors.

Case store-knn-limit: asg017/sqlite-vec#157, basicmachines-co/basic-memory#604, openclaw/openclaw#96157, ory/lumen#187.
"""

import numpy as np
import pytest

from indexer.audit import NearPairs, near_pairs
from indexer.rows import RowFilter
from indexer.store import Shape, Store
from indexer.vectors import KINDS, NumpyVec, SqliteVec, fault, unit
from transcript.errors import EmbedderUnavailable

DIMENSION = 8


def unit_rows(count: int, seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.sqlite", "w") as opened:
        opened.ensure_generation(Shape("hash", 1, 256, "model", "1", DIMENSION))
        yield opened


@pytest.fixture(params=["sqlite-vec", "numpy over vec0", "numpy over the plain table"])
def backend(store, request):
    """Return (add, nearest) of a backend, whatever wrote the vectors."""
    native, plain = SqliteVec(store.run, 1, DIMENSION), NumpyVec(store.run, 1, DIMENSION)
    writer = plain if request.param.endswith("plain table") else native
    reader = native if request.param == "sqlite-vec" else plain

    def add(ids, vectors):
        with store.transaction():
            writer.add(ids, vectors)

    def remove(ids):
        with store.transaction():
            writer.remove(ids)

    reader.add_all, reader.remove_all = add, remove
    return reader


def brute_force(ids, vectors, query, k, allowed=None):
    ranked = sorted((-float(v @ query), n // KINDS) for n, v in zip(ids, vectors, strict=True))
    return [c for _, c in ranked if allowed is None or c in allowed][:k]


def chunk_ids(hits):
    return [hit.chunk_id for hit in hits]


def test_nearest_equals_the_brute_force_order(backend):
    ids, vectors = [n * KINDS for n in range(1, 301)], unit_rows(300)
    backend.add_all(ids, vectors)
    for query in unit_rows(5, seed=9):
        hits = backend.nearest(query, 20, None)

        assert chunk_ids(hits) == brute_force(ids, vectors, query, 20)
        assert hits[0].similarity == pytest.approx(float(vectors[hits[0].chunk_id - 1] @ query), abs=1e-5)


def test_nearest_fills_k_from_the_allowed_rows(backend):
    """Closer vectors that are not allowed must not use up k."""
    far = unit(np.array([0.0, 1] + [0] * 6))
    near = np.tile(unit(np.array([1.0, 0.001] + [0] * 6)), (50, 1))
    backend.add_all([4, *(n * KINDS for n in range(2, 52))], np.vstack([far, near]))
    query = unit(np.array([1.0, 0.1] + [0] * 6))

    for allowed in (RowFilter(frozenset({1})), RowFilter(None, frozenset(range(2, 52)))):
        assert chunk_ids(backend.nearest(query, 1, allowed)) == [1]


def test_an_exclusion_and_an_only_set_work_together(backend):
    ids, vectors = [n * KINDS for n in range(1, 101)], unit_rows(100)
    backend.add_all(ids, vectors)
    allowed = RowFilter(frozenset(range(1, 60)), frozenset(range(1, 30)))
    query = unit_rows(1, seed=4)[0]

    assert chunk_ids(backend.nearest(query, 10, allowed)) == brute_force(ids, vectors, query, 10, set(range(30, 60)))


def test_ties_go_by_id(backend):
    same = np.tile(unit_rows(1), (20, 1))
    backend.add_all([n * KINDS for n in range(20, 0, -1)], same)

    assert chunk_ids(backend.nearest(same[0], 20, None)) == list(range(1, 21))


def test_an_id_written_again_is_replaced_and_a_removed_one_gone(backend):
    vectors = unit_rows(3)
    backend.add_all([4, 8, 12], vectors)
    backend.add_all([4], vectors[2:])
    backend.remove_all([8])

    assert backend.ids() == {4, 12}
    assert chunk_ids(backend.nearest(vectors[2], 5, None)) == [1, 3]


def test_a_chunk_counts_once_however_many_kinds_of_vector_it_has(backend):
    vectors = unit_rows(2)
    backend.add_all([4, 5], vectors)

    hits = backend.nearest(vectors[1], 5, None)

    assert chunk_ids(hits) == [1]
    assert hits[0].similarity == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("k", [-1, 0, 4096, 4097, 100_000])
def test_no_k_is_refused(backend, k):
    backend.add_all([4, 8], unit_rows(2))

    assert len(backend.nearest(unit_rows(1)[0], k, None)) == (2 if k > 0 else 0)


def test_an_empty_table_has_no_hits(backend):
    assert backend.nearest(unit_rows(1)[0], 5, None) == []


def test_the_one_allowed_row_behind_4500_nearer_ones_is_found(store):
    """store-knn-limit 2: capping k and filtering afterwards would never see it."""
    crowd = np.tile(unit(np.array([1.0, 0.01] + [0] * 6)), (4500, 1))
    needle = unit(np.array([0.9, 0.4] + [0] * 6))
    with store.transaction():
        store.vectors.add([n * KINDS for n in range(1, 4501)], crowd)
        store.vectors.add([4501 * KINDS], needle[None, :])
        store.recount(1)
    query = np.array([1.0, 0, 0, 0, 0, 0, 0, 0])
    for allowed in (RowFilter(frozenset({4501})), RowFilter(None, frozenset(range(1, 4501)))):
        assert chunk_ids(store.nearest(query, 100, allowed)) == [4501]

    assert len(store.nearest(query, 9000)) == 4096
    assert store.clamped == 1


def test_a_large_allowed_set_is_searched_whole(store):
    vectors = np.tile(unit_rows(1000), (25, 1))
    with store.transaction():
        store.vectors.add([n * KINDS for n in range(1, 25_001)], vectors)
        store.recount(1)

    hits = store.nearest(vectors[999], 3, RowFilter(frozenset(range(2, 24_000))))

    assert chunk_ids(hits) == [1000, 2000, 3000]


@pytest.mark.parametrize(
    "vector", [[0.0] * 8, [np.nan] + [1.0] * 7, [np.inf] + [1.0] * 7, [1.0] * 7], ids=["zero", "nan", "inf", "short"]
)
def test_an_unusable_query_vector_is_refused_in_words(store, vector):
    """store-zero-nan-vector 4: the caller goes on by words."""
    with store.transaction():
        store.vectors.add([4], unit_rows(1))
        store.recount(1)
    with pytest.raises(EmbedderUnavailable, match="searched by words only"):
        store.nearest(np.array(vector), 5)
    assert fault(np.array(vector), 8) != ""


def test_vectors_written_without_the_extension_are_moved_over_when_it_is_back(tmp_path):
    path, vectors = tmp_path / "index.sqlite", unit_rows(600)
    with Store.open(path, "w", extension=False) as store:
        store.ensure_generation(Shape("hash", 1, 256, "model", "1", DIMENSION))
        assert store.backend.vectors == "numpy"
        assert store.backend.reason == "switched off"
        with store.transaction():
            store.vectors.add([n * KINDS for n in range(1, 601)], vectors)
            store.recount(1)
        before = store.nearest(vectors[5], 6)
    with Store.open(path) as store:
        assert chunk_ids(store.nearest(vectors[5], 6)) == chunk_ids(before)
    with Store.open(path, "w") as store:
        assert isinstance(store.vectors, SqliteVec)
        assert not NumpyVec(store.run, 1, DIMENSION).has_plain()
        assert chunk_ids(store.nearest(vectors[5], 6)) == chunk_ids(before)
    with Store.open(path, extension=False) as store:
        assert chunk_ids(store.nearest(vectors[5], 6)) == chunk_ids(before)


def test_near_pairs_are_counted_by_their_cosine(store):
    """LCA-D-11: near copies are kept and counted."""
    rows = np.eye(DIMENSION, dtype=np.float32)
    near = unit(rows[0] + 0.1 * rows[1])  # cosine to row 0: 1 / sqrt(1.01) = 0.995
    with store.transaction():
        store.vectors.add([n * KINDS for n in range(1, 10)], np.vstack([rows, near]))
        store.recount(1)

    assert near_pairs(store).pairs == 1
    assert near_pairs(store, least=0.999).pairs == 0
    assert near_pairs(store, newest=1) == NearPairs(1, 1, 9)
    assert near_pairs(store, newest=0) == NearPairs(0, 0, near_pairs(store).vectors)
