"""The replacements of names that the record states, each with the first place that states it."""

from dataclasses import dataclass

from indexer.reader import Reader
from indexer.rows import PRIVATE, PointerRow
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


def _pointer(row: PointerRow) -> Pointer:
    return Pointer(
        row.event_id, row.start, row.end, row.session, row.ts, "prompt", row.exchange_id, row.place, row.flags
    )
