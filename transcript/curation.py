"""Builds the events that exist only because somebody said so: decisions, tasks, questions, corrections and the like.

Nothing in a conversation becomes one of these by itself. Each names who says it and of what kind (agent or human), and
its evidence are pointers that were opened when it was written.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from transcript.canonical import b32id, canonical
from transcript.errors import CurationError, PointerError
from transcript.event import Draft, Event
from transcript.log import Log
from transcript.telling import counted, quoted

CURATED = ("decision", "task", "question", "correction", "outcome", "observation")
SAID = ("conversation_turn", "tool_call", "tool_result", "reasoning")
ACTOR_KINDS = ("agent", "human")
DECISION_KINDS = ("decision", "diagnosis", "constraint", "risk")
TASK_STATES = {"add": "open", "start": "started", "done": "done", "block": "blocked", "reopen": "open"}
CORRECTION_KINDS = ("correction", "critique", "confirmation")
OUTCOMES = ("verified", "failed", "untested", "not_claimed")
CATEGORIES = ("review", "challenge", "deployment", "alert", "coordination", "governance")


@dataclass(frozen=True, slots=True)
class Author:
    """Who says it: a name, and whether that is an agent or a human. `agent` is the harness it was said in."""

    name: str
    kind: str
    agent: str = "recall"

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise CurationError("a curated event names its actor; give one with --actor NAME")
        if self.kind not in ACTOR_KINDS:
            raise CurationError(f"the kind of actor is {' or '.join(ACTOR_KINDS)}, not {quoted(self.kind)}")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and when it is said. `key` makes ids of equal words differ; `ts` is a moment as the record writes it."""

    ts: str
    session: str
    key: str
    where: dict[str, str] = field(default_factory=dict)  # surface, session_key, role, cwd
    scope: str = ""  # the workspace, within which a name is given once


def decision(
    by: Author,
    at: Setting,
    statement: str,
    *,
    why: str = "",
    kind: str = "decision",
    task: str = "",
    evidence: Iterable[str] = (),
    supersedes: str = "",
    keep: bool = False,
) -> Draft:
    """Return a decision; `supersedes` is the whole id of the one it replaces, or a pointer to what was said."""
    _one_of("kind", kind, DECISION_KINDS)
    words = _words(statement, "decision")
    body = {"kind": kind, "statement": words, "why": why.strip(), "task": task, "supersedes": supersedes}
    text = f"{words}\nWhy: {why.strip()}" if why.strip() else words
    return _draft("decision", by, at, {**body, "keep": keep, "text": text, "evidence": list(evidence)})


def task(
    by: Author,
    at: Setting,
    name: str,
    action: str,
    *,
    title: str = "",
    note: str = "",
    evidence: Iterable[str] = (),
    decisions: Iterable[str] = (),
) -> Draft:
    """Return one step of a task. The id of `add` follows from the name, so that a name is given once only."""
    _one_of("action", action, tuple(TASK_STATES))
    if action == "add" and not title.strip():
        raise CurationError("a task has a title")
    words = " ".join((title if action == "add" else note).split())
    text = f"{name} {TASK_STATES[action]}: {words}" if words else f"{name} {TASK_STATES[action]}"
    body = {"task": name, "action": action, "title": title.strip(), "note": note.strip(), "text": text}
    made = _draft("task", by, at, {**body, "evidence": list(evidence), "decisions": list(decisions)})
    return _named(made, at, name) if action == "add" else made


def question(
    by: Author, at: Setting, name: str, action: str, *, text: str = "", task: str = "", evidence: Iterable[str] = ()
) -> Draft:
    """Return a question that is asked or resolved; on resolving, text is the answer."""
    _one_of("action", action, ("ask", "resolve"))
    words = _words(text, "question" if action == "ask" else "answer")
    body = {"question": name, "action": action, "statement": words, "text": f"{name} {action}: {words}", "task": task}
    made = _draft("question", by, at, {**body, "evidence": list(evidence)})
    return _named(made, at, name) if action == "ask" else made


def correction(
    by: Author,
    at: Setting,
    of: str,
    text: str,
    *,
    kind: str = "correction",
    channel: str = "",
    evidence: Iterable[str] = (),
    supersedes: str = "",
) -> Draft:
    """Return what somebody says about an earlier event or memory: that it is wrong, weak or right.

    What was said on a channel is a peer's: external, of lower authority than ours. `supersedes` is the whole id of an
    earlier correction that this one replaces.
    """
    _one_of("kind", kind, CORRECTION_KINDS)
    if not of:
        raise CurationError("a correction names what it corrects")
    body = {"kind": kind, "of": of, "text": _words(text, "correction"), "channel": channel.strip()}
    if channel.strip() and supersedes:
        raise CurationError("what a peer says replaces nothing of ours; leave out --supersedes or --channel")
    body["supersedes"] = supersedes
    origin = "external" if body["channel"] else "internal"
    return _draft("correction", by, at, {**body, "evidence": list(evidence)}, origin=origin)


def outcome(
    by: Author,
    at: Setting,
    text: str,
    status: str,
    *,
    task: str = "",
    keep: bool = False,
    evidence: Iterable[str] = (),
    supersedes: str = "",
) -> Draft:
    """Return what came of something: verified, failed, untested, or expressly not claimed.

    `supersedes` is the whole id of an earlier outcome that this one replaces.
    """
    _one_of("status", status, OUTCOMES)
    words = _words(text, "outcome")
    body = {"status": status, "statement": words, "text": f"{status}: {words}", "task": task, "keep": keep}
    return _draft("outcome", by, at, {**body, "supersedes": supersedes, "evidence": list(evidence)})


def observation(
    by: Author, at: Setting, text: str, *, channel: str, category: str, private: bool = False, ref: str = ""
) -> Draft:
    """Return what an independent peer said on a channel: external, with its provenance, never a fact of ours."""
    _one_of("category", category, CATEGORIES)
    if not channel.strip():
        raise CurationError("an observation names its channel")
    body = {"channel": channel.strip(), "category": category, "author": by.name, "private": private, "ref": ref}
    return _draft("observation", by, at, {**body, "text": _words(text, "observation")}, origin="external")


def resolved(log: Log, pointers: Iterable[str]) -> list[str]:
    """Return pointers with whole ids, each once, spans kept; PointerError for one that opens nothing."""
    return list(dict.fromkeys(resolve(log, pointer)[0] for pointer in pointers))


def resolve(log: Log, pointer: str) -> tuple[str, Event]:
    """Return a pointer with the whole id, and its event; PointerError when its words are not there."""
    name, mark, span = pointer.strip().strip("[]()<>`'\".,;").partition("#")
    event = log.find(name)
    if not event.body:
        raise PointerError(f"{pointer} was redacted: it can be no evidence; point to what still has its words")
    if not mark:
        return event.id, event
    start, dash, end = span.partition("-")
    if not (start.isdecimal() and dash and end.isdecimal()) or int(start) >= int(end):
        raise PointerError(f"{quoted(pointer)} is no source pointer; one looks like abcdefghij#0-120")
    length = len(log.text(event))
    if length and int(end) > length:  # what a tool was given is counted by the index, which the record does not know
        raise PointerError(f"{pointer}: the event has {counted(length, 'character')}; name a span of them")
    return f"{event.id}#{int(start)}-{int(end)}", event


def resolved_as(log: Log, pointer: str, kind: str) -> str:
    """Return the whole id of a decision, outcome or correction of ours; PointerError when it names something else."""
    event = resolve(log, pointer)[1]
    if event.type != kind or event.origin != "internal":
        what = f"a {event.type}" if event.type != kind else f"a peer's {kind}"
        raise PointerError(f"{pointer} is no {kind} of ours but {what}; see 'recall context --type {kind}'")
    return event.id


def replaceable(log: Log, pointer: str) -> str:
    """Return the whole id of a decision of ours, or the pointer to what was said or done, with its span.

    PointerError when it names anything else: a task, a question, a correction, or what a peer decided.
    """
    target, event = resolve(log, pointer)
    return target if event.type in SAID else resolved_as(log, pointer, "decision")


def _draft(kind: str, by: Author, at: Setting, fields: dict[str, Any], *, origin: str = "internal") -> Draft:
    who = {
        "actor": by.name.strip(),
        "actor_kind": by.kind,
        **{name: value for name, value in at.where.items() if value},
    }
    body = {**{name: value for name, value in fields.items() if value not in ("", [], False)}, **who}
    return Draft(
        type=kind,
        id=b32id(kind, at.session, at.ts, at.key, canonical(body).decode("ascii")),
        ts=at.ts,
        ts_source="record",
        session=at.session,
        agent=by.agent,
        actor="human" if by.kind == "human" else "assistant",
        origin=origin,
        body=body,
    )


def _named(draft: Draft, at: Setting, name: str) -> Draft:
    """Return a draft whose id follows from its name alone: of two that give the same name the record keeps one."""
    return replace(draft, id=b32id("named", at.scope, draft.type, name))


def _words(text: str, what: str) -> str:
    words = text.strip()
    if not words:
        raise CurationError(f"the {what} has no words")
    return words


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise CurationError(f"{name} is one of {', '.join(allowed)}, not {quoted(value)}")
