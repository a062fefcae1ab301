"""The labelled prompts over the smaller half of the real sessions: ranking may not fall below what it has reached.

The figures are those of this slice alone, and lower bounds with a prompt or two to spare; `recall eval devrecall`
measures the whole set.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.corpus import prepare
from eval.devrecall import evaluate_corpus
from eval.devrecall_report import DevRecallReport
from eval.labels import LabelSet, load
from eval.scorecard import Scorecard
from indexer.embedder import Embedder
from indexer.embedder import load as load_model
from indexer.settings import IndexSettings
from recall.settings import Settings

pytestmark = [pytest.mark.real_data, pytest.mark.slow]

LARGEST = 2_000_000  # bytes of a session file that belongs to the slice
LARGEST_EMBEDDED = 800_000  # the same where vectors are made, some 2,800


@pytest.fixture(scope="module")
def labels(shared: Path) -> LabelSet:
    return load(shared / "devrecall")


def ask(
    labels: LabelSet, sessions: Path, folder: Path, *, largest: int = LARGEST, embedder: Embedder | None = None
) -> DevRecallReport:
    """Ask a record of the slice what its sessions can answer and what no session can; without embedder by words."""
    chosen = folder / "sessions" / "project"
    chosen.mkdir(parents=True)
    for path in sorted(sessions.rglob("*.jsonl")):
        if path.stat().st_size <= largest:
            os.link(path, chosen / path.name)
    held = {path.stem for path in chosen.iterdir()}
    asked = frozenset(q.id for q in labels.queries if not q.evidence or any(s.file in held for s in q.evidence))
    corpus = prepare(
        folder / "sessions",
        folder / "cache",
        embedder=embedder,
        settings=IndexSettings(),
        now=datetime(2026, 3, 1, tzinfo=UTC),
        progress=lambda _: None,
    )
    return evaluate_corpus(
        corpus, labels, embedder=embedder, settings=Settings(), baselines=True, variants={},
        samples=0, only=asked, started=0.0, progress=lambda _: None,
    )  # fmt: skip


def figures(card: Scorecard) -> dict[str, float]:
    return {name: figure.value or 0.0 for name, figure in card.overall.items()}


def test_by_words_alone(labels: LabelSet, real_sessions: Path, tmp_path: Path) -> None:
    report = ask(labels, real_sessions, tmp_path)

    ranked = figures(report.ours.ranked)
    plain = figures(next(line for line in report.lines if line.result.name == "FTS5").ranked)
    assert report.setting.answerable == 33
    assert report.ours.ranked.leaks == report.ours.injected.leaks == 0
    assert ranked["score"] >= 0.60  # it was 0.638, and that of a plain search 0.442
    assert ranked["recall@6"] >= 0.75  # 0.818, plain 0.545: one prompt is 0.030
    assert ranked["recall@10"] >= 0.78  # 0.848
    assert ranked["strict@6"] >= 0.51  # 0.576
    assert ranked["score"] >= plain["score"] + 0.15
    assert figures(report.ours.injected)["recall@6"] >= 0.69  # 0.758


@pytest.mark.model
def test_with_vectors(labels: LabelSet, real_sessions: Path, tmp_path: Path) -> None:
    report = ask(labels, real_sessions, tmp_path, largest=LARGEST_EMBEDDED, embedder=load_model())

    ranked, injected = figures(report.ours.ranked), figures(report.ours.injected)
    words, plain = (
        figures(next(line for line in report.lines if line.result.name == name).ranked)
        for name in ("recall, words only", "fusion (RRF)")
    )
    assert report.setting.answerable == 13
    assert report.ours.ranked.leaks == report.ours.injected.leaks == 0
    assert ranked["recall@6"] >= 0.84  # it was 0.923, by words 0.692, plain fusion 0.692: one prompt is 0.077
    assert ranked["score"] >= 0.62  # 0.682, 0.624 by words, 0.472
    assert ranked["strict@6"] >= 0.69  # 0.769
    assert ranked["recall@6"] > words["recall@6"]
    assert ranked["score"] >= plain["score"] + 0.1
    assert injected["recall@6"] >= 0.84  # 0.923
    assert injected["abstention_recall"] >= 0.77  # 8 of 9
