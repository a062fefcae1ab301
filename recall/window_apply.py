"""Lets a plan come true: every event is verified in the record first, then the record says what left and why.

The harness's own file is never touched. What applies a plan is a host that builds its prompts itself, from the window
that is written here, and recall, which from then on brings back what left.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from indexer.passages import event_text
from recall import window_state
from recall.injection import frame
from recall.live_window import Index, LiveWindow
from recall.window_items import Item
from recall.window_policy import SLIDING, Plan, Step
from recall.window_pruned import APPLIED, prunings, restate
from transcript.canonical import b32id, canonical
from transcript.errors import LockBusy, RecallError
from transcript.event import Draft, commitment, stamp
from transcript.handoff import window as last_messages
from transcript.lock import FileLock
from transcript.log import Log
from transcript.paths import secure_dir, write_atomic
from transcript.projections.handoff import Focus, page
from transcript.projections.views import folded
from transcript.secrets import veil
from transcript.telling import counted

SKIPPED, REFUSED = "skipped", "refused"
EMERGENCY = "compaction_emergency"
LOCK = "window.lock"
MESSAGE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Missing:
    """An event that must not leave: it is not preserved, and why."""

    event: str
    why: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a plan: applied, skipped or refused; its event in the record, and the file for the host."""

    state: str
    reason: str
    event: str
    missing: tuple[Missing, ...] = ()
    file: Path | None = None


def verify(
    steps: Sequence[Step], items: Sequence[Item], log: Log, index: Index, *, logged_is_enough: bool = False
) -> list[Missing]:
    """Return what of the events that are to leave is not safely kept; nothing when all of it is.

    Each must stand in the record by its id, its line must hash to its commitment, its long texts must be readable and
    be the words of the window, and, unless logged_is_enough, recall must find it.
    """
    said = {item.id: item for item in items}
    found = []
    for step in steps:
        for name in step.piece.events:
            why = _fault(log, name, said.get(name)) or ("" if logged_is_enough else _unindexed(index, said.get(name)))
            if why:
                found.append(Missing(name, why))
    return found


def apply(
    log: Log, seen: LiveWindow, plan: Plan, *, now: datetime, logged_is_enough: bool = False, out: Path | None = None
) -> Applied:
    """Verify a plan and record what left, or why nothing did; write the window for the host to `out` where it is named.

    Where nothing leaves it is the window as it stands, so that no host goes on with an older one. One event that cannot
    be verified refuses the whole plan: then the record says so, and nothing else is written.
    LockBusy when another plan was applied, or the window compacted, since it was looked at.
    """
    with FileLock(log.workspace.run_dir / LOCK):
        boundary, before = prunings(log, seen.session)
        if (boundary, len(before)) != seen.since:
            raise LockBusy(
                "this window was changed since it was looked at, by another plan or a compaction; plan again"
            )
        done = _applied(log, seen, plan, now, logged_is_enough, out)
        # The file too that an earlier plan did not come to write, or that was lost.
        file = restate(log, seen.session) if before or done.state == APPLIED else None
    return replace(done, file=file if done.state == APPLIED else None)


def _applied(
    log: Log, seen: LiveWindow, plan: Plan, now: datetime, logged_is_enough: bool, out: Path | None
) -> Applied:
    missing = verify(plan.steps, seen.items.items, log, seen.index, logged_is_enough=logged_is_enough)
    state = REFUSED if missing else SKIPPED if plan.skipped_because else APPLIED
    reason = plan.skipped_because or _reason(plan, logged_is_enough=logged_is_enough)
    if missing:
        reason = f"{counted(len(missing), 'event')} not preserved: {missing[0].event[:10]} {missing[0].why}"
    draft = _draft(seen, plan, state, reason, now)
    if out is not None and state != REFUSED:  # before the record says so: a host that gets no window drops nothing
        write_atomic(out, json.dumps(window_for_host(seen, plan)).encode("ascii"))
    log.append([draft], now=now)
    return Applied(state, reason, draft.id, tuple(missing))


def stuck(seen: LiveWindow, plan: Plan, done: Applied) -> str:
    """Return why a full window could not be relieved, "" where it is not full, or where something left.

    Where the harness compacts by itself, only an index that cannot be asked is a reason.
    """
    if seen.pressure.share < 1 or done.state == APPLIED:
        return ""
    if done.state == REFUSED or plan.policy == SLIDING:
        return done.reason
    return f"the index cannot be asked: {seen.index.error}" if seen.index.error else ""


def window_for_host(seen: LiveWindow, plan: Plan) -> dict[str, Any]:
    """Return the window as a host that builds its own prompts takes it: every event that stays, in its order."""
    stubs = {event: step.stub for step in plan.steps for event in step.piece.events}
    entries = []
    for item in seen.items.items:
        stub = stubs.get(item.id)
        if stub == "":
            continue
        entry = {"event": item.id, "type": item.type, "said_at": item.ts, "text": stub or item.text}
        entry |= {name: item.body[name] for name in ("kind", "tool", "call_id", "input") if name in item.body}
        entries.append(entry)
    return {
        "version": window_state.VERSION,
        "session": seen.session,
        "boundary": seen.items.boundary,
        "tokens_after": plan.tokens_after,
        "entries": entries,
    }


def emergency(log: Log, session: str, why: str, *, now: datetime) -> Path:
    """Write a handoff from the record alone, for a window that is full while nothing can be planned out of it.

    Returns the file; the record says that it was written, and why.
    """
    state = folded(log)[0]
    focus = Focus(purpose="compaction", session=session)
    lines = [
        "# Handoff, written because the window is full",
        "",
        why,
        "",
        *page(state, focus),
        "## The last messages",
        "",
    ]
    for message in last_messages(log, state, focus):
        lines += [f"{message.event.id[:10]} [{message.why}]", veil(message.text)[:MESSAGE_CHARS], ""]
    path = window_state.pruned_file(log.workspace.run_dir, session).with_suffix(".handoff.md")
    secure_dir(path.parent)
    write_atomic(path, frame("\n".join(lines)).encode("utf-8", "replace"))
    at = stamp(now)
    body = {"mark": EMERGENCY, "session": session, "handoff": path.name, "why": why}
    draft = Draft("mark", b32id("mark", EMERGENCY, session, at), at, "record", session, "recall", "system", "internal")
    draft.body.update(body)
    log.append([draft], now=now)
    return path


def _fault(log: Log, name: str, item: Item | None) -> str:
    """Why an event is not safe in the record, "" when it is."""
    try:
        event = log.get(name)
        if not event.body:
            return "was erased from the record"
        if commitment(event.salt, canonical({**event.body, "salt": event.salt})) != event.commit:
            return "its line does not hash to what the chain says; run 'recall verify'"
        text = event_text(event.type, log.body(event))
    except RecallError as error:
        return f"is not to be read in the record: {error}"
    if item is None or (text != item.text and not item.stubbed):
        return "the record holds other words than the window"
    return ""


def _unindexed(index: Index, item: Item | None) -> str:
    if index.error:
        return f"the index cannot be asked: {index.error}"
    if item is None or item.seq > index.watermark:
        return "is not indexed yet; run 'recall index', or say --logged-is-enough"
    return "" if item.id in index.found or not item.text.strip() else "is kept out of recall"


def _reason(plan: Plan, *, logged_is_enough: bool) -> str:
    passed = f"the window is {plan.pressure.share:.1%} full by the count of the {plan.pressure.counted_by}"
    return passed + ("; the record alone was taken for enough" if logged_is_enough else "")


def _draft(seen: LiveWindow, plan: Plan, state: str, reason: str, now: datetime) -> Draft:
    tokens = {item.id: item.tokens for item in seen.items.items}
    items = [
        {
            "event": name,
            "kind": step.piece.kind,
            "source": step.piece.source,
            "recoverability": step.piece.recoverability,
            "risk": step.piece.risk,
            "tokens": tokens.get(name, 0),
            "why": step.why,
            "stub": step.stub,
        }
        for step in (plan.steps if state == APPLIED else ())
        for name in step.piece.events
    ]
    at = stamp(now)
    body = {
        "session": seen.session,
        "policy": plan.policy,
        "state": state,
        "reason": reason,
        "items": items,
        "tokens_before": plan.pressure.tokens,
        "tokens_after": plan.tokens_after if state == APPLIED else plan.pressure.tokens,
        "threshold": plan.fired[-1] if plan.fired else 0.0,
    }
    agent = seen.items.harness or "recall"
    name = b32id("prune", seen.session, at, state)
    return Draft("prune", name, at, "record", seen.session, agent, "system", "internal", {}, body)
