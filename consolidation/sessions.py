"""The sessions of the record as the finders read them: prompts, replies, calls, what failed, what was curated.

What a person kept out, and what a harness abandoned or rewound, is not in them.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from consolidation.model import SessionView, Step
from indexer.passages import event_text
from transcript.adapters.rejections import said_in_rejection
from transcript.canonical import canonical
from transcript.curation import CURATED
from transcript.errors import RecordError
from transcript.event import Event, Position
from transcript.kept_out import opts_out
from transcript.log import Log
from transcript.memory_told import SESSION
from transcript.sieve import Sieve, type_field

RECORDED = frozenset({"conversation_turn", "tool_call", "tool_result", "system", "mark", *CURATED})
NO_INPUT = frozenset({"index_run", "health", "redaction", "checkpoint", "signature"})
START_MODE = "handoff"  # a ledger row of a session's start, where nothing was searched
INPUT_CHARS = 2000
MOST_SESSIONS_SIEVED = 16
_SIEVE = tuple(type_field(name) for name in sorted(RECORDED))


def last_input(log: Log, since: Position | None = None) -> Position | None:
    """Return the position behind the last event that a run would read, None where nothing is new since."""
    last = None
    for event in log.read(since):
        if is_input(event):
            last = event.position
    return last


def is_input(event: Event) -> bool:
    """Say whether a run would read an event: what it wrote itself, and what tells of upkeep alone, it would not."""
    if event.type in NO_INPUT or event.session == SESSION or not event.body:
        return False
    return event.type != "recall" or event.body.get("mode") != START_MODE


def views(log: Log, since: Position | None = None) -> Iterator[SessionView]:
    """Yield the whole of each session in which anything is new since a position, in the order they began.

    The record is read twice: for the names, then for the sessions themselves.
    """
    names = {event.session for event in log.read(since, sieve=Sieve(_SIEVE)) if event.type in RECORDED}
    names.discard(SESSION)
    if not names:
        return
    written = tuple(b'"session":' + canonical(name) for name in sorted(names))
    groups = (written,) if len(written) <= MOST_SESSIONS_SIEVED else ()
    held: dict[str, _Session] = {}
    marked: dict[str, bool] = {}
    for event in log.read(sieve=Sieve(_SIEVE, groups)):
        if event.session in names and event.type in RECORDED and event.body:
            if event.type == "mark":
                _mark(marked, event.body)
            else:
                held.setdefault(event.session, _Session(log, event)).take(event)
    gone = {name for name, out in marked.items() if out}
    for session in held.values():
        view = session.view(gone)
        if view.steps:
            yield view


def project_of(cwd: str, root: Path | None) -> str:
    """Return the name of the project that a session in this folder is about: the workspace's own, else the folder's."""
    if root is not None and f"{cwd}/".startswith(f"{root}/"):
        return root.name
    return cwd.rstrip("/\\").replace("\\", "/").split("/")[-1]


def _mark(marked: dict[str, bool], body: dict[str, Any]) -> None:
    kind, events = body.get("mark"), body.get("events")
    if kind in ("abandoned", "rewound", "restored") and isinstance(events, list):
        marked.update(dict.fromkeys(map(str, events), kind != "restored"))


class _Session:
    """The steps of one session as they come."""

    def __init__(self, log: Log, first: Event) -> None:
        self._log, self._first = log, first
        self._steps: list[Step] = []
        self._tools: dict[str, str] = {}  # call -> its tool
        self._cwd = self._role = self._out_message = ""
        self._out = False

    def take(self, event: Event) -> None:
        """Take one event in."""
        try:
            body = self._log.body(event)
        except RecordError:
            return  # a long text that is damaged: verify names it
        self._cwd = self._cwd or str(body.get("cwd", ""))
        self._role = self._role or str(body.get("role", ""))
        step = _step(event, body)
        if step is None or self._stays_out(event, step):
            return
        self._steps.append(step)
        if step.kind == "call":
            self._tools[str(body.get("call_id", ""))] = step.tool
        elif step.kind == "error":
            said = self._rejection(event, step)
            self._steps += [said] if said is not None else []

    def _rejection(self, event: Event, failed: Step) -> Step | None:
        """Return what a person said when they rejected a call, None where nobody said anything."""
        tool = self._tools.get(str((failed.body or {}).get("call_id", "")), "")
        place = said_in_rejection(event.agent, tool, failed.text)
        if place is None or opts_out(failed.text[slice(*place)]):
            return None
        start, end = place
        return replace(failed, kind="rejection", text="\n" * start + failed.text[start:end], actor_kind="human")

    def _stays_out(self, event: Event, step: Step) -> bool:
        """Say whether a step belongs to an exchange that a person keeps out; curated events never do."""
        if step.kind == "curated":
            return False
        if step.kind == "prompt":
            message = str(event.native.get("id", "")) or event.id
            if opts_out(step.text):
                self._out, self._out_message = True, message
            elif message != self._out_message:
                self._out = False
        return self._out

    def view(self, gone: set[str]) -> SessionView:
        """Return the session without the events in gone."""
        project = project_of(self._cwd, self._log.workspace.root)
        steps = _with_finals([step for step in self._steps if step.event not in gone])
        return SessionView(self._first.session, project, self._role, self._first.agent, tuple(steps))


def _step(event: Event, body: dict[str, Any]) -> Step | None:
    """Return an event as a step, None for what no finder reads."""
    kind, worker = _kind(event, body), str(body.get("worker", ""))
    if not kind:
        return None
    told: dict[str, Any] = {"event": event.id, "seq": event.seq, "ts": event.ts, "worker": worker}
    if kind == "call":
        given = body.get("input")
        given = given if isinstance(given, dict) else {"input": given}
        cut = {name: _cut(value) for name, value in given.items()}
        text, called = event_text(event.type, body)[:INPUT_CHARS], {"call_id": body.get("call_id", "")}
        return Step(kind, **told, text=text, tool=str(body.get("tool", "")), input=cut, body=called)
    if kind == "ok":
        return Step(kind, **told, body={"call_id": body.get("call_id", "")})
    who = "human" if kind == "prompt" else str(body.get("actor_kind", ""))
    kept = (
        body | {"origin": event.origin} if kind == "curated" else {n: body.get(n, "") for n in ("call_id", "message")}
    )
    return Step(kind, **told, text=event_text(event.type, body), actor_kind=who, body=kept)


def _kind(event: Event, body: dict[str, Any]) -> str:
    if event.type == "conversation_turn":
        if body.get("speaker"):
            return ""  # a talk between people lays down nothing for the agent
        return {"prompt": "prompt", "reply": "reply"}.get(str(body.get("kind")), "")
    if event.type == "tool_result":
        return "error" if body.get("is_error") else "ok"
    if event.type == "system":
        return "boundary" if body.get("subtype") == "compact_boundary" and not body.get("worker") else ""
    return "call" if event.type == "tool_call" else "curated" if event.type in CURATED else ""


def _cut(value: Any) -> Any:
    """Return what a tool was given with its long texts cut."""
    if isinstance(value, str):
        return value[:INPUT_CHARS]
    if isinstance(value, list):
        return [_cut(one) for one in value[:50]]
    return {name: _cut(one) for name, one in value.items()} if isinstance(value, dict) else value


def _with_finals(steps: list[Step]) -> list[Step]:
    """Mark the replies of the last message before each prompt and at the end; sub-agents give no final answer."""
    found, last = list(steps), ""
    for at in range(len(steps) - 1, -1, -1):
        step = steps[at]
        if step.kind == "prompt":
            last = ""
        elif step.kind == "reply" and not step.worker:
            message = str((step.body or {}).get("message") or step.event)
            last = last or message
            if message == last:
                found[at] = replace(step, final=True)
    return found
