"""The sessions of a project, and one of them as a timeline with what was recalled beside each prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from health.markup import Html, join, tag
from recall.cli.console import explained, parts
from recall.cli.console.asked import Asked, Goto, Page
from recall.cli.console.pages_turns import outcome
from recall.cli.console.timeline import PAGE, Recalled, is_prompt, place_of, recalled, whole
from transcript.telling import counted

if TYPE_CHECKING:
    from recall.cli.app import App
    from recall.disclosure import Door
    from transcript.event import Event
    from transcript.log import Log

SESSIONS = 40
CALL_SHOWN, LAST_SHOWN = 200, 160  # characters
ITEMS_BESIDE, ITEM_SHOWN = 6, 70


def sessions(app: App, asked: Asked) -> Page:
    """Every session, the one that was active last at the top."""
    from recall.cli.console.remembered import sessions_of
    from recall.cli.reading import door

    log = app.log(app.workspace())
    exit_ = door(app, log.workspace)
    exit_.refuse_record("the list of sessions")
    found = sorted(sessions_of(log).items(), key=lambda item: (item[1]["last"], item[0]), reverse=True)
    start = min(parts.number(asked.query.get("from", "")), max(0, len(found) - 1))
    end = min(start + SESSIONS, len(found))
    newer = parts.address("/sessions", from_=str(max(0, start - SESSIONS))) if start else None
    older = parts.address("/sessions", from_=str(end)) if end < len(found) else None
    body = join(
        tag("p", counted(len(found), "session"), f", {start + 1:,} to {end:,} here" if older or newer else ""),
        parts.listing(
            (_session_entry(log, exit_, session, one, asked) for session, one in found[start:end]),
            empty="No session is on record yet; 'recall sync' takes them in.",
        ),
        parts.paging(newer, older),
    )
    return Page("Sessions", body)


def _session_entry(log: Log, exit_: Door, session: str, held: dict[str, Any], asked: Asked) -> Html:
    place = " · ".join(filter(None, (held["agent"], held["branch"], held["cwd"])))
    last = _last_words(log, exit_, str(held.get("event", "")))
    return parts.entry(
        parts.session(session),
        counted(held["prompts"], "prompt"),
        parts.when(held["last"], asked.now),
        below=join(tag("p", "last: ", last) if last else None, tag("div", place, class_="soft")),
    )


def _last_words(log: Log, exit_: Door, event: str) -> str:
    """How the last thing begins that was said in a session; a name tells a person little."""
    from recall.cli.query import shortened
    from transcript.context import readable
    from transcript.errors import PointerError
    from transcript.secrets import veil

    try:
        found = log.get(event)
    except PointerError:
        return ""
    if not found.body or not exit_.lets_event(log, found):
        return ""
    return veil(shortened(" ".join(readable(log, found).split()), LAST_SHOWN))


def session(app: App, asked: Asked) -> Page | Goto:
    """One session from its beginning, a page of it at a time; what was recalled stands beside the prompt it was for."""
    from recall.cli.reading import door
    from recall.live_window import session_named

    log = app.log(app.workspace())
    exit_ = door(app, log.workspace)
    query, name = asked.query, asked.name
    target = place_of(log, name, query["around"]) if query.get("around") else None
    if target is not None:
        exit_.refuse_event(log, target)
    workers = query.get("workers") == "1" or (target is not None and bool(target.body.get("worker")))
    held = whole(log, name, exit_, workers=workers, besides=target)
    if not held.events and not held.turns:
        other = session_named(log, name)
        if other != name:
            return Goto(parts.address("/session", other))
    count = len(held.events)
    turns = recalled(log, held)
    start = min(parts.number(query.get("from", "")), max(0, count - 1))
    if target is not None:
        start = held.around(target, turns.prompt_of(target))
    end = min(start + PAGE, count)
    mark = "1" if workers else ""
    older = parts.address("/session", name, from_=str(max(0, start - PAGE)), workers=mark) if start else None
    newer = parts.address("/session", name, from_=str(end), workers=mark) if end < count else None
    page = held.events[start:end]
    rows = list(_rows(log, page, turns.beside, turns.rest_of(held.events, start), asked))
    body = join(
        _head(page, name, asked, f"{start + 1:,} to {end:,} of {counted(count, 'entry', 'entries')}"),
        _ends(name, count, workers),
        parts.paging(older, newer, words=parts.OLDEST_FIRST, label="Pages, before the entries"),
        tag("div", *rows, class_="timeline") if rows else tag("p", "Nothing of it can be shown.", class_="soft"),
        parts.paging(older, newer, words=parts.OLDEST_FIRST, label="Pages, behind the entries"),
    )
    return Page(f"Session {parts.session_title(name)}", body)


def _head(events: Sequence[Event], name: str, asked: Asked, place: str) -> Html:
    from transcript.filters import agent_of

    return parts.facts(
        {
            "id": tag("code", name),
            "agent": agent_of(events[0]) if events else "",
            "folder": next((str(one.body["cwd"]) for one in events if one.body.get("cwd")), ""),
            "from": parts.when(events[0].ts, asked.now) if events else None,
            "to": parts.when(events[-1].ts, asked.now) if events else None,
            "here": place if events else None,
        }
    )


def _ends(name: str, count: int, workers: bool) -> Html:
    mark = "1" if workers else ""
    links = (
        ("its beginning", parts.address("/session", name, workers=mark)),
        ("its end", parts.address("/session", name, from_=str(max(0, count - PAGE)), workers=mark)),
        (
            "without sub-agents" if workers else "with sub-agents",
            parts.address("/session", name, workers="" if workers else "1"),
        ),
    )
    return tag("ul", *(tag("li", parts.link(text, to)) for text, to in links), class_="row")


def _rows(
    log: Log, events: Sequence[Event], beside: Mapping[str, Recalled], rest: list[Recalled], asked: Asked
) -> Iterator[Html]:
    """Yield the rows of a timeline: what was said, tools' calls in one row, turns of no prompt where their time is."""
    waiting = list(rest)
    for is_call, run in groupby(events, lambda one: one.type == "tool_call"):
        for group in [list(run)] if is_call else [[one] for one in run]:
            while waiting and waiting[0].event.ts <= group[0].ts:
                yield tag("div", tag("div"), _beside(log, waiting.pop(0)), class_="row")
            if is_call:
                yield tag("div", _calls(log, group, asked.query.get("around", "")), class_="row")
            else:
                yield _said(log, group[0], beside.get(group[0].id), asked)
    for one in waiting:
        yield tag("div", tag("div"), _beside(log, one), class_="row")


def _said(log: Log, event: Event, turn: Recalled | None, asked: Asked) -> Html:
    who = _who(event)
    head = tag(
        "div", tag("strong", who), " ", parts.when(event.ts, asked.now), " ", tag("code", event.pointer), class_="who"
    )
    kind = "said prompt" if is_prompt(event) else "said"
    return tag(
        "div",
        tag("div", head, _text(log, event), class_=kind),
        _beside(log, turn) if turn is not None else None,
        class_="row",
        id_=event.id,
        tabindex="-1",
    )


def _who(event: Event) -> str:
    from transcript.filters import agent_of, role_of

    if event.type == "conversation_turn":
        worker = f", sub-agent {event.body['worker']}" if event.body.get("worker") else ""
        kind = event.body.get("kind")
        if kind == "summary":
            return f"summary by {agent_of(event)}"
        return ("you" if role_of(event) == "user" else agent_of(event) or role_of(event)) + worker
    by = event.body.get("actor") or event.actor
    return f"{event.type.replace('_', ' ')} by {by}"


def _text(log: Log, event: Event) -> Html:
    """What an event says, credentials masked: this may be looked at with others in the room."""
    from transcript.context import REDACTED, readable
    from transcript.secrets import veil

    text = readable(log, event) if event.body else REDACTED
    if not text.strip():
        return tag("p", "no words", class_="soft")
    return parts.long_words(veil(text), f"recall show {event.pointer} --whole")


def _calls(log: Log, group: list[Event], looked_for: str) -> Html:
    """Calls of tools in one row, which is open where one of them was looked for."""
    from transcript.filters import words
    from transcript.secrets import veil

    told = counted(len(group), "call of a tool", "calls of tools")
    names = dict.fromkeys(str(one.body.get("tool", "")) for one in group)
    lines = (
        tag("li", tag("code", one.pointer), " ", veil(" ".join(words(log, one).split())[:CALL_SHOWN]), id_=one.id)
        for one in group
    )
    here = any(one.id == looked_for for one in group)
    return parts.folded(f"{told}: {', '.join(filter(None, names))}", tag("ul", *lines, class_="calls"), open_=here)


def _beside(log: Log, turn: Recalled) -> Html:
    """What was put in front of a prompt: how much of what, with the way to the whole of it."""
    from recall.cli.last import started

    body, event = turn.body, turn.event
    items = body.get("items", [])
    title = started(dict(body)) or "recalled"
    lines = [_item(log, item) for item in items[:ITEMS_BESIDE]]
    more = len(items) - ITEMS_BESIDE
    return tag(
        "aside",
        tag("div", parts.link(title, parts.address("/turn", event.id)), " ", outcome(body), class_="who"),
        tag("ul", *lines) if lines else None,
        tag("p", f"and {more:,} more") if more > 0 else None,
        tag("p", counted(body["tokens"], "token"), class_="soft") if body.get("tokens") else None,
        id_=event.id,
        aria_label=f"{title} {event.pointer}",
    )


def _item(log: Log, item: dict[str, Any]) -> Html:
    words = explained.said(log, item, ITEM_SHOWN) or item["pointer"]
    share = f"R {item['R']:.2f}" if "R" in item else None
    bar = parts.gauge(max(0.0, item["R"]), 1.0) if "R" in item else None
    said = parts.link(words, parts.place(item["pointer"]))
    return tag("li", bar, tag("span", share, class_="soft") if share else None, " ", said)


def place(app: App, asked: Asked) -> Goto:
    """Where a pointer leads: the place in its session at which those words were said, a memory's page for a memory."""
    from recall.cli.reading import door
    from transcript.event import MEMORY_TYPES

    log = app.log(app.workspace())
    event = log.find(asked.name)
    door(app, log.workspace).refuse_event(log, event)
    if event.type in MEMORY_TYPES:
        told = event.body.get("memory") or (event.body.get("candidate") if event.type == "memory.verdict" else event.id)
        return Goto(parts.address("/memory", str(told)))
    return Goto(parts.address("/session", event.session, around=event.id, anchor=event.id))
