"""The replacements of names that the record states, and those of values that two rules may amount to.

A stated one has the first place that states it. A proposed one is for a person to judge: it changes nothing.
"""

from dataclasses import dataclass

from indexer.reader import Reader
from indexer.rows import PRIVATE, PassageRow, PointerRow
from indexer.values import stated
from recall.since import speaks
from recall.turn import Pointer

WORDS = 200


@dataclass(frozen=True, slots=True)
class Replacement:
    """One name that took the place of another, and who says so where."""

    old: str
    new: str
    pointer: Pointer
    text: str


def listed(reader: Reader, name: str | None = None) -> list[Replacement]:
    """Return every stated replacement, oldest first; with a name only those from it or to it."""
    links = [link for link in reader.replacements() if name is None or name in link[:2]]
    rows = reader.passages({chunk for _, _, chunk in links})
    found = []
    for old, new, chunk in links:
        places = speaks(rows[chunk], PRIVATE) if chunk in rows else []
        if places:
            text = " ".join(rows[chunk].text.split())[:WORDS]
            found.append(Replacement(old, new, _pointer(places[0]), text))
    return sorted(found, key=lambda one: (one.pointer.said, one.old, one.new))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A rule that names a value: where it was said last, and its words."""

    pointer: Pointer
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value that a newer rule may have put in the place of an older one's; `state` says that nobody has judged it."""

    old: str
    new: str
    older: Evidence
    newer: Evidence
    state: str = "proposed"


def proposed(reader: Reader, value: str | None = None) -> list[Proposal]:
    """Return the replacements of values that rules suggest, oldest first; with a value only those from it or to it.

    Of a chain the newest rule stands against each older one. What a rule names itself does not replace its value.
    """
    links = [link for link in reader.proposed() if value is None or value in (link[0], link[2])]
    rows = reader.passages({chunk for link in links for chunk in (link[1], link[3])})
    last = {chunk: places[-1] for chunk, row in rows.items() if (places := speaks(row, PRIVATE))}
    newest: dict[tuple[str, int], tuple[str, int]] = {}
    for one, one_chunk, other, other_chunk in links:
        if one_chunk not in last or other_chunk not in last:
            continue
        sides = sorted([(one, one_chunk), (other, other_chunk)], key=lambda side: _order(last[side[1]]))
        old, new = sides
        if new[0] in {said.value for said in stated(rows[old[1]].text)}:
            continue
        held = newest.get(old)
        if held is None or _order(last[held[1]]) < _order(last[new[1]]):
            newest[old] = new
    found = [
        Proposal(old, new, _evidence(rows[chunk], last[chunk]), _evidence(rows[by], last[by]))
        for (old, chunk), (new, by) in newest.items()
    ]
    return sorted(found, key=lambda one: (one.newer.pointer.said, one.older.pointer.said, one.old, one.new))


def _order(at: PointerRow) -> tuple[int, int]:
    return at.ts, at.seq


def _evidence(row: PassageRow, at: PointerRow) -> Evidence:
    return Evidence(_pointer(at), " ".join(row.text.split())[:WORDS])


def _pointer(row: PointerRow) -> Pointer:
    return Pointer(
        row.event_id, row.start, row.end, row.session, row.ts, "prompt", row.exchange_id, row.place, row.flags
    )
