"""`decisions.md`: every decision with its reason, its evidence and what replaced it."""

from typing import Any

from transcript.projections.fold import watermark
from transcript.projections.page import NONE, day, line, markdown, pointer, pointers, who

NAME = "decisions.md"
TYPES = frozenset({"decision", "redaction"})


def render(state: dict[str, Any]) -> bytes:
    """Return the view: decisions that hold, newest first, then those that were replaced."""
    made = sorted(state["decisions"].values(), key=lambda one: -one["seq"])
    lines: list[str] = ["## Current", ""]
    for title, kept in (("", [d for d in made if not d["superseded_by"]]), ("Replaced", made)):
        if title:
            kept = [d for d in kept if d["superseded_by"]]
            lines += [f"## {title}", ""]
        for one in kept:
            lines += _lines(one)
        if not kept:
            lines += [NONE, ""]
    return markdown("Decisions", watermark(state, TYPES), lines)


def _lines(one: dict[str, Any]) -> list[str]:
    lines = [f"### {line(one['statement'])}", "", f"- id: {pointer(one['id'])}, {one.get('kind', 'decision')}"]
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
