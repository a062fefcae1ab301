"""A project of shared facts, in which an agent and a person at a terminal type commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.cli.app import App
from support.command import Result, runner
from support.person import sit_down
from support.project import git_project
from transcript.log import Log
from transcript.proposals import fold_proposals

FIELDS = {
    "mode": str,
    "schema_version": int,
    "id": (str, type(None)),
    "state": (str, type(None)),
    "evidence_refs": list,
    "canonical_changed": bool,
    "human_decision_required": bool,
}


class Shop:
    """A project with a file of evidence, and what is typed in it."""

    def __init__(self, call: Callable[..., Result], folder: Path) -> None:
        self._call, self.folder = call, folder
        self.memory = folder / ".coord" / "memory.yml"
        self.log = Log(App.here().workspace())

    def __call__(self, *words: str) -> Result:
        return self._call(*words)

    def told(self, *words: str, code: int = 0) -> dict[str, Any]:
        """What a command says with --json; its exit code is looked at as well."""
        done = self._call("coord", *words, "--json")
        assert done.code == code, (words, done.out, done.err)
        [row] = done.rows()
        assert list(row)[: len(FIELDS)] == list(FIELDS)
        assert all(isinstance(row[name], kind) for name, kind in FIELDS.items())
        return row

    def propose(self, summary: str = "Times are stored in UTC", *more: str, operation: str = "add") -> str:
        evidence = () if "--evidence" in more else ("--evidence", "docs/time.md")
        return str(self.told("propose", operation, "--summary", summary, *evidence, *more)["id"])

    def approve(self, name: str) -> None:
        self.told("decide", name, "approve", "--rationale", "as agreed")

    def applied(self, *given: str, operation: str = "add") -> str:
        """The id of an item that was proposed, approved and applied."""
        name = self.propose(*given, operation=operation)
        self.approve(name)
        return str(self.told("apply", name)["event_id"])

    def bytes(self) -> bytes:
        return self.memory.read_bytes() if self.memory.exists() else b""

    def refused(self) -> list[str]:
        return list(fold_proposals(self.log).refused.elements())


def make_shop(capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Make the project; a person sits at the terminal, with a key."""
    folder = git_project(tmp_path / "shop")
    (folder / "docs").mkdir()
    (folder / "docs" / "time.md").write_text("All clocks run on UTC.\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    call = runner(capsys)
    assert call("init").code == 0
    sit_down(monkeypatch)
    return Shop(call, folder)
