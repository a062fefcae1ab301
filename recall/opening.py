"""The opening of an answer: beside the passage that was found in it, and under the prompt that it answers.

On the hook path: standard library only. An answer says first what it comes to.
"""

from collections.abc import Sequence
from dataclasses import replace

from indexer.reader import Reader
from indexer.rows import PRIVATE, SUPERSEDED, TALK, PointerRow
from recall.forms import is_announcement
from recall.injection import CUT, cut
from recall.policy import holds_secret
from recall.query import Query
from recall.settings import BudgetSettings
from recall.turn import Candidate, Ranked
from transcript.injected import has_block

HEADER_CHARS = 150  # the lines that say what an item is, and where its opening stands
SHORTEST = 40  # less says nothing


def with_openings(ranked: Sequence[Ranked], reader: Reader, query: Query, budget: BudgetSettings) -> list[Ranked]:
    """Return the list with openings: of its answer on each shown passage that stands further down in one, and of the
    answer to it on each shown prompt whose answer no other item shows.

    An opening takes at most `budget.opening_chars`, and only what the passage leaves of its item's room. On a passage
    of an answer it gets a pointer of its own, behind the others; on a prompt that is `answered`.
    """
    wanted = {r.candidate.pointer.exchange for r in ranked if _may_open(r, budget)}
    if not wanted:
        return list(ranked)
    finals = {c for exchange in reader.exchange(sorted(wanted)).values() for c in exchange.final_chunks}
    session, as_of = query.session or None, None if query.as_of is None else int(query.as_of.timestamp())
    begins: dict[str, tuple[PointerRow, str]] = {}
    answers: dict[int, str] = {}  # exchange -> the event that closes it
    for row in reader.passages(sorted(finals), as_of=as_of, session=session).values():
        for pointer in row.pointers:
            if pointer.start == 0:
                begins[pointer.event_id] = (pointer, row.text)
                answers[pointer.exchange_id] = pointer.event_id
    shown = {p.event for r in ranked if r.shown for p in r.candidate.pointers}
    opened = []
    for r in ranked:
        item = r.candidate
        if _may_open(r, budget):
            if item.source == "final" and item.pointer.event in begins:
                item = _opened(item, *begins[item.pointer.event], budget)
            elif item.source == "prompt" and answers.get(item.pointer.exchange, "") not in {"", *shown}:
                item = _answered(item, *begins[answers[item.pointer.exchange]], budget)
        opened.append(r if item is r.candidate else replace(r, candidate=item))
    return opened


def _may_open(item: Ranked, budget: BudgetSettings) -> bool:
    at = item.candidate.pointer
    begun = (at.source == "final" and at.start > 0) or (at.source == "prompt" and not at.flags & TALK)
    return item.shown and begun and _room(item.candidate, budget) >= SHORTEST


def _room(item: Candidate, budget: BudgetSettings) -> int:
    taken = HEADER_CHARS + min(len(item.head), budget.head_chars) + len(item.text)
    return min(budget.opening_chars, budget.item_chars - taken)


def _opened(item: Candidate, begin: PointerRow, text: str, budget: BudgetSettings) -> Candidate:
    at = item.pointer
    opening = _opening(text[: at.start], item, budget)
    if not opening:
        return item
    shown = replace(at, start=0, end=min(begin.end, len(opening.removesuffix(CUT)), at.start))
    return replace(item, opening=opening, pointers=(*item.pointers, shown))


def _answered(item: Candidate, begin: PointerRow, text: str, budget: BudgetSettings) -> Candidate:
    opening = "" if begin.flags & (PRIVATE | SUPERSEDED) else _opening(text, item, budget)
    if not opening:
        return item
    end = min(begin.end, len(opening.removesuffix(CUT)))
    at = replace(item.pointer, event=begin.event_id, start=0, end=end, said=begin.ts, source="final", flags=begin.flags)
    return replace(item, opening=opening, answered=at)


def _opening(text: str, item: Candidate, budget: BudgetSettings) -> str:
    """As much of the beginning of an answer as the item has room for; "" where that may not be shown or says little."""
    if is_announcement(text):
        return ""
    opening = cut(text.strip(), _room(item, budget))
    words = opening.removesuffix(CUT)
    return "" if len(words) < SHORTEST or has_block(opening) or holds_secret(opening) else opening
