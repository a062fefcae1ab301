"""Projects that are backed up, and a look at every byte below a folder."""

import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from support.capture import NOW, Project
from support.record import make_turns
from transcript import paths
from transcript.canonical import b32id
from transcript.log import Log
from transcript.native import NativeStore, _frames
from transcript.segments import sealed_path

SECRET = "phoenix-3333"
KEPT = "finch-3434"


def talked(base: Path) -> Project:
    """Return a project with two segments, a long text, source bytes, files of a person, and the words to forget."""
    project = Project(base)
    one = project.session("one")
    one.user(f"Which port does the pilot use? marker {KEPT}")
    one.assistant("Port 8080.")
    one.user(f"The contact is Robin, marker {SECRET}.")
    one.tool("t1", "Bash", {"command": "cat notes"}, ("notes " * 9000) + SECRET)
    one.write(project.config)
    project.sync()
    Log(project.workspace).seal_open(1, now=NOW)
    Log(project.workspace).append(make_turns(3), now=NOW)
    (project.data / "config.toml").write_text("[budget]\n", encoding="utf-8")
    identity = project.root / ".recall" / "identity"
    identity.mkdir(parents=True)
    (identity / "identity.md").write_text("You are the shop's agent.\n", encoding="utf-8")
    assert sealed_path(project.workspace.log_dir, 1).exists()
    return project


def add(project: Project, *names: str) -> None:
    """Append a turn for each name to the record, and to a source's bytes."""
    Log(project.workspace).append([draft for name in names for draft in make_turns(1, id=name_of(name))], now=NOW)
    store = NativeStore(project.workspace)
    for name in names:
        _, end = store.end("claude-code", "ab" * 8)
        store.append("claude-code", "ab" * 8, end, f"line {name}\n".encode())


def name_of(name: str) -> str:
    """Return the id of the event that `add` makes of a name."""
    return b32id("added", name)


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes; locks, which say nothing, left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock" and path.name != "lock"
    }


def holding(folder: Path, text: str) -> list[str]:
    """Return the files below a folder in which a text stands, compressed ones opened."""
    return [name for name, data in tree(folder).items() if any(text.encode() in part for part in _parts(name, data))]


def _parts(name: str, data: bytes) -> Iterator[bytes]:
    yield data
    if "/native/" in f"/{name}":
        for frame in _frames(io.BytesIO(data), len(data)):
            packed = data[frame.at : frame.at + frame.packed]
            yield zstandard.ZstdDecompressor().decompress(packed, frame.length)
    elif ".zst" in name:
        yield zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 28)
    elif "/capture/" in f"/{name}":
        yield zlib.decompress(data)


class Killed(BaseException):
    """Stands for the end of the process."""


def killing(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """End the process before its write number `at`: of bytes, of a whole file, of a removal."""
    count = iter(range(1_000_000))

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if next(count) == at:
                raise Killed
            return real(*args, **kwargs)

        return step

    monkeypatch.setattr("transcript.backup_files.write_all", wrap(paths.write_all))
    monkeypatch.setattr("transcript.backup.write_atomic", wrap(paths.write_atomic))
    monkeypatch.setattr(Path, "unlink", wrap(Path.unlink))
