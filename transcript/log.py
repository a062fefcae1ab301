"""The record: append-only, chained, verbatim. Writers queue at a lock, readers never do."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from transcript.blobs import BlobStore, externalise, resolve
from transcript.canonical import ID_LENGTH, canonical
from transcript.errors import LockBusy, PointerError, RecordError, RecordNewer
from transcript.event import (
    SALT_BYTES,
    VERSION,
    Draft,
    Event,
    Position,
    commitment,
    envelope_parts,
    from_line,
    genesis,
    stamp,
    to_line,
    validate_draft,
)
from transcript.idmap import IdMap, keys_of, place_source
from transcript.lock import FileLock, holder
from transcript.recovery import recover
from transcript.segments import (
    ACTIVITY,
    SEGMENT_BYTES,
    Head,
    append_bytes,
    lines,
    lines_back,
    open_segment,
    read_head,
    seal,
    starts_line,
)
from transcript.spool import collect, put_aside, spool
from transcript.telling import quoted
from transcript.workspace import Workspace

if TYPE_CHECKING:
    from transcript.sieve import Sieve

BATCH_EVENTS = 256
BATCH_BYTES = 1 << 20
LOCK_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class _Ready:
    """A draft with everything that can be computed before the lock is taken."""

    draft: Draft
    body: dict[str, Any]
    salt: str
    packed: bytes
    commit: str
    parts: tuple[bytes, bytes, bytes]
    keys: tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class _Written:
    """A draft with its line and its place in the chain; end is the byte behind the line."""

    ready: _Ready
    line: bytes
    seq: int
    prev: str
    digest: str
    end: int

    def event(self, segment: int) -> Event:
        """Return the event that the line reads back as."""
        draft = self.ready.draft
        return Event(
            type=draft.type,
            id=draft.id,
            ts=draft.ts,
            ts_source=draft.ts_source,
            session=draft.session,
            agent=draft.agent,
            actor=draft.actor,
            origin=draft.origin,
            native=draft.native,
            body=self.ready.body,
            v=VERSION,
            seq=self.seq,
            commit=self.ready.commit,
            prev=self.prev,
            salt=self.ready.salt,
            position=Position(segment, self.end, self.seq, self.digest),
        )


class Log:
    """The record of one workspace. Reading writes nothing; one object is for one thread at a time."""

    def __init__(self, workspace: Workspace, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.workspace = workspace
        self.directory = workspace.log_dir
        self.blobs = BlobStore(workspace.blobs_dir)
        self.run_id = os.urandom(5).hex()
        self.start = Position(1, 0, 0, genesis(workspace.id))
        self._segment_bytes = segment_bytes
        self._ids: IdMap | None = None

    # -- reading ---------------------------------------------------------------------------

    def head(self) -> Head:
        """Return how far the record goes; seq 0 when it is empty."""
        head = read_head(self.directory)
        if head is not None:
            return head
        activity = self.directory / ACTIVITY
        if activity.exists() and activity.stat().st_size > 0:
            raise RecordError("log/head is missing beside a record; the next write, as of 'recall sync', restores it")
        return Head(1, 0, self.start.hash, 0)

    def read(self, start: Position | None = None, *, sieve: "Sieve | None" = None) -> Iterator[Event]:
        """Yield the events behind start (all by default) up to the head as it stands now.

        With a sieve, only those it lets through: the others are passed over without being parsed.
        """
        head = self.head()
        at = start or self.start
        if at.seq >= head.seq:
            if at.seq > head.seq or (at.seq == head.seq and at.hash != head.hash):
                raise RecordError(
                    f"event {at.seq} was read before, but the record ends at {head.seq}; run 'recall verify'"
                )
            return
        if not starts_line(self.directory, at.segment, at.offset):
            yield from self._search(head, at)
            return
        first = True
        for segment, end, line in lines(self.directory, head, segment=at.segment, offset=at.offset):
            if first and not follows(line, at):
                yield from self._search(head, at)
                return
            first = False
            if sieve is None or sieve.line(line):
                yield from_line(line, segment=segment, end=end)

    def _search(self, head: Head, start: Position) -> Iterator[Event]:
        """Yield the events behind start when its offset has moved, as it does in a redaction."""
        found = start.seq == 0
        for segment, end, line in lines(self.directory, head, segment=1, offset=0):
            event = from_line(line, segment=segment, end=end)
            if found:
                yield event
            elif event.seq == start.seq:
                if event.position.hash != start.hash:
                    break
                found = True
        if not found:
            raise RecordError(f"event {start.seq} was read before, but the record has another; run 'recall verify'")

    def read_back(
        self, before: Position | None = None, *, only: str = "", sieve: "Sieve | None" = None
    ) -> Iterator[Event]:
        """Yield events from newest to oldest: the one that ends at before first, all by default.

        With only, events of that type alone; with a sieve, those it lets through. The others are passed over without
        being parsed.
        """
        at = before or self.head().position
        if at.seq == 0:
            return
        wanted = f'"type":"{only}",'.encode("ascii") if only else b""
        skip = None if sieve is None else lambda block: not sieve.block(block)
        for segment, end, line in lines_back(self.directory, segment=at.segment, offset=at.offset, skip=skip):
            if wanted in line[-64:] and (sieve is None or sieve.line(line)):  # the envelope's last fields
                yield from_line(line, segment=segment, end=end)

    def ids(self) -> IdMap:
        """Return the map of the record's ids, caught up with the head."""
        if self._ids is None:
            self._ids = IdMap(self.workspace.run_dir / "ids.bin", self.start)
        self._ids.catch_up(self.directory, self.head())
        return self._ids

    def get(self, event_id: str) -> Event:
        """Return the event with this id; PointerError when the record has none."""
        try:
            place = self.ids().locate(event_id)
        except ValueError as error:
            raise PointerError(str(error)) from None
        if place is None:
            raise PointerError(f"no event {event_id} in this workspace; see 'recall query'")
        event = self._at(place)
        return event if event is not None and event.id == event_id else self._moved(event_id)

    def find(self, prefix: str) -> Event:
        """Return the one event whose id starts with prefix (a pointer; its `#start-end` is left aside)."""
        name = prefix.split("#", 1)[0].strip().lower()
        try:
            places = self.ids().matching(name)
        except ValueError as error:
            raise PointerError(f"not a source pointer: {quoted(name)}: {error}") from None
        if not places:
            shown = name if len(name) <= ID_LENGTH else quoted(name)
            raise PointerError(f"no event {shown} in this workspace; see 'recall query'")
        if len(places) > 1:
            raise PointerError(f"more than one event starts with {name}; give more characters")
        event = self._at(places[0])
        return event if event is not None and event.id.startswith(name) else self._moved(name)

    def _at(self, place: tuple[int, int, int]) -> Event | None:
        """Return the event of a line, None when no line is there any more: a redaction has moved it."""
        segment, offset, length = place
        with open_segment(self.directory, segment) as handle:
            handle.seek(offset)
            line = handle.read(length)
        if not line.endswith(b"\n") or not starts_line(self.directory, segment, offset):
            return None
        try:
            return from_line(line, segment=segment, end=offset + length)
        except RecordNewer:
            raise
        except RecordError:
            return None

    def _moved(self, prefix: str) -> Event:
        """Return the event whose id starts with prefix, from a map of ids made anew."""
        ids = IdMap(None, self.start)
        ids.catch_up(self.directory, self.head())
        self._ids = None
        places = ids.matching(prefix[:ID_LENGTH])
        event = self._at(places[0]) if len(places) == 1 else None
        if event is None:
            raise RecordError(f"the line of event {prefix[:10]} is damaged; run 'recall verify'")
        return event

    def seal_open(self, segment: int, *, lock_timeout: float = LOCK_TIMEOUT, now: datetime) -> None:
        """Seal the open segment when it is this one, so that it can be written anew and swapped."""
        self.recover(now=now, lock_timeout=lock_timeout)
        with FileLock(self.workspace.run_dir / "log.lock", timeout=lock_timeout):
            head = self.head()
            if head.segment == segment and head.length:
                seal(self.directory, head)

    def body(self, event: Event) -> dict[str, Any]:
        """Return an event's body with every blob in it opened."""
        whole: dict[str, Any] = resolve(event.body, self.blobs)
        return whole

    def text(self, event: Event) -> str:
        """Return an event's text (`raw` of an unknown one), empty when it has none."""
        value = resolve(event.body.get("text", event.body.get("raw", "")), self.blobs)
        return value if isinstance(value, str) else ""

    # -- writing ---------------------------------------------------------------------------

    def append(
        self, drafts: Iterable[Draft], *, now: datetime, lock_timeout: float = LOCK_TIMEOUT, dedupe: bool = True
    ) -> list[Event]:
        """Append drafts and return the events written; those whose id is present are skipped.

        Durable when it returns. Many drafts are written in several batches, each whole or not
        at all. LockBusy when the lock is not free in time; ValueError on an invalid draft.
        """
        batches = self.append_batches(drafts, now=now, lock_timeout=lock_timeout, dedupe=dedupe)
        return [event for batch in batches for event in batch]

    def append_batches(
        self, drafts: Iterable[Draft], *, now: datetime, lock_timeout: float = LOCK_TIMEOUT, dedupe: bool = True
    ) -> Iterator[list[Event]]:
        """Append drafts as they come and yield the events of each batch once it is durable."""
        ready: list[_Ready] = []
        size = 0
        for draft in drafts:
            if dedupe and draft.id in self._known():
                continue
            ready.append(self._prepare(draft, now))
            size += len(ready[-1].packed)
            if len(ready) >= BATCH_EVENTS or size >= BATCH_BYTES:
                yield self._own(ready, now, lock_timeout, dedupe)
                ready, size = [], 0
        if ready:
            yield self._own(ready, now, lock_timeout, dedupe)

    def _own(self, ready: list[_Ready], now: datetime, lock_timeout: float, dedupe: bool) -> list[Event]:
        wanted = {item.draft.id for item in ready}
        return [event for event in self._write(ready, now, lock_timeout, dedupe) if event.id in wanted]

    def append_or_spool(self, draft: Draft, *, now: datetime, lock_timeout: float = 0.02) -> bool:
        """Append one draft, or leave it for the next writer when the lock is busy; say which (True: appended)."""
        try:
            self.append([draft], now=now, lock_timeout=lock_timeout)
        except LockBusy:
            self.spool(draft)
            return False
        return True

    def spool(self, draft: Draft) -> None:
        """Leave a draft in `run/spool/` without a lock; the next writer takes it in."""
        validate_draft(draft)
        spool(self.workspace.run_dir, draft)

    def drain_spool(self, *, now: datetime, lock_timeout: float = LOCK_TIMEOUT) -> list[Event]:
        """Take in what was left in `run/spool/` and return the events written."""
        return self._write([], now, lock_timeout, True)

    def recover(self, *, now: datetime, lock_timeout: float = LOCK_TIMEOUT) -> list[Event]:
        """Put a torn tail into quarantine and record that; return the events written about it."""
        return self._write([], now, lock_timeout, True)

    def _known(self) -> IdMap:
        """Return what is known without the lock; under it, `_write` looks again."""
        if self._ids is None:
            self._ids = IdMap(self.workspace.run_dir / "ids.bin", self.start)
            with contextlib.suppress(RecordError):  # a lost head is recovery's work
                self._ids.catch_up(self.directory, self.head())
        return self._ids

    def _prepare(self, draft: Draft, now: datetime) -> _Ready:
        if not draft.ts and draft.ts_source == "capture":
            draft = replace(draft, ts=stamp(now))
        validate_draft(draft)
        salt = os.urandom(SALT_BYTES).hex()
        try:
            body, packed = externalise(draft.body, canonical(draft.body), self.blobs)
        except OSError as error:
            raise _unwritable(error) from error
        packed = canonical({**body, "salt": salt})
        commit = commitment(salt, packed)
        keys = keys_of(draft.id, draft.session, place_source(draft.type, draft.native))
        return _Ready(draft, body, salt, packed, commit, envelope_parts(draft, commit), keys)

    def _write(self, ready: list[_Ready], now: datetime, lock_timeout: float, dedupe: bool) -> list[Event]:
        """Write one batch under the lock, with what recovery and the spool have to say before it."""
        spooled, broken = collect(self.workspace.run_dir)
        left = [self._prepare(draft, now) for _, draft in spooled]
        lock = FileLock(self.workspace.run_dir / "log.lock")
        try:
            if not lock.acquire(lock_timeout):
                raise LockBusy(f"the record is being written by process {holder(lock.path) or '?'}; try again")
            head, notes = recover(self.workspace, self.run_id, lock.stale_pid, now)
            ids = self._caught_up(head)
            if head.length >= self._segment_bytes:
                head = seal(self.directory, head)
            todo = [self._prepare(note, now) for note in notes] + left + ready
            written = self._chain(todo, head, ids if dedupe else None)
            if written:
                new = Head(head.segment, written[-1].seq, written[-1].digest, written[-1].end)
                append_bytes(self.directory, head, new, b"".join(item.line for item in written))
                for item in written:
                    ids.add_keys(item.ready.keys, head.segment, item.end - len(item.line), len(item.line))
                ids.position = new.position
                ids.save()
        except OSError as error:
            self._ids = None
            raise _unwritable(error) from error
        except BaseException:
            self._ids = None
            raise
        finally:
            lock.release()
        put_aside(self.workspace, [path for path, _ in spooled], broken)
        return [item.event(head.segment) for item in written]

    def _caught_up(self, head: Head) -> IdMap:
        ids = self._known()
        ids.catch_up(self.directory, head)
        return ids

    def _chain(self, todo: list[_Ready], head: Head, known: IdMap | None) -> list[_Written]:
        """Return the lines of a batch, chained behind head, duplicates left out."""
        seq, prev, end = head.seq, head.hash, head.length
        written: list[_Written] = []
        batch: set[bytes] = set()
        for ready in todo:
            key = ready.keys[0]
            if known is not None and (key in batch or known.has_key(key)):
                continue
            batch.update(known_key for known_key in ready.keys if known_key is not None)
            seq += 1
            line, digest = to_line(ready.parts, ready.packed, seq=seq, prev=prev)
            end += len(line)
            written.append(_Written(ready, line, seq, prev, digest, end))
            prev = digest
        return written


def follows(line: bytes, at: Position) -> bool:
    """Say whether a line is the one written directly behind a position."""
    return f',"prev":"{at.hash}","seq":{at.seq + 1},'.encode("ascii") in line


def _unwritable(error: OSError) -> RecordError:
    return RecordError(f"cannot write the record ({error.strerror or 'input/output error'}); what it held is unchanged")
