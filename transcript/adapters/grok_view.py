"""A Grok Build session as lines: a head, then each row of its history with its time and its place.

What is new stands at the end: the head holds only what a session never changes. A line is
{"row": …, "at": time or "", "from": "joined" or "file", "owner": session, "prompt": number of the prompt before it}.
`owner` is the session in which the row was first said: a fork's earlier rows are its parent's.
"""

import io
import json
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

from transcript.adapters.grok_times import Times, read_times
from transcript.adapters.values import moment, text_of
from transcript.adapters.views import as_line
from transcript.adapters.walk import read_object
from transcript.paths import read_file

HISTORY = "chat_history.jsonl"
VIEW = "grok-build"
TYPES = frozenset({"system", "user", "assistant", "tool_result", "reasoning", "backend_tool_call"})
ROLES = frozenset({"system", "user", "assistant", "tool"})
NO_PROMPT = -1


def is_row(value: dict[str, Any]) -> bool:
    """Return whether an object is a row of a history, of either form."""
    if text_of(value.get("type")) in TYPES:
        return any(name in value for name in ("content", "summary", "kind", "tool_calls"))
    return "type" not in value and text_of(value.get("role")) in ROLES and ("content" in value or "tool_calls" in value)


def view(folder: Path, history: Path) -> BinaryIO:
    """Return the session in a folder as lines. OSError when its history cannot be read."""
    lines = read_file(history).split(b"\n")
    summary = read_object(folder / "summary.json")
    head = _head(folder, summary)
    join = _Join(folder, summary, head)
    out = io.BytesIO()
    out.write(as_line(head))
    for at, raw in enumerate(lines):
        if not raw.strip():
            continue
        try:
            row = json.loads(raw)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            out.write(as_line(join.line(row)))
        else:
            out.write(raw if at == len(lines) - 1 else raw + b"\n")
    out.seek(0)
    return out


def parent_of(folder: Path) -> str:
    """Return the session that began this one as its sub-agent, "" for any other session."""
    summary = read_object(folder / "summary.json")
    if summary.get("session_kind") == "subagent":
        return text_of(summary.get("parent_session_id"))
    return text_of(_spawned(folder, text_of(summary.get("parent_session_id"))).get("parent"))


def _spawned(folder: Path, parent: str) -> dict[str, str]:
    """Return what a parent's folder says about the sub-agent that runs in this one: parent, kind and task."""
    if not parent or "/" in parent or "\\" in parent:
        return {}
    for path in sorted((folder.parent / parent / "subagents").glob("*/meta.json")):
        meta = read_object(path)
        if folder.name in (meta.get("child_session_id"), meta.get("subagent_id"), path.parent.name):
            given = {
                "parent": parent, "worker_type": meta.get("subagent_type"), "worker_task": meta.get("description"),
            }  # fmt: skip
            return {name: value for name, value in given.items() if isinstance(value, str) and value}
    return {}


def _head(folder: Path, summary: dict[str, Any]) -> dict[str, Any]:
    info = summary.get("info")
    info = info if isinstance(info, dict) else {}
    parent = text_of(summary.get("parent_session_id"))
    head = {
        "view": VIEW,
        "session": text_of(info.get("id")) or folder.name,
        "cwd": text_of(info.get("cwd")) or _cwd(folder.parent),
        "created": moment(summary.get("created_at")),
        "parent": parent,
        "version": _format(summary),
        **{name: value for name, value in _spawned(folder, parent).items() if name != "parent"},
    }
    return {name: value for name, value in head.items() if value}


def _format(summary: dict[str, Any]) -> str:
    """Return the version of the history's form: the client's own stands nowhere."""
    number = summary.get("chat_format_version")
    return f"chat-v{number}" if isinstance(number, int) and not isinstance(number, bool) else ""


def _cwd(bucket: Path) -> str:
    """Return the folder that a bucket's `.cwd` file or its own, url-encoded, name says."""
    try:
        return (bucket / ".cwd").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        name = unquote(bucket.name)
        return name if "%" in bucket.name and (name.startswith("/") or name[1:2] == ":") else ""


class _Join:
    """Gives each row its time, its owner and its prompt, in the order of the rows."""

    def __init__(self, folder: Path, summary: dict[str, Any], head: dict[str, Any]) -> None:
        self._times: Times = read_times(folder)
        self._own = str(head["session"])
        is_fork = summary.get("session_kind") == "fork" or "forked_at" in summary
        self._heir = str(head.get("parent", "")) if is_fork else ""
        self._at, self._from = str(head.get("created", "")), "file"
        self._prompt = NO_PROMPT
        self._owner = self._owner_of(0)

    def line(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the line of the next row."""
        prompt = row.get("prompt_index")
        if isinstance(prompt, int) and not isinstance(prompt, bool) and row.get("type") == "user":
            self._prompt, self._owner = prompt, self._owner_of(prompt)
        found = self._times.of(row)
        if found:
            self._at, self._from = found, "joined"
        return {"row": row, "at": self._at, "from": self._from, "owner": self._owner, "prompt": self._prompt}

    def _owner_of(self, prompt: int) -> str:
        """Return the session a prompt was typed in; one that nothing tells of is the parent's in a fork."""
        found = self._times.owner(prompt)
        if found:
            return found
        return self._own if not self._heir or prompt in self._times.points else self._heir
