"""Finds what somebody recorded by a command and what outlives its day: decisions, corrections, outcomes, answers."""

from collections.abc import Iterator
from typing import Any

from consolidation.finding import Places, Sentence, made
from consolidation.model import Candidate, SessionView, Step
from transcript.curation import CORRECTION_KINDS
from transcript.memories import MemoryState, Span

_DECISIONS = {
    "decision": "design_decision",
    "constraint": "design_decision",
    "risk": "design_decision",
    "diagnosis": "known_failure",
}
CORRECTION = CORRECTION_KINDS[0]


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return a session's curated statements that may become memories, in order."""
    asked: dict[str, str] = {}
    found: list[Candidate] = []
    for step in view.steps:
        body = step.body or {}
        if step.kind == "curated":
            if body.get("action") == "ask":
                asked[str(body.get("question", ""))] = str(body.get("statement", ""))
            found += _found(view, step, dict(body), state, key, asked)
    return found


def _found(
    view: SessionView, step: Step, body: dict[str, Any], state: MemoryState, key: bytes, asked: dict[str, str]
) -> Iterator[Candidate]:
    external = body.get("origin") == "external"
    said = str(body.get("statement") or body.get("text") or "")
    at = step.text.find(said)
    if at < 0 or not said.strip():
        return
    more: dict[str, Any] = {"sources": _evidence(body), "supersedes": _replaced(body, state)}
    if body.get("private"):
        more["privacy"] = "private"
    if "status" in body and not external:
        if body["status"] != "verified" or not body.get("keep"):
            return
        found_by, kind, why = "outcome", "lesson", "verified" + (f" for {body['task']}" if body.get("task") else "")
    elif "question" in body and not external:
        if body.get("action") != "resolve":
            return
        question = asked.get(str(body["question"]), "")
        found_by, kind, why = "question", "project_fact", f"answers {body['question']}" + (question and f": {question}")
    elif "of" in body:
        if body.get("kind") != CORRECTION:
            return
        found_by, kind = "correction", "user_preference" if step.actor_kind == "human" else "lesson"
        why = f"corrects {str(body['of'])[:10]}"
        more["peer"] = str(body.get("channel") or "a peer") if external else ""
    elif body.get("kind") in _DECISIONS and not external:
        found_by, kind, why = "decision", _DECISIONS[str(body["kind"])], str(body.get("why", ""))
    else:
        return
    sentence = Sentence(at, at + len(said), said)
    yield made(view, step, sentence, key, found_by=found_by, memory_type=kind, why=why, **more)


def _evidence(body: dict[str, Any]) -> tuple[Span, ...]:
    """Return the evidence that names a place; a whole event is opened through the curated one."""
    found = []
    for pointer in map(str, body.get("evidence") or ()):
        event, _, place = pointer.partition("#")
        start, _, end = place.partition("-")
        if start.isdecimal() and end.isdecimal():
            found.append(Span(event, int(start), int(end)))
    return tuple(found)


def _replaced(body: dict[str, Any], state: MemoryState) -> Span | None:
    """Return the memory of the statement that this one expressly replaces."""
    old = str(body.get("supersedes") or body.get("of") or "").partition("#")[0]
    for memory in state.memories.values():
        if old and (memory.id == old or (memory.sources and memory.sources[0].event == old)):
            return Span(memory.id, 0, len(memory.text))
    return None
