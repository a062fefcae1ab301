"""Reads what lies in the folders of memories, past the loader, and what the loader makes of it; writes nothing."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from consolidation import loader
from consolidation.standing_files import shown
from health.facts_memories import LoaderFacts
from transcript.errors import ConfigError
from transcript.paths import open_file, user_path
from transcript.projections.memory_files import EDITED, SCHEMA

HEAD = 64 * 1024  # bytes of a file in which its front matter ends
_MARK = b"---"
_TYPE = re.compile(rb"^\s*type:[ \t]*[\"']?([A-Za-z_-]+)", re.M)
_OURS, _, _NOW = SCHEMA.rpartition("/")
_OTHER = re.compile(rf"^\s*schema:[ \t]*[\"']?{_OURS}/(?!{_NOW}[\"']?\s*$)".encode(), re.M)
_CRITICAL = re.compile(rb"^\s*critical:[ \t]*[\"']?(?:true|yes|on|1)\b", re.M | re.I)


def loader_facts(folders: str) -> LoaderFacts:
    """Return the memories on disk and those loaded, by type; folders as the setting `memory.folders` names them.

    A file's type is looked for wherever it stands in the file's head, in a layout that the loader knows or not.
    """
    disk: Counter[str] = Counter()
    loaded: Counter[str] = Counter()
    lost: list[tuple[bool, bool, str]] = []
    for named in filter(None, folders.split(os.pathsep)):
        folder = user_path(named)
        try:
            read = {one.path: one.memory_type for one in loader.load(folder).memories}
        except ConfigError:  # standing_files names a folder that is none
            continue
        loaded.update(read.values())
        for name in _files(folder):
            kind, critical, other = _stated(folder / name)
            disk[read.get(name) or kind] += 1
            if name not in read:
                lost.append((not critical, not other, shown(str(folder / name))))
    critical_missing, other_schema = (sum(not one[at] for one in lost) for at in range(2))
    return LoaderFacts(disk, loaded, tuple(name for _, _, name in sorted(lost)), critical_missing, other_schema)


def _files(folder: Path) -> Iterator[str]:
    """Yield the names of Markdown files below a folder; hidden ones and copies of edited files are no memories."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/")) or name.startswith(f"{EDITED}/")
        if path.suffix.lower() in (".md", ".markdown") and path.is_file() and not hidden:
            yield name


def _stated(path: Path) -> tuple[str, bool, bool]:
    """The type that a file states anywhere in its head, whether it says critical, and whether of another schema.

    The type is "" where there is none, and a schema one of ours.
    """
    try:
        with open_file(path) as file:
            text = file.read(HEAD)
    except OSError:
        return "", False, False
    begun, _, rest = text.removeprefix(b"\xef\xbb\xbf").partition(_MARK)
    head = b"" if begun.strip() else rest.partition(b"\n" + _MARK)[0]
    found = _TYPE.search(head)
    kind = found[1].decode().lower() if found else ""
    return loader.TYPES.get(kind, kind), _CRITICAL.search(head) is not None, _OTHER.search(head) is not None
