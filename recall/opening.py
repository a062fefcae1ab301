"""The opening of an answer beside the passage that was found in it: an answer says first what it comes to.

On the hook path: standard library only.
"""

from collections.abc import Sequence
from dataclasses import replace

from indexer.reader import Reader
from recall.injection import CUT, cut
from recall.policy import holds_secret
from recall.query import Query
from recall.settings import BudgetSettings
from recall.turn import Candidate, Ranked
from transcript.injected import has_block

HEADER_CHARS = 150  # the lines that say what an item is, and where its opening stands
SHORTEST = 40  # less says nothing


def with_openings(ranked: Sequence[Ranked], reader: Reader, query: Query, budget: BudgetSettings) -> list[Ranked]:
    """Return the list with the opening of its answer on each shown passage that stands further down in one.

    An opening takes at most `budget.opening_chars`, and only what the passage leaves of its item's room. It gets a
    pointer of its own, behind the others.
    """
    wanted = {r.candidate.pointer.exchange for r in ranked if _may_open(r, budget)}
    if not wanted:
        return list(ranked)
    finals = {c for exchange in reader.exchange(sorted(wanted)).values() for c in exchange.final_chunks}
    session, as_of = query.session or None, None if query.as_of is None else int(query.as_of.timestamp())
    first: dict[str, tuple[int, int, str]] = {}
    for row in reader.passages(sorted(finals), as_of=as_of, session=session).values():
        for pointer in row.pointers:
            if pointer.start == 0:
                first[pointer.event_id] = (pointer.start, pointer.end, row.text)
    return [
        replace(r, candidate=_opened(r.candidate, *first[r.candidate.pointer.event], budget))
        if _may_open(r, budget) and r.candidate.pointer.event in first
        else r
        for r in ranked
    ]


def _may_open(item: Ranked, budget: BudgetSettings) -> bool:
    at = item.candidate.pointer
    return item.shown and at.source == "final" and at.start > 0 and _room(item.candidate, budget) >= SHORTEST


def _room(item: Candidate, budget: BudgetSettings) -> int:
    taken = HEADER_CHARS + min(len(item.head), budget.head_chars) + len(item.text)
    return min(budget.opening_chars, budget.item_chars - taken)


def _opened(item: Candidate, start: int, end: int, text: str, budget: BudgetSettings) -> Candidate:
    at = item.pointer
    opening = cut(text[: max(0, at.start - start)].strip(), _room(item, budget))
    words = opening.removesuffix(CUT)
    if len(words) < SHORTEST or has_block(opening) or holds_secret(opening):
        return item
    shown = replace(at, start=start, end=min(end, start + len(words), at.start))
    return replace(item, opening=opening, pointers=(*item.pointers, shown))
