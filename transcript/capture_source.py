"""Takes one source into the record: what is new since the last time, in batches that are durable one by one."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, BinaryIO

from transcript.adapters.base import Adapter, Options, Reader, SourceFile, Taken
from transcript.adapters.jsonl import parse_line, raw_lines
from transcript.adapters.views import UnreadableSource
from transcript.canonical import b32id
from transcript.capture_marks import Marked, fold_marks
from transcript.capture_state import DAMAGES_KEPT, CaptureState, SourceState
from transcript.event import Draft, is_stamp
from transcript.idmap import sighting_id
from transcript.log import Log
from transcript.native import NativeStore
from transcript.tombstones import Tombstones

TAIL_BYTES = 64 << 10
TRUNCATED = "window_truncated"
BATCH_BYTES = 2 << 20


@dataclass(slots=True)
class Taking:
    """What taking sources in has added so far."""

    added: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    damage: list[tuple[str, int, int, str]] = field(default_factory=list)
    rewound: list[str] = field(default_factory=list)
    bytes: int = 0


class SourceTaker:
    """Takes sources of one workspace in, one after the other. Only for the holder of the capture lock."""

    def __init__(
        self,
        adapter: Adapter,
        log: Log,
        state: CaptureState,
        options: Options,
        *,
        native: NativeStore | None,
        now: datetime,
        taking: Taking,
        on_bytes: Callable[[int], None] = lambda count: None,
    ) -> None:
        self.adapter, self.log, self.state, self.options = adapter, log, state, options
        self.native, self.now, self.taking, self.on_bytes = native, now, taking, on_bytes
        self._marked: dict[str, Marked] | None = None
        self._again: _Again | None = None  # a rewritten file that is being read again
        self._erased = Tombstones(log.workspace)

    def take(self, source: SourceFile, *, full: bool = False) -> bool:
        """Bring the record up to date with a source; return whether its state changed.

        A file whose bytes before the last place differ (all of them with full, else the last 64 KiB) was rewritten:
        it is read again from its start, and what it no longer holds is marked.
        """
        name = source.source
        state = self.state.sources[name]
        with self.adapter.open(source) as file:
            size = file.seek(0, os.SEEK_END)
            memory = self.state.memory(name) if state.offset or state.reread or self.state.lost else {}
            intact = size >= state.offset and _tail(file, state.offset) == state.tail
            if intact and full:
                intact = _pieces_hold(file, state.pieces)
            if intact and memory is not None:
                if size == state.offset:
                    changed, state.rest, state.rest_bytes = bool(state.rest_bytes), "", 0
                    return changed
                if _rest(file, state, size):
                    return False
            else:
                memory = self._restart(source, state, memory, rewritten=not intact)
                self._again = None if intact else _Again()
            self._read(source, state, memory, file, size)
            self._again = None
        return True

    def _restart(
        self, source: SourceFile, state: SourceState, memory: dict[str, Any] | None, *, rewritten: bool
    ) -> dict[str, Any]:
        """Set a source back to its first byte; what its file held is gone until met again."""
        if rewritten:
            self.taking.rewound.append(state.path)
            state.generation += 1
        _forget(state)
        if rewritten and memory:
            return self.adapter.restarted(memory)
        return self._recalled(source) if memory is None else {}

    def _recalled(self, source: SourceFile) -> dict[str, Any]:
        """Return a memory of nothing but the marks that the record holds about a source."""
        if self._marked is None:
            self._marked = fold_marks(self.log)
        marked = self._marked.get(source.source)
        return self.adapter.recalled(marked.abandoned, marked.rewound, marked.marks) if marked else {}

    def _read(self, source: SourceFile, state: SourceState, memory: dict[str, Any], file: BinaryIO, size: int) -> None:
        memory.setdefault("session", state.session)
        memory.setdefault("ts", state.first if is_stamp(state.first) else "")
        if self.native is not None and state.offset == 0:
            state.generation = self._generation(source, state, file)
        reader = self.adapter.reader(source, memory, self.options)
        kept = bytearray()
        start = state.offset
        rest: tuple[int, bytes] | None = None
        for at, end, raw, ended in raw_lines(file, state.offset, limit=size):
            if not ended:
                rest = (at, raw)
                break
            self._feed(reader, state, at, end, raw)
            kept += raw
            kept += b"\n"
            if len(kept) >= BATCH_BYTES:
                self._settle(reader.take(), source, state, kept, start, end)
                kept, start = bytearray(), end
                state.offset = end
        end = rest[0] if rest else size
        _note_rest(state, rest)
        if rest and state.rest:
            # A whole record without a line end: taken in now, and the place stays before it until the line ends.
            self._feed(reader, state, rest[0], size, rest[1])
            state.lines -= 1
        self._settle(reader.take() + reader.finish(), source, state, kept, start, end)
        state.offset = end
        state.tail = _tail(file, end)
        self._count(reader, state)
        self.state.remember(source.source, self._erased.scrub(memory))

    def _feed(self, reader: Reader, state: SourceState, at: int, end: int, raw: bytes) -> None:
        state.lines += 1
        if not raw.strip(b" \t\r"):
            return
        line = parse_line(state.lines, at, end, raw, self.adapter.is_record)
        for damage in line.damage:
            entry = (damage.line, damage.offset, damage.reason)
            self.taking.damage.append((state.path, *entry))
            state.damaged += 1
            if len(state.damage) < DAMAGES_KEPT:
                state.damage.append(list(entry))
        reader.feed(line)

    def _settle(
        self, taken: list[Taken], source: SourceFile, state: SourceState, kept: bytearray, start: int, end: int
    ) -> None:
        """Make a batch durable: media, events, native bytes, in this order."""
        self.append(taken, source)
        if kept:
            if len(kept) != end - start:  # a line too long to hold came as its first bytes
                with self.adapter.open(source) as file:
                    file.seek(start)
                    kept = bytearray(file.read(end - start))
            if self.native is not None:
                self.native.append(
                    source.harness, source.source, start, self._erased.mask(bytes(kept)), state.generation
                )
            state.pieces.append([end, hashlib.sha256(kept).hexdigest()])
            self.taking.bytes += len(kept)
            self.on_bytes(len(kept))

    def append(self, taken: list[Taken], source: SourceFile) -> None:
        """Append events; what the record holds from elsewhere becomes a sighting, what it holds from here nothing."""
        if not taken:
            return
        ids = self.log.ids()
        fresh: dict[str, Draft] = {}
        for item in taken:
            draft = item.draft
            place = sighting_id(draft.id, draft.session, source.source)
            if self._again is not None:
                self._again.meet(draft, known=draft.id in ids)
            if draft.type == "mark":
                made = self._cut(draft, source) if self._again is not None else draft
                fresh[made.id] = made
            elif place in ids or draft.id in fresh:
                continue
            elif draft.id in ids:
                fresh[place] = _sighting(place, draft)
            else:
                if self._erased and self._erased.record(draft.type, draft.ts, draft.body):
                    continue
                for data in item.media:
                    self.log.blobs.put(data)
                fresh[draft.id] = draft
        try:
            for batch in self.log.append_batches(fresh.values(), now=self.now):
                self.taking.added.update(event.type for event in batch)
        except ValueError as error:  # a draft that is no event is the adapter's fault, and its other sources go on
            raise UnreadableSource(f"the adapter {self.adapter.harness} makes of it what is {error}") from error

    def _cut(self, draft: Draft, source: SourceFile) -> Draft:
        """Return a mark about what a rewritten file no longer holds; of what its harness dropped it says so.

        A person takes back what came last. Where older events are gone and newer ones are there, and no compaction says
        why, the harness has cut the window: what it dropped is as true as before.
        """
        gone = [str(name) for name in draft.body.get("events") or ()]
        if self._again is None or draft.body.get("mark") != "rewound" or not gone or self._again.compacted:
            return draft
        if not self._again.known or self.log.get(gone[0]).seq > self.log.get(self._again.known).seq:
            return draft
        body = {"mark": TRUNCATED, "session": draft.session, "missing": len(gone), "source": source.source}
        event = b32id("mark", TRUNCATED, draft.id)
        return replace(draft, id=event, body={**draft.body, **body})

    def _generation(self, source: SourceFile, state: SourceState, file: BinaryIO) -> int:
        """Return under which generation to keep this file's bytes: a new one when the last one's differ from it."""
        native = self.native
        if native is None:
            return state.generation
        last, _ = native.end(source.harness, source.source)
        if last < state.generation:
            return state.generation
        for generation, offset, data in native.read(source.harness, source.source):
            if generation == last:
                file.seek(offset)
                if self._erased.mask(file.read(len(data))) != data:
                    return last + 1
        return last

    def _count(self, reader: Reader, state: SourceState) -> None:
        for name in ("records", "unknown", "notes"):
            counted: Counter[str] = getattr(reader.counts, name)
            getattr(self.taking, name).update(counted)
            setattr(state, name, dict(Counter(getattr(state, name)) + counted))

    def mark_absence(self, source: str, state: SourceState, *, back: bool) -> None:
        """Record that a source is gone from its place, or there again. Its content stays as it is."""
        if not back:
            state.absences += 1
        mark = "source_back" if back else "source_missing"
        event = b32id("mark", mark, source, str(state.absences))
        native = {"harness": state.harness, "version": "", "id": "", "part": 0, "source": source}
        native["adapter"] = self.adapter.version
        body = {"mark": mark, "events": [], "file": state.path}
        draft = Draft("mark", event, "", "capture", state.session, state.harness, "system", "internal", native, body)
        for batch in self.log.append_batches([draft], now=self.now):
            self.taking.added.update(item.type for item in batch)
        state.missing = not back


@dataclass(slots=True)
class _Again:
    """What was met so far in a rewritten file: the last thing said that the record knew, and a new compaction."""

    known: str = ""
    compacted: bool = False

    def meet(self, draft: Draft, *, known: bool) -> None:
        if draft.type == "system" and draft.body.get("subtype") == "compact_boundary":
            self.compacted = self.compacted or not known
        elif known and draft.type in ("conversation_turn", "tool_call", "tool_result"):
            self.known = draft.id


def _sighting(place: str, draft: Draft) -> Draft:
    body = {"of": draft.id, "record": draft.native["id"], "file": draft.body.get("file", "")}
    if draft.body.get("cwd"):
        body["cwd"] = draft.body["cwd"]
    return Draft(
        "sighting", place, draft.ts, draft.ts_source, draft.session, draft.agent, "system", draft.origin,
        draft.native, body,
    )  # fmt: skip


def _forget(state: SourceState) -> None:
    state.offset, state.lines, state.tail, state.pieces = 0, 0, "", []
    state.damaged, state.damage = 0, []
    state.records, state.unknown, state.notes = {}, {}, {}
    state.rest, state.rest_bytes = "", 0
    state.reread = False


def _tail(file: BinaryIO, offset: int) -> str:
    """Return the SHA-256 of the 64 KiB before an offset, "" at the start."""
    if not offset:
        return ""
    start = max(0, offset - TAIL_BYTES)
    file.seek(start)
    return hashlib.sha256(file.read(offset - start)).hexdigest()


def _pieces_hold(file: BinaryIO, pieces: list[list[Any]]) -> bool:
    """Return whether every stretch of the file still has the bytes it had when it was read."""
    file.seek(0)
    at = 0
    for end, digest in pieces:
        found = hashlib.sha256()
        while at < end:
            data = file.read(min(1 << 20, end - at))
            if not data:
                return False
            found.update(data)
            at += len(data)
        if found.hexdigest() != digest:
            return False
    return True


def _rest(file: BinaryIO, state: SourceState, size: int) -> bool:
    """Return whether the file ends in the same unfinished line as last time."""
    if state.rest_bytes != size - state.offset:
        return False
    if not state.rest:
        return True
    file.seek(state.offset)
    return hashlib.sha256(file.read(state.rest_bytes)).hexdigest() == state.rest


def _note_rest(state: SourceState, rest: tuple[int, bytes] | None) -> None:
    """Note the line at the end that has no end: `rest` is its hash when it is a whole record, "" when it is torn."""
    state.rest, state.rest_bytes = "", 0
    if rest is not None:
        state.rest_bytes = len(rest[1])
        line = parse_line(0, 0, 0, rest[1], lambda value: False)
        if line.objects and not line.damage and isinstance(line.objects[0].get("uuid"), str):
            state.rest = hashlib.sha256(rest[1]).hexdigest()
