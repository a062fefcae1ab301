"""Finds the folder that a Gemini CLI session was held in.

The sessions do not say it. In this order: `.project_root` beside them; the map in `projects.json`, which names the
folder by its short name; then any path that the map or the session itself mentions, or a folder above it, whose
SHA-256 is the `projectHash` that every session carries. What is found where a hash is at hand must have that hash.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from transcript.paths import read_file

MARKER = ".project_root"
REGISTRY = "projects.json"
_SCANNED = 4 << 20
_PATHS_TRIED = 20_000
_HASH = re.compile(r'"projectHash"\s*:\s*"([0-9a-f]{64})"')
_PATH = re.compile(r"(?:[A-Za-z]:\\\\?|/)[^\s\"'`<>|*?:,;()\[\]{}]+")


def project_folder(session: Path, text: str) -> str:
    """Return the folder of a session's file, "" where nothing tells it. text is the file's own, or its beginning."""
    found = _HASH.search(text[:_SCANNED])
    wanted = found.group(1) if found else ""
    home = _home_of(session)
    if home is not None:
        known = list(_known(home))
        if wanted and (match := _with_hash(known, wanted)):
            return match
        if not wanted and known:
            return known[0]
    return _with_hash(_mentioned(text[:_SCANNED]), wanted) if wanted else ""


def _home_of(session: Path) -> Path | None:
    """Return the project's folder under `tmp/`: the one that holds `chats`."""
    return next((folder.parent for folder in session.parents if folder.name == "chats"), None)


def _known(home: Path) -> Iterator[str]:
    try:
        named = (home / MARKER).read_text("utf-8", "replace").strip()
        if named:
            yield named
    except OSError:
        pass
    try:
        projects = json.loads(read_file(home.parent.parent / REGISTRY))["projects"]
        entries = [(path, slug) for path, slug in projects.items() if isinstance(slug, str)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    yield from (path for path, slug in entries if slug == home.name)
    if len(home.name) == 64:
        yield from (path for path, slug in entries if slug != home.name and _hash(path) == home.name)


def _with_hash(paths: Iterable[str], wanted: str) -> str:
    return next((path for path in paths if _hash(path) == wanted), "")


def _mentioned(text: str) -> Iterator[str]:
    """Yield every path in a text and each folder above it, once."""
    seen: set[str] = set()
    for found in _PATH.finditer(text):
        raw = found.group().replace("\\\\", "\\").rstrip(".\\/") or "/"
        raw = raw.split("\\n")[0]
        path: PurePosixPath | PureWindowsPath = PurePosixPath(raw) if raw.startswith("/") else PureWindowsPath(raw)
        for folder in (str(path), *map(str, path.parents)):
            if folder not in seen:
                seen.add(folder)
                yield folder
        if len(seen) > _PATHS_TRIED:
            return


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
