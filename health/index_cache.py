"""The index's figures as they were last counted, kept in `run/` beside what the index's files looked like then."""

import json
from collections.abc import Mapping
from dataclasses import fields

from health.facts import IndexFacts
from transcript.paths import read_derived, write_atomic
from transcript.workspace import Workspace

FILE = "index-facts.json"
COUNTED_BY = 2  # raised when the figures are counted in another way
MADE_OF = "made_of"


def state(workspace: Workspace) -> list[list[int]]:
    """Return size and time of the last change of the index's files: any writer, ours or not, changes them."""
    found = [[COUNTED_BY, 0]]
    for name in ("", "-wal"):
        try:
            status = workspace.index_path.with_name(workspace.index_path.name + name).stat()
            found.append([status.st_size, status.st_mtime_ns])
        except OSError:
            found.append([0, 0])
    return found


def kept(workspace: Workspace, made_of: list[list[int]] | None = None) -> IndexFacts | None:
    """Return the figures that were counted last, of files in that state where one is given; None without such."""
    held = dict(read_derived(workspace.run_dir / FILE))
    state_then = held.pop(MADE_OF, None)
    if made_of is not None and state_then != made_of:
        return None
    try:
        return IndexFacts(**{**held, "failures": tuple(held["failures"])})
    except (TypeError, KeyError):
        return None


def keep(workspace: Workspace, facts: IndexFacts, made_of: list[list[int]]) -> None:
    """Keep figures counted of files in this state."""
    held = {item.name: getattr(facts, item.name) for item in fields(facts)}
    held |= {name: dict(value) for name, value in held.items() if isinstance(value, Mapping)}
    write_atomic(workspace.run_dir / FILE, json.dumps({MADE_OF: made_of, **held}).encode("ascii"), durable=False)
