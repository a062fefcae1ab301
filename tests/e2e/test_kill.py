"""kill -9 at any moment of capture and indexing: nothing lost, nothing doubled, nothing half-written.

Fifty moments are drawn over the measured duration of each phase; the stage that was hit is printed. A stage that the
drawn moments hit less than five times is topped up by a death from inside it. RECALL_TEST_MODEL=1 uses the real
model, RECALL_TEST_SESSIONS=FOLDER real sessions instead of built ones.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.claude import ClaudeSession
from support.kill_driver import STAGES

from indexer.store import Store
from indexer.vocabulary import counts
from indexer.words_table import refill
from transcript.log import Log
from transcript.verify import verify
from transcript.workspace import open_workspace

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parents[1]
DRIVER = TESTS / "support" / "kill_driver.py"
MOMENTS = 50
AT_LEAST = 5
OF_PHASE = {"sync": ("parse", "append", "fsync"), "index": ("chunk", "embed", "commit")}
HARMLESS = {"torn_tail"}
OWN = ("index_run", "system", "recall", "health")  # what we write about our own runs


@dataclass(frozen=True)
class Bench:
    """Where the runs of one test happen."""

    root: Path
    sessions: Path

    def project(self, place: str) -> Path:
        """The project of a place; runs that start from a captured record share the project that it knows."""
        return self.root / ("whole" if place.startswith("index") else place) / "project"

    def start(self, place: str, phase: str, *fate: str) -> "subprocess.Popen[bytes]":
        """Start the driver on the workspace of a place."""
        project = self.project(place)
        project.mkdir(parents=True, exist_ok=True)
        (self.root / place).mkdir(exist_ok=True)
        (self.root / place / "stage").write_bytes(b"\0")
        command = [
            sys.executable,
            str(DRIVER),
            str(self.root / place / "data"),
            str(project),
            str(self.sessions),
            phase,
        ]
        env = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
        return subprocess.Popen([*command, str(self.root / place / "stage"), *fate], env=env, stderr=subprocess.PIPE)

    def finish(self, place: str, phase: str) -> None:
        """Run a phase to its end."""
        process = self.start(place, phase)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors.decode()[-2000:]

    def stage(self, place: str) -> str:
        """The stage a killed run was in."""
        return STAGES[(self.root / place / "stage").read_bytes()[0]]

    def content(self, place: str) -> dict[str, list[object]]:
        """Everything that must be the same whatever happened on the way."""
        workspace = open_workspace(self.project(place), self.root / place / "data", create=None)
        problems = [p for p in verify(workspace).problems if p.code not in HARMLESS]
        assert problems == []
        events = [event.id for event in Log(workspace).read() if event.type not in OWN]
        with Store.open(workspace.index_path, "w") as store:
            g = store.generation
            pointers = list(
                store.run(
                    "SELECT c.key, v.event, p.start, p.end, p.kind, p.flags"
                    f" FROM pointer_{g} p JOIN chunk_{g} c ON c.id = p.chunk_id JOIN event_{g} v ON v.id = p.event"
                )
            )
            chunks = [key for (key,) in store.run(f"SELECT key FROM chunk_{g}")]
            vectors = len(store.vectors.ids())
            store.run(f"INSERT INTO chunk_fts_{g}(chunk_fts_{g}) VALUES ('integrity-check')")
            stems = list(counts(store.run, g))
            with store.transaction():
                refill(store.run, store.packing, g)
            assert stems == list(counts(store.run, g))
            waiting = list(store.run(f"SELECT * FROM embed_state_{g}"))
        assert vectors == store_expected(pointers)
        assert waiting == []
        return {"events": sorted(events), "pointers": sorted(pointers), "chunks": sorted(chunks)}


def store_expected(pointers: list[tuple[object, ...]]) -> int:
    """Chunks that are to have a vector: all but those that only a tool said (kinds 4 and 5)."""
    return len({row[0] for row in pointers if row[4] not in (4, 5)})


def build_sessions(folder: Path) -> None:
    for number in range(12):
        session = ClaudeSession(seed=f"kill-{number}")
        for turn in range(12):
            session.user(f"Question {turn} of session {number}: why does the importer stall at batch {turn * 7}?")
            session.tool(f"t{number}-{turn}", "Bash", {"command": f"grep -n stall_{turn} importer.py"}, "line\n" * 40)
            session.assistant(f"It stalls because queue {number}.{turn} is drained in one go. " * 6)
        session.write(folder)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    root = tmp_path_factory.mktemp("kill")
    real = os.environ.get("RECALL_TEST_SESSIONS")
    if real:
        return Bench(root, Path(real))
    build_sessions(root / "sessions")
    return Bench(root, root / "sessions")


@pytest.fixture(scope="module")
def whole(bench: Bench) -> tuple[dict[str, list[object]], dict[str, float]]:
    """The content after runs that nobody killed, and how long each phase took."""
    took = {}
    for phase in OF_PHASE:
        began = time.monotonic()
        bench.finish("whole", phase)
        took[phase] = time.monotonic() - began
        if phase == "sync":
            shutil.copytree(bench.root / "whole" / "data", bench.root / "whole" / "synced")
    return bench.content("whole"), took


@pytest.mark.parametrize("phase", list(OF_PHASE))
def test_a_kill_at_any_moment_loses_and_doubles_nothing(
    phase: str, bench: Bench, whole: tuple[dict[str, list[object]], dict[str, float]]
) -> None:
    expected, took = whole
    rng = random.Random(phase)
    hits: Counter[str] = Counter()
    fates: list[tuple[str, ...]] = [()] * MOMENTS
    moments = [rng.uniform(0.0, took[phase]) for _ in range(MOMENTS)]
    number = 0
    while number < len(fates):
        place = f"{phase}-{number}"
        if phase == "index":
            shutil.copytree(bench.root / "whole" / "synced", bench.root / place / "data")
        process = bench.start(place, phase, *fates[number])
        if not fates[number]:
            time.sleep(moments[number])
            process.kill()
        process.communicate(timeout=300)
        stage = bench.stage(place)
        hits[stage] += 1
        print(f"{place}: killed in {stage}" + (" (from inside)" if fates[number] else f" at {moments[number]:.2f} s"))
        for name in ("sync", "index") if phase == "sync" else ("index",):
            bench.finish(place, name)
        assert bench.content(place) == expected, f"{place}, killed in {stage}"
        number += 1
        if number == MOMENTS:
            for wanted in OF_PHASE[phase]:
                fates += [(wanted, str(rng.randrange(1, 4))) for _ in range(max(0, AT_LEAST - hits[wanted]))]
    print(f"{phase}: {dict(hits)}")
    assert all(hits[wanted] >= AT_LEAST for wanted in OF_PHASE[phase])
