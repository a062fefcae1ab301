import os
from pathlib import Path

import pytest
from support.embedder import StubEmbedder

from eval import latency
from eval.latency import IndexFacts, Turns, copy_home
from eval.synthetic import build, made_prompts
from indexer.settings import IndexSettings


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    data = tmp_path_factory.mktemp("made-up")
    return build(data, chunks=300, vectors=0, embedder=StubEmbedder(), settings=IndexSettings()), data


def test_a_row_shows_median_p95_and_max_to_output_and_to_exit():
    """Of 20 times 1 .. 20 the median is 10.5 and the 95th percentile, by nearest rank, 19."""
    times = tuple(float(n) for n in range(1, 21))
    row = Turns("warm", times, tuple(2 * t for t in times), 18, {}).row()

    assert row == ["warm", 20, 18, 10.5, 19.0, 20.0, 21.0, 38.0, 40.0]


def test_the_copy_has_its_own_launcher_and_leaves_the_original_alone(place, tmp_path):
    workspace, data = place
    before = sorted(str(path) for path in data.rglob("*"))

    home = copy_home(workspace, data, tmp_path)

    assert (home / "workspaces" / workspace.id / "index.sqlite").stat().st_size == workspace.index_path.stat().st_size
    assert str(home) in (home / "bin" / "recall-hook").read_text()
    assert sorted(str(path) for path in data.rglob("*")) == before


def test_a_workspace_without_prompts_is_refused(place, tmp_path):
    workspace, data = place

    with pytest.raises(ValueError, match="no prompts"):
        latency.run(workspace, data, tmp_path, facts=IndexFacts(1, 0, "m", "s"), prompts=[])


@pytest.mark.slow
def test_turns_are_timed_through_the_installed_line(place, tmp_path):
    """Two turns each, in real processes: cold ones go by words, warm ones by the service.

    So are the ends of turns and sessions, and what they start behind themselves does its work.
    """
    workspace, data = place
    facts = IndexFacts(300, 0, "m", "s")
    env = {**os.environ, "RECALL_HOOK_DEADLINE_MS": "4000"}

    report = latency.run(workspace, data, tmp_path, facts=facts, prompts=made_prompts(8), n=2, events=True, env=env)

    cold, stop, end, warm, floor, stop_warm, end_warm = report.runs
    assert [run.name for run in (stop, end)] == ["Stop, without service", "SessionEnd, without service"]
    assert [run.name for run in (stop_warm, end_warm)] == ["Stop, warm", "SessionEnd, warm"]
    assert {run.answered for run in (stop, end, stop_warm, end_warm)} == {0}
    assert report.captured == 1
    assert "behind Stop and SessionEnd: 1 event captured" in report.to_text()
    assert len(floor.output_ms) == 2
    assert (len(cold.output_ms), len(warm.output_ms)) == (2, 2)
    assert all(out <= end for run in report.runs for out, end in zip(run.output_ms, run.exit_ms, strict=True))
    assert (cold.modes, warm.modes) == ({"words": 2}, {"warm": 2})
    assert "300 chunks" in report.to_text()
    assert not (Path(tmp_path) / "data" / "run" / "serve.address").exists()
