"""What left the windows of sessions, folded from the record: prunings, compactions, cut windows, emergencies."""

from collections.abc import Iterator
from typing import Any

from recall.window_apply import EMERGENCY
from recall.window_items import BOUNDARY
from transcript.capture_source import TRUNCATED
from transcript.event import Event, moment
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.telling import counted

_TYPES = Sieve(types=tuple(map(type_field, ("prune", "mark", "system"))))


def entries(log: Log, *, session: str = "", last: int = 20) -> list[dict[str, Any]]:
    """Return up to `last` entries, the newest first: when, whose, what, and in one line what it was."""
    kept = [e for e in log.read_back(sieve=_TYPES) if _is_told(e) and (not session or e.session.startswith(session))]
    kept.sort(key=lambda event: moment(event.ts), reverse=True)  # a session may be taken in long after it was
    return [{"at": e.ts, "session": e.session, "event": e.id, **_entry(log, e)} for e in kept[:last]]


def _is_told(event: Event) -> bool:
    body = event.body
    if event.type == "system":
        return body.get("subtype") == BOUNDARY and not body.get("worker")
    return bool(body) if event.type == "prune" else event.type == "mark" and body.get("mark") in (TRUNCATED, EMERGENCY)


def _entry(log: Log, event: Event) -> dict[str, Any]:
    body = event.body
    if event.type == "prune":
        return _pruning(log.body(event))
    if event.type == "system":
        said = body.get("compact")
        told = said if isinstance(said, dict) else {}
        tokens = told.get("preTokens")
        how = f"{told.get('trigger', 'unknown')} compaction"
        return {"what": "compaction", "said": f"{how} at {tokens:,} tokens" if isinstance(tokens, int) else how}
    if body.get("mark") == TRUNCATED:
        number = int(body.get("missing", 0))
        return {
            "what": TRUNCATED,
            "said": f"the harness's file dropped {counted(number, 'event')}; the record has them",
        }
    return {"what": EMERGENCY, "said": f"{body.get('why', '')}; handoff {body.get('handoff', '')}"}


def _pruning(body: dict[str, Any]) -> dict[str, Any]:
    items = list(body.get("items", ()))
    stubs = sum(bool(item.get("stub")) for item in items)
    said = str(body.get("reason", ""))
    if items:
        said = (
            f"{counted(stubs, 'result')} stubbed, {counted(len(items) - stubs, 'event')} removed,"
            f" {body['tokens_before']:,} to {body['tokens_after']:,} tokens: {said}"
        )
    return {
        "what": f"prune {body['state']}",
        "said": said,
        "policy": body.get("policy", ""),
        "threshold": body.get("threshold", 0),
        "why": dict(_reasons(items)),
        "items": items,
    }


def _reasons(items: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    whys = [str(item.get("why", "")) for item in items]
    for why in dict.fromkeys(whys):
        yield why, whys.count(why)
