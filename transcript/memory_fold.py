"""The fold of the memory events, over plain JSON: what can be written to a snapshot and read back."""

from typing import Any

from transcript.event import Event, moment


def empty() -> dict[str, Any]:
    """Return the state before the first event."""
    return {"memories": {}, "candidates": {}, "links": [], "files": {}, "cited": {}, "checkpoint": None}


def take(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    """Take one event into the state; body has its long texts opened and is not kept."""
    if event.type in _TAKERS and body:
        _TAKERS[event.type](state, event, body)


def _candidate(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    state["candidates"].setdefault(event.id, {"seq": event.seq, "body": body, "verdicts": [], "decided": None})


def _verdict(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held = state["candidates"].get(body.get("of"))
    if held is not None:
        held["verdicts"].append(body | {"event": event.id})


def _decided(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held = state["candidates"].get(body.get("of"))
    if held is not None:
        held["decided"] = body | {"event": event.id}


def _written(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    marks = {"id": event.id, "seq": event.seq, "ts": event.ts}
    state["memories"].setdefault(event.id, {"body": dict(body), **marks, "stale": [], "approved": [], "changed": {}})


def _amended(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held, new = state["memories"].get(body.get("memory")), body.get("set")
    if held is not None and isinstance(new, dict):
        held["body"] |= {"memory_type" if name == "type" else name: value for name, value in new.items()}


def _superseded(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    reason, at = str(body.get("reason", "")), str(body.get("at", ""))
    state["links"].append([body.get("of"), body.get("by"), reason, at, event.id])
    of, by = _event_of(body.get("of")), _event_of(body.get("by"))
    held, new = state["memories"].get(of), state["memories"].get(by)
    if held is not None and of != by:
        held["changed"] |= {"superseded_by": by, "supersession_note": reason}
        closed = str(held["body"].get("valid_to") or "")
        if at and (not closed or moment(at) < moment(closed)):
            held["body"]["valid_to"] = at
        if new is not None and of not in (named := list(new["body"].get("supersedes") or ())):
            new["body"]["supersedes"] = [*named, of]


def _refuted(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held = state["memories"].get(body.get("memory"))
    if held is not None:
        held["changed"]["refuted_because"] = str(body.get("because") or event.id)
        _give_back(state, held)


def _give_back(state: dict[str, Any], wrong: dict[str, Any]) -> None:
    """Let the words of the transcript hold whose place a wrong memory had taken; what replaced it keeps the place."""
    newer = state["memories"].get(wrong["changed"].get("superseded_by"))
    stands = newer is not None and "refuted_because" not in newer["changed"]
    links = []
    for link in state["links"]:
        of, by = _event_of(link[0]), _event_of(link[1])
        if by != wrong["id"] or of in state["memories"]:
            links.append(link)
        elif stands:
            links.append([link[0], {"event": newer["id"]}, *link[2:]])
    state["links"] = links


def closing(begins: str, ends: str) -> str:
    """Return the end of an interval, never before its beginning; "" stands for open, of either.

    What older words refute never held: its interval ends where it begins.
    """
    return begins if begins and ends and moment(ends) < moment(begins) else ends


def _event_of(span: Any) -> str:
    return str(span.get("event", "")) if isinstance(span, dict) else ""


def _archived(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held = state["memories"].get(body.get("memory"))
    if held is not None:
        held["changed"]["archived"] = event.type == "memory.archived"


def _checked(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held, path = state["memories"].get(body.get("memory")), str(body.get("path", ""))
    if held is not None:
        others = [one for one in held["stale"] if one != path]
        held["stale"] = [*others, path] if body.get("stale") else others
        held.setdefault("checked", {})[path] = event.id


def _source(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    state["files"][str(body.get("path", ""))] = [event.id, str(body.get("sha256", ""))]


def _cited(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    of, session = str(body.get("of", "")), str(body.get("session", ""))
    sessions = state["cited"].setdefault(of, [])
    if session not in sessions:
        sessions.append(session)
    held = state["memories"].get(of)
    if held is not None:  # the event carries the time of the answer that cites
        held["changed"]["last_applied"] = max(held["changed"].get("last_applied", ""), event.ts[:10])


def _approved(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    held = state["memories"].get(body.get("memory"))
    if held is not None:
        held["approved"].append(event.id)


def _checkpoint(state: dict[str, Any], event: Event, body: dict[str, Any]) -> None:
    if body.get("state") == "complete":
        state["checkpoint"] = body | {"event": event.id}


_TAKERS = {
    "memory.candidate": _candidate,
    "memory.verdict": _verdict,
    "memory.decided": _decided,
    "memory.written": _written,
    "memory.amended": _amended,
    "memory.superseded": _superseded,
    "memory.refuted": _refuted,
    "memory.archived": _archived,
    "memory.restored": _archived,
    "memory.checked": _checked,
    "memory.source": _source,
    "memory.cited": _cited,
    "memory.approved": _approved,
    "checkpoint": _checkpoint,
}
