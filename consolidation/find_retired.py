"""Proposes that older words of the transcript no longer hold, because a person retired what they speak of.

A newer statement about the same matter retires nothing by itself: it has to name what is no longer used, or two rules
have to differ in one value (`recall.replaced`). A person decides; until then nothing changes.
"""

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING

from consolidation.finding import Sentence, made, prose, spoken
from consolidation.model import Candidate, SessionView, Step
from consolidation.span import marked
from consolidation.subject import USUAL, subject
from indexer.passages import event_text
from indexer.rows import ABANDONED, CURATED, EXTERNAL, FINAL, FROM_WORKER, PRIVATE, PROMPT, REWOUND, SUPERSEDED
from indexer.segment import STOP, query_terms, segment
from recall.facts import stem
from recall.replaced import Evidence, proposed
from transcript.errors import PointerError
from transcript.event import Event
from transcript.log import Log
from transcript.memories import Span

if TYPE_CHECKING:
    from indexer.store import Store

SHARED = 2  # content words besides the name that an older sentence has in common with the new statement
NEAREST, MOST = 50, 3  # passages that are looked at, older sentences that one statement is held against
MOST_CHARS = 400
_WHAT = r"(?P<what>[`\"']?[\w@][\w@./+-]*[`\"']?(?: [`\"']?[\w@][\w@./+-]*[`\"']?){0,2})"
_IS = r"(?:is|are|was|were|has been|have been|got)"
_GONE = r"(?:retired|removed|gone|dropped|deprecated|decommissioned|abolished|switched off|shut down|no longer used)"
_RETIRES = (
    re.compile(rf"\bno longer (?:use|using|need|run|rely on|depend on|deploy (?:with|to)) {_WHAT}", re.I),
    re.compile(rf"\b(?:stop|stopped|quit) using {_WHAT}", re.I),
    re.compile(rf"\b(?:don'?t|do not|dont) use {_WHAT} any ?(?:more|longer)\b", re.I),
    re.compile(rf"\b(?:the )?{_WHAT} {_IS} (?:now )?{_GONE}\b", re.I),
    re.compile(rf"\b(?:got rid of|moved away from|migrated away from|switched away from) {_WHAT}", re.I),
    re.compile(rf"\bfrom (?:now|today) on,? .{{0,80}}?\b(?:instead of|rather than|not) {_WHAT}", re.I),
    re.compile(rf"\b(?:verwenden|nutzen|benutzen|brauchen) {_WHAT} nicht mehr\b", re.I),
    re.compile(rf"{_WHAT} (?:wird|werden|ist|sind) (?:nicht mehr (?:verwendet|genutzt)|abgeschafft|abgelöst)\b", re.I),
)
_NOT_SAID = re.compile(r"\?\s*$|\b(?:if|should we|could we|maybe|perhaps|would|wenn|falls|vielleicht)\b", re.I)
_GOES_ON = re.compile(
    r"(?:from (?:now|today|here)|instead|use|now|we (?:now )?use|it(?:'s| is) now|everything|ab (?:jetzt|heute)"
    r"|stattdessen)\b",
    re.I,
)
_SMALL = STOP | {"longer", "anymore", "use", "using", "used"}
_SPEAKS = frozenset({PROMPT, FINAL, CURATED})
_BARRED = ABANDONED | REWOUND | SUPERSEDED | EXTERNAL | FROM_WORKER


def find(view: SessionView, log: Log, store: "Store | None", key: bytes) -> list[Candidate]:
    """Return what a person's sentences of a session would retire in older ones, in order; none without an index."""
    found: list[Candidate] = []
    for step in view.steps:
        is_word = step.is_typed or (step.kind == "curated" and step.actor_kind == "human" and not step.worker)
        if store is not None and is_word and len(step.text) <= 10 * MOST_CHARS:
            for statement, name, about in _statements(step.text):
                for old in _older(log, store, step, about, name, key):
                    found.append(_candidate(view, step, statement, name, old, key))
    return found


def differing(log: Log, store: "Store | None", key: bytes) -> list[Candidate]:
    """Return each two rules of the record of which the newer may have put another value in the older one's place."""
    found = []
    for link in proposed(store) if store is not None else ():
        new = _sentence_with(log, link.newer, link.new)
        old = _sentence_with(log, link.older, link.old)
        if new is None or old is None:
            continue
        (event, text, at), (before, said, place) = new, old
        span, words = marked(event.id, text, at.start, at.end, key)
        found.append(
            Candidate(
                found_by="value_link",
                memory_type="user_preference",
                text=words,
                sources=(span,),
                said_at=event.ts,
                why=f"{link.new} in the place of {link.old}",
                subject=subject(words),
                privacy="private" if event.body.get("private") else "project",
                supersedes=marked(before.id, said, place.start, place.end, key)[0],
            )
        )
    return found


def _statements(text: str) -> Iterator[tuple[Sentence, str, str]]:
    """Yield what a text retires: the sentence, the name, and the words that say what it is about.

    The sentence behind it belongs to it where it says what holds now; it always tells what it is about.
    """
    said = list(spoken(text))
    for place, sentence in enumerate(said):
        name = _retired(sentence.text)
        if not name:
            continue
        after = said[place + 1] if place + 1 < len(said) else sentence
        end = after.end if _GOES_ON.match(after.text) else sentence.end
        if end - sentence.start <= MOST_CHARS:
            yield Sentence(sentence.start, end, text[sentence.start : end]), name, text[sentence.start : after.end]


def _retired(sentence: str) -> str:
    """Return what a sentence says is no longer used, "" where it says so of nothing."""
    plain = sentence.replace("’", "'")
    if _NOT_SAID.search(plain):
        return ""
    for pattern in _RETIRES:
        match = pattern.search(plain)
        if match:
            words = [word.strip("`\"'.,") for word in match["what"].split()]
            named = list(takewhile(_is_content, dropwhile(lambda word: not _is_content(word), words)))
            return " ".join(named) if any(word.lower() not in USUAL for word in named) else ""
    return ""


def _is_content(word: str) -> bool:
    return word.lower() not in _SMALL


def _older(log: Log, store: "Store", step: Step, about: str, name: str, key: bytes) -> list[Span]:
    """Return the sentences said before that hold the name and share words with the statement, the nearest first."""
    wanted = _stems(about) - _stems(name)
    held = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    places: dict[str, None] = {}
    for rows in store.places(chunk for chunk, _ in store.lexical(query_terms(about), limit=NEAREST).hits).values():
        for row in rows:
            if row.kind in _SPEAKS and not row.flags & (_BARRED | PRIVATE) and row.seq < step.seq:
                places[row.event_id] = None
    found = []
    for event_id in places:
        event, text = _text(log, event_id)
        if event is None or event.id == step.event or event.ts >= step.ts:
            continue
        for sentence in spoken(text) if event.actor == "user" else prose(text):
            shared = len(wanted & _stems(sentence.text))
            if shared >= SHARED and held.search(sentence.text) and not sentence.text.rstrip().endswith("?"):
                span = marked(event.id, text, sentence.start, sentence.end, key)[0]
                found.append((-shared, event.id, sentence.start, span))
    return [span for *_, span in sorted(found, key=lambda one: one[:3])[:MOST]]


def _candidate(view: SessionView, step: Step, statement: Sentence, name: str, old: Span, key: bytes) -> Candidate:
    why = f"a person retired {name}"
    private = {"privacy": "private"} if (step.body or {}).get("private") else {}
    return made(
        view,
        step,
        statement,
        key,
        found_by="retired",
        memory_type="design_decision",
        why=why,
        supersedes=old,
        **private,
    )


def _sentence_with(log: Log, said: Evidence, value: str) -> tuple[Event, str, Sentence] | None:
    """Return the sentence of a passage that names a value."""
    event, text = _text(log, said.pointer.event)
    if event is None:
        return None
    for sentence in spoken(text):
        inside = said.pointer.start <= sentence.start < said.pointer.end
        if inside and value in sentence.text and len(sentence.text) <= MOST_CHARS:
            return event, text, sentence
    return None


def _text(log: Log, name: str) -> tuple[Event | None, str]:
    try:
        event = log.get(name)
    except PointerError:
        return None, ""
    return event, event_text(event.type, log.body(event))


def _stems(text: str) -> set[str]:
    return {stem(word) for word in segment(text) if word not in _SMALL and len(word) > 1}
