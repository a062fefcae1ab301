"""Two processes decide or apply at once: one does it, and the other says that it was done."""

import itertools
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from consolidation.coord_decide import decide, show
from consolidation.coord_desk import CoordDesk
from recall.cli.caller import AGENTS
from recall.cli.person import Person
from recall.governance_settings import ApprovalSettings
from transcript.proposals import fold_proposals
from transcript.verify import verify
from transcript.workspace import init

TESTS = Path(__file__).resolve().parents[1]
DRIVER = TESTS / "support" / "coord_race_driver.py"
ROUNDS = 3

pytestmark = pytest.mark.slow


class Arena:
    """A project, and processes that start at the same moment."""

    def __init__(self, base: Path) -> None:
        self.base, self.root, self.data = base, base / "shop", base / "data"
        self._count = itertools.count()
        self.root.mkdir()
        (self.root / "time.md").write_text("UTC\n")
        self.desk = CoordDesk(init(self.root, self.data), self.data, ApprovalSettings(), datetime.now(UTC))
        self.desk.keys.create()

    def proposed(self, *, approved: bool) -> str:
        """A new proposal."""
        self.desk.now = datetime.now(UTC)
        action = {"operation": "add", "target_ref": None, "summary": "Times are UTC", "evidence_refs": ["time.md"]}
        document = self.desk.propose(action, source_task="T1", by="an agent")
        if approved:
            decide(self.desk, show(self.desk, document.id), "approve", person=Person("ana"), rationale="yes")
        return document.id

    def race(self, *lines: tuple[str, ...]) -> list[tuple[int, dict[str, Any]]]:
        """Exit code and report of commands that run at once."""
        go = self.base / f"go-{next(self._count)}"
        path = f"{TESTS}{os.pathsep}{TESTS.parent}"
        env = {name: value for name, value in os.environ.items() if name not in AGENTS}
        env |= {"PYTHONPATH": path, "RECALL_HOME": str(self.data), "HOME": str(self.base)}
        ready = [self.base / f"{go.name}-{number}" for number in range(len(lines))]
        running = [
            subprocess.Popen(
                [sys.executable, str(DRIVER), str(at), str(go), "coord", *words, "--json"],
                cwd=self.root,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for at, words in zip(ready, lines, strict=True)
        ]
        while not all(at.exists() for at in ready) and all(process.poll() is None for process in running):
            time.sleep(0.01)
        go.touch()
        said = [(process.communicate(timeout=120), process.returncode) for process in running]
        for (_, error), code in said:
            assert code in (0, 1), error
        return [(code, json.loads(out)) for (out, _), code in said]


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


def test_of_two_that_apply_one_changes_the_memory(arena: Arena) -> None:
    for number in range(1, ROUNDS + 1):
        name = arena.proposed(approved=True)

        told = arena.race(("apply", name), ("apply", name))

        assert [code for code, _ in told] == [0, 0]
        assert sorted(one["canonical_changed"] for _, one in told) == [False, True]
        [late] = [one for _, one in told if not one["canonical_changed"]]
        assert (late["note"], late["state"]) == ("already applied", "applied")
        assert len({one["event_id"] for _, one in told}) == 1
        held = yaml.safe_load((arena.root / ".coord" / "memory.yml").read_bytes())
        assert [item["seq"] for item in held] == list(range(1, number + 1))
    assert verify(arena.desk.workspace).problems == []


def test_of_two_that_decide_one_is_recorded(arena: Arena) -> None:
    for _ in range(ROUNDS):
        name = arena.proposed(approved=False)
        words = ("--rationale", "so be it")

        told = arena.race(("decide", name, "approve", *words), ("decide", name, "decline", *words))

        won = [one for _, one in told if "decision" in one]
        lost = [(code, one) for code, one in told if "decision" not in one]
        assert (len(won), len(lost)) == (1, 1)
        assert (lost[0][0], lost[0][1]["code"]) == (1, "decided_already")
        assert "decided before" in lost[0][1]["message"]
        known = fold_proposals(arena.desk.log).documents[name]
        assert known.state == won[0]["state"] == lost[0][1]["state"]
        assert known.decision["nonce"] == won[0]["decision"]["nonce"]
    assert verify(arena.desk.workspace).problems == []
