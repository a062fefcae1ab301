"""The pages of memories: what is remembered, and of each where it comes from, what it did, what became of it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from health.markup import Html, join, tag
from recall.cli.console import parts
from recall.cli.console.asked import Asked, Page
from recall.cli.console.pages_turns import turn_entry
from recall.cli.console.remembered import Remembered, remembered
from recall.cli.memory_read import HELD, candidate_named, marks_of, memory_of
from recall.cli.output import head
from recall.cli.reading import door
from transcript.errors import RecallError
from transcript.memory_words import MEMORY_TYPES, STATES
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from consolidation.model import Candidate
    from consolidation.story import Told
    from recall.cli.app import App
    from transcript.log import Log
    from transcript.memories import CandidateState, Memory, Span

PAGE = 50
HEAD = 240  # characters of a statement in a list
MOST_TURNS = 10
LOOK_BACK = 500  # turns that are looked through for those that showed a memory
LEVELS = {"current": "ok", "future": "ok", "expired": "warn", "refuted": "fail"}
VERDICTS = {"not_refuted": "ok", "refuted": "fail"}


def memories(app: App, asked: Asked) -> Page:
    """Return what is remembered, what has proved itself most first, as filters and place in the address say."""
    held, query = remembered(app), asked.query
    found = [one for one in held.state.memories.values() if _fits(one, asked)]
    found.sort(key=lambda one: (one.said_at, one.id), reverse=True)
    found.sort(key=lambda one: (-held.weights.value(one.id), one.kind == "summary"))
    at = min(parts.number(query.get("at", "")), len(found))
    shown = found[at : at + PAGE]
    told = counted(len(found), "memory", "memories")
    if len(shown) < len(found):
        told = f"{at + 1:,} to {at + len(shown):,} of {told}" if shown else f"none behind the last of {told}"
    none = (
        "No memory fits." if held.state.memories else "Nothing is remembered yet: 'recall checkpoint' makes memories."
    )
    return Page(
        "Memories",
        join(
            _filters(query),
            tag("p", f"{told}; what has proved itself most first, then the newest", class_="soft") if found else None,
            parts.listing((_entry(one, held, asked) for one in shown), empty=none),
            _ways(query, at, len(found)),
        ),
    )


def memory(app: App, asked: Asked) -> Page:
    """Return one memory, or what may become one: its words, sources, verdicts, turns and history."""
    from consolidation.story import story

    held, workspace = remembered(app), app.workspace()
    log = app.log(workspace)
    waits = candidate_named(workspace, held.state, asked.name)
    if waits is not None:
        return _candidate(app, log, held, waits, asked)
    one = memory_of(held.state, asked.name)
    known = held.state.candidates.get(one.candidate)
    verdicts = known.verdicts if known is not None else ()
    return Page(
        f"Memory {one.id[:10]}",
        join(
            _words(one.statement, one.why, one.mistake),
            _facts(one, held, asked),
            _sources(app, log, one.sources),
            _claims(one, verdicts),
            _edges(one, held),
            _verdicts(verdicts),
            _turns(app, log, one.id, asked),
            _history(story(log, held.state, one.id)),
        ),
    )


# -- the list ---------------------------------------------------------------------------------


def _fits(one: Memory, asked: Asked) -> bool:
    kind, state = asked.query.get("kind"), asked.query.get("state")
    now = one.state_at(asked.now)
    told = " ".join((one.id, one.statement, one.why, *one.tags, *one.projects, *one.roles)).casefold()
    return (
        (not kind or one.memory_type == kind)
        and (state == "all" or now in ((state,) if state else HELD))
        and all(word in told for word in asked.query.get("q", "").casefold().split())
    )


def _filters(query: Mapping[str, str]) -> Html:
    kinds = {"": "every kind", **{kind: kind.replace("_", " ") for kind in MEMORY_TYPES}}
    states = {"": "what was not put away", **{state: state for state in sorted(STATES)}, "all": "all of it"}
    words = tag(
        "input", type_="search", name="q", value=query.get("q", ""), placeholder="Words in it", aria_label="Words"
    )
    return tag(
        "form",
        words,
        _select("kind", "Kind", kinds, query.get("kind", "")),
        _select("state", "Standing", states, query.get("state", "")),
        tag("button", "Show"),
        action="/memories",
        class_="inline",
        role="search",
    )


def _select(name: str, label: str, choices: Mapping[str, str], chosen: str) -> Html:
    options = (tag("option", told, value=value, selected=value == chosen) for value, told in choices.items())
    return tag("select", *options, name=name, aria_label=label)


def _ways(query: Mapping[str, str], at: int, count: int) -> Html:
    def to(start: int) -> str:
        kind, state, words = (query.get(name) for name in ("kind", "state", "q"))
        return parts.address("/memories", kind=kind, state=state, q=words, at=str(start) if start else None)

    before = to(max(0, at - PAGE)) if at else None
    return parts.paging(before, to(at + PAGE) if at + PAGE < count else None, words=parts.BEST_FIRST)


def _entry(one: Memory, held: Remembered, asked: Asked) -> Html:
    state = one.state_at(asked.now)
    return parts.entry(
        parts.link(head(one.statement, HEAD), parts.address("/memory", one.id)),
        below=tag(
            "div",
            parts.badge(state, LEVELS.get(state, "")),
            " ",
            *(join(parts.badge(mark, "warn"), " ") for mark, is_so in marks_of(one).items() if is_so),
            one.memory_type.replace("_", " "),
            tag(
                "span",
                f" · {_valid(one)} · {_confidence(one)} · E {held.weights.value(one.id):.2f}, {_use(held, one)}",
                class_="soft",
            ),
        ),
    )


def _valid(one: Memory) -> str:
    since = f"holds from {one.valid_from[:10]}" if one.valid_from else "holds from the beginning"
    return f"{since} until {minute(one.valid_to)}" if one.valid_to else since


def _use(held: Remembered, one: Memory) -> str:
    done = held.weights.of(one.id)
    told = (
        (done.hits, f"cited in {counted(done.hits, 'session')}"),
        (done.injected, f"shown to agents {counted(done.injected, 'time')}"),
        (done.prevented, f"kept a mistake from being made {counted(done.prevented, 'time')}"),
    )
    return ", ".join(text for number, text in told if number) or "not used yet"


def _confidence(one: Memory) -> str:
    return f"{one.label}, {one.verified.replace('_', ' ')}"


# -- one of them ------------------------------------------------------------------------------


def _words(statement: str, why: str, mistake: tuple[str, str] | None = None) -> Html:
    return join(
        parts.words(statement),
        tag("p", tag("strong", "Why: "), why) if why else None,
        tag("p", tag("strong", "Avoid "), mistake[0], tag("strong", " and do "), mistake[1]) if mistake else None,
    )


def _facts(one: Memory, held: Remembered, asked: Asked) -> Html:
    state, done = one.state_at(asked.now), held.weights.of(one.id)
    counters = ", ".join(f"{what.replace('_', ' ')} {number:,}" for what, number in done.counters.items() if number)
    stale = [path for path, _ in one.files if path in one.stale_paths]
    lists = {"tags": one.tags, "projects": one.projects, "for": one.roles, "critical for": one.critical_for}
    return parts.facts(
        {
            "state": parts.badge(state, LEVELS.get(state, "")),
            "kind": one.memory_type.replace("_", " "),
            "confidence": _confidence(one),
            "valid": f"{minute(one.valid_from) if one.valid_from else 'the beginning'} until "
            f"{minute(one.valid_to) if one.valid_to else 'something takes its place'}",
            "said": parts.when(one.said_at, asked.now),
            "written": join(parts.when(one.ts, asked.now), f" by {one.actor} ({one.reason.replace('_', ' ')})"),
            "who may see it": one.privacy,
            **{name: ", ".join(values) for name, values in lists.items()},
            "files": ", ".join(path for path, _ in one.files),
            "changed since": ", ".join(stale),
            "weight": f"E {held.weights.value(one.id):.2f} (raw {done.raw:g}): {counters or 'nothing yet'}",
            "used": _use(held, one),
        }
    )


def _sources(app: App, log: Log, spans: Iterable[Span]) -> Html:
    return parts.section(
        "Sources",
        parts.listing((_source(app, log, span) for span in spans), empty="No source is named."),
        id_="sources",
    )


def _source(app: App, log: Log, span: Span) -> Html:
    """A source as a link to where it was said, and its words as the record holds them; secrets are masked."""
    from recall.show import show
    from transcript.secrets import veil

    try:
        found = show(span.pointer, [log], neighbours=0, door_of=lambda held: door(app, held.workspace))
    except RecallError as error:
        return parts.entry(parts.pointer(span.pointer), below=tag("p", str(error), class_="soft"))
    return parts.entry(
        parts.pointer(span.pointer),
        tag("span", f"{found.event.actor}, {minute(found.event.ts)}", class_="soft"),
        below=tag("blockquote", parts.words(veil(found.words))),
    )


def _claims(one: Memory, verdicts: Iterable[Mapping[str, Any]]) -> Html | None:
    claims = next((found.get("claims") or [] for found in verdicts if found.get("claims")), [])
    if not claims:
        return None
    rows = (_claim(one, claim) for claim in claims)
    return parts.folded(counted(len(claims), "claim") + ", each with what says so", parts.listing(rows, empty=""))


def _claim(one: Memory, claim: Mapping[str, Any]) -> Html:
    source = claim.get("source", -1)
    there = isinstance(source, int) and 0 <= source < len(one.sources)
    support = str(claim.get("support", ""))
    return parts.entry(
        parts.badge(support or "unknown", "ok" if support in ("quoted", "covered") else "warn"),
        parts.pointer(one.sources[source].pointer) if there else "no source",
        below=parts.words(str(claim.get("text", ""))),
    )


def _edges(one: Memory, held: Remembered) -> Html | None:
    rows: list[Html] = []
    if one.superseded_by:
        rows.append(_edge("replaced by", one.superseded_by, held, one.supersession_note))
    rows += [_edge("takes the place of", name, held) for name in one.supersedes]
    rows += [_edge("disagrees with", name, held) for name in one.conflicts]
    if one.refuted_because:
        rows.append(parts.entry("refuted by", parts.pointer(one.refuted_because[:10])))
    rows += [parts.entry("approved in", parts.pointer(name[:10])) for name in one.approved]
    return parts.section("What stands beside it", parts.listing(rows, empty=""), id_="edges") if rows else None


def _edge(how: str, name: str, held: Remembered, note: str = "") -> Html:
    other, waiting = held.state.memories.get(name), held.state.candidates.get(name)
    text = other.statement if other is not None else str(waiting.body.get("text", "")) if waiting is not None else ""
    return parts.entry(
        how,
        parts.link(name[:10], parts.address("/memory", name)) if text else name[:10],
        note,
        below=tag("div", head(text, HEAD)) if text else None,
    )


def _verdicts(verdicts: Iterable[Mapping[str, Any]]) -> Html:
    return parts.section(
        "Verdicts",
        parts.listing(map(_verdict, verdicts), empty="Nobody looked at it: it was written as it was said."),
        id_="verdicts",
    )


def _verdict(one: Mapping[str, Any]) -> Html:
    verdict = str(one.get("verdict", ""))
    conflicts = [
        tag(
            "li",
            "contradicts ",
            parts.link(str(found["memory"])[:10], parts.address("/memory", str(found["memory"]))),
            f" ({found['how']}: {found['detail']})",
        )
        for found in one.get("conflicts") or ()
    ]
    findings = [
        tag("li", f"{found['severity']} ", parts.pointer(str(found["evidence_pointer"])), f" {found['text']}")
        for found in one.get("findings") or ()
    ]
    return parts.entry(
        parts.badge(verdict.replace("_", " "), VERDICTS.get(verdict, "warn")),
        str((one.get("reviewer") or {}).get("id", "")),
        str(one.get("note") or ""),
        below=tag("ul", *conflicts, *findings) if conflicts or findings else None,
    )


def _turns(app: App, log: Log, name: str, asked: Asked) -> Html:
    from recall import ledger

    exit_ = door(app, log.workspace)
    turns = islice(ledger.turns(log), LOOK_BACK)
    showed = (one for one in turns if any(item.get("event") == name for item in one.body.get("items") or ()))
    found = list(islice((one for one in showed if exit_.lets_event(log, one)), MOST_TURNS))
    return parts.section(
        "Turns that showed it",
        parts.listing(
            (turn_entry(one, log.body(one), asked) for one in found),
            empty=f"None of the newest {counted(LOOK_BACK, 'turn')} did.",
        ),
        id_="turns",
    )


def _history(told: Iterable[Told]) -> Html:
    rows = (
        parts.entry(
            tag("span", minute(one.ts), class_="soft"),
            one.type.partition(".")[2].replace("_", " ") or one.type,
            one.actor,
            tag("code", one.id[:10]),
            below=tag("div", one.text) if one.text else None,
        )
        for one in told
    )
    return parts.section("History", parts.listing(rows, empty="The record tells nothing of it."), id_="history")


# -- what may become one ----------------------------------------------------------------------


def _candidate(
    app: App, log: Log, held: Remembered, found: tuple[Candidate, CandidateState | None], asked: Asked
) -> Page:
    """What waits for a person, or was not taken in."""
    from consolidation.story import story
    from recall.cli.memory_proposal import proposal_json

    one, known = found
    told = proposal_json(one, known)
    decided = known is None or known.decided is not None
    waits = decided and (known is None or known.pending)
    state = "waits" if waits else "decided" if decided else "not decided yet"
    return Page(
        f"Candidate {one.id[:10]}",
        join(
            _words(one.text, one.why, one.mistake),
            parts.facts(
                {
                    "state": parts.badge(state, "warn" if waits else ""),
                    "reason": told["reason"].replace("_", " ") or "the next checkpoint decides",
                    "kind": one.memory_type.replace("_", " "),
                    "found by": one.found_by,
                    "said": parts.when(one.said_at, asked.now),
                    "file": told["file"],
                    "replaces": parts.pointer(told["replaces"]) if told["replaces"] else None,
                }
            ),
            tag(
                "p",
                tag("code", f"recall memory accept {one.id[:10]}"),
                " takes it in, ",
                tag("code", f"recall memory decline {one.id[:10]}"),
                " turns it down; both are for a terminal.",
            )
            if waits
            else None,
            _sources(app, log, one.sources),
            _verdicts(known.verdicts if known is not None else ()),
            _history(story(log, held.state, one.id)) if known is not None else None,
        ),
    )
