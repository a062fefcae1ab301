"""Gives an opencode session as records that never change once they were given.

A message's own line holds what was true when it was made. Its cost, its tokens, its end and its error come in a line
of their own when it is done. Parts come in the order of their ids; the first one that may still change ends what is
given for now. Fields that opencode changes afterwards (a title, a summary of the diffs, the note that an old output
was left out of the prompt) are left out.
"""

from collections.abc import Generator, Iterator
from typing import Any

_LATER = ("cost", "tokens", "finish", "error", "structured")


def records(session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a session in the shape of an export."""
    info = session["info"]
    yield {
        "type": "session",
        "id": info.get("id"),
        "root": session.get("root") or info.get("parentID") or info.get("id"),
        "parent": info.get("parentID"),
        "directory": info.get("directory"),
        "version": info.get("version"),
        "created": _time(info, "created"),
    }
    messages = session.get("messages")
    messages = messages if isinstance(messages, list) else []
    for place, message in enumerate(messages):
        done = yield from _message(message, place + 1 < len(messages))
        if not done:
            return
    for extra in session.get("others", ()):
        yield {"type": "other", "record": extra}


def _message(message: Any, followed: bool) -> Generator[dict[str, Any], None, bool]:
    """Yield one message's lines; return whether it is done."""
    if not isinstance(message, dict) or not isinstance(message.get("info"), dict):
        yield {"type": "other", "record": message}
        return True
    info: dict[str, Any] = message["info"]
    parts = message.get("parts")
    parts = sorted((part for part in parts if isinstance(part, dict)), key=_part_id) if isinstance(parts, list) else []
    assistant = info.get("role") == "assistant"
    done = followed or _time(info, "completed") is not None if assistant else followed or bool(parts)
    if not done and not parts:
        return False
    kept = {name: value for name, value in info.items() if name not in (*_LATER, "time", "sessionID")}
    if isinstance(kept.get("summary"), dict):
        del kept["summary"]
    yield {"type": "message", "info": kept, "created": _time(info, "created")}
    for part in parts:
        if not (done or _is_settled(part)):
            return False
        yield {"type": "part", "message": info.get("id"), "part": _stable(part)}
    if assistant and done:
        ended = {name: info[name] for name in _LATER if name in info}
        yield {"type": "end", "message": info.get("id"), "completed": _time(info, "completed"), **ended}
    return done


def _part_id(part: dict[str, Any]) -> str:
    name = part.get("id")
    return name if isinstance(name, str) else ""


def _is_settled(part: dict[str, Any]) -> bool:
    """Return whether a part of a message that is not done will stay as it is."""
    kind = part.get("type")
    if kind in ("text", "reasoning"):
        return _time(part, "end") is not None or bool(part.get("synthetic"))
    if kind == "tool":
        state = part.get("state")
        return isinstance(state, dict) and state.get("status") in ("completed", "error")
    return True


def _stable(part: dict[str, Any]) -> dict[str, Any]:
    part = {name: value for name, value in part.items() if name not in ("sessionID", "messageID", "tail_start_id")}
    state = part.get("state")
    if isinstance(state, dict) and isinstance(state.get("time"), dict) and "compacted" in state["time"]:
        times = {name: value for name, value in state["time"].items() if name != "compacted"}
        part["state"] = {**state, "time": times}
    return part


def _time(holder: dict[str, Any], name: str) -> Any:
    times = holder.get("time")
    return times.get(name) if isinstance(times, dict) else None
