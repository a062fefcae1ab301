import json
from datetime import UTC, datetime

import pytest
from support.claude import ClaudeSession

from eval.index_bench import Step, _held_back, _rate, _shares, run
from indexer.settings import IndexSettings


def step(seconds, **counts):
    return Step("x", seconds, seconds, 1.0, counts)


def test_the_models_share_is_projected_to_all_wanted_vectors():
    """100 of 1,000 vectors took 10 s, 9.8 of them inside the model; words took 20 s.

    All vectors would take 100 s, 98 inside: 98 / (20 + 100).
    """
    inside, whole = _shares(step(20.0), step(10.0, **{"rows": 100, "model seconds": 9.8}), 1000)

    assert inside == pytest.approx(0.98)
    assert whole == pytest.approx(98 / 120)


def test_there_is_no_share_without_vectors():
    assert _shares(step(20.0), None, 1000) == (None, None)
    assert _shares(step(20.0), step(1.0, **{"rows": 0, "model seconds": 0.0}), 1000) == (None, None)


def test_exchanges_a_second_count_words_and_vectors():
    assert _rate(step(20.0, exchanges=240), step(10.0, rows=100), 1000) == pytest.approx(240 / 120)


def test_the_session_nearest_to_the_mean_size_is_held_back(tmp_path):
    for name, size in (("a", 10), ("b", 60), ("c", 100), ("agent-d", 57)):
        (tmp_path / f"{name}.jsonl").write_bytes(b"x" * size)

    assert _held_back(tmp_path).name == "b.jsonl"


@pytest.mark.slow
def test_all_steps_run_in_processes_of_their_own(tmp_path):
    folder = tmp_path / "sessions" / "shop"
    folder.mkdir(parents=True)
    for n in range(3):
        session = ClaudeSession(seed=str(n), start=datetime(2026, 1, 5 + n, tzinfo=UTC))
        session.user(f"what is widget {n} for?")
        session.assistant(f"widget {n} holds gannet {n * 7} in place")
        (folder / f"{session.session}.jsonl").write_bytes(session.to_bytes())

    report = run(tmp_path / "sessions", tmp_path / "scratch", settings=IndexSettings(), words_only=True)

    counted = {step.name: step.counts for step in report.steps}
    assert counted["first sync"]["events"] == 4
    assert counted["sync, nothing new"]["events"] == 0
    assert (counted["words"]["chunks"], counted["words, nothing new"]["chunks"]) == (4, 0)
    assert counted["one new session: sync and words"]["events"] == 2
    assert report.chunks == 6
    assert json.loads(report.to_json())["bytes_per_chunk"] == pytest.approx(report.index_bytes / 6, abs=0.1)
