"""What the turns beside a turn say for it, in a talk between people.

On the hook path: standard library only. An answer between people shares few words with the question that is asked
later, but the turns around it do. Beside an agent's answer stand tool calls and announcements: they say nothing.
"""

from collections.abc import Iterable, Mapping

from indexer.rows import TALK, ExchangeRow, PointerRow


def beside(pointers: Iterable[PointerRow]) -> set[int]:
    """The exchanges before and after each turn of a talk, by number; some of them may be of other sessions."""
    turns = {p.exchange_id for p in pointers if p.flags & TALK and p.exchange_id}
    return {number for turn in turns for number in (turn - 1, turn + 1) if number > 0}


def passed_on(exchange: int, exchanges: Mapping[int, ExchangeRow], matches: Mapping[int, float]) -> float:
    """The evidence of the turns right before and after, summed; at most twice the best there is.

    Exchanges of a session are numbered one after the other unless two sessions were captured at once: only a
    neighbour of the same session, one place away, counts.
    """
    here = exchanges.get(exchange)
    if here is None:
        return 0.0
    total = 0.0
    for number in (exchange - 1, exchange + 1):
        other = exchanges.get(number)
        if other is not None and other.session == here.session and abs(other.ordinal - here.ordinal) == 1:
            total += matches.get(number, 0.0)
    return total
