"""One development conversation of LoCoMo: ranking may not fall below what it has reached.

The figures are those of this conversation alone, and lower bounds with a question or two to spare; `recall eval locomo`
measures the whole set.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.ablation import STEPS, without
from eval.dataset import Dataset
from eval.dataset_run import OURS, run
from eval.locomo import load
from eval.measures import SETS
from eval.outcome import mean
from indexer.embedder import load as load_model
from indexer.settings import IndexSettings
from recall.settings import Settings

pytestmark = pytest.mark.real_data

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CONVERSATION = "conv-30"  # 369 turns, 105 questions
TALK_STEPS = [step for step in STEPS if step.name.endswith("in a talk")]


@pytest.fixture(scope="module")
def talk(shared: Path) -> Dataset:
    held = load(shared / "bench" / "locomo10.json")
    return Dataset(held.name, held.sha256, tuple(d for d in held.dialogues if d.id == CONVERSATION))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def figures(talk: Dataset, cache: Path, settings: Settings, *, vectors: bool) -> dict[str, float]:
    """Percent by measure, over the questions of categories 1 to 4."""
    made = run(
        talk, cache, embedder=load_model() if vectors else None, index_settings=IndexSettings(), settings=settings,
        now=NOW, baselines=False, words=False,
    )  # fmt: skip
    replies = [r for r in made.replies[OURS] if r.question.type != "adversarial"]
    return {m.name: 100 * (mean([m.of(r) for r in replies]) or 0.0) for m in SETS["locomo"]}


def test_by_words_alone_the_answers_stand_among_the_first_ten(talk: Dataset, cache: Path) -> None:
    reached = figures(talk, cache, Settings(), vectors=False)

    assert reached["turn frac@10"] >= 77.0, reached
    assert reached["turn any@1"] >= 51.8, reached
    assert reached["session any@5"] >= 93.5, reached


def test_what_is_done_for_a_talk_pays_by_words_alone(talk: Dataset, cache: Path) -> None:
    """Single steps win or lose a question or two in one conversation: they are taken out together."""
    settings = Settings()
    for step in TALK_STEPS:
        settings = without(settings, step)
    reached, plain = (figures(talk, cache, s, vectors=False) for s in (Settings(), settings))

    assert len(TALK_STEPS) == 4
    assert reached["turn frac@10"] - plain["turn frac@10"] >= 5, (reached, plain)


@pytest.mark.model
def test_with_vectors_the_answers_stand_among_the_first_ten(talk: Dataset, cache: Path) -> None:
    reached = figures(talk, cache, Settings(), vectors=True)

    assert reached["turn frac@10"] >= 75.0, reached
    assert reached["session any@5"] >= 93.0, reached
