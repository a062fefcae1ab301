"""`decisions.md`: every decision with its reason, its evidence and what replaced it."""

from typing import Any

from transcript.projections.fold import APPLIED, watermark
from transcript.projections.page import NONE, day, line, markdown, pointer, pointers, who

NAME = "decisions.md"
TYPES = frozenset({"decision", "redaction", APPLIED})


def render(state: dict[str, Any]) -> bytes:
    """Return the view: decisions that hold, newest first, then those that were replaced."""
    made = sorted(state["decisions"].values(), key=lambda one: -one["seq"])
    lines: list[str] = ["## Current", ""]
    for title, kept in (("", [d for d in made if not d["superseded_by"]]), ("Replaced", made)):
        if title:
            kept = [d for d in kept if d["superseded_by"]]
            lines += [f"## {title}", ""]
        for one in kept:
            lines += _lines(one, _standing(state, one["id"]))
        if not kept:
            lines += [NONE, ""]
    return markdown("Decisions", watermark(state, TYPES), lines)


def _standing(state: dict[str, Any], name: str) -> str:
    """Whether a decision was only recorded, or a person approved it: then the item of the canonical memory."""
    for item, named in state.get("canonical", {}).items():
        if any(name.startswith(one) for one in named):
            return f"canonical ({item})"
    return "recorded"


def _lines(one: dict[str, Any], standing: str) -> list[str]:
    lines = [f"### {line(one['statement'])}", "", f"- id: {pointer(one['id'])}, {one.get('kind', 'decision')}"]
    lines.append(f"- standing: {standing}")
    lines.append(f"- by: {who(one)}, {day(one['ts'])} UTC")
    lines.append(f"- why: {line(one['why']) or NONE}")
    lines.append(f"- evidence: {pointers(one['evidence']) or NONE}")
    for label, name in (("task", "task"), ("role", "role")):
        if one.get(name):
            lines.append(f"- {label}: {line(str(one[name]))}")
    if one["supersedes"]:
        lines.append(f"- replaces: {pointer(one['supersedes'])}")
    if one["superseded_by"]:
        lines.append(f"- superseded by: {pointer(one['superseded_by'])}")
    return [*lines, ""]
