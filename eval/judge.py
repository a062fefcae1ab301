"""Judges a list of returned items against the labels of one query."""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.labels import LabelledQuery, Span
from eval.outcome import Outcome
from eval.record_map import RecordMap


@dataclass(frozen=True, slots=True)
class At:
    """One source pointer of an item: an event and the span of its text."""

    event: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Item:
    """What an engine returned at one place of its list: its pointers, and the words it shows."""

    pointers: tuple[At, ...]
    text: str = ""


def judge(query: LabelledQuery, items: Sequence[Item], record: RecordMap, *, tokens: int = 0) -> Outcome:
    """Return which items hit, show the quote, are stale or leak.

    An item counts when any of its pointers does: for a hit, and for a leak as well.
    """
    return Outcome(
        query=query.id,
        type=query.type,
        hits=tuple(any(names(item, span, record) for span in query.evidence) for item in items),
        strict=tuple(any(shows(item, span, record) for span in query.evidence) for item in items),
        stale=tuple(any(names(item, span, record) for span in query.stale) for item in items),
        files=tuple(frozenset(s.file for s in query.evidence if names(item, s, record)) for item in items),
        evidence_files=frozenset(span.file for span in query.evidence),
        leaks=sum(leaks(item, query, record) for item in items),
        tokens=tokens,
    )


def names(item: Item, span: Span, record: RecordMap) -> bool:
    """Whether one of the item's pointers leads to the span's record, or overlaps its quote."""
    events = record.events_of.get(span.uuid, frozenset())
    return any(pointer.event in events for pointer in item.pointers)


def shows(item: Item, span: Span, record: RecordMap) -> bool:
    """Whether the item shows some of the quoted words themselves."""
    places = record.quotes.get((span.uuid, span.quote), ())
    if any(p.event == event and p.start < end and start < p.end for p in item.pointers for event, start, end in places):
        return True
    # The text of a tool call is made from its fields, so a span says nothing there; the words still do.
    return not places and names(item, span, record) and span.quote in item.text


def leaks(item: Item, query: LabelledQuery, record: RecordMap) -> bool:
    """Whether the asker could not have seen the item yet, or has it in front of them; unknown events leak."""
    for pointer in item.pointers:
        place = record.places.get(pointer.event)
        if place is None or place.said >= query.now.timestamp():
            return True
        if query.session and query.session in place.sessions:
            return True
    return False
