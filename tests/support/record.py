"""Builders of workspaces, drafts and records."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from transcript.canonical import b32id
from transcript.event import Draft
from transcript.log import Log
from transcript.workspace import Workspace, init

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STAMP = "2026-03-01T12:00:00.000Z"

BODIES: dict[str, dict[str, Any]] = {
    "health": {"level": "ok", "failing": [], "warning": [], "figures": {}},
    "conversation_turn": {"kind": "prompt", "text": "why sqlite"},
    "tool_call": {"tool": "Read", "call_id": "t1", "input": {"path": "a.py"}},
    "tool_result": {"call_id": "t1", "text": "print(1)", "is_error": False},
    "reasoning": {"text": "first look at the schema"},
    "system": {"subtype": "compact_boundary", "text": ""},
    "unknown": {"raw": '{"type":"new-thing"}'},
    "sighting": {"of": b32id("first"), "record": "r1", "file": "b.jsonl"},
    "mark": {"mark": "abandoned", "events": [b32id("first")], "note": ""},
    "checkpoint": {"note": "before the move"},
    "recall": {"prompt": "why", "items": []},
    "memory.written": {
        "candidate": b32id("candidate"),
        "memory_type": "project_fact",
        "statement": "sqlite it is",
        "text": "sqlite it is",
        "sources": [],
    },
}


def make_draft(name: object = 0, type: str = "conversation_turn", **fields: Any) -> Draft:
    """Return a valid draft; name makes its id, text its words."""
    body = dict(BODIES.get(type, {"note": "x"}))
    if "text" in fields:
        body["text"] = fields.pop("text")
    body.update(fields.pop("body", {}))
    values: dict[str, Any] = {
        "id": b32id("test", str(name)),
        "ts": STAMP,
        "ts_source": "record",
        "session": "session-1",
        "agent": "claude-code",
        "actor": "user",
        "origin": "internal",
        "native": {
            "harness": "claude-code",
            "version": "2.1",
            "id": str(name),
            "part": 0,
            "adapter": "1",
            "source": "",
        },
    }
    return Draft(type=type, body=body, **(values | fields))


def make_turns(count: int, **fields: Any) -> list[Draft]:
    """Return prompts `turn 0`, `turn 1`, …"""
    return [make_draft(number, text=f"turn {number}", **fields) for number in range(count)]


def make_workspace(folder: Path) -> Workspace:
    """Return a fresh workspace with its project and data under folder."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    return init(project, folder / "data")


def make_log(folder: Path, drafts: Iterable[Draft] = (), **options: Any) -> Log:
    """Return the record of a fresh workspace, with drafts in it."""
    log = Log(make_workspace(folder), **options)
    log.append(drafts, now=NOW)
    return log


def lines_of(log: Log) -> list[bytes]:
    """Return the lines of the open segment, newline included."""
    return log.workspace.activity.read_bytes().splitlines(keepends=True)
