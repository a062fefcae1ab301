"""What was forgotten and what is secret, with memories made of it: two cases' real sessions, the real commands."""

import json
import shlex
import sys
import zlib
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner
from support.capture import Project
from support.embedder import StubEmbedder

from recall.cli.app import App
from recall.cli.group import cli
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.native import NativeStore

pytestmark = pytest.mark.real_data

SECRET, PHONE, KEPT = "phoenix-3333", "555-0100", "finch-3434"
DRAFTER = """
import json, sys
asked = json.loads(sys.stdin.readline())
drafts = [
    {"memory_type": "project_fact", "text": turn["text"], "why": "said in passing", "sources": [turn["pointer"]]}
    for session in asked["sessions"] for turn in session["turns"]
]
print(json.dumps({"protocol": "recall-draft/1", "candidates": drafts}))
"""


class Case:
    """A project that has taken in a case's session, and the commands that are run in it."""

    def __init__(self, base: Path, sources: Path) -> None:
        self.project, self.sources = Project(base), sources
        program = base / "drafter.py"
        program.write_text(DRAFTER)
        command = f"{shlex.quote(sys.executable)} -I {shlex.quote(str(program))}"
        config = self.project.root / ".recall" / "config.toml"
        config.write_text(f"{config.read_text()}\n[consolidation]\ndrafter_command = {json.dumps(command)}\n")
        self.capture()

    def capture(self, **options) -> None:
        """Read the harness's own files, which nobody changes."""
        self.project.sync(sources=self.sources, all_roots=True, **options)

    def run(self, *arguments: str, exits: int | None = 0) -> str:
        """Run a command and return what it printed."""
        app = App(self.project.env, self.project.root, self.project.data)
        done = CliRunner().invoke(cli, [*arguments], obj=app)
        assert exits is None or done.exit_code == exits, (arguments, done.output, done.exception)
        return done.output

    @property
    def memories(self) -> list[str]:
        """The statements that are remembered."""
        return [memory.statement for memory in fold_memories(Log(self.project.workspace)).memories.values()]

    def holding(self, *texts: str) -> set[str]:
        """Return the files of the workspace and of the project in which one of the texts stands."""
        home, found = self.project.workspace.home, set()
        for path in [*home.rglob("*"), *(self.project.root / ".recall").rglob("*")]:
            if path.is_file() and any(text.encode() in data for text in texts for data in _opened(self, path)):
                found.add(path.relative_to(home if path.is_relative_to(home) else self.project.root).as_posix())
        return found


def _opened(case: Case, path: Path) -> list[bytes]:
    raw = path.read_bytes()
    if path.suffix == ".zst" and path.parent.parent.name == "native":
        store = NativeStore(case.project.workspace)
        return [raw, *(data for _, _, data in store.read(path.parent.name, path.stem))]
    if path.suffix == ".zst":
        return [raw, zstandard.ZstdDecompressor().decompress(raw, max_output_size=1 << 28)]
    return [raw, zlib.decompress(raw)] if path.parent.name == "capture" else [raw]


@pytest.fixture(autouse=True)
def _model(monkeypatch):
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())


def test_what_is_forgotten_is_forgotten_by_memories_and_nothing_brings_it_back(shared, tmp_path):
    """priv-forget-everywhere, points 1 to 4 and 6."""
    case = Case(tmp_path, shared / "cases" / "priv-forget-everywhere" / "input" / "claude")
    case.run("checkpoint")
    assert [SECRET in text for text in case.memories] == [True, False]
    assert SECRET in case.run("memory", "list", "--proposals")  # said again in other words: waits for a person
    assert any(name.startswith(".recall/memory/") for name in case.holding(SECRET))

    told = case.run("forget", SECRET, "--authorised", "--by", "ana", "--reason", "asked for")

    assert case.holding(SECRET, PHONE) == set()
    assert [KEPT in text for text in case.memories] == [True]
    assert {"  9 events emptied, their envelopes kept", "  1 file of a memory"} <= set(told.splitlines())
    assert SECRET not in case.run("memory", "list", "--proposals")
    assert str(case.sources) in told  # what it cannot reach
    for again in (("consolidate", "--full"), ("consolidate", "--nightly"), ("index", "rebuild"), ("checkpoint",)):
        case.capture(full=True)
        case.run(*again)
        assert case.holding(SECRET, PHONE) == set(), again
        assert [KEPT in text for text in case.memories] == [True], again
    assert case.holding(KEPT)


def test_credentials_become_no_memory_and_stand_nowhere_but_in_the_record(shared, tmp_path):
    """recall-secret, points 1 to 3."""
    case = Case(tmp_path, shared / "cases" / "recall-secret" / "input" / "claude")
    case.run("checkpoint")
    case.run("consolidate", "--nightly")
    case.run("health", exits=None)
    secrets = ("sk-proj-FAKEFORTEST", "FAKE-PASSWORD-1", "ghp_FAKE0000", "RkFLRSBLRVkgRk9SIFRFU1Qg")

    found = case.holding(*secrets)

    assert {name for name in found if not name.startswith("log/")} == set()
    told = [event for event in Log(case.project.workspace).read() if event.type.startswith("memory.")]
    assert told
    assert not any(secret in json.dumps(event.body) for event in told for secret in secrets)
    assert "loris-1818" in case.run("query", "pool size of loris-1818")
