"""The mapped side file gives what the store gives, follows it, and is rebuilt when it does not fit."""

import numpy as np
import pytest

from indexer.rows import RowFilter
from indexer.sidefile import STAMP, SideFile
from indexer.store import Shape, Store
from indexer.vectors import KINDS

DIMENSION = 40


def add(store: Store, first: int, count: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with store.transaction():
        store.vectors.add([n * KINDS for n in range(first, first + count)], vectors)
        store.recount(store.generation)
    return vectors


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.sqlite", "w") as opened:
        opened.ensure_generation(Shape("hash", 1, 256, "model", "1", DIMENSION))
        yield opened


def same(found, expected):
    assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in expected]
    assert [h.similarity for h in found] == pytest.approx([h.similarity for h in expected], abs=1e-5)


FILTERS = [None, RowFilter(frozenset(range(1, 2000, 3))), RowFilter(None, frozenset(range(1, 400)))]


@pytest.mark.parametrize("allowed", FILTERS, ids=["all", "only", "without"])
def test_the_exact_search_equals_the_store(store, tmp_path, allowed):
    vectors = add(store, 1, 1500, seed=1)
    side = SideFile(tmp_path / "run" / "vectors")
    assert side.refresh(store)

    for query in vectors[:5]:
        same(side.nearest(query, 50, allowed), store.nearest(query, 50, allowed))


@pytest.mark.parametrize("allowed", FILTERS, ids=["all", "only", "without"])
def test_the_two_stage_search_finds_nearly_the_same(store, tmp_path, allowed):
    """Sign bits, then int8: with as many candidates as rows the result is the exact one, with few nearly."""
    vectors = add(store, 1, 1500, seed=2)
    whole = SideFile(tmp_path / "whole", exact_rows=10, candidates=1500)
    part = SideFile(tmp_path / "part", exact_rows=10, candidates=300)
    assert whole.refresh(store)
    assert part.refresh(store)
    shared = 0
    for query in vectors[:20]:
        expected = store.nearest(query, 10, allowed)
        same(whole.nearest(query, 10, allowed), expected)
        shared += len({h.chunk_id for h in part.nearest(query, 10, allowed)} & {h.chunk_id for h in expected})

    assert shared >= 0.9 * 200


def test_new_vectors_are_appended_and_old_rows_not_written_again(store, tmp_path):
    add(store, 1, 1100, seed=1)
    folder = tmp_path / "vectors"
    side = SideFile(folder)
    side.refresh(store)
    file = next(folder.glob("*.f32"))
    kept = file.read_bytes()

    vectors = add(store, 2000, 30, seed=2)
    side.refresh(store)

    assert next(folder.glob("*.f32")) == file
    assert file.read_bytes()[: len(kept)] == kept
    same(side.nearest(vectors[3], 5), store.nearest(vectors[3], 5))


def test_a_second_process_maps_what_the_first_wrote(store, tmp_path):
    vectors = add(store, 1, 50, seed=1)
    SideFile(tmp_path / "vectors").refresh(store)
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "vectors").iterdir()}

    second = SideFile(tmp_path / "vectors")
    second.refresh(store)

    same(second.nearest(vectors[3], 5), store.nearest(vectors[3], 5))
    assert {p.name: p.stat().st_mtime_ns for p in (tmp_path / "vectors").iterdir()} == before


def test_a_removed_vector_is_gone_after_the_next_look(store, tmp_path):
    vectors = add(store, 1, 50, seed=1)
    side = SideFile(tmp_path / "vectors")
    side.refresh(store)
    with store.transaction():
        store.remove_vectors(1, [4])
        store.recount(1)

    side.refresh(store)

    assert 4 not in {hit.chunk_id for hit in side.nearest(vectors[3], 50)}
    same(side.nearest(vectors[3], 49), store.nearest(vectors[3], 49))


@pytest.mark.parametrize("damage", ["stamp", "short file", "missing file"])
def test_damaged_files_are_written_anew(store, tmp_path, damage):
    vectors = add(store, 1, 50, seed=1)
    folder = tmp_path / "vectors"
    SideFile(folder).refresh(store)
    if damage == "stamp":
        (folder / STAMP).write_text("{")
    else:
        file = next(folder.glob("*.f32"))
        file.write_bytes(file.read_bytes()[:100]) if damage == "short file" else file.unlink()

    side = SideFile(folder)
    side.refresh(store)

    same(side.nearest(vectors[3], 5), store.nearest(vectors[3], 5))


def test_without_vectors_or_extension_there_is_nothing_to_map(store, tmp_path):
    side = SideFile(tmp_path / "vectors")
    assert side.refresh(store)
    assert side.nearest(np.ones(DIMENSION, np.float32), 5) == []
    with Store.open(tmp_path / "other.sqlite", "w", extension=False) as plain:
        plain.ensure_generation(Shape("hash", 1, 256, "model", "1", DIMENSION))
        assert not SideFile(tmp_path / "x").refresh(plain)
