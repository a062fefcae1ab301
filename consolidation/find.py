"""Finds what of a session may become memory: every finder in turn, each candidate with its verbatim place."""

import re
from collections.abc import Callable

from consolidation import (
    find_causes,
    find_choices,
    find_commits,
    find_curated,
    find_recovered,
    find_repeated,
    find_summary,
    find_wishes,
)
from consolidation.finding import Places
from consolidation.model import Candidate, SessionView, folded
from transcript.memories import MemoryState

Finder = Callable[[SessionView, MemoryState, bytes, Places], list[Candidate]]
FINDERS: tuple[Finder, ...] = (
    find_curated.find,
    find_wishes.find,
    find_choices.find,
    find_causes.find,
    find_commits.find,
    find_recovered.find,
    find_repeated.find,
    find_summary.find,
)
RESTATED = frozenset({"cause", "commit", "recovered", "report"})  # said again and better as a session goes on
TYPED = frozenset({"wish", "choice"})
FULLER = frozenset({"commit", "report"})  # they say what came of it
SHARED, ALIKE = 2, 0.6
_NAME = re.compile(  # as it is written in code: joined words, capitals, paths, flags
    r"\b(?:[a-z]\w*\.[A-Z]\w+|[a-z]+[A-Z]\w*|[A-Z]\w*[a-z][A-Z]\w*|\w*[^\W_]_\w+|[A-Z]{5,}|[A-Z]\w+(?=\(\)))\b|"
    r"(?<=`)[^`\s]*[./:_-][^`\s]*(?=`)|(?<!\w)--[a-z][\w-]+|[\w-]+\.[a-z]{1,5}\b(?!\()"
)
_WORD = re.compile(r"\w[\w.~/-]{2,}")


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the candidates of a session: the finders in their order, each in the session's. Same view, same list.

    `places` says where a sentence stands word for word elsewhere. What two finders quote from the same place is the
    first one's. Of causes that share two identifiers the last is kept: the earlier ones were on the way to it. What
    a report or a commit says as well is kept in its words, what was typed twice in its first place.
    """
    found: dict[tuple[str, str, int, int], Candidate] = {}
    for finder in FINDERS:
        for one in finder(view, state, key, places):
            quoted = one.sources[0]
            found.setdefault((one.kind, quoted.event, quoted.start, quoted.end), one)
    candidates = list(found.values())
    return [one for at, one in enumerate(candidates) if not _restated(one, candidates[:at], candidates[at + 1 :])]


def _restated(candidate: Candidate, earlier: list[Candidate], later: list[Candidate]) -> bool:
    if candidate.found_by in TYPED:
        return any(other.found_by in TYPED and folded(other.text) == folded(candidate.text) for other in earlier)
    if candidate.found_by not in RESTATED:
        return False
    if candidate.found_by == "cause" and any(
        other.found_by in FULLER and _shared(candidate, other) for other in earlier + later
    ):
        return True
    return any(
        (names := _shared(candidate, other)) >= SHARED or (names and _likeness(candidate.text, other.text) >= ALIKE)
        for other in later
        if other.found_by in RESTATED
    )


def _shared(one: Candidate, other: Candidate) -> int:
    return len(_names(one.text) & _names(other.text))


def _names(text: str) -> set[str]:
    """Return the identifiers of a text, without their marks."""
    return {found[0] for found in _NAME.finditer(text)}


def _likeness(one: str, other: str) -> float:
    words, others = ({word.lower() for word in _WORD.findall(text)} for text in (one, other))
    return len(words & others) / max(1, min(len(words), len(others)))
