"""The index's figures as they were last counted, kept in `run/` beside what the index's files looked like then."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from health.facts import IndexFacts
from indexer.settings import IndexSettings
from transcript.paths import read_derived, write_atomic
from transcript.workspace import Workspace

FILE = "index-facts.json"
COUNTED_BY = 9  # raised when the figures are counted in another way
MADE_OF = "made_of"


def state(workspace: Workspace, settings: IndexSettings) -> list[object]:
    """Return what the figures follow from: the settings, and size and time of the last change of the index's files.

    Any writer, ours or not, changes the files.
    """
    found: list[object] = [COUNTED_BY, repr(settings)]
    for name in ("", "-wal"):
        try:
            status = workspace.index_path.with_name(workspace.index_path.name + name).stat()
        except OSError:
            continue
        found += [name, status.st_size, status.st_mtime_ns] if status.st_size else []
    return found


def kept(workspace: Workspace, made_of: list[object] | None = None) -> IndexFacts | None:
    """Return the figures that were counted last, of files in that state where one is given; None without such.

    Those that another version counted in another way are none.
    """
    held = dict(read_derived(workspace.run_dir / FILE))
    state_then = held.pop(MADE_OF, None)
    if not isinstance(state_then, list) or state_then[:1] != [COUNTED_BY]:
        return None
    if made_of is not None and state_then != made_of:
        return None
    try:
        lists = {name: tuple(held[name]) for name in ("failures", "aside")}
        return IndexFacts(**{**held, **lists, "longest_hold": _pair(held["longest_hold"])})
    except (TypeError, KeyError):
        return None


def _pair(held: list[Any] | None) -> tuple[float, str] | None:
    return None if held is None else (float(held[0]), str(held[1]))


def keep(workspace: Workspace, facts: IndexFacts, made_of: list[object]) -> None:
    """Keep figures counted of files in this state."""
    held = {item.name: getattr(facts, item.name) for item in fields(facts)}
    held |= {name: dict(value) for name, value in held.items() if isinstance(value, Mapping)}
    write_atomic(workspace.run_dir / FILE, json.dumps({MADE_OF: made_of, **held}).encode("ascii"), durable=False)
