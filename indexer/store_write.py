"""Writing the rows of one generation. Every method belongs inside the caller's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from indexer import standing
from indexer.rows import ABANDONED, ENDS, FINAL, NARRATION, REWOUND, SOURCE_CLASSES, TOOL_IDS
from indexer.rules import Rules, add_rule, rules_sql
from indexer.store import Store
from indexer.values import stated

BOUNDARY = 1  # mark of an event that is a compaction; a negative one is the exchange with which an event stays out
OPTED_OUT = "!norecall"  # the worker of an exchange that stays out; of a sub-agent in it `!norecall/<id>`


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A passage ready to be stored."""

    key: bytes
    source_class: int
    role: int
    text: str
    tokens: str
    n_tokens: int
    replacements: Sequence[tuple[str, str]] = ()  # (old name, new name) that its sentences state


@dataclass(frozen=True, slots=True)
class Place:
    """Where the passages of an event stand."""

    event: int
    session: int
    exchange: int
    ts: int
    kind: int
    seq: int
    flags: int
    worker: str


@dataclass(slots=True)
class SessionState:
    """What the fold of a session has to remember between events."""

    id: int
    session: str
    cwd: str = ""
    last_ts: int = 0
    exchanges: int = 0
    compaction_seq: int = 0
    exchange: int = 0
    final_message: str = ""


@dataclass(slots=True)
class Rows:
    """The rows of one generation, written; sessions are kept in memory until `flush`."""

    store: Store
    generation: int
    fts: bool
    new_chunks: int = 0
    _sessions: dict[str, SessionState] = field(default_factory=dict)
    _dirty: set[str] = field(default_factory=set)
    _rules: Rules | None = None  # read when the first rule comes
    _quotes: dict[str, list[str]] | None = None  # event -> the memories that quote it, read when first asked for

    def forget(self) -> None:
        """Drop what is kept in memory, after a transaction that was rolled back."""
        self._sessions.clear()
        self._dirty.clear()
        self._rules = self._quotes = None
        self.new_chunks = 0

    def chunk(self, new: NewChunk) -> tuple[int, bool]:
        """Return the id of the chunk with this key, stored now if it was not there, and whether it was."""
        g = self.generation
        free = f"(SELECT coalesce(max(id), 0) + 1 FROM chunk_{g} WHERE id < {TOOL_IDS})"
        if SOURCE_CLASSES[new.source_class] == "tool":
            free = f"(SELECT max(coalesce(max(id), 0) + 1, {TOOL_IDS}) FROM chunk_{g})"
        self.store.run(
            f"INSERT OR IGNORE INTO chunk_{g} (id, key, source_class, role, n_tokens, text)"
            f" VALUES ({free}, ?, ?, ?, ?, ?)",
            (new.key, new.source_class, new.role, new.n_tokens, self.store.packing.packed(new.text)),
        )
        if not self.store.changes():
            return self.chunk_id(new.key), False
        chunk_id = self.store.last_row()
        if self.fts:
            self.store.run(f"INSERT INTO chunk_fts_{g} (rowid, tokens) VALUES (?, ?)", (chunk_id, new.tokens))
        for old, new_name in new.replacements:
            self.store.run(f"INSERT OR IGNORE INTO replaced_{g} VALUES (?, ?, ?)", (old, new_name, chunk_id))
        self.new_chunks += 1
        return chunk_id, True

    def correct(self, event: str, by: str) -> None:
        """Note that an event, or a span of it, is corrected or replaced by another."""
        self.store.run(f"INSERT OR IGNORE INTO corrected_{self.generation} VALUES (?, ?)", (event, by))

    def pass_on(self, by: str, newer: str) -> None:
        """Note that what an event corrected is now corrected by a newer one."""
        table = f"corrected_{self.generation}"
        self.store.run(f"INSERT OR IGNORE INTO {table} SELECT event, ? FROM {table} WHERE by = ?", (newer, by))

    def uncorrect(self, by: str) -> list[str]:
        """Take back of which spans an event was noted to take the place; return them, `event#start-end`."""
        held = f"FROM corrected_{self.generation} WHERE by = ? AND instr(event, '#')"
        found = [event for (event,) in self.store.run(f"SELECT event {held} ORDER BY event", (by,))]
        self.store.run(f"DELETE {held}", (by,))
        return found

    def spans_replaced(self, event: str) -> list[tuple[int, int]]:
        """Return the spans of an event that memories have taken the place of."""
        sql = f"SELECT DISTINCT event FROM corrected_{self.generation} WHERE event >= ? AND event < ? ORDER BY event"
        spans = (name.partition("#")[2].partition("-") for (name,) in self.store.run(sql, (f"{event}#", f"{event}$")))
        return [(int(start), int(end)) for start, _, end in spans]

    def is_memory(self, event: str) -> bool:
        """Tell whether an event is a memory that has been stored."""
        sql = f"SELECT recorded FROM standing_{self.generation} WHERE event = ?"
        return any(recorded for (recorded,) in self.store.run(sql, (event,)))

    def quoting(self, event: str) -> list[str]:
        """Return the memories that quote an event."""
        return self._held_quotes().get(event, [])

    def quotes(self, event: str, memory: str) -> None:
        """Take in that a memory quotes an event."""
        held = self._held_quotes().setdefault(event, [])
        if memory not in held:
            held.append(memory)

    def _held_quotes(self) -> dict[str, list[str]]:
        if self._quotes is None:
            self._quotes = standing.quoting(self.store.run, self.generation)
        return self._quotes

    def is_kind(self, event: str, kind: int) -> bool:
        """Tell whether an event has passages, and they are of this kind."""
        g = self.generation
        sql = f"SELECT p.kind FROM event_{g} v JOIN pointer_{g} p ON p.event = v.id WHERE v.event = ? LIMIT 1"
        return any(found == kind for (found,) in self.store.run(sql, (event,)))

    def rule(self, chunk_id: int) -> None:
        """Take in that a passage is a person's rule: its values are compared with those of the other rules."""
        if self._rules is None:
            held = [row for row in self.store.run(rules_sql(self.generation)) if row[0] != chunk_id]
            self._rules = {number: stated(text) for number, text in held}
        if chunk_id not in self._rules:
            for number, text in self.store.texts([chunk_id]).items():
                add_rule(self.store.run, self.generation, self._rules, number, text)

    def chunk_id(self, key: bytes) -> int:
        """Return the id of the chunk with this key, 0 when there is none."""
        for (chunk_id,) in self.store.run(f"SELECT id FROM chunk_{self.generation} WHERE key = ?", (key,)):
            return int(chunk_id)
        return 0

    def pointer(self, chunk_id: int, start: int, end: int, place: Place) -> None:
        """Add a place where a chunk stands; one that is known stays as it is."""
        self.store.run(
            f"INSERT OR IGNORE INTO pointer_{self.generation}"
            " (chunk_id, event, start, session, end, exchange, ts, kind, seq, flags, worker)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chunk_id,
                place.event,
                start,
                place.session,
                end,
                place.exchange,
                place.ts,
                place.kind,
                place.seq,
                place.flags,
                place.worker,
            ),
        )

    def event(self, event_id: str, *, message: str = "", mark: int = 0) -> int:
        """Return the number of an event, given now if it has none."""
        self.store.run(
            f"INSERT OR IGNORE INTO event_{self.generation} (event, message, boundary) VALUES (?, ?, ?)",
            (event_id, message, mark),
        )
        if self.store.changes():
            return self.store.last_row()
        found = self.find_event(event_id)
        return found[0] if found else 0

    def find_event(self, event_id: str) -> tuple[int, str, int] | None:
        """Return (number, message, mark) of an event that has been stored."""
        sql = f"SELECT id, message, boundary FROM event_{self.generation} WHERE event = ?"
        for number, message, mark in self.store.run(sql, (event_id,)):
            return int(number), str(message), int(mark)
        return None

    def session(self, name: str) -> SessionState:
        """Return the state of a session, made when it is new; changes are written by `flush`."""
        held = self._sessions.get(name)
        if held is None:
            held = self._load(name)
            self._sessions[name] = held
        self._dirty.add(name)
        return held

    def flush(self) -> None:
        """Write the sessions that changed."""
        for name in sorted(self._dirty):
            s = self._sessions[name]
            self.store.run(
                f"UPDATE session_{self.generation} SET cwd = ?, last_ts = ?, exchanges = ?, compaction_seq = ?,"
                " exchange = ?, final_message = ? WHERE id = ?",
                (s.cwd, s.last_ts, s.exchanges, s.compaction_seq, s.exchange, s.final_message, s.id),
            )
        self._dirty.clear()

    def open_exchange(self, session: int, ordinal: int, ts: int, head: str, worker: str = "") -> int:
        """Store an exchange and return its id."""
        g = self.generation
        self.store.run(
            f"INSERT INTO exchange_{g} (session, ordinal, worker, ts, prompt_head) VALUES (?, ?, ?, ?, ?)",
            (session, ordinal, worker, ts, head),
        )
        return self.store.last_row()

    def worker_exchange(self, session: int, worker: str) -> int:
        """Return the newest exchange of a sub-agent, 0 when it has none."""
        sql = f"SELECT max(id) FROM exchange_{self.generation} WHERE session = ? AND worker = ?"
        return int(next(iter(self.store.run(sql, (session, worker))))[0] or 0)

    def exchange(self, number: int) -> tuple[int, int, str, int]:
        """Return (session, ordinal, worker, time) of an exchange."""
        sql = f"SELECT session, ordinal, worker, ts FROM exchange_{self.generation} WHERE id = ?"
        for session, ordinal, worker, ts in self.store.run(sql, (number,)):
            return int(session), int(ordinal), str(worker), int(ts)
        return 0, 0, "", 0

    def opted_out_at(self, session: int, ts: int, *, still: bool = False) -> int:
        """Return the newest exchange of a session that stays out and began by ts, 0 where there is none.

        With still, only one after which no other prompt had come by then. A ts of 0 is no time: every one counts.
        """
        table = f"exchange_{self.generation}"
        sql = f"SELECT id, ts FROM {table} WHERE session = ? AND worker = ? AND worker <> '' ORDER BY id DESC"
        for out, began in list(self.store.run(sql, (session, OPTED_OUT))):
            if ts and began > ts:
                continue
            later = f"SELECT 1 FROM {table} WHERE session = ? AND worker = '' AND id > ? AND ts < ? LIMIT 1"
            if not still or not ts or not list(self.store.run(later, (session, out, ts))):
                return int(out)
        return 0

    def demote_finals(self, exchange: int, session: int) -> None:
        """Make what was the last answer of an exchange narration: the exchange goes on."""
        self.store.run(
            f"UPDATE pointer_{self.generation} SET kind = {NARRATION}"
            f" WHERE exchange = ? AND {ENDS} AND kind = {FINAL} AND session = ? AND worker = ''",
            (exchange, session),
        )

    def places(self, event: int) -> list[tuple[int, int, int, Place]]:
        """Return (chunk, start, end, place) of an event's passages as first stored."""
        rows = self.store.run(
            "SELECT chunk_id, start, end, session, exchange, ts, kind, seq, flags, worker"
            f" FROM pointer_{self.generation} WHERE event = ? ORDER BY seq, start",
            (event,),
        )
        found: list[tuple[int, int, int, Place]] = []
        for chunk_id, start, end, session, exchange, ts, kind, seq, flags, worker in rows:
            place = Place(event, session, exchange, ts, kind, seq, flags, worker)
            if not found or found[0][3].session == session:
                found.append((chunk_id, start, end, place))
        return found

    def stands_in(self, event: int, session: int) -> bool:
        """Tell whether passages of an event have a pointer in a session."""
        sql = f"SELECT 1 FROM pointer_{self.generation} WHERE event = ? AND session = ? LIMIT 1"
        return bool(list(self.store.run(sql, (event, session))))

    def flag(self, events: Iterable[str], flag: int, session: int) -> int:
        """Set a flag on the pointers of events in one session, or everywhere where it holds none of them.

        Flag 0 takes both flags off again: the events were restored.
        """
        change = f"flags | {flag:d}" if flag else f"flags & ~{ABANDONED | REWOUND:d}"
        changed = 0
        for event_id in events:
            found = self.find_event(event_id)
            if found is None or found[2] < 0:
                continue
            sql = f"UPDATE pointer_{self.generation} SET flags = {change} WHERE event = ?"
            if self.stands_in(found[0], session):
                self.store.run(sql + " AND session = ?", (found[0], session))
            else:
                self.store.run(sql, (found[0],))
            changed += 1
        return changed

    def flag_span(self, event: str, flag: int, start: int = 0, end: int = 0, *, on: bool = True) -> None:
        """Set a flag on every pointer of an event, or take it off; with end only on those that hold words of a span."""
        found = self.find_event(event)
        if found is not None:
            change = f"flags | {flag:d}" if on else f"flags & ~{flag:d}"
            sql = f"UPDATE pointer_{self.generation} SET flags = {change} WHERE event = ?"
            span = " AND start < ? AND end > ?" if end else ""
            self.store.run(sql + span, (found[0], end, start) if end else (found[0],))

    def standing_in(self, event: str, start: int, end: int) -> list[Place]:
        """Return where the passages that hold words of a span stand, one for each session and passage."""
        found = self.find_event(event)
        if found is None:
            return []
        rows = self.store.run(
            f"SELECT session, exchange, ts, kind, seq, flags, worker FROM pointer_{self.generation}"
            " WHERE event = ? AND start < ? AND end > ? ORDER BY seq, start",
            (found[0], end, start),
        )
        return [Place(found[0], *row) for row in rows]

    def commit_watermark(self, watermark: str) -> None:
        """Write how far the record has been read, and how many chunks came in since the last time."""
        self.store.run(
            "UPDATE generation SET watermark = ?, n_chunks = n_chunks + ? WHERE id = ?",
            (watermark, self.new_chunks, self.generation),
        )
        self.new_chunks = 0

    def commit_counts(self) -> None:
        """Write how many chunks came in, the watermark left where it is."""
        self.store.run("UPDATE generation SET n_chunks = n_chunks + ? WHERE id = ?", (self.new_chunks, self.generation))
        self.new_chunks = 0

    def moved(self, place: Place, *, session: int, seq: int) -> Place:
        """Return place as it stands in another session."""
        return replace(place, session=session, seq=seq)

    def _load(self, name: str) -> SessionState:
        sql = (
            "SELECT id, session, cwd, last_ts, exchanges, compaction_seq, exchange, final_message"
            f" FROM session_{self.generation} WHERE session = ?"
        )
        for row in self.store.run(sql, (name,)):
            return SessionState(*row)
        self.store.run(f"INSERT INTO session_{self.generation} (session) VALUES (?)", (name,))
        return SessionState(self.store.last_row(), name)
