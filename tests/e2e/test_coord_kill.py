"""Killed at any write of applying a proposal: the memory is whole, and the next run finishes it and says the truth.

Thirty writes are drawn over all those of one run; RECALL_KILL_MOMENTS=0 takes every one.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from support.kill_coord_driver import KILLED

from consolidation.coord_apply import apply
from consolidation.coord_decide import decide, show
from consolidation.coord_desk import CoordDesk
from consolidation.coord_read import canonical_items
from consolidation.coord_verify import verify as verify_files
from recall.cli.person import Person
from recall.config import load
from transcript.log import Log
from transcript.proposals import fold_proposals
from transcript.verify import verify
from transcript.workspace import Workspace, init, open_workspace

TESTS = Path(__file__).resolve().parents[1]
DRIVER = TESTS / "support" / "kill_coord_driver.py"
MOMENTS = int(os.environ.get("RECALL_KILL_MOMENTS", "30"))
TEXT = "You are the keeper of the clocks of this project.\n"
HARMLESS = {"torn_tail", "view_stale", "view_missing"}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="a process that is gone at once")]


class Bench:
    """A project with one item and one approved proposal that writes IDENTITY.md, put back before each run."""

    def __init__(self, base: Path) -> None:
        self.base, self.root, self.data = base, base / "shop", base / "data"
        self.root.mkdir()
        (self.root / "time.md").write_text("UTC\n")
        workspace = init(self.root, self.data)
        desk = self.desk(workspace)
        desk.keys.create()
        first = self._approved(desk, {"operation": "add", "target_ref": None, "summary": "Times are UTC"})
        apply(desk, first)
        target = "identity:IDENTITY.md"
        content = {"path": "IDENTITY.md", "text": TEXT}
        wanted = {"operation": "add", "target_ref": target, "summary": "Say who keeps the clocks", "content": content}
        self.proposal = self._approved(desk, wanted)
        for name in ("shop", "data"):
            shutil.copytree(base / name, base / f"{name}-before")

    def desk(self, workspace: Workspace | None = None) -> CoordDesk:
        """What a process has in its hands."""
        workspace = workspace or open_workspace(self.root, self.data, create=None)
        return CoordDesk(workspace, self.data, load(self.data, self.root, {}).approval(), datetime.now(UTC))

    def _approved(self, desk: CoordDesk, action: dict[str, object]) -> str:
        document = desk.propose({**action, "evidence_refs": ["time.md"]}, source_task="T1", by="an agent")
        decide(desk, show(desk, document.id), "approve", person=Person("ana"), rationale="yes")
        return document.id

    def put_back(self) -> None:
        """Undo everything that runs did."""
        for name in ("shop", "data"):
            shutil.rmtree(self.base / name)
            shutil.copytree(self.base / f"{name}-before", self.base / name)

    def run(self, at: int = 0) -> "subprocess.CompletedProcess[bytes]":
        """Apply it in a process of its own, which is gone at a step."""
        self.steps.unlink(missing_ok=True)
        path = f"{TESTS}{os.pathsep}{TESTS.parent}"
        env = {**os.environ, "PYTHONPATH": path, "RECALL_HOME": str(self.data), "HOME": str(self.base)}
        line = [sys.executable, str(DRIVER), str(at), str(self.steps), "coord", "apply", self.proposal, "--json"]
        return subprocess.run(line, cwd=self.root, env=env, capture_output=True, timeout=120, check=False)

    @property
    def steps(self) -> Path:
        """Where a run tells its steps."""
        return self.base / "steps"

    def told(self) -> list[str]:
        """The steps of the last run."""
        return self.steps.read_text().splitlines()

    @property
    def memory(self) -> bytes:
        """What memory.yml holds."""
        return (self.root / ".coord" / "memory.yml").read_bytes()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("kill"))


def test_a_kill_at_any_write_of_apply_leaves_a_whole_memory(bench: Bench) -> None:
    bench.put_back()
    before = bench.memory
    whole = bench.run()
    assert whole.returncode == 0, whole.stderr
    wanted, steps = bench.memory, bench.told()
    assert wanted.startswith(before)
    every = range(1, len(steps) + 1)
    chosen = every if not MOMENTS else [every[len(steps) * number // MOMENTS] for number in range(MOMENTS)]
    ended = Counter[str]()

    for at in dict.fromkeys(chosen):
        where = f"step {at} of {len(steps)}: {steps[at - 1]}"
        bench.put_back()
        assert bench.run(at).returncode == KILLED, where
        held = bench.memory
        assert held.startswith(before), where
        assert wanted.split(b'"applied_at"')[0].startswith(held.split(b'"applied_at"')[0]), where
        items = len(fold_proposals(Log(bench.desk().workspace)).applied)
        assert len(canonical_items(bench.desk())[0]) == items, where  # the truth before anything is mended

        again = bench.run()

        told = json.loads(again.stdout)
        assert again.returncode == 0, (where, again.stderr)
        assert told["state"] == "applied", where
        assert told["canonical_changed"] is (items == 1), where
        assert (told["note"] == "already applied") is (items == 2), where
        ended["before it was recorded" if items == 1 else "after it was recorded"] += 1
        _is_whole(bench, where)
    print(len(steps), "steps", dict(ended))
    assert len(ended) == 2


def _is_whole(bench: Bench, where: str) -> None:
    desk, problems = bench.desk(), list[tuple[str, str]]()
    verify_files(desk, lambda code, place: problems.append((code, place)))
    assert problems == [], where
    found = [one for one in verify(desk.workspace).problems if one.code not in HARMLESS]
    assert found == [], where
    assert [item["seq"] for item in yaml.safe_load(bench.memory)] == [1, 2], where
    assert (bench.root / ".recall" / "identity" / "IDENTITY.md").read_text() == TEXT, where
    assert len(desk.keys.used_nonces(desk.store_id)) == 2, where
    held = desk.held(bench.proposal).document
    assert held.state == "applied", where
