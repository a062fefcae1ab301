"""Sessions in the Agent Trajectory Interchange Format, version 1.7 (Harbor RFC 0001): one JSON document each.

A step is a prompt, what one assistant message said and did with the results of its calls, or a notice. What was copied
from another session is marked as such, what was left behind by a rewind too. Curated events, the ledger and the
record's own notes have no place in the format and are counted in `extra`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from transcript.event import Event
from transcript.log import Log

SCHEMA = "ATIF-v1.7"
_STEPS = frozenset({"conversation_turn", "tool_call", "tool_result", "reasoning", "system"})
_MARKS = frozenset({"abandoned", "rewound"})  # any other mark takes these back


@dataclass(slots=True)
class Session:
    """Which events make up one session: (id, whether it was copied there), what was marked, what has no place."""

    name: str
    events: list[tuple[str, bool]] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def sessions(log: Log) -> dict[str, Session]:
    """Return the sessions in which something was said by name, in the order of their first event; one pass."""
    found: dict[str, Session] = {}
    spoken: dict[str, None] = {}
    home: dict[str, str] = {}
    for event in log.read():
        session = found.setdefault(event.session, Session(event.session))
        if event.type in _STEPS:
            home[event.id] = event.session
            session.events.append((event.id, False))
        elif event.type == "sighting":
            of = str(event.body.get("of"))
            if home.get(of, event.session) != event.session:
                session.events.append((of, True))
        elif event.type == "mark":
            mark = str(event.body.get("mark"))
            session.marks.update(dict.fromkeys(event.body.get("events") or (), mark if mark in _MARKS else ""))
        else:
            session.left_out[event.type] += 1
        if event.type == "conversation_turn":
            spoken.setdefault(event.session)
    return {name: found[name] for name in spoken}


def trajectory(log: Log, session: Session) -> dict[str, Any]:
    """Return one session as a trajectory, its sub-agents embedded."""
    events = [(log.get(name), copied) for name, copied in session.events]
    workers = dict.fromkeys(str(event.body["worker"]) for event, _ in events if event.body.get("worker"))
    own = [(event, copied) for event, copied in events if not event.body.get("worker")]
    made = _document(log, session.name, session.name, own, session.marks)
    if session.left_out:
        made["extra"] = {"not_exported": dict(sorted(session.left_out.items()))}
    parts = [
        _document(
            log, session.name, worker, [pair for pair in events if pair[0].body.get("worker") == worker], session.marks
        )
        for worker in workers
    ]
    return {**made, "subagent_trajectories": parts} if parts else made


def _document(
    log: Log, session: str, name: str, events: Iterable[tuple[Event, bool]], marks: dict[str, str]
) -> dict[str, Any]:
    maker = _Steps(log, marks)
    first: Event | None = None
    for event, copied in events:
        first = first or event
        maker.add(event, copied)
    agent: dict[str, Any] = {"name": first.agent if first else "unknown", "version": "unknown"}
    if first is not None and first.native.get("version"):
        agent["version"] = str(first.native["version"])
    if maker.model:
        agent["model_name"] = maker.model
    steps = [{"step_id": number, **step} for number, step in enumerate(maker.steps, 1)]
    metrics = {"total_steps": len(steps)}
    return {
        "schema_version": SCHEMA,
        "session_id": session,
        "trajectory_id": name,
        "agent": agent,
        "steps": steps,
        "final_metrics": metrics,
    }


class _Steps:
    """Gathers events into steps."""

    def __init__(self, log: Log, marks: dict[str, str]) -> None:
        self._log, self._marks = log, marks
        self.steps: list[dict[str, Any]] = []
        self.model = ""
        self._message: tuple[str, bool] = ("", False)
        self._calls: dict[str, dict[str, Any]] = {}

    def add(self, event: Event, copied: bool) -> None:
        """Take one event in."""
        body = self._log.body(event)
        if event.type == "tool_result":
            self._result(event, body, copied)
        elif event.type == "system" or body.get("kind") == "summary":
            self._new(event, "system", _text(body), copied, subtype=str(body.get("subtype") or "summary"))
        elif body.get("kind") in ("prompt", "worker_prompt"):
            self._new(event, "user", _text(body), copied)
        else:
            self._agent(event, body, copied)

    def _agent(self, event: Event, body: dict[str, Any], copied: bool) -> None:
        """Add what an assistant's message says or does; parts of one message are one step."""
        message = str(body.get("message") or "")
        if not message or self._message != (message, copied) or self.steps[-1]["source"] != "agent":
            self._new(event, "agent", "", copied)
            self._message = (message, copied)
        else:
            self.steps[-1]["extra"]["events"].append(event.id)
        step = self.steps[-1]
        if body.get("model"):
            step["model_name"] = str(body["model"])
            self.model = self.model or step["model_name"]
        if event.type == "tool_call" and body:
            call = {"tool_call_id": str(body["call_id"]) or event.id, "function_name": str(body["tool"])}
            given = body["input"]
            step.setdefault("tool_calls", []).append(
                {**call, "arguments": given if isinstance(given, dict) else {"input": given}}
            )
            self._calls[call["tool_call_id"]] = step
        elif event.type == "reasoning":
            step["reasoning_content"] = _joined(step.get("reasoning_content", ""), _text(body))
        else:
            step["message"] = _joined(step["message"], _text(body))

    def _result(self, event: Event, body: dict[str, Any], copied: bool) -> None:
        """Add a result to the step that made the call; one without a call is a notice of its own."""
        call = str(body.get("call_id") or "")
        step = self._calls.get(call)
        result: dict[str, Any] = {"content": _text(body)}
        if body.get("is_error"):
            result["extra"] = {"is_error": True}
        if step is None:
            self._new(event, "system", "", copied)
            step = self.steps[-1]
        else:
            result["source_call_id"] = call
            step["extra"]["events"].append(event.id)
        step.setdefault("observation", {"results": []})["results"].append(result)

    def _new(self, event: Event, source: str, message: str, copied: bool, **extra: str) -> None:
        self._message = ("", False)
        more: dict[str, Any] = {"events": [event.id], **extra}
        if not event.body:
            more["redacted"] = True
        if self._marks.get(event.id):
            more["mark"] = self._marks[event.id]
        step = {"timestamp": event.ts, "source": source, "message": message, "extra": more}
        self.steps.append({**step, "is_copied_context": True} if copied else step)


def _text(body: dict[str, Any]) -> str:
    text = body.get("text", "")
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else ""


def _joined(before: str, text: str) -> str:
    return f"{before}\n\n{text}" if before and text else before or text
