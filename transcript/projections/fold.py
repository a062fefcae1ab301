"""The fold behind every view: what the record's events add up to, as plain JSON.

A pure function of the events in their order: no clock, no folder, no locale. The whole of it can be written as JSON and
read back, so that a snapshot and the events behind it give the same as all events.
"""

from typing import Any

from transcript import grants
from transcript.curation import TASK_STATES
from transcript.event import Event, Position

VERSION = 1
MOST_FILES = 400
LEAST_POINTER = 10  # characters of an event's id
CURATED = frozenset({"decision", "task", "question", "correction", "outcome", "observation"})
APPLIED = "proposal.applied"
FOLDED = CURATED | {"conversation_turn", "tool_call", "redaction", APPLIED}
PATH_KEYS = ("file_path", "notebook_path", "path", "filePath", "absolute_path", "target_file", "filename")
_WRITES = ("edit", "write", "patch", "replace", "create", "insert", "delete", "multiedit")


def empty() -> dict[str, Any]:
    """Return the state before the first event."""
    return {
        "version": VERSION,
        "last": {},
        "decisions": {},
        "tasks": {},
        "questions": {},
        "corrections": [],
        "outcomes": [],
        "observations": [],
        "sessions": {},
        "files": {},
    }


def fold(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    """Take one event into the state; body has its long texts opened."""
    if event.type in grants.TYPES:
        grants.take(state.setdefault("governed", grants.empty()), event, body)
    if event.type not in FOLDED:
        return
    state["last"][event.type] = {"seq": event.seq, "id": event.id, "hash": event.position.hash}
    if event.type == "conversation_turn":
        _session(state, event, body)
    elif event.type == "tool_call":
        _files(state, event, body)
    elif event.type == APPLIED and body:
        _canonical(state, body)
    elif event.type in CURATED and body:
        _CURATED[event.type](state, event, body)


def watermark(state: dict[str, Any], types: frozenset[str]) -> dict[str, Any]:
    """Return seq, id and envelope hash of the last event of these types; seq 0 before the first."""
    marks = [mark for name, mark in state["last"].items() if name in types]
    return dict(max(marks, key=lambda mark: int(mark["seq"]))) if marks else {"seq": 0, "id": "", "hash": ""}


def position_dict(at: Position) -> dict[str, Any]:
    """Return a position of the record as JSON."""
    return {"segment": at.segment, "offset": at.offset, "seq": at.seq, "hash": at.hash}


def is_write(tool: str) -> bool:
    """Say whether a tool of this name changes the file it is given."""
    return any(word in tool.lower() for word in _WRITES)


def task_number(name: str) -> int:
    """Return the number of a task or question name such as T12, 0 when it has none."""
    return int(name[1:]) if name[1:].isascii() and name[1:].isdigit() else 0


def _entry(event: Event, body: dict[str, Any]) -> dict[str, Any]:
    """Return what every curated event carries."""
    kept = {"id": event.id, "seq": event.seq, "ts": event.ts, "agent": event.agent, "session": event.session}
    kept |= {"actor": str(body.get("actor", "")), "actor_kind": str(body.get("actor_kind", ""))}
    for name in ("kind", "task", "role", "keep"):
        if body.get(name):
            kept[name] = body[name]
    return kept | {"evidence": [str(item) for item in body.get("evidence") or ()]}


def _canonical(state: dict[str, Any], body: dict[str, Any]) -> None:
    """Note on which events of the record the canonical decisions rest that hold."""
    item, held = body["item"], state.setdefault("canonical", {})
    for name in ("supersedes", "target_ref"):
        held.pop(item.get(name), None)
    if item["kind"] == "decision":
        named = [ref.removeprefix("recall:").partition("#")[0] for ref in item["evidence_refs"]]
        held[item["event_id"]] = [name for name in named if len(name) >= LEAST_POINTER]


def _decision(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    if event.origin != "internal":
        return  # what a peer says decides nothing here
    made = _entry(event, body) | {"statement": str(body.get("statement", body.get("text", "")))}
    made |= {"why": str(body.get("why", "")), "supersedes": str(body.get("supersedes", "")), "superseded_by": ""}
    old = state["decisions"].get(made["supersedes"])
    if old is not None:
        old["superseded_by"] = event.id
    state["decisions"][event.id] = made


def _task(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    name, action = str(body.get("task", "")), str(body.get("action", ""))
    if event.origin != "internal" or action not in TASK_STATES:
        return
    step = _entry(event, body) | {"action": action, "note": str(body.get("note", ""))}
    step["decisions"] = [str(item) for item in body.get("decisions") or ()]
    if action == "add":
        state["tasks"].setdefault(name, {"title": str(body.get("title", "")), "state": "open", "steps": []})
    held = state["tasks"].get(name)
    if held is not None:
        held["steps"].append(step)
        held["state"] = TASK_STATES[action]


def _question(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    name, action = str(body.get("question", "")), str(body.get("action", ""))
    said = _entry(event, body) | {"statement": str(body.get("statement", ""))}
    if action == "ask":
        state["questions"].setdefault(name, {"asked": said, "resolved": None})
    elif name in state["questions"]:
        state["questions"][name]["resolved"] = said


def _correction(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    said = {"of": str(body.get("of", "")), "text": str(body.get("text", ""))}
    if event.origin != "internal":
        said["channel"] = str(body.get("channel", "")) or "elsewhere"
    _put(state["corrections"], event, body, said)


def _outcome(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    said = {"status": str(body.get("status", "")), "statement": str(body.get("statement", body.get("text", "")))}
    _put(state["outcomes"], event, body, said)


def _put(held: list[dict[str, Any]], event: Event, body: dict[str, Any], said: dict[str, Any]) -> None:
    """Add an entry in place of the one that it supersedes, which the record keeps. A peer's replaces nothing."""
    if event.origin == "internal" and body.get("supersedes"):
        held[:] = [one for one in held if one["id"] != body["supersedes"]]
    held.append(_entry(event, body) | said)


def _observation(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    if body.get("private"):
        return  # a view lies in the project, where others look
    said = {"channel": str(body.get("channel", "")), "category": str(body.get("category", ""))}
    state["observations"].append(_entry(event, body) | said | {"text": str(body.get("text", ""))})


_CURATED = {
    "decision": _decision,
    "task": _task,
    "question": _question,
    "correction": _correction,
    "outcome": _outcome,
    "observation": _observation,
}


def _session(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    if body.get("worker"):
        return
    held = state["sessions"].get(event.session)
    if held is None:
        held = {"agent": event.agent, "first": event.ts, "last": "", "prompts": 0, "cwd": "", "branch": ""}
        state["sessions"][event.session] = held
    held["prompts"] += body.get("kind") == "prompt"
    for name in ("cwd", "branch"):
        held[name] = str(body.get(name) or held[name])
    held["first"] = min(held["first"], event.ts)
    if event.ts >= held["last"]:
        held["last"], held["event"], held["seq"] = event.ts, event.id, event.seq


def _files(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    """Keep the files touched most lately: reads and writes counted, the last call as pointer."""
    given = body.get("input")
    if not isinstance(given, dict):
        return
    files = state["files"]
    wrote = is_write(str(body.get("tool", "")))
    for key in PATH_KEYS:
        path = given.get(key)
        if not isinstance(path, str) or not path or "\n" in path or len(path) > 400:
            continue
        held = files.pop(path, {"reads": 0, "writes": 0})
        held["writes" if wrote else "reads"] += 1
        files[path] = held | {"event": event.id, "seq": event.seq, "ts": event.ts, "session": event.session}
        if len(files) > MOST_FILES:
            del files[next(iter(files))]
