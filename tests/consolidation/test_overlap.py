"""Case conc-nightly-overlap: ten restatements of one decision, two runs at once, a run that is killed."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.capture import NOW, Project
from support.running import Running

from indexer.store import Store
from recall.cli.app import App
from recall.cli.group import cli
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings
from recall.turn import bytes_third
from scoring.pool import score_pool
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.verify import verify

TESTS = Path(__file__).resolve().parents[1]
DRIVER = TESTS / "support" / "consolidation_driver.py"


class Overlap:
    """The case's project, captured and indexed, and a run of it in a process of its own."""

    def __init__(self, base: Path, session: Path) -> None:
        self.base, self.project = base, Project(base)
        folder = self.project.config / "projects" / "shop"
        folder.mkdir(parents=True)
        text = session.read_text(encoding="utf-8").replace("/home/dev/shop-api", str(self.project.root))
        (folder / session.name).write_text(text, encoding="utf-8")
        self.project.sync()
        self.running = Running(Log(self.project.workspace))
        self.running.index()

    @contextmanager
    def held(self, stage: str) -> Iterator["subprocess.Popen[str]"]:
        """Have another process at work that waits in a stage."""
        stages = self.base / f"stages-{stage}"
        words = [sys.executable, str(DRIVER), str(self.project.data), str(self.project.root), str(stages), stage]
        env = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
        process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True)
        try:
            until = time.monotonic() + 180
            while not (stages.exists() and stage in stages.read_text().split()):
                assert process.poll() is None, process.stdout and process.stdout.read()
                assert time.monotonic() < until
                time.sleep(0.01)
            yield process
            Path(f"{stages}.go").touch()
            process.communicate(timeout=180)
        finally:
            process.kill()
            process.wait()

    def command(self, *words: str) -> tuple[int, str]:
        """Run a command as cron does; return exit code and what it printed."""
        app = App({**self.project.env, "RECALL_INDEX_MODEL": "none:at-all"}, self.project.root, self.project.data)
        done = CliRunner().invoke(cli, [*words], obj=app)
        return done.exit_code, done.output

    def proposals(self) -> list[str]:
        """The candidates about the decision, each with how it ended."""
        state = fold_memories(Log(self.project.workspace))
        return [one.body["text"] for one in state.candidates.values() if "avocet-3232" in one.body["text"]]

    def recalled(self) -> list[str]:
        """What a turn finds now, from one consistent state of the index."""
        query = Query("are timestamps stored in UTC")
        with Store.open(self.project.workspace.index_path) as store, store.snapshot():
            turn = recall(query, store, None, Settings(), now=NOW, count_tokens=bytes_third, scorer=score_pool)
        return [ranked.candidate.text for ranked in turn.ranked]


@pytest.fixture
def overlap(shared: Path, tmp_path: Path) -> Overlap:
    return Overlap(tmp_path, shared / "cases" / "conc-nightly-overlap" / "input" / "session.jsonl")


@pytest.mark.skipif(os.name != "posix", reason="processes as on Unix")
def test_one_run_works_the_other_says_so_and_recall_goes_on(overlap: Overlap) -> None:
    """1, 2 and 5: ten reminders are one candidate, and twice is the same as once."""
    before = overlap.recalled()
    with overlap.held("write"):
        other = overlap.command("consolidate", "--nightly")
        during = overlap.recalled()
    events = len(overlap.running.events())
    after = overlap.command("consolidate")

    assert other[0] == 0
    assert "another consolidation of this workspace runs (process " in other[1]
    assert during == before != []
    assert after[0] == 0
    assert "nothing new since checkpoint" in after[1]
    assert len(overlap.running.events()) == events
    assert len(overlap.proposals()) == 1


@pytest.mark.skipif(os.name != "posix", reason="processes as on Unix")
def test_a_run_that_is_killed_blocks_nobody_and_is_completed_by_the_next(overlap: Overlap) -> None:
    """3 and 4: no partial state is visible, and what failed is no checkpoint."""
    with overlap.held("write") as process:
        process.kill()
        process.wait()
        state = fold_memories(Log(overlap.project.workspace))

        assert (state.memories, state.checkpoint) == ({}, None)
    code, said = overlap.command("consolidate")

    assert (code, "complete" in said) == (0, True)
    assert len(overlap.proposals()) == 1
    assert len(fold_memories(Log(overlap.project.workspace)).memories) == 1
    assert verify(overlap.project.workspace).ok
