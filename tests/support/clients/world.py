"""A home, a project and a data folder that nothing else uses, with the model and our own commands."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.clients.client import Client
from support.hooks import stop_services, wait_for

LONGEST_TURN_S = 600  # tells what hangs; a client of 100 MB starts slowly beside other work
DETACHED = (b"recall.cli.capture_job", b"recall.cli.checkpoint_job")


@dataclass
class Stub:
    """The model on the loopback."""

    port: int
    out: Path
    seen: int = 0

    def requests(self) -> list[str]:
        """Return the bodies of the requests since the last call, each as one text, oldest first."""
        files = sorted(self.out.glob("*.json"))[self.seen :]
        self.seen += len(files)
        return [json.dumps(json.loads(file.read_text())["body"], ensure_ascii=False) for file in files]


@dataclass
class World:
    """One user's machine, as far as a client and recall see it."""

    root: Path
    stub_program: Path
    env: dict[str, str] = field(default_factory=dict)
    prepared: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for folder in (self.home, self.project, self.root / "run"):
            folder.mkdir()
        self.env.update(
            HOME=str(self.home),
            PATH=os.environ["PATH"],
            RECALL_HOME=str(self.data),
            XDG_RUNTIME_DIR=str(self.root / "run"),
            RECALL_HOOK_DEADLINE_MS="4000",  # what is answered is asked here, not how fast a busy machine is
        )
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @contextlib.contextmanager
    def stub(self, reply: str, *calls: tuple[str, dict[str, Any]]) -> Iterator[Stub]:
        """Run the model: it makes each tool call once, when the tool is offered, and says reply to all else."""
        out = self.root / f"requests-{len(list(self.root.glob('requests-*')))}"
        command = [sys.executable, str(self.stub_program), "--port", "0", "--out", str(out), "--reply", reply]
        for name, arguments in calls:
            command += ["--tool-call", name, json.dumps(arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Stub(int(process.stdout.readline().split()[-1]), out)
            finally:
                process.kill()

    def add(self, client: Client) -> None:
        """Put the client's settings on this machine, once: what stands there before recall comes."""
        if client.harness not in self.prepared:
            client.prepare(self)
            self.prepared.add(client.harness)

    def enable(self, client: Client) -> str:
        """Let recall write its hooks and do what its user has to do then; return what our command printed."""
        self.add(client)
        said = self.recall("enable-hooks", client.harness, *client.scope, "--yes")
        client.review(self)
        return said

    def turn(self, client: Client, stub: Stub, prompt: str, *, resume: bool = False) -> str:
        """Run one turn of a client as its user does and return what the user saw."""
        self.add(client)
        client.point_at(self, stub.port)
        done = self.run(client, client.words(prompt, stub.port, resume=resume), port=stub.port)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def run(self, client: Client, words: list[str], *, port: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a client's program with these words in its clean environment."""
        env = {
            **self.env,
            "TERM": "xterm",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            **client.environment(self, port),
            "PATH": f"{client.installed.path}{os.pathsep}{self.env['PATH']}",
        }
        return subprocess.run(
            [str(client.installed.program), *words], cwd=self.project, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=LONGEST_TURN_S,
        )  # fmt: skip

    def recall(self, *words: str) -> str:
        """Run one of our commands as a user does and return what it printed."""
        command = [sys.executable, "-I", "-m", "recall.cli.main", *words]
        done = subprocess.run(
            command, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def record(self) -> list[dict[str, Any]]:
        """Return the record's events as they stand in its file."""
        (log,) = self.data.glob("workspaces/*/log/activity.jsonl")
        return [json.loads(line) for line in log.read_bytes().splitlines()]

    def files(self) -> dict[Path, bytes]:
        """Return the bytes of the small files of home and project: settings, not databases."""
        places = (path for folder in (self.home, self.project) for path in folder.rglob("*"))
        return {path: path.read_bytes() for path in places if path.is_file() and path.stat().st_size < 1 << 20}

    def settle(self) -> None:
        """Wait until no detached capture or checkpoint runs any more."""
        wait_for(lambda: not captures(self.data))

    def end(self) -> None:
        """Let captures end and stop the service."""
        self.settle()
        stop_services(self.data)


def captures(data: Path) -> list[str]:
    """Return the process ids of the detached captures and checkpoints of this data folder."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(data) in words and any(name in word for word in words for name in DETACHED):
                found.append(folder.name)
    return found


def blocks(body: str) -> list[str]:
    """Return the blocks that recall put into a request."""
    return re.findall(r"\[recall [0-9a-f]{8}\].*?\[/recall [0-9a-f]{8}\]", body, re.DOTALL)
