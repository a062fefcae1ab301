"""Finds what of a session may become memory: every finder in turn, each candidate with its verbatim place."""

from collections.abc import Callable

from consolidation import (
    find_causes,
    find_choices,
    find_curated,
    find_recovered,
    find_repeated,
    find_summary,
    find_wishes,
)
from consolidation.finding import Places
from consolidation.model import Candidate, SessionView
from indexer.replacements import looks_like_code
from transcript.memories import MemoryState

Finder = Callable[[SessionView, MemoryState, bytes, Places], list[Candidate]]
FINDERS: tuple[Finder, ...] = (
    find_curated.find,
    find_wishes.find,
    find_choices.find,
    find_causes.find,
    find_recovered.find,
    find_repeated.find,
    find_summary.find,
)
RESTATED = frozenset({"cause", "recovered"})  # said again and better as a session goes on
SHARED = 2


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the candidates of a session: the finders in their order, each in the session's. Same view, same list.

    `places` says where a sentence stands word for word elsewhere. What two finders quote from the same place is the
    first one's. Of causes that share two identifiers the last is kept: the earlier ones were on the way to it.
    """
    found: dict[tuple[str, str, int, int], Candidate] = {}
    for finder in FINDERS:
        for one in finder(view, state, key, places):
            quoted = one.sources[0]
            found.setdefault((one.kind, quoted.event, quoted.start, quoted.end), one)
    candidates = list(found.values())
    return [one for at, one in enumerate(candidates) if not _restated(one, candidates[at + 1 :])]


def _restated(candidate: Candidate, later: list[Candidate]) -> bool:
    names = {name for name in candidate.subject if looks_like_code(name)}
    return candidate.found_by in RESTATED and any(
        len(names.intersection(other.subject)) >= SHARED and other.found_by in RESTATED for other in later
    )
