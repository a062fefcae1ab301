"""Asks a program of the user's own for candidates that the finders miss: one JSON object to it, one back.

It proposes and decides nothing: what it drafts is checked as everything else is, and it never reviews. An answer that
is empty, late, of another form or that points to nothing is refused as a whole.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from consolidation.child import ChildFailed, name_of, run
from consolidation.finding import Sentence, made
from consolidation.model import Candidate, SessionView, Step
from consolidation.span import marked
from consolidation.subject import subject
from transcript import secrets
from transcript.errors import DraftFailed
from transcript.injected import block_spans
from transcript.memories import Span
from transcript.memory_words import MEMORY_TYPES

PROTOCOL = "recall-draft/1"
MOST_CANDIDATES, MOST_SOURCES = 100, 8
MOST_TEXT, MOST_TURN = 2000, 8000  # characters
POINTER = 10
_TOLD = {"prompt": "person", "reply": "agent", "curated": "recorded"}


def draft(
    views: Sequence[SessionView], command: str, *, key: bytes, timeout_s: float, passed: Sequence[str] = ()
) -> list[Candidate]:
    """Return what the program drafts of these sessions, each with places that open; DraftFailed otherwise.

    `passed` names variables of the environment that it gets. Credentials are masked before it sees anything.
    """
    arguments = shlex.split(command)
    if not arguments:
        raise DraftFailed("consolidation.drafter_command names no program")
    try:
        answer = run(arguments, _request(views), timeout_s=timeout_s, passed=passed)
    except ChildFailed as error:
        raise DraftFailed(f"the drafter {arguments[0]} {error}") from error
    steps = {step.event: (view, step) for view in views for step in _told(view)}
    name = name_of(arguments)
    return [_candidate(number, one, steps, name, key) for number, one in enumerate(answered(answer), 1)]


def _request(views: Sequence[SessionView]) -> bytes:
    sessions = [
        {
            "session": view.session,
            "turns": [
                {"pointer": step.event[:POINTER], "who": _TOLD[step.kind], "text": _shown(step)} for step in _told(view)
            ],
        }
        for view in views
    ]
    request = {"protocol": PROTOCOL, "sessions": sessions}
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _told(view: SessionView) -> Iterator[Step]:
    told = (step for step in view.steps if step.kind in _TOLD and not step.worker)
    return (step for step in told if not (step.body or {}).get("private"))


def _shown(step: Step) -> str:
    """Return a step's text, credentials and own blocks covered to the letter: pointers count in it."""
    text = step.text
    for start, end in block_spans(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    for secret in secrets.find(text):
        text = f"{text[: secret.start]}{'*' * (secret.end - secret.start)}{text[secret.end :]}"
    return text[:MOST_TURN]


def answered(answer: bytes) -> list[Mapping[str, Any]]:
    """Return the candidates of an answer; DraftFailed when it is not of the protocol."""
    try:
        held = json.loads(answer)
    except (ValueError, RecursionError):
        raise DraftFailed(f"the drafter's answer of {len(answer):,} bytes is no JSON") from None
    drafts = held.get("candidates") if isinstance(held, dict) and held.get("protocol") == PROTOCOL else None
    if not isinstance(drafts, list) or not all(isinstance(one, dict) for one in drafts):
        raise DraftFailed(f'the drafter\'s answer is no object with "protocol": "{PROTOCOL}" and a list of candidates')
    if not drafts:
        raise DraftFailed("the drafter's answer holds no candidate")
    if len(drafts) > MOST_CANDIDATES:
        raise DraftFailed(f"the drafter's answer holds {len(drafts):,} candidates, more than {MOST_CANDIDATES}")
    return drafts


def _candidate(
    number: int, one: Mapping[str, Any], steps: Mapping[str, tuple[SessionView, Step]], name: str, key: bytes
) -> Candidate:
    text, why, kind, pointers = (one.get(field) for field in ("text", "why", "memory_type", "sources"))
    which = f"the drafter's candidate {number}"  # its words stay out of the message, which the record keeps
    if kind not in MEMORY_TYPES or kind == "checkpoint":
        raise DraftFailed(f"{which} has none of the types that memories have")
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MOST_TEXT or not isinstance(why or "", str):
        raise DraftFailed(f"{which} has a text that is empty, longer than {MOST_TEXT} characters, or none")
    if not isinstance(pointers, list) or not 0 < len(pointers) <= MOST_SOURCES:
        raise DraftFailed(f"{which} has no sources, or more than {MOST_SOURCES}")
    places = [place for pointer in pointers if (place := _place(pointer, steps, key)) is not None]
    if len(places) < len(pointers):
        raise DraftFailed(f"{which} points to what was not shown; a pointer looks like abcdefghij#0-120")
    view, step = steps[places[0].event]
    whole = Sentence(places[0].start, places[0].end, "")
    said = made(view, step, whole, key, found_by="drafter", memory_type=str(kind))
    words, reason = (secrets.mask(one.strip(), key)[0] for one in (text, why or ""))
    return replace(said, text=words, why=reason, sources=tuple(places), subject=subject(words), drafted_by=name)


def _place(pointer: object, steps: Mapping[str, tuple[SessionView, Step]], key: bytes) -> Span | None:
    """Return the place that a pointer of the drafter names in what it was shown, None where there is none."""
    name, mark, span = str(pointer).partition("#")
    found = [event for event in steps if len(name) >= POINTER and event.startswith(name)]
    first, _, last = span.partition("-")
    if len(found) == 1 and (not mark or (first.isdecimal() and last.isdecimal())):
        text = steps[found[0]][1].text
        start, end = (int(first), int(last)) if mark else (0, len(text))
        if start < end <= len(text):
            return marked(found[0], text, start, end, key)[0]
    return None
