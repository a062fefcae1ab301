"""When the rows of a Grok Build session were said: from `updates.jsonl` and `rewind_points.jsonl`.

Updates are the stream the client showed: a prompt names its number, a tool call and its result their id, an answer
comes in chunks that are put together again and matched by their text, in order.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transcript.adapters.values import moment, text_of
from transcript.paths import read_file

# Updates that tell nothing here and may be large or many: not even parsed.
_SKIPPED = (b'"hook_execution"', b'"agent_thought_chunk"', b'"status":"in_progress"', b'"available_commands_update"')
_WANTED = (b'"user_message_chunk"', b'"agent_message_chunk"', b'"tool_call"', b'"tool_call_update"')
_DONE = ("completed", "failed")


@dataclass(slots=True)
class Times:
    """Times by prompt, call and result; `said` are the answers in order, `points` the prompts typed in this session."""

    prompts: dict[int, tuple[str, str]] = field(default_factory=dict)
    points: dict[int, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    said: list[tuple[str, str]] = field(default_factory=list)
    _next: int = 0

    def owner(self, prompt: int) -> str:
        """Return the session whose client first showed a prompt, "" when no update tells."""
        return self.prompts.get(prompt, ("", ""))[1]

    def of(self, row: dict[str, Any]) -> str:
        """Return when a row was said, "" when nothing tells. Rows are asked for in their order."""
        kind = row.get("type", row.get("role"))
        if kind == "user":
            prompt = row.get("prompt_index")
            if not isinstance(prompt, int):
                return ""
            return self.prompts.get(prompt, ("", ""))[0] or self.points.get(prompt, "")
        if kind in ("tool_result", "tool"):
            return self.results.get(text_of(row.get("tool_call_id")), "")
        if kind != "assistant":
            return ""
        content = text_of(row.get("content")).strip()
        if content:
            for at in range(self._next, len(self.said)):
                if self.said[at][0].strip() == content:
                    self._next = at + 1
                    return self.said[at][1]
        calls = row.get("tool_calls")
        found = [
            self.calls[call["id"]]
            for call in (calls if isinstance(calls, list) else [])
            if isinstance(call, dict) and isinstance(call.get("id"), str) and call["id"] in self.calls
        ]
        return min(found, default="")


def read_times(folder: Path) -> Times:
    """Return what the files beside a history tell; nothing for those that are not there."""
    times = Times()
    for value in _objects(folder / "rewind_points.jsonl"):
        prompt = value.get("prompt_index")
        if isinstance(prompt, int) and (at := moment(value.get("created_at"))):
            times.points[prompt] = at
    chunk: tuple[object, ...] = ()
    for value in _objects(folder / "updates.jsonl", skipped=_SKIPPED, wanted=_WANTED):
        params: Any = value.get("params")
        update: Any = params.get("update") if isinstance(params, dict) else value.get("update")
        if not isinstance(params, dict) or not isinstance(update, dict):
            continue
        meta: Any = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        at = moment(meta.get("agentTimestampMs")) or moment(value.get("timestamp"))
        chunk = _take(times, update, meta, at, chunk)
    return times


def _take(
    times: Times, update: dict[str, Any], meta: dict[str, Any], at: str, chunk: tuple[object, ...]
) -> tuple[object, ...]:
    """Note one update; return what tells whether the next chunk goes on with the same answer."""
    kind = update.get("sessionUpdate")
    call_id = text_of(update.get("toolCallId"))
    if kind == "user_message_chunk":
        own: Any = update.get("_meta")
        prompt = own.get("promptIndex") if isinstance(own, dict) else None
        if isinstance(prompt, int):
            times.prompts.setdefault(prompt, (at, text_of(meta.get("eventId")).rpartition("-")[0]))
    elif kind == "tool_call":
        times.calls.setdefault(call_id, at)
    elif kind == "tool_call_update" and text_of(update.get("status")) in _DONE:
        times.results.setdefault(call_id, at)
    elif kind == "agent_message_chunk":
        content: Any = update.get("content")
        text = text_of(content.get("text")) if isinstance(content, dict) else ""
        stream = ("chunk", meta.get("promptId"), meta.get("streamStartMs"))
        if chunk == stream:
            times.said[-1] = (times.said[-1][0] + text, times.said[-1][1])
        else:
            times.said.append((text, at))
        return stream
    else:
        return chunk
    return ()


def _objects(path: Path, *, skipped: tuple[bytes, ...] = (), wanted: tuple[bytes, ...] = ()) -> list[dict[str, Any]]:
    """Return the objects in a file's lines, without those that hold a skipped or no wanted word."""
    found: list[dict[str, Any]] = []
    try:
        lines = read_file(path).split(b"\n")
    except OSError:
        return found
    for line in lines:
        if any(word in line for word in skipped) or (wanted and not any(word in line for word in wanted)):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
