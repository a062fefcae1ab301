"""What the turns beside a turn say for it, in a talk between people, and whether a prompt names who speaks.

On the hook path: standard library only. An answer between people shares few words with the question that is asked
later, but the turns around it do, most of all the question it answers. Beside an agent's answer stand tool calls and
announcements: they say nothing.
"""

from collections.abc import Collection, Iterable, Mapping

from indexer.rows import TALK, ExchangeRow, PointerRow
from indexer.segment import query_terms

_ASKS = ("?", "？", "؟")  # anywhere in a turn: people ask, and then go on


def beside(pointers: Iterable[PointerRow]) -> set[int]:
    """The exchanges before and after each turn of a talk, by number; some of them may be of other sessions."""
    turns = {p.exchange_id for p in pointers if p.flags & TALK and p.exchange_id}
    return {number for turn in turns for number in (turn - 1, turn + 1) if number > 0}


def passed_on(
    exchange: int, exchanges: Mapping[int, ExchangeRow], matches: Mapping[int, float], *, neighbour: float, asked: float
) -> float:
    """The evidence that a turn gets from those right before and after: a share of each, more from a question before.

    At most (2 * neighbour + asked) times the best there is. Exchanges of a session are numbered one after the other
    unless two sessions were captured at once: only a neighbour of the same session, one place away, counts.
    """
    here = exchanges.get(exchange)
    if here is None:
        return 0.0
    total = 0.0
    for number in (exchange - 1, exchange + 1):
        other = exchanges.get(number)
        if other is not None and other.session == here.session and abs(other.ordinal - here.ordinal) == 1:
            answers = number < exchange and any(mark in other.prompt_head for mark in _ASKS)
            total += (neighbour + asked if answers else neighbour) * matches.get(number, 0.0)
    return total


def is_named(speaker: str, terms: Collection[str]) -> bool:
    """Whether the words of a prompt hold the speaker's name, or a part of it."""
    return any(part in terms for part in query_terms(speaker))


def names(pointers: Iterable[PointerRow]) -> set[str]:
    """The words of the speakers' names: they stand before each turn of a talk, so that every session holds them."""
    speakers = {p.worker for p in pointers if p.flags & TALK}
    return {word for speaker in speakers for word in query_terms(speaker)}
