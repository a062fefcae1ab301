"""What the record says of a passage since it was said: a correction of it, or that a name in it was replaced.

On the hook path: standard library only. Nothing is hidden by it: the older statement is shown after what replaced it,
with a note that says since when, what and where. A question about history gets the notes and its usual order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from indexer.reader import Reader
from indexer.rows import (
    ABANDONED,
    CURATED,
    EXTERNAL,
    FINAL,
    FROM_WORKER,
    KIND_NAMES,
    MEMORY,
    PRIVATE,
    PROMPT,
    REWOUND,
    SUPERSEDED,
    PassageRow,
    PointerRow,
    statement,
)
from indexer.segment import segment
from recall.turn import Candidate

WORDS = 200  # characters of a correction that a note quotes
MOST_MENTIONS = 200  # passages that are looked at to see whether an old name died out
_NAME = re.compile(r"[A-Za-z_@][\w@]*(?:[./:\\-]\w+)*")
_SPEAKS = frozenset({PROMPT, FINAL, CURATED, MEMORY})
_BARRED = ABANDONED | REWOUND | SUPERSEDED | EXTERNAL | FROM_WORKER


def annotated(
    found: Sequence[Candidate], reader: Reader, *, as_of: int | None = None, private: bool = False
) -> list[Candidate]:
    """Return the candidates, each with notes on what the record says of it since, and the events to stand behind.

    With `private` what is private may be quoted: only the owner reads along.
    """
    made = reader.corrections({p.event for c in found for p in c.pointers}) if found else {}
    links = _Links(found, reader, as_of, _BARRED | (0 if private else PRIVATE))
    return [
        links.noted(c, [one.by for p in c.pointers for one in made.get(p.event, ()) if one.covers(p.start, p.end)])
        for c in found
    ]


def speaks(row: PassageRow, barred: int = 0) -> list[PointerRow]:
    """Return where a passage is a person's word, a final answer or a recorded statement, the earliest first."""
    places = [p for p in row.pointers if p.kind in _SPEAKS and not p.flags & (_BARRED | barred)]
    return sorted(places, key=lambda p: (p.ts, p.seq))


class Placed(Protocol):
    """An item of the ranked list."""

    @property
    def candidate(self) -> Candidate: ...


Item = TypeVar("Item", bound=Placed)


def behind(ordered: Sequence[Item]) -> list[Item]:
    """Return the list with each replaced statement right after what replaced it, where both are in it."""
    out = list(ordered)
    for item in ordered:
        if not item.candidate.behind:
            continue
        at = next(i for i, other in enumerate(out) if other is item)
        newer = [i for i, o in enumerate(out) if any(p.event in item.candidate.behind for p in o.candidate.pointers)]
        if newer and min(newer) > at:
            out.insert(min(newer), out.pop(at))
    return out


class _Links:
    """Corrections and replacements of names, each read once."""

    def __init__(self, found: Sequence[Candidate], reader: Reader, as_of: int | None, barred: int) -> None:
        self._reader, self._as_of, self._barred = reader, as_of, barred
        self._died: dict[tuple[str, str, int], bool] = {}
        look = reader.has_replacements()
        self._names = {c.chunk: tuple(dict.fromkeys(_NAME.findall(c.text))) if look else () for c in found}
        names = {name for held in self._names.values() for name in held}
        self._stated: dict[str, list[tuple[str, PassageRow, PointerRow]]] = {}
        rows = self._read(names)
        # A chain X -> Y -> Z: the head decides, so that what replaced the new names is needed as well.
        while new := {new for held in rows.values() for new, _, _ in held} - rows.keys() - names:
            names |= new
            rows |= self._read(new)
        self._stated = rows

    def noted(self, candidate: Candidate, corrections: Sequence[str]) -> Candidate:
        """Return the candidate with its notes."""
        notes: dict[str, None] = {}
        after: set[str] = set()
        for event in dict.fromkeys(corrections):
            for row in self._passages(self._reader.chunks_of(event)).values():
                said = next((p for p in row.pointers if p.event_id == event and not p.flags & self._barred), None)
                if said is not None:
                    after.add(event)
                    words = " ".join(row.text.split())
                    cut = words if len(words) <= WORDS else words[:WORDS].rsplit(" ", 1)[0] + " …"
                    notes[f"{_verb(said)} on {_day(said)}: {cut} ({_pointer(said)})"] = None
        for name in (name for name in self._names[candidate.chunk] if name in self._stated):
            head = self._head(name, candidate)
            if head is not None:
                new, said = head
                after.add(said.event_id)
                notes[f"since {_day(said)}: {name} is now {new} ({_pointer(said)})"] = None
        return replace(candidate, notes=tuple(notes), behind=frozenset(after)) if notes else candidate

    def _head(self, name: str, candidate: Candidate) -> tuple[str, PointerRow] | None:
        """The last name of the chain that begins with this one, and where it was given."""
        seen, last, at, when = {name}, name, None, candidate.pointer.said
        while True:
            newer = [
                (said.ts, new, said)
                for new, _, said in self._stated.get(last, ())
                if said.ts > when and self._died_out(last, new, said.ts)
            ]
            if not newer:
                break
            when, last, at = max(newer, key=lambda one: one[0])
            if last in seen:
                break  # taken back: 0 -> 1 -> 0
            seen.add(last)
        if at is None or last == name or last in candidate.text:
            return None
        return None if any(p.event == at.event_id for p in candidate.pointers) else (last, at)

    def _died_out(self, old: str, new: str, since: int) -> bool:
        """Whether the old name is found at most half as often after as before, on what is known now."""
        key = (old, new, since)
        if key not in self._died:
            words = segment(old)
            rows = self._passages(self._reader.holding(words[0], MOST_MENTIONS)) if words else {}
            said = [row for row in rows.values() if old in row.text]
            before = sum(min(p.ts for p in row.pointers) < since for row in said)
            later = sum(min(p.ts for p in row.pointers) > since and new not in row.text for row in said)
            self._died[key] = later <= before / 2
        return self._died[key]

    def _read(self, names: set[str]) -> dict[str, list[tuple[str, PassageRow, PointerRow]]]:
        links = self._reader.replacements(names)
        rows = self._passages({chunk for _, _, chunk in links})
        stated: dict[str, list[tuple[str, PassageRow, PointerRow]]] = {}
        for old, new, chunk in links:
            row = rows.get(chunk)
            places = speaks(row, self._barred) if row else []
            if row is not None and places:
                stated.setdefault(old, []).append((new, row, places[0]))
        return stated

    def _passages(self, chunks: Sequence[int] | set[int]) -> Mapping[int, PassageRow]:
        return self._reader.passages(sorted(chunks), as_of=self._as_of) if chunks else {}


def _verb(at: PointerRow) -> str:
    stated = statement(at.flags)
    return "corrected" if stated == "correction" else f"replaced by a {stated or KIND_NAMES[at.kind]}"


def _day(at: PointerRow) -> str:
    return datetime.fromtimestamp(max(0, min(at.ts, 253_402_300_799)), UTC).strftime("%Y-%m-%d")


def _pointer(at: PointerRow) -> str:
    return f"{at.event_id[:10]}#{at.start}-{at.end}"
