"""`tasks.json`: every task ever created in its present state; `transcript/schema/tasks.schema.json` says its form."""

import json
from typing import Any

from transcript.projections.fold import task_number, watermark
from transcript.projections.page import plain, sealed
from transcript.secrets import veil

NAME = "tasks.json"
TYPES = frozenset({"task", "decision", "outcome", "redaction"})
STATES = ("open", "started", "done", "blocked")


def render(state: dict[str, Any]) -> bytes:
    """Return the view; `open` of the counts holds started tasks too, so that open, done and blocked are all."""
    tasks = [_task(state, name) for name in sorted(state["tasks"], key=lambda name: (task_number(name), name))]
    counts = {name: sum(task["state"] == name for task in tasks) for name in STATES}
    counts["open"] += counts["started"]
    whole = {
        "view": "tasks",
        "version": 1,
        "watermark": watermark(state, TYPES),
        "sha256": "0" * 64,
        "counts": counts | {"created": len(tasks)},
        "tasks": tasks,
    }
    readable = json.loads(plain(json.dumps(whole, ensure_ascii=False)))  # in ASCII a lone surrogate would stay one
    return sealed(json.dumps(readable, ensure_ascii=True, indent=1) + "\n")


def _task(state: dict[str, Any], name: str) -> dict[str, Any]:
    held = state["tasks"][name]
    first, last = held["steps"][0], held["steps"][-1]
    evidence = [item for step in held["steps"] for item in step["evidence"]]
    named = {item for step in held["steps"] for item in step["decisions"]}
    linked = [one["id"] for one in state["decisions"].values() if one.get("task") == name or one["id"] in named]
    outcomes = [one for one in state["outcomes"] if one.get("task") == name]
    return {
        "id": name,
        "title": veil(held["title"]),
        "state": held["state"],
        "note": veil(last["note"]),
        "actor": first["actor"],
        "actor_kind": first["actor_kind"],
        "created": first["ts"],
        "changed": last["ts"],
        "changed_by": last["actor"],
        "role": next((step["role"] for step in reversed(held["steps"]) if step.get("role")), ""),
        "evidence": list(dict.fromkeys(evidence)),
        "decisions": linked,
        "outcomes": [{"status": one["status"], "event": one["id"]} for one in outcomes],
        "events": [step["id"] for step in held["steps"]],
    }
