"""Where the events of one Claude Code file wait to be taken, and the marks that follow from the whole of it."""

from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.claude_record import HARNESS, Record
from transcript.adapters.reasoning import withheld_mark
from transcript.adapters.tree_memory import Memory
from transcript.event import Draft

_COVERED = frozenset({"conversation_turn", "tool_call", "tool_result"})


class Output:
    """Collects events in the order of the file; a block written again, longer, takes the shorter one's place."""

    def __init__(self, source: SourceFile, memory: Memory, options: Options, counts: Counts) -> None:
        self._source, self._memory, self._options, self._counts = source, memory, options, counts
        self._ready: list[Taken] = []
        self._place: dict[str, int] = {}
        self._owner: dict[str, Record] = {}
        self._outlived: list[str] = []

    def emit(
        self,
        record: Record,
        kind: str,
        body: dict[str, Any],
        part: int,
        *names: str,
        actor: str = "system",
        media: list[tuple[bytes, str]] | None = None,
    ) -> None:
        """Add the event for a block of a record."""
        event = record.event_id(part, *names)
        self._put(record, self._draft(record, kind, event, body, part, actor), tuple(data for data, _ in media or ()))

    def emit_block(
        self, record: Record, kind: str, body: dict[str, Any], part: int, *, family: str, key: str = "", said: str
    ) -> None:
        """Add a block of an assistant message unless the message has it already."""
        event = record.event_id(part)
        repeated, shorter = self._memory.repeats(record.message, part, family, key, said, event)
        if repeated:
            self._counts.notes["repeated block"] += 1
            return
        place = None
        if shorter:
            self._counts.notes["longer form of a block"] += 1
            if shorter == event:
                event = record.event_id(part, "longer", said)
            place = self._place.pop(shorter, None)
            if place is None:
                self._outlived.append(shorter)
            else:
                self._owner.pop(shorter).events.remove(shorter)
                self._memory.replace_covered(shorter, event)
        self._put(record, self._draft(record, kind, event, body, part, "assistant"), (), place)

    def take(self) -> list[Taken]:
        """Return the events since the last call."""
        taken, self._ready = self._ready, []
        self._place.clear()
        self._owner.clear()
        return taken

    def marks(self) -> None:
        """Add what follows from the whole file so far."""
        memory = self._memory
        self._mark("abandoned", self._outlived, "a longer form of the same block follows")
        self._outlived = []
        self._mark("rewound", memory.rewound(), "the file no longer holds the record")
        self._mark("restored", memory.restored, "the file holds the record again")
        memory.restored = []
        if not self._source.worker:
            fresh, back = memory.abandoned()
            self._mark("restored", back, "the newest leaf descends from it again")
            self._mark("abandoned", fresh, "the newest leaf does not descend from it")
            nobody = self._nobody()
            if withheld := withheld_mark(memory.kept, HARNESS, nobody.session):
                self._put_mark(nobody, *withheld)

    def _mark(self, mark: str, events: list[str], note: str) -> None:
        if events:
            body = {"mark": mark, "events": events, "note": note}
            self._put_mark(self._nobody(), self._memory.mark_id(mark, self._source.source, events), body)

    def _put_mark(self, record: Record, event: str, body: dict[str, Any]) -> None:
        self._ready.append(Taken(self._draft(record, "mark", event, body, 0, "system")))

    def _nobody(self) -> Record:
        return Record({}, self._source, self._memory, self._options)

    def _put(self, record: Record, draft: Draft, media: tuple[bytes, ...], place: int | None = None) -> None:
        taken = Taken(draft, media)
        if place is None:
            place = len(self._ready)
            self._ready.append(taken)
        else:
            self._ready[place] = taken
        self._place[draft.id] = place
        self._owner[draft.id] = record
        record.events.append(draft.id)
        if not record.worker and draft.type in _COVERED:
            self._memory.cover(draft.id)

    @staticmethod
    def _draft(record: Record, kind: str, event: str, body: dict[str, Any], part: int, actor: str) -> Draft:
        return Draft(
            kind, event, record.ts, record.ts_source, record.session, HARNESS, actor, "internal",
            record.native(part), {**record.common(), **body},
        )  # fmt: skip
