"""A sample of passages is embedded again: a vector that is another text's is found, and a sound index has none."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.planted_project import DIMENSION, Project, Words, healthy
from health.gather_index import index_facts
from indexer import damage
from indexer.store import Store
from indexer.vector_check import Checked, check
from indexer.vectors import KINDS, PASSAGE


class Silent(Words):
    """A model that finds a direction for nothing."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), DIMENSION), dtype=np.float32)


class Broken(Words):
    """A model that is loaded and fails."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise RuntimeError("no more memory")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with 64 passages, the first of which has the vector of what it said before."""
    made = healthy(tmp_path_factory.mktemp("vectors") / "planted")
    with Store.open(made.workspace.index_path) as store:
        sound = check(store, made.embedder)
    assert sound == Checked(64, ())
    made.damage(damage.put_vector, made.embedder.encode(["Nobody greases the old compressor any more."]))
    return made


def test_a_vector_of_another_text_is_found(project: Project) -> None:
    with Store.open(project.workspace.index_path) as store:
        first = min(number // KINDS for number in store.vectors.ids() if number % KINDS == PASSAGE)
        found = check(store, project.embedder)

    assert found == Checked(64, (first,))


def test_a_sample_is_spread_evenly_and_another_one_each_day(project: Project) -> None:
    """Four days compare all of them once when a sample is a quarter."""
    with Store.open(project.workspace.index_path) as store:
        found = [check(store, project.embedder, day=day, sample=16) for day in range(4)]

    assert [one.compared for one in found] == [16] * 4
    assert [len(one.stale) for one in found] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("load", "stale", "compared"),
    [
        (Words, 1, 64),
        (Silent, 64, 64),
        (Broken, 0, 0),
        (lambda: replace(Words(), revision="2"), 64, 0),
        (lambda: SimpleNamespace(id="planted", revision="1", dimension=DIMENSION, max_tokens=256), 0, 0),
    ],
    ids=["at work", "without a direction", "failing", "another revision", "not loaded"],
)
def test_health_compares_where_the_model_is_at_work(
    load: Callable[[], Any], stale: int, compared: int, project: Project
) -> None:
    facts, _ = index_facts(project.workspace, project.settings, load, recount=True)

    assert (facts.stale, facts.vectors_compared) == (stale, compared)
