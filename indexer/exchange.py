"""Folds the events of a session into exchanges: a person's prompt, what was said on the way, the final answer.

A prompt opens an exchange. The texts of the last assistant message are its final answer, those of earlier messages are
narration; that changes as the exchange goes on. A sub-agent has exchanges of its own. A sighting repeats a record in
another session, which then goes on from there.

A prompt that begins with `!norecall` opens an exchange that stays out: nothing of it has a passage, up to the session's
next prompt, sub-agents that started in it included. The session's state then names the exchange by a negative number,
and so does the mark of each of its events, so that the next run, a second file and a backfill know.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer import memories, standing
from indexer.memories import seconds
from indexer.rows import (
    ABANDONED,
    BY_PERSON,
    CURATED,
    EXTERNAL,
    FINAL,
    FROM_WORKER,
    IMPLAUSIBLE_TIME,
    PRIVATE,
    PROMPT,
    REASONING,
    REWOUND,
    STATEMENT,
    STATEMENTS,
    SUMMARY,
    SUPERSEDED,
    TALK,
    TOOL_CALL,
    TOOL_RESULT,
    WISH,
    WORKER,
)
from indexer.rules import is_rule
from indexer.store_write import BOUNDARY, OPTED_OUT, NewChunk, Place, Rows, SessionState
from indexer.talk import speaker_of
from transcript.event import Event

CURATED_TYPES = frozenset({"decision", "task", "question", "correction", "outcome", "observation"})
SAID_TYPES = frozenset({"conversation_turn", "tool_call", "tool_result", "reasoning"}) | CURATED_TYPES
INDEXED_TYPES = SAID_TYPES | memories.SAID
FOLDED_TYPES = INDEXED_TYPES | {"system", "sighting", "mark"} | memories.LINKS
_MARKS = {"abandoned": ABANDONED, "rewound": REWOUND, "restored": 0}
_EARLIEST = 1_262_304_000  # 2010: no harness is older


@dataclass(frozen=True, slots=True)
class Prepared:
    """An event with everything that could be computed before the transaction. A known chunk is its key alone."""

    event: Event
    chunks: Sequence[tuple[int, int, bytes, NewChunk | None]] = ()  # start, end, key, what to store
    head: str = ""
    opts_out: bool = False
    wishes: frozenset[int] = frozenset()  # where passages start that lay down how work is to be done


class Fold:
    """Applies prepared events in the order of the record."""

    def __init__(self, rows: Rows, *, now: int, late: bool = False) -> None:
        self._rows = rows
        self._now = now
        self._late = late  # events that were passed over before belong to no exchange any more
        self.pointers = 0
        self.sightings = 0
        self.marks = 0
        self.prompts = 0
        self.known = 0  # passages whose chunk was there already
        self.opted_out = 0  # events that stay out because a person said so

    def apply(self, prepared: Prepared) -> None:
        """Store what one event brings, inside the caller's transaction."""
        event = prepared.event
        if event.type == "sighting":
            self._sight(event)
        elif event.type == "mark":
            self._mark(event)
        elif event.type == "system":
            if event.body.get("subtype") == "compact_boundary":
                self._rows.event(event.id, mark=BOUNDARY)
                if not event.body.get("worker"):
                    self._rows.session(event.session).compaction_seq = event.seq
        elif event.type in SAID_TYPES and event.body:
            self._say(prepared)
        elif event.type in memories.SAID and event.body:
            pointers, known = memories.say(self._rows, event, prepared.chunks, prepared.wishes)
            self.pointers += pointers
            self.known += known
        elif event.type in memories.LINKS and event.body:
            memories.link(self._rows, event)

    def _say(self, prepared: Prepared) -> None:
        event = prepared.event
        ts, implausible = self._seconds(event.ts)
        session = self._rows.session(event.session)
        worker, kind = str(event.body.get("worker", "")), _kind(event)
        if self._stays_out(prepared, session, kind, worker, 0 if implausible else ts):
            self.opted_out += 1
            return
        session.cwd = session.cwd or str(event.body.get("cwd", ""))
        session.last_ts = max(session.last_ts, 0 if implausible else ts)
        message = str(event.body.get("message", "")) if kind == FINAL else ""  # asked for when an answer is seen again
        number = self._rows.event(event.id, message=message)
        exchange = self._exchange_of(prepared, session, kind, worker, ts)
        flags = (FROM_WORKER if worker else 0) | (EXTERNAL if event.origin == "external" else 0)
        flags |= PRIVATE if event.body.get("private") else 0
        flags |= IMPLAUSIBLE_TIME if implausible else 0
        speaker = worker
        if kind == PROMPT and speaker_of(event.body):
            flags |= TALK
            speaker = speaker_of(event.body)
        if kind == CURATED:
            flags |= _statement(event)
            speaker = str(event.body.get("actor", ""))
        place = Place(number, session.id, exchange, ts, kind, event.seq, flags, speaker)
        for start, end, key, new in prepared.chunks:
            chunk_id, stored = (self._rows.chunk_id(key), False) if new is None else self._rows.chunk(new)
            self.known += not stored
            laid_down = kind == PROMPT and not flags & (EXTERNAL | FROM_WORKER) and start in prepared.wishes
            at = replace(place, flags=flags | WISH) if laid_down else place
            self._rows.pointer(chunk_id, start, end, at)
            if is_rule(kind, at.flags):
                self._rows.rule(chunk_id)
            self.pointers += 1
        link(self._rows, event, session.id)

    def _stays_out(self, prepared: Prepared, session: SessionState, kind: int, worker: str, ts: int) -> bool:
        """Tell whether an event is part of an exchange that stays out, and note it; its prompt opens the exchange.

        ts is 0 where the time is not known.
        """
        rows = self._rows
        if kind == CURATED:
            return False  # said with a command, for the record
        if worker or kind == WORKER:
            out = self._worker_stays_out(prepared, session, worker, ts)
        elif kind == PROMPT:
            out = self._prompt_stays_out(prepared, session, ts)
        elif kind == SUMMARY:  # it retells every turn before it
            told = rows.opted_out_at(session.id, ts)
            out = told and rows.open_exchange(session.id, session.exchanges, ts, "", f"{OPTED_OUT}/summary")
        else:
            out = rows.opted_out_at(session.id, ts, still=True) if self._late else max(0, -session.exchange)
        if out:
            rows.event(prepared.event.id, mark=-out)
        return out > 0

    def _prompt_stays_out(self, prepared: Prepared, session: SessionState, ts: int) -> int:
        record = str(prepared.event.native.get("id", "")) or prepared.event.id
        if session.exchange < 0 and session.final_message == record and not self._late:
            return -session.exchange  # another block of the same message
        if not prepared.opts_out:
            return 0
        out = self._rows.open_exchange(session.id, session.exchanges, ts, "", OPTED_OUT)
        if not self._late:
            session.exchange, session.final_message = -out, record
        return out

    def _worker_stays_out(self, prepared: Prepared, session: SessionState, worker: str, ts: int) -> int:
        """A sub-agent stays out where its parent's exchange did; its own records may come long after that one's."""
        rows, name = self._rows, f"{OPTED_OUT}/{worker}"
        held, out = rows.worker_exchange(session.id, worker), rows.worker_exchange(session.id, name)
        begins = prepared.event.body.get("kind") == "worker_prompt" or not (held or out)
        if not begins:
            return out if out > held else 0
        if not rows.opted_out_at(session.id, ts, still=True):
            return 0
        return rows.open_exchange(session.id, session.exchanges, ts, "", name)

    def _exchange_of(self, prepared: Prepared, session: SessionState, kind: int, worker: str, ts: int) -> int:
        """Return the exchange an event belongs to, opened or moved on as its kind demands."""
        event = prepared.event
        if self._late:
            return 0
        if worker or kind == WORKER:
            held = self._rows.worker_exchange(session.id, worker)
            opens = event.body.get("kind") == "worker_prompt" or not held
            ordinal = max(0, session.exchanges - 1)
            return self._rows.open_exchange(session.id, ordinal, ts, prepared.head, worker) if opens else held
        if kind in (SUMMARY, CURATED):
            return 0
        if kind == PROMPT:
            session.exchange = self._rows.open_exchange(session.id, session.exchanges, ts, prepared.head)
            session.exchanges += 1
            session.final_message = ""
            self.prompts += 1
        elif kind == FINAL and prepared.chunks:
            if session.exchange == 0:
                session.exchange = self._rows.open_exchange(session.id, session.exchanges, ts, "")
                session.exchanges += 1
            message = str(event.body.get("message", "")) or event.id
            if session.final_message != message:
                if session.final_message:
                    self._rows.demote_finals(session.exchange, session.id)
                session.final_message = message
        return session.exchange

    def _sight(self, event: Event) -> None:
        found = self._rows.find_event(str(event.body.get("of", "")))
        if found is None:
            return
        number, message, mark = found
        session = self._rows.session(event.session)
        if mark == BOUNDARY:
            session.compaction_seq = event.seq
            return
        if mark < 0:
            self._sight_opted_out(-mark, session)
            return
        if self._rows.stands_in(number, session.id):
            return  # the same session in another file: nothing new
        self.sightings += 1
        memories.sighted(self._rows, str(event.body.get("of", "")), session.id, event.seq)
        for chunk_id, start, end, place in self._rows.places(number):
            self._rows.pointer(chunk_id, start, end, self._rows.moved(place, session=session.id, seq=event.seq))
            self.pointers += 1
            if place.exchange and not place.worker:
                _, ordinal, _, _ = self._rows.exchange(place.exchange)
                session.exchange = place.exchange
                session.exchanges = max(session.exchanges, ordinal + 1)
                if place.kind in (FINAL, FINAL + 1):
                    session.final_message = message or event.id
                elif place.kind == PROMPT:
                    session.final_message = ""

    def _sight_opted_out(self, exchange: int, session: SessionState) -> None:
        """Let a session that goes on from an exchange that stays out stay out as well."""
        owner, _, worker, ts = self._rows.exchange(exchange)
        if worker == OPTED_OUT and owner != session.id and session.exchange >= 0:
            session.exchange = -self._rows.open_exchange(session.id, session.exchanges, ts, "", OPTED_OUT)
            session.final_message = ""

    def _mark(self, event: Event) -> None:
        flag = _MARKS.get(str(event.body.get("mark", "")))
        events = event.body.get("events")
        if flag is not None and isinstance(events, list):
            self.marks += self._rows.flag(map(str, events), flag, self._rows.session(event.session).id)

    def _seconds(self, stamp: str) -> tuple[int, bool]:
        """Return the time in seconds, and whether it cannot be true (before 2010, or a day and more ahead)."""
        said = seconds(stamp)
        return said, not _EARLIEST <= said <= self._now + 86_400


def link(rows: Rows, event: Event, session: int) -> None:
    """Note what one of our curated events replaces or corrects.

    A statement of ours that was replaced is flagged: it answers questions about history alone. What was merely said
    stays, and is shown with the newest statement that took its place.
    """
    if event.type not in CURATED_TYPES or event.origin != "internal":
        return
    replaced = str(event.body.get("supersedes", ""))
    if replaced and rows.is_kind(replaced, CURATED):
        rows.flag([replaced], SUPERSEDED, session)
        standing.bar(rows.store.run, rows.generation, replaced, standing.SUPERSEDED)
        rows.pass_on(replaced, event.id)
    elif replaced:
        rows.correct(replaced, event.id)
    if event.type == "correction" and event.body.get("kind") == "correction":
        rows.correct(str(event.body.get("of", "")), event.id)


def _statement(event: Event) -> int:
    """Return the flags that say what a curated event states, and whether a person does."""
    said = str(event.body.get("kind", event.type))
    number = STATEMENTS.index(said if said in STATEMENTS else event.type)
    return STATEMENT * number | (BY_PERSON if event.body.get("actor_kind") == "human" else 0)


def _kind(event: Event) -> int:
    """Return the kind of pointer an event gives; a reply counts as final until another follows."""
    if event.type in CURATED_TYPES:
        return CURATED
    if event.type == "conversation_turn":
        said = event.body.get("kind")
        if said == "summary":
            return SUMMARY
        if said == "worker_prompt" or event.body.get("worker"):
            return WORKER
        return PROMPT if said == "prompt" else FINAL
    return {"tool_call": TOOL_CALL, "tool_result": TOOL_RESULT, "reasoning": REASONING}[event.type]
