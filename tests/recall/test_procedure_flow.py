"""A procedure goes through one gate: proposed from practice, approved by a person, landed, told; else refused."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import runner
from support.person import sit_down

from consolidation import standing_files
from recall.standing_context import held
from transcript.log import Log
from transcript.proposals import fold_proposals
from transcript.workspace import locate

RULE = "Run make lint before each commit.\n"
NAME = "instructions/lint.md"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Any:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    (tmp_path / "shop" / "lint.md").write_text(RULE, "utf-8")
    run = runner(capsys)
    assert run("init").code == 0
    return run


def record() -> Log:
    found = locate(Path.cwd(), Path(os.environ["RECALL_HOME"]))
    assert found is not None
    return Log(found)


def uses(call: Any, number: int) -> list[str]:
    made = []
    for at in range(number):
        (row,) = call("outcome", f"linted before commit {at}", "--status", "verified", "--json").rows()
        made.append(f"recall:{row['id']}")
    return made


def propose(call: Any, evidence: list[str], operation: str = "add") -> Any:
    shown = [word for ref in evidence for word in ("--evidence", ref)]
    return call(
        "coord", "propose", operation, "--target", f"procedure:{NAME}", "--content", f"{NAME}=lint.md",
        "--summary", "Lint before each commit.", *shown, "--task", "T1", "--json",
    )  # fmt: skip


def file() -> Path:
    return Path.cwd() / ".recall" / "identity" / NAME


def test_what_was_practised_and_approved_is_written_told_and_leaves_four_records(call, monkeypatch):
    """LCA-4.1-05."""
    sit_down(monkeypatch)
    evidence = uses(call, 2)
    (made,) = propose(call, evidence).rows()
    before = file().exists()

    decided = call("coord", "decide", made["id"], "approve", "--rationale", "it held up")
    applied = call("coord", "apply", made["id"])

    assert (decided.code, applied.code, before) == (0, 0, False), decided.err + applied.err
    assert file().read_text("utf-8") == RULE
    state = fold_proposals(record())
    known = state.documents[made["id"]]
    assert known.state == "applied"
    assert known.decision is not None
    (event,) = [one for one in record().read() if one.type == "standing"]
    assert event.body["sources"] == evidence  # where it comes from
    assert (event.body["how"], event.body["proposal_id"]) == ("approved", made["id"])
    assert {one.type for one in record().read()} >= {"proposal.proposed", "proposal.decided", "proposal.applied"}
    assert standing_files.governed(record())[f"project:{NAME}"].sha256 == event.body["sha256"]
    assert [one.name for one in held(record().workspace.run_dir).entries] == [NAME]
    (row,) = call("session-start", "--json").rows()
    assert row["changes"] == []
    assert row["entries"][0]["governed"] == "yes"


@pytest.mark.parametrize(
    ("lacks", "code"),
    [("source", "no_source"), ("practice", "not_practised"), ("search", "exists"), ("approval", "not_approved")],
)
def test_what_lacks_one_of_the_four_is_refused_and_writes_nothing(call, lacks, code, monkeypatch):
    """LCA-4.1-05."""
    sit_down(monkeypatch)
    evidence = uses(call, 2)
    if lacks == "search":
        other = file().with_name("commits.md")
        other.parent.mkdir(parents=True)
        other.write_text(RULE, "utf-8")
    shown = {"source": ["lint.md"], "practice": evidence[:1]}.get(lacks, evidence)

    proposed = propose(call, shown)
    refusals = [proposed]
    if proposed.code == 0:
        (made,) = proposed.rows()
        if lacks != "approval":
            refusals.append(call("coord", "decide", made["id"], "approve", "--rationale", "fine", "--json"))
        refusals.append(call("coord", "apply", made["id"], "--json"))

    assert refusals[-1].code == 1
    assert any(code in one.out + one.err for one in refusals)
    assert not file().exists()
    assert [one for one in record().read() if one.type == "standing"] == []


def test_a_file_that_is_not_there_as_approved_has_not_landed(call, monkeypatch):
    sit_down(monkeypatch)
    (made,) = propose(call, uses(call, 2)).rows()
    call("coord", "decide", made["id"], "approve", "--rationale", "it held up")
    monkeypatch.setattr("consolidation.coord_effects.write_atomic", lambda path, data: path.write_bytes(data[:5]))

    applied = call("coord", "apply", made["id"], "--json")
    monkeypatch.undo()

    assert applied.code == 1
    assert "not_landed" in applied.out + applied.err


def test_an_agent_s_proposal_waits_and_nothing_is_written(call, monkeypatch):
    evidence = uses(call, 2)
    monkeypatch.setenv("CLAUDECODE", "1")

    (made,) = propose(call, evidence).rows()
    decided = call("coord", "decide", made["id"], "approve", "--rationale", "mine", "--json")

    assert decided.code == 1
    assert "agent" in decided.out + decided.err
    assert not file().exists()
    assert json.loads(json.dumps(made))["human_decision_required"] is True


def test_a_night_without_a_terminal_ends_asks_nothing_and_leaves_what_waits_waiting(call, monkeypatch):
    """LCA-4.1-08."""
    (waits,) = propose(call, uses(call, 2)).rows()
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.delenv("RECALL_ACTOR")
    call("memory", "add", "Deploy with make ship.", "--type", "runbook")
    monkeypatch.delenv("CLAUDECODE")
    pending = call("memory", "list", "--proposals", "--json").out
    assert "Deploy with make ship." in pending

    night = subprocess.run(
        [sys.executable, "-m", "recall.cli.main", "consolidate", "--nightly"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,  # no terminal to open
        check=False,
    )

    assert night.returncode == 0, night.stdout + night.stderr
    assert [line.split()[0] for line in night.stdout.splitlines()][2:4] == ["consolidate", "verify"]
    assert "?" not in night.stdout + night.stderr
    assert fold_proposals(record()).documents[waits["id"]].state == "proposed"
    assert "Deploy with make ship." in call("memory", "list", "--proposals", "--json").out
