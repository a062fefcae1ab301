"""A small project as a user has it: sessions captured and indexed by the commands themselves."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from recall.cli.group import run
from support.wire import WireFile

Record = tuple[str, dict[str, str]]  # a line of the wire format: its type and its fields


def exchanges(pairs: Iterable[tuple[str, str]]) -> list[Record]:
    """Return the records of prompts, each with its answer."""
    return [record for asked, said in pairs for record in (("prompt", {"text": asked}), ("reply", {"text": said}))]


def git_project(folder: Path) -> Path:
    """Make a folder with a repository in it."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def take_in(folder: Path, sessions: Sequence[Sequence[Record]], *, words_only: bool) -> None:
    """Write each session to a file where the wire adapter looks; init, sync and index from the current folder."""
    for number, records in enumerate(sessions):
        file = WireFile(str(folder), seed=f"session {number}")
        for kind, fields in records:
            file.add(kind, **fields)
        file.write(Path(os.environ["RECALL_HOME"]) / "wire")
    for words in (["init"], ["sync"], ["index", "--words-only"] if words_only else ["index"]):
        assert run(words) == 0
