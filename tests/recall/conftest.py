"""What several tests of recall start from; a test file may have a fixture of the same name of its own."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.embedder import StubEmbedder
from support.hooks import hold_lock
from support.project import Record, git_project, take_in

from transcript.paths import secure_dir


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder in which no service can start: its lock is held."""
    folder = secure_dir(tmp_path / "data")
    held = hold_lock(folder)
    yield folder
    os.close(held)


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Make a project of sessions, captured and indexed, in which the test then runs."""

    def make(*sessions: Sequence[Record], words_only: bool = False, real_model: bool = False) -> Path:
        if not real_model:
            monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
            monkeypatch.setattr("indexer.embedder.check", lambda *args, **kwargs: StubEmbedder())
        folder = git_project(tmp_path / "shop")
        monkeypatch.chdir(folder)
        take_in(folder, sessions, words_only=words_only)
        return folder

    return make
