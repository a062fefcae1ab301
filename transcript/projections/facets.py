"""What the record knows of its items besides their words: privacy, what a memory is about, grants, roles' authority.

A pure function of two folds, written into `run/` whenever the views are, for those who fold nothing: a hook reads this
one small file. It holds no statement of anybody. Losing it narrows: what nobody knows a class of is never shared.
"""

from collections.abc import Mapping
from typing import Any

from transcript.grants import empty
from transcript.memories import MemoryState

NAME = "facets.json"
VERSION = 1
_CURATED = ("decisions", "outcomes", "corrections", "observations")


def render(memories: MemoryState, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facets as JSON: by memory its type, privacy, projects, roles and tags; grants by item.

    `state` is the fold behind the views.
    """
    governed = state.get("governed") or empty()
    grants: dict[str, list[list[str]]] = {}
    for one in governed["grants"].values():
        grants.setdefault(one["item"], []).append([one["audience"], one["channel"], one["until"]])
    return {
        "version": VERSION,
        "memories": {
            memory.id: [
                memory.memory_type,
                memory.privacy,
                list(memory.projects),
                list(memory.roles),
                list(memory.tags),
            ]
            for memory in memories.memories.values()
        },
        "tasks": _tasks(state),
        "grants": grants,
        "roles": {name: held["authority"] for name, held in governed["roles"].items()},
    }


def _tasks(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the task that a curated event belongs to, by event."""
    found = {}
    for kind in _CURATED:
        held = state[kind]
        for one in held.values() if isinstance(held, dict) else held:
            if one.get("task"):
                found[one["id"]] = str(one["task"])
    for name, task in state["tasks"].items():
        found.update({step["id"]: name for step in task["steps"]})
    return found
