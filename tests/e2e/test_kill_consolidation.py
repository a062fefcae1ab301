"""kill -9 at any moment of a consolidation: nothing lost, nothing doubled, the next run completes it.

Moments are drawn over the measured duration of one run over ten real sessions; the stage that was hit is printed.
Twelve of them fit CI; RECALL_KILL_MOMENTS=50 draws fifty.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from support.capture import Project
from support.running import Running

from transcript.log import Log
from transcript.verify import verify
from transcript.workspace import Workspace, open_workspace

pytestmark = [pytest.mark.slow, pytest.mark.real_data]

TESTS = Path(__file__).resolve().parents[1]
DRIVER = TESTS / "support" / "consolidation_driver.py"
MOMENTS = int(os.environ.get("RECALL_KILL_MOMENTS", "12"))
SESSIONS = 10
HARMLESS = {"torn_tail"}


class Bench:
    """A captured and indexed project, put back before each run."""

    def __init__(self, base: Path, sessions: Path) -> None:
        self.base, self.project = base, Project(base)
        self.project.sync(sources=sessions, all_roots=True)
        Running(Log(self.project.workspace)).index()
        shutil.copytree(self.project.data, base / "data-before")

    def put_back(self) -> None:
        """Undo everything that runs did."""
        shutil.rmtree(self.project.data)
        shutil.copytree(self.base / "data-before", self.project.data)
        for name in ("memory", "views"):
            shutil.rmtree(self.project.root / ".recall" / name, ignore_errors=True)
        (self.base / "stages").unlink(missing_ok=True)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start a run."""
        words = [sys.executable, str(DRIVER), str(self.project.data), str(self.project.root), str(self.base / "stages")]
        env = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
        return subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def finish(self) -> None:
        """Run to the end."""
        process = self.start()
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said.decode()[-2000:]

    @property
    def stage(self) -> str:
        """The stage that a killed run was in."""
        path = self.base / "stages"
        return path.read_text().split()[-1] if path.exists() else "start"

    def content(self) -> tuple[list[str], dict[str, bytes]]:
        """The ids of what consolidation wrote, and the files of the memories."""
        workspace: Workspace = open_workspace(self.project.root, self.project.data, create=None)
        assert [p for p in verify(workspace, views=False).problems if p.code not in HARMLESS] == []
        wrote = [event.id for event in Log(workspace).read() if event.session == "recall:consolidation"]
        assert len(wrote) == len(set(wrote))
        folder = self.project.root / ".recall" / "memory"
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.md")}
        return sorted(wrote), files


@pytest.fixture(scope="module")
def bench(real_sessions: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    base = tmp_path_factory.mktemp("kill")
    largest = sorted(real_sessions.rglob("*.jsonl"), key=lambda path: -path.stat().st_size)[5 : 5 + SESSIONS]
    for path in largest:
        folder = base / "sessions" / path.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.name)
    return Bench(base, base / "sessions")


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_a_kill_at_any_moment_loses_and_doubles_nothing(bench: Bench) -> None:
    bench.put_back()
    began = time.monotonic()
    bench.finish()
    took, expected = time.monotonic() - began, bench.content()
    assert len(expected[1]) > 1
    rng, hits = random.Random(5), Counter[str]()

    for number in range(MOMENTS):
        bench.put_back()
        moment = rng.uniform(0.0, took)
        process = bench.start()
        time.sleep(moment)
        process.kill()
        process.communicate()
        stage = bench.stage
        hits[stage] += 1
        print(f"{number}: killed in {stage} at {moment:.2f} s")
        bench.finish()
        assert bench.content() == expected, f"{number}, killed in {stage} at {moment:.2f} s"
    print(dict(hits))
    assert len(hits) >= 3
