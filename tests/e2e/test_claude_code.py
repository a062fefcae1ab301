"""The real Claude Code client with the real hooks, against a model on the loopback that records what it is sent.

Nothing leaves the machine but the installation of the client from the npm registry (once; RECALL_E2E_PREFIX names a
folder that keeps it).
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.hooks import stop_services, wait_for

pytestmark = pytest.mark.e2e

PACKAGE = "@anthropic-ai/claude-code@" + os.environ.get("RECALL_E2E_VERSION", "2.1.197")
ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443, because 8080 is taken by the metrics exporter."
QUESTION = "I forgot it: on which port does the invoice gateway listen?"
SECOND = "And why could the invoice gateway not listen on 8080?"
POINTER = re.compile(r"\b([a-z2-7]{10,26}#\d+-\d+)\b")


@pytest.fixture(scope="session")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's program, installed where RECALL_E2E_PREFIX says or in a temporary folder."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("no npm: the real client cannot be installed")
    prefix = Path(os.environ.get("RECALL_E2E_PREFIX") or tmp_path_factory.mktemp("claude"))
    program = prefix / "node_modules" / ".bin" / "claude"
    if not program.exists():
        done = subprocess.run(
            ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(prefix), PACKAGE],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"the npm registry did not give {PACKAGE}: {done.stderr.strip().splitlines()[-1:]}")
    return program


@dataclass
class Stub:
    """The model on the loopback."""

    port: int
    out: Path
    seen: int = 0

    def requests(self) -> list[str]:
        """Bodies of the requests since the last call, each as one text."""
        files = sorted(self.out.glob("*.json"))[self.seen :]
        self.seen += len(files)
        return [json.dumps(json.loads(file.read_text())["body"], ensure_ascii=False) for file in files]


@dataclass
class World:
    """A home, a project and a data folder that nothing else uses."""

    claude: Path
    home: Path
    project: Path
    data: Path
    stub_program: Path
    env: dict[str, str] = field(default_factory=dict)

    def stub(self, reply: str) -> "StubProcess":
        return StubProcess(self, reply)

    def prompt(self, stub: Stub, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one turn of the client and return what the user saw."""
        env = {
            **self.env,
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{stub.port}",
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "TERM": "xterm",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
        }
        done = subprocess.run(
            [str(self.claude), "-p", *words], cwd=self.project, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done

    def recall(self, *words: str) -> str:
        """Run one of our commands as a user does."""
        command = [sys.executable, "-I", "-m", "recall.cli.main", *words]
        done = subprocess.run(
            command, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout


class StubProcess:
    """Starts the stub where it lies and ends it by its own pid."""

    def __init__(self, world: World, reply: str) -> None:
        self._out = world.home.parent / f"requests-{len(list(world.home.parent.glob('requests-*')))}"
        command = [sys.executable, str(world.stub_program), "--port", "0", "--out", str(self._out), "--reply", reply]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Stub:
        assert self._process.stdout is not None
        return Stub(int(self._process.stdout.readline().split()[-1]), self._out)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def world(tmp_path: Path, shared: Path, claude: Path) -> Iterator[World]:
    stub = shared / "clients" / "stub_model.py"
    if not stub.exists():
        pytest.skip("../shared/clients/stub_model.py is not at hand")
    made = World(claude, tmp_path / "home", tmp_path / "project", tmp_path / "data", stub)
    for folder in (made.home, made.project, tmp_path / "run"):
        folder.mkdir()
    made.env.update(
        HOME=str(made.home),
        PATH=os.environ["PATH"],
        RECALL_HOME=str(made.data),
        XDG_RUNTIME_DIR=str(tmp_path / "run"),
    )
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    yield made
    wait_for(lambda: not captures(made.data), seconds=60)
    stop_services(made.data)


def captures(data: Path) -> list[str]:
    """Detached captures of this data folder that still run."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(data) in words and any(b"recall.background" in word for word in words):
                found.append(folder.name)
    return found


def record(world: World) -> list[dict[str, Any]]:
    (log,) = world.data.glob("workspaces/*/log/activity.jsonl")
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def blocks(body: str) -> list[str]:
    return re.findall(r"\[recall [0-9a-f]{8}\].*?\[/recall [0-9a-f]{8}\]", body, re.DOTALL)


def test_a_prompt_is_sent_to_the_model_with_the_earlier_answer_in_front_of_it(world: World) -> None:
    with world.stub(SAID) as stub:
        world.prompt(stub, ASKED)
        assert blocks("".join(stub.requests())) == []
    world.recall("init")
    world.recall("enable-hooks", "claude-code", "--yes")
    world.recall("sync")
    world.recall("index")

    with world.stub("Noted, nothing else.") as stub:
        # First turn: words answer it (no service ran yet), and the service is started behind it.
        seen = world.prompt(stub, QUESTION)
        bodies = [body for body in stub.requests() if QUESTION in body]
        assert bodies
        assert seen.stdout.strip() == "Noted, nothing else."
        found = blocks(bodies[-1])
        assert len(found) == 1
        assert "port 7443" in found[0]
        pointers = POINTER.findall(found[0])
        assert pointers
        shown = "".join(world.recall("show", pointer) for pointer in pointers)
        assert SAID in shown
        assert "7443" in world.recall("last")

        # Second turn of the same session: the client repeats the first block, and the same item is not put in again.
        wait_for(lambda: not captures(world.data), seconds=60)
        world.prompt(stub, "-c", SECOND)
        body = [body for body in stub.requests() if SECOND in body][-1]
        for pointer in pointers:
            assert body.count(pointer) == 1
    wait_for(lambda: not captures(world.data), seconds=60)

    # What was injected has come back in the client's own transcript, and is taken in as nobody's experience.
    world.recall("sync")
    world.recall("index")
    transcripts = "".join(path.read_text() for path in world.home.glob(".claude/projects/*/*.jsonl"))
    assert "[recall " in transcripts
    events = record(world)
    for event in events:
        if "quoted past records" in json.dumps(event["body"]):
            assert event["type"] in ("system", "recall"), event["type"]
    assert [e["type"] for e in events if "quoted past records" in json.dumps(e["body"]) and e["type"] == "system"]
    ledger = [event["body"] for event in events if event["type"] == "recall"]
    assert [row["prompt"] for row in ledger] == [QUESTION, SECOND]
    assert {row["mode"] for row in ledger} <= {"words", "warm"}
    assert "quoted past records" not in world.recall("query", "quoted past records facts not instructions", "--json")


def test_a_session_is_captured_without_anybody_asking_for_it(world: World) -> None:
    """ESAA-04: after `enable-hooks` no command is needed for a later session to know an earlier one."""
    world.recall("init")
    world.recall("enable-hooks", "claude-code", "--yes")
    with world.stub(SAID) as stub:
        world.prompt(stub, ASKED)
        wait_for(lambda: not captures(world.data), seconds=60)
        stub.requests()
        world.prompt(stub, QUESTION)
        found = blocks([body for body in stub.requests() if QUESTION in body][-1])

    assert len(found) == 1
    assert "port 7443" in found[0]


def test_opt_outs_hold_in_the_real_client(world: World) -> None:
    with world.stub(SAID) as stub:
        world.prompt(stub, ASKED)
    world.recall("init")
    world.recall("enable-hooks", "claude-code", "--yes")
    world.recall("sync")
    world.recall("index")
    with world.stub("Noted.") as stub:
        world.prompt(stub, f"!norecall {QUESTION}")
        world.env["RECALL_OFF"] = "1"
        world.prompt(stub, QUESTION)
        del world.env["RECALL_OFF"]
        wait_for(lambda: not captures(world.data), seconds=60)
        taken_in = json.loads(world.recall("sync", "--json"))
        world.recall("index")
        found = world.recall("query", "--json", QUESTION)
        world.recall("exclude", str(world.project))
        world.prompt(stub, QUESTION)

        assert blocks("".join(stub.requests())) == []
    assert taken_in["skipped"]["opted_out"] == 1
    assert "port 7443" in found
    assert "Noted." not in found
    assert "!norecall" not in found
