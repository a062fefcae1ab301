"""What happens to a project folder does not reach the record: same verify, same first six afterwards."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder

from recall.cli.group import run

QUERIES = [
    "why does the importer stall",
    "which queue size did we settle on",
    "where are the session ids stored",
    "what did the reviewer say about retries",
    "how do we deploy the worker",
    "what is the cause of the timeout",
    "which port does the proxy use",
    "why no second cache",
    "what is left of the migration",
    "who owns the billing table",
]
Command = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with six captured sessions about ten subjects."""
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    root = tmp_path / "shop"
    root.mkdir()
    for number in range(6):
        session = ClaudeSession(cwd=str(root), seed=f"move-{number}")
        for at, question in enumerate(QUERIES):
            session.user(f"{question}? (round {number}, item {at})")
            session.assistant(f"About '{question}': finding {number}-{at}, because of {question.split()[-1]} {at}.")
        session.write(tmp_path / "claude")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def recall(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*args: str, code: int = 0) -> str:
        capsys.readouterr()
        got = run(list(args))
        out, errors = capsys.readouterr()
        assert got == code, (args, out, errors)
        return out

    return call


def first_six(recall: Command) -> list[list[str]]:
    answers = [recall("query", text, "-n", "6", "--json") for text in QUERIES]
    return [[json.loads(line)["pointer"] for line in answer.splitlines()] for answer in answers]


def ready(recall: Command) -> list[list[str]]:
    recall("init")
    recall("sync")
    recall("index")
    answers = first_six(recall)
    assert all(len(answer) == 6 for answer in answers)
    return answers


def test_git_clean_loses_nothing(project: Path, recall: Command) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    before = ready(recall)
    assert subprocess.run(["git", "status", "--porcelain"], cwd=project, check=True, capture_output=True).stdout == b""

    subprocess.run(["git", "clean", "-fdxq"], cwd=project, check=True)

    assert not (project / ".recall").exists()
    recall("verify")
    assert first_six(recall) == before


def test_a_moved_repository_is_found_again(
    project: Path, recall: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    before = ready(recall)

    project.rename(tmp_path / "store")
    monkeypatch.chdir(tmp_path / "store")

    recall("verify")
    assert first_six(recall) == before


def test_a_moved_folder_without_git_is_adopted(
    project: Path, recall: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ready(recall)
    shutil.rmtree(project / ".recall")

    project.rename(tmp_path / "store")
    monkeypatch.chdir(tmp_path / "store")
    recall("verify", code=1)  # nothing says yet that this is the same project
    recall("adopt", str(project))

    recall("verify")
    assert first_six(recall) == before


def test_the_projects_own_folder_of_recall_may_go(project: Path, recall: Command) -> None:
    before = ready(recall)

    shutil.rmtree(project / ".recall")

    recall("verify")
    assert first_six(recall) == before
