"""An agent that knows the skill's text and the schema alone, and a person at a real terminal: both directions.

The agent's side imports nothing of ours: it reads and writes `.coord/` with json, hashlib and an ordinary YAML library.
"""

import hashlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml

from recall.cli.caller import AGENTS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="a terminal of its own")]
ROOT = Path(__file__).resolve().parents[2]
RECALL = [sys.executable, "-m", "recall.cli.main"]
DIGITS = re.compile(rb"type ([0-9a-f]{6}) ")
PAUSE, SECONDS = 0.05, 300.0


class Agent:
    """Writes and reads the files as the skill's text says."""

    def __init__(self, project: Path) -> None:
        self.folder = project / ".coord"

    def propose(self, summary: str, evidence: list[str], **action: Any) -> str:
        """Write a proposal by hand and return its id."""
        name = str(uuid.uuid4())
        document = {
            "schema_version": 1,
            "proposal_id": name,
            "source_task": "T7",
            "action": {"operation": "add", "target_ref": None, "summary": summary, "evidence_refs": evidence, **action},
            "state": "proposed",
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "decision": None,
        }
        (self.folder / "memory-proposals").mkdir(parents=True, exist_ok=True)
        (self.folder / "memory-proposals" / f"{name}.json").write_text(json.dumps(document, indent=4))
        return name

    def document(self, name: str) -> dict[str, Any]:
        """A proposal as it stands in its file."""
        read: dict[str, Any] = json.loads((self.folder / "memory-proposals" / f"{name}.json").read_text("utf-8"))
        return read

    def memory(self) -> list[dict[str, Any]]:
        """The canonical memory."""
        read: list[dict[str, Any]] = yaml.safe_load((self.folder / "memory.yml").read_text("utf-8"))
        return read

    @staticmethod
    def action_hash(document: dict[str, Any]) -> str:
        """The hash that a decision must name: of the action's bytes, names sorted, no blanks, ASCII, no NaN."""
        text = json.dumps(document["action"], sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def current(self) -> list[str]:
        """The summaries of the decisions that hold: what nothing superseded, archived or deleted."""
        items = self.memory()
        gone = {item.get("supersedes") for item in items} | {i["target_ref"] for i in items if i["kind"] == "lifecycle"}
        return [i["summary"] for i in items if i["kind"] == "decision" and i["event_id"] not in gone]


class Machine:
    """The person's machine: commands without a terminal, as an agent runs them, and with one, as the person does."""

    def __init__(self, base: Path) -> None:
        self.project = base / "shop"
        (self.project / "docs").mkdir(parents=True)
        (self.project / "docs" / "time.md").write_text("All clocks run on UTC.\n")
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.env = {name: value for name, value in os.environ.items() if name not in AGENTS and name != "RECALL_ACTOR"}
        self.env |= {"RECALL_HOME": str(base / "data"), "HOME": str(base), "PYTHONPATH": str(ROOT), "TERM": "dumb"}
        self.run("init")

    def run(self, *words: str, agent: bool = False, code: int = 0) -> str:
        """Run a command whose input is a pipe; as an agent's harness starts it."""
        env = {**self.env, "CLAUDECODE": "1"} if agent else self.env
        line = [*RECALL, *words]
        done = subprocess.run(
            line, cwd=self.project, env=env, input=b"y\n" * 20, capture_output=True, start_new_session=True, check=False
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout.decode()

    def told(self, *words: str, **how: Any) -> dict[str, Any]:
        """What a command reports."""
        report: dict[str, Any] = json.loads(self.run(*words, "--json", **how))
        return report

    def type(self, *words: str, digits: bytes = b"") -> tuple[int, bytes, bytes]:
        """Type a command at a terminal and the digits it asks for; return exit code, its output and the terminal's."""
        master, slave = pty.openpty()
        terminal = os.ttyname(slave)
        process = subprocess.Popen(
            [sys.executable, "-c", _IN_FRONT, terminal, *RECALL, *words],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        screen, answered = b"", False
        for _ in range(int(SECONDS / PAUSE)):
            if process.poll() is not None:
                break
            if select.select([master], [], [], PAUSE)[0]:
                screen += os.read(master, 65536)
            asked = DIGITS.search(screen)
            if asked is not None and not answered:
                os.write(master, (digits or asked[1]) + b"\n")
                answered = True
        out, _ = process.communicate(timeout=SECONDS)
        os.close(slave)
        os.close(master)
        return process.returncode, out, screen


# Takes a terminal for the session's own, in front, and becomes the command.
_IN_FRONT = """
import fcntl, os, sys, termios
descriptor = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
os.close(descriptor)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    code, out, _ = made.type("coord", "key", "new")
    assert code == 0, out
    return made


def test_what_an_agent_writes_by_hand_is_read_signed_and_applied(machine: Machine) -> None:
    """Acceptance 2, from the agent to us and back: nobody but the person at the terminal lets it through."""
    agent = Agent(machine.project)
    summary = "Zeiten in UTC: é 😀"
    name = agent.propose(summary, ["docs/time.md"])

    seen = machine.told("coord", "read", agent=True)
    assert [row["proposal_id"] for row in seen["pending"]] == [name]
    assert seen["decisions"] == []
    assert machine.told("coord", "decide", name, "approve", "--rationale", "me", agent=True, code=1)["code"] == "agent"
    piped = machine.told("coord", "decide", name, "approve", "--rationale", "me", "--as", "human", code=1)
    assert piped["code"] == "no_terminal"
    code, out, _ = machine.type("coord", "decide", name, "approve", "--rationale", "as agreed", digits=b"000000x")
    assert code == 1, out
    assert machine.told("coord", "apply", name, agent=True, code=1)["code"] == "not_approved"

    code, out, screen = machine.type("coord", "decide", name, "approve", "--rationale", "as agreed")
    assert code == 0, out
    assert b"docs/time.md" in screen
    assert machine.told("coord", "apply", name, agent=True)["canonical_changed"] is True

    document = agent.document(name)
    decision = document["decision"]
    assert document["state"] == "applied"
    fields = {"actor", "decision", "timestamp", "rationale", "affected_action_hash", "authorization", "mac"}
    assert fields <= set(decision)
    assert (decision["decision"], decision["rationale"]) == ("approve", "as agreed")
    assert decision["affected_action_hash"] == agent.action_hash(document)
    [item] = agent.memory()
    assert (item["summary"], item["kind"], item["source_task"]) == (summary, "decision", "T7")
    assert (item["proposal_id"], item["action_hash"]) == (name, agent.action_hash(document))
    keys = [path.read_bytes().strip() for path in Path(machine.env["RECALL_HOME"]).glob("keys/*.key")]
    assert keys
    held = [path for path in machine.project.rglob("*") if path.is_file()]
    assert not [path for path in held if any(key in path.read_bytes() for key in keys)]


def test_what_we_propose_is_read_by_an_agent_that_follows_it(machine: Machine) -> None:
    """Acceptance 2, from us to the agent: supersession, a question answered, the file only ever longer."""
    agent = Agent(machine.project)
    held = b""
    items: list[str] = []
    for words in (
        ("add", "--summary", "Times are local"),
        ("supersede", "--summary", "Times are UTC", "--target", "{0}"),
        ("add", "--summary", "Which format?", "--kind", "question"),
        ("add", "--summary", "ISO 8601", "--target", "{2}"),
    ):
        given = [word.format(*items) for word in words]
        made = machine.told("coord", "propose", *given, "--evidence", "docs/time.md", agent=True)
        document = agent.document(made["id"])
        assert made["action_hash"] == agent.action_hash(document)
        assert (document["state"], document["decision"]) == ("proposed", None)
        assert machine.type("coord", "decide", made["id"], "approve", "--rationale", "yes")[0] == 0
        items.append(machine.told("coord", "apply", made["id"], agent=True)["event_id"])
        now = (agent.folder / "memory.yml").read_bytes()
        assert now.startswith(held)
        assert now != held
        held = now

    assert agent.current() == ["Times are UTC"]
    assert [item["event_id"] for item in agent.memory()] == items
    assert agent.memory()[3]["resolves"] == items[2]
    told = machine.told("coord", "read", agent=True)
    assert [row["event_id"] for row in told["decisions"]] == [items[1]]
    assert told["questions"] == []
    instructions = machine.told("coord", "instructions", agent=True)["files"]
    assert list(instructions) == ["SKILL.md", "references/coord_memory_schema.md"]
