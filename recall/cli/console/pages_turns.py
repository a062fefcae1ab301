"""What each turn was given and why, from the ledger: nothing is searched for again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from health.markup import Html, join, tag
from recall.cli.console import explained, parts
from recall.cli.console.asked import Asked, Page
from transcript.filters import agent_of
from transcript.telling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recall.cli.app import App
    from recall.use import Use
    from transcript.event import Event
    from transcript.log import Log

PAGE = 25
LEFT_OPEN = 10  # of those left out; the rest opens on demand
PROMPT_SHOWN, ITEM_SHOWN = 160, 200  # characters
_POINTER = re.compile(r"\b[a-z2-7]{10,26}#[0-9]+-[0-9]+\b")


def turns(app: App, asked: Asked) -> Page:
    """The newest turns, and older ones behind a cursor."""
    from recall import ledger
    from recall.cli.reading import door

    log = app.log(app.workspace())
    every = asked.query.get("all") == "1"
    modes = (*(ledger.MODES if every else ledger.HOOK_MODES), ledger.START_MODE)
    exit_ = door(app, log.workspace)
    found = list(islice(_older(log, asked.query.get("before", ""), modes), PAGE + 1))
    shown = [one for one in found[:PAGE] if exit_.lets_event(log, one)]
    kind = "1" if every else ""
    older = parts.address("/turns", before=found[PAGE - 1].id, all=kind) if len(found) > PAGE else None
    newest = parts.address("/turns", all=kind) if asked.query.get("before") else None
    switch = ("/turns", "turns of agents alone") if every else ("/turns?all=1", "deliberate searches too")
    body = join(
        tag("p", "What a hook put in front of each prompt. ", parts.link(switch[1], switch[0])),
        parts.listing(
            (turn_entry(one, log.body(one), asked) for one in shown),
            empty="No turn yet: no hook has answered here. 'recall health' says whether hooks are installed.",
        ),
        tag("p", f"{counted(len(found[:PAGE]) - len(shown), 'turn')} left out, private", class_="soft")
        if len(shown) < len(found[:PAGE])
        else None,
        parts.paging(newest, older),
    )
    return Page("Turns", body)


def _older(log: Log, before: str, modes: tuple[str, ...]) -> Iterator[Event]:
    """Ledger events of these modes, newest first, from behind the one that is named."""
    from recall import ledger
    from transcript.sieve import Sieve, type_field

    start = log.find(before).position if before else None
    for event in log.read_back(start, only=ledger.TYPE, sieve=Sieve((type_field(ledger.TYPE),))):
        if event.body.get("mode") in modes and (start is None or event.seq < start.seq):
            yield event


def turn_entry(event: Event, body: Mapping[str, Any], asked: Asked) -> Html:
    """Return a turn as an entry of a list: when, what was asked, and what came of it."""
    session = str(body.get("asked_in", ""))
    prompt = _started(body) or _short(str(body.get("prompt", "")), PROMPT_SHOWN) or "(empty prompt)"
    return parts.entry(
        parts.link(prompt, parts.address("/turn", event.id)),
        below=tag(
            "div",
            outcome(body),
            join(" ", _tokens(body), " ", counted(body.get("tokens", 0), "token")) if body.get("block") else None,
            " · ",
            parts.when(event.ts, asked.now),
            tag("span", f" · {agent_of(event) or 'unknown'}", class_="soft"),
            join(" · ", parts.session(session)) if session else None,
        ),
    )


def turn(app: App, asked: Asked) -> Page:
    """One turn in full: the block as injected, how it was decided, each item with its bars, what was left out."""
    from recall import ledger
    from recall.cli.reading import door
    from recall.use import used
    from transcript.errors import PointerError

    log = app.log(app.workspace())
    event = log.find(asked.name)
    if event.type != ledger.TYPE:
        raise PointerError(f"{event.pointer} is no turn but a {event.type}")
    door(app, log.workspace).refuse_event(log, event)
    body = log.body(event)
    items = _items(log, body, used(log, event) or [])
    return Page(f"Turn {event.pointer}", join(_head(event, body, asked), _block(body), items, _left(log, body)))


def _head(event: Event, body: Mapping[str, Any], asked: Asked) -> Html:
    from recall.cli.last import searched
    from recall.explain import note_text

    session = str(body.get("asked_in", ""))
    note = str(body.get("note", ""))
    return join(
        parts.long_words(_started(body) or str(body.get("prompt", "")), f"recall last --session {session} --json"),
        parts.facts(
            {
                "when": parts.when(event.ts, asked.now),
                "result": outcome(body),
                "harness": agent_of(event),
                "session": parts.session(session, around=event.id) if session else None,
                "took": f"{body.get('latency_ms', 0):.0f} ms, {searched(dict(body))}",
                "size": _size(body),
                "gate": explained.gate(body.get("budget", {}).get("signals", {})),
                "budget": _budget(body),
                "note": note_text(note) if note else None,
            }
        ),
    )


def _size(body: Mapping[str, Any]) -> Html | None:
    if not body.get("block"):
        return None
    told = f"{counted(body.get('tokens', 0), 'token')} of at most {_most_tokens(body):,}"
    return join(_tokens(body), " ", told, f", {counted(body.get('bytes', 0), 'byte')}")


def _tokens(body: Mapping[str, Any]) -> Html:
    return parts.gauge(body.get("tokens", 0), _most_tokens(body))


def _most_tokens(body: Mapping[str, Any]) -> int:
    """The budget of that turn: the ledger keeps what differed from the defaults."""
    from recall.settings import BudgetSettings

    return int(body.get("settings", {}).get("budget.tokens", BudgetSettings().tokens))


def _budget(body: Mapping[str, Any]) -> str | None:
    from recall.explain import budget_text

    return budget_text(body["budget"]).removeprefix("budget: ") if body.get("budget") else None


def _block(body: Mapping[str, Any]) -> Html:
    if not body.get("block"):
        return Html("")
    return parts.section("As injected", tag("pre", linked(str(body["block"])), tabindex="0"), id_="block")


def _items(log: Log, body: Mapping[str, Any], uses: list[Use]) -> Html:
    from recall.cli.last import use_text

    items = body.get("items", [])
    if not items:
        return Html("")
    weights = explained.by_letter(body.get("weights", {}))
    rows = (
        parts.entry(
            f"{number}.",
            parts.pointer(item["pointer"]),
            explained.verdict(""),
            use_text(uses[number - 1]).strip() if number <= len(uses) else None,
            below=join(tag("p", explained.said(log, item, ITEM_SHOWN)), explained.scored(item, weights)),
        )
        for number, item in enumerate(items, start=1)
    )
    return parts.section("Shown", explained.legend(), parts.listing(rows, empty=""), id_="shown")


def _left(log: Log, body: Mapping[str, Any]) -> Html:
    left = body.get("left_out", [])
    if not left:
        return Html("")
    weights = explained.by_letter(body.get("weights", {}))
    rows = [_left_entry(log, item, weights) for item in left]
    more = rows[LEFT_OPEN:]
    return parts.section(
        f"Left out ({len(left)}, best first)",
        parts.listing(rows[:LEFT_OPEN], empty=""),
        parts.folded(f"{len(more)} more", parts.listing(more, empty="")) if more else None,
        id_="left-out",
    )


def _left_entry(log: Log, item: Mapping[str, Any], weights: Mapping[str, float]) -> Html:
    """One that was left out; only what was scored has words, and nothing that policy keeps out was."""
    words = explained.said(log, item, ITEM_SHOWN) if "terms" in item else ""
    terms = f"R {item['R']:.3f}: the terms" if "terms" in item else ""
    return parts.entry(
        parts.pointer(item["pointer"]),
        explained.verdict(item["reason"]),
        below=join(
            tag("p", words) if words else None,
            parts.folded(terms, explained.scored(item, weights)) if terms else None,
        ),
    )


def linked(text: str) -> Html:
    """Return text with every source pointer in it as a link."""
    made: list[Html | str] = []
    at = 0
    for found in _POINTER.finditer(text):
        made += [text[at : found.start()], parts.link(found[0], parts.place(found[0]))]
        at = found.end()
    return join(*made, text[at:])


def outcome(body: Mapping[str, Any]) -> Html:
    """Return what came of a turn: how many items, or nothing and why."""
    from recall.explain import silence

    items = body.get("items", [])
    if _started(body):
        return parts.badge(counted(len(items), "line") + " told", "ok")
    if items:
        return parts.badge(counted(len(items), "item"), "ok")
    if body.get("block"):
        return parts.badge("a pointer", "ok")
    return join(parts.badge("nothing"), " ", silence(str(body.get("empty_reason", ""))))


def _started(body: Mapping[str, Any]) -> str:
    from recall.cli.last import started

    return started(dict(body))


def _short(text: str, most: int) -> str:
    from recall.cli.query import shortened

    return shortened(" ".join(text.split()), most)
