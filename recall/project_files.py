"""Takes files of the project into the record, so that what they say now is recalled beside what was said of them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from transcript import secrets
from transcript.canonical import sha256_hex, utf8
from transcript.event import Draft
from transcript.git_exclude import tracking
from transcript.memory_drafts import source
from transcript.memory_told import Told
from transcript.paths import read_file
from transcript.workspace import Workspace

MOST_FILES = 200
MOST_BYTES = 64 * 1024


def changed(
    workspace: Workspace, patterns: Sequence[str], known: Mapping[str, tuple[str, str]], at: Told
) -> list[Draft]:
    """Return what is to be written of the project's files: each that is new or another now, and each that is gone.

    `known` has (event, hash) of each path as it was last written. A file is taken where a pattern matches its path,
    git tracks it or there is no git, and it is text of at most 64 KB; of more than 200 the first by path. Credentials
    are masked. None without a project.
    """
    root, key = workspace.root, workspace.id_key()
    if root is None or not root.is_dir():
        return []
    held = {path: secrets.mask(text, key)[0] for path, text in _read(root, patterns)}
    drafts = []
    for path in sorted(held.keys() | known.keys()):
        text, (before, sha256) = held.get(path, ""), known.get(path, ("", ""))
        now = sha256_hex(utf8(text)) if path in held else ""
        if now != sha256:
            drafts.append(source(at, path, now, text, before=before))
    return drafts


def _read(root: Path, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the files that the patterns name, by path."""
    tracked, inside, found = tracking(root), root.resolve(), set[str]()
    for pattern in patterns:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            continue
        found |= {path.relative_to(root).as_posix() for path in root.glob(pattern)}
    taken = 0
    for name in sorted(found):
        path = root / name
        hidden = any(part.startswith(".") or part == "node_modules" for part in Path(name).parts)
        if hidden or taken >= MOST_FILES or not tracked(path):
            continue
        try:
            if not path.is_file() or not path.resolve().is_relative_to(inside) or path.stat().st_size > MOST_BYTES:
                continue
            text = read_file(path).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if text.strip() and "\0" not in text:
            taken += 1
            yield name, text
