"""One event of a harness, the same with and without the service: what is answered, and what is written afterwards.

On the hook path: standard library only.
"""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from indexer.reader import Reader
from indexer.rows import IndexMeta
from indexer.segment import query_terms
from recall import caps, facets, harness, window_state
from recall.contracts import START
from recall.facets import NOTHING
from recall.governance_settings import AudienceSettings
from recall.harness import Payload
from recall.query import Query
from recall.settings import Settings
from recall.turn import Before, CountTokens, Scorer, Turn, Vectors, bytes_third, checksum
from recall.turn_query import NOT_READ, query_of
from recall.turnstate import Last, TurnState
from recall.version import VERSION
from recall.window_state import Left
from scoring.score import score_all
from transcript.errors import RecordError, WorkspaceError
from transcript.paths import read_derived, secure_dir, write_atomic
from transcript.workspace import Workspace, open_workspace, owner_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hook_start import HookStart
    from transcript.event import Draft

HEARTBEATS = "heartbeat"
MOST_PLACES = 200  # workspaces whose last firing is kept, the newest


@dataclass(frozen=True, slots=True)
class Means:
    """What a turn is answered with. `vectors` is None where only words can be searched, and `note` says why."""

    reader: Reader
    count_tokens: CountTokens
    vectors: Vectors | None = None
    scorer: Scorer = score_all
    meta: IndexMeta | None = None
    note: str = ""
    audience: AudienceSettings = NOT_READ


class HookTurn:
    """A prompt between its payload and its ledger row."""

    def __init__(self, payload: Payload, data: Path, *, mode: str, call: str, now: datetime, started: float) -> None:
        self.payload, self.data, self.mode, self.call = payload, data, mode, call
        self.now, self.started = now, started
        self.workspace, self.reason = owner_root(payload.cwd, data) if payload.cwd else (None, "refused")
        self.settings = Settings()
        self.turn = Turn("", (), "unfinished")
        self.note = ""
        self.meta: IndexMeta | None = None
        self._query = Query(payload.prompt, payload.session, payload.harness, payload.cwd)
        self._facets = NOTHING
        self._already: frozenset[str] = frozenset()
        self._pruned: frozenset[str] = frozenset()
        self._state: TurnState | None = None
        self._opening: HookStart | None = None
        self._opened: HookStart | None = None  # the opening, once an answer holds it
        self._gone: Left | None = None  # what a compaction took away, once an answer says so
        self._latency_ms = 0.0

    def open(self, env: Mapping[str, str]) -> None:
        """Let the answer begin with where the work stands, in a harness whose start could not be told that."""
        if self.workspace is None or not self.payload.opens_with_prompt:
            return
        source = TurnState(self.workspace.run_dir, self.payload.session, cwd=self.payload.cwd).opening()
        if source:
            from recall.hook_start import HookStart  # most turns are no opening

            started = replace(self.payload, source=source)
            self._opening = HookStart(started, self.data, call=self.call, now=self.now, started=self.started)
            self._opening.answer(bytes_third, env)

    def answer(self, means: Means, settings: Settings) -> bytes:
        """Return what goes to the harness; the ledger row is complete once this has returned."""
        from recall import engine  # the largest part of the program, and a session's start needs none of it

        self.settings, self.meta = settings, means.meta
        self.note = self.note or means.note
        if self.workspace is None:
            return self.silent("no_workspace")
        self._state = TurnState(self.workspace.run_dir, self.payload.session, cwd=self.payload.cwd)
        already = self._state.begin(self.payload.prompt, now=self.now, call=self.call)
        if already is None:
            return self.silent("twin")
        already |= frozenset(self._opening.events if self._opening else ())
        self._already = already
        last = self._state.last()
        self._query = query_of(self.payload, self.workspace, means.audience)
        self._facets = facets.load(self.workspace.run_dir)
        self._pruned = window_state.pruned(self.workspace.run_dir, self.payload.session)
        self.turn = engine.recall(
            self._query,
            means.reader,
            means.vectors,
            settings,
            now=self.now,
            count_tokens=means.count_tokens,
            scorer=means.scorer,
            already=already,
            before=Before(last.used, words=last.words) if last is not None else Before(),
            facets=self._facets,
            pruned=self._pruned,
        )
        self._latency_ms = (time.monotonic() - self.started) * 1000
        return self._said()

    def silent(self, reason: str) -> bytes:
        """Recall nothing, for this reason."""
        self.turn = Turn("", (), reason)
        self._latency_ms = (time.monotonic() - self.started) * 1000
        return self._said()

    def _said(self) -> bytes:
        self._opened = self._opening
        told = self._opening.block if self._opening else ""
        blocks = [block for block in (told, self.turn.block) if block]
        gone = self._left()
        if gone is not None:
            noticed = [window_state.tell(gone), *blocks]
            name = self.payload.harness
            if caps.fits("\n\n".join(noticed), name, most_bytes=caps.cap_of(name).bytes):  # else the next turn says it
                blocks, self._gone = noticed, gone
        return harness.answer(self.payload, "\n\n".join(blocks))

    def _left(self) -> Left | None:
        """What a compaction took out of this window and nobody has said yet."""
        if self.workspace is None or not self.payload.asks or self.turn.empty_reason == "twin":
            return None
        if self._opening is not None and self._opening.gone is not None:
            return None
        return window_state.left(self.workspace.run_dir, self.payload.session)

    def record(self, *, lock_timeout: float = 0.02) -> str:
        """Write the ledger row and what the session has been shown; return why there is no row, or "".

        A project that has no workspace yet gets its entry in the table here, as a first capture would give it.
        """
        if self.workspace is None and self.reason == "unknown_root":
            try:
                self.workspace = open_workspace(Path(self.payload.cwd), self.data, create="capture")
            except WorkspaceError:
                return "no_workspace"
        if self.workspace is None:
            return self.reason
        row = self._draft()
        if self._state is not None and self.turn.block:
            events = [p.event for item in self.turn.items for p in item.candidate.pointers]
            self._state.settle(events, Last(row.id, said(self.turn)))
        if self._gone is not None:
            window_state.note_told(self.workspace.run_dir, self.payload.session, self._gone)
        if self._opened is not None:
            self._opened.record(lock_timeout=lock_timeout)
            TurnState(self.workspace.run_dir, self.payload.session, cwd=self.payload.cwd).open("")
        from transcript.log import Log

        try:
            Log(self.workspace).append_or_spool(row, now=self.now, lock_timeout=lock_timeout)
        except RecordError:
            return "record_not_writable"
        return ""

    def spool(self) -> bool:
        """Leave the ledger row for the next writer, for a client whose time is over; say whether it could."""
        if self.workspace is not None:
            from transcript.spool import spool

            spool(self.workspace.run_dir, self._draft())
        return self.workspace is not None

    def _draft(self) -> "Draft":
        from recall import ledger  # with the record's writing side: imported once the answer has left

        how = ledger.Circumstances(
            mode=self.mode,
            latency_ms=self._latency_ms or (time.monotonic() - self.started) * 1000,
            index=self.meta,
            already=self._already,
            call=self.call or os.urandom(8).hex(),
            note=self.note,
            facets=self._facets.digest,
            pruned=self._pruned,
        )
        return ledger.draft(self._query, self.turn, self.settings, how, now=self.now)


def said(turn: Turn) -> frozenset[int]:
    """Return the content words of an injection and of the prompt it answered, by checksum."""
    words = set(turn.terms)
    for item in turn.items:
        words |= set(query_terms(item.candidate.text))
    return frozenset(map(checksum, words))


def forget_injected(payload: Payload, workspace: Workspace | None) -> None:
    """After a compaction or `/clear` nothing that was injected stands in the model's window any more.

    Where the start of a session is told with its first prompt, how it started is remembered until then.
    """
    if workspace is None:
        return
    state = TurnState(workspace.run_dir, payload.session, cwd=payload.cwd)
    if payload.compacts:
        state.clear()
    if payload.opens_with_prompt and (payload.compacts or payload.event == START):
        state.open(payload.source or ("compact" if payload.compacts else "startup"))


def beat(data: Path, payload: Payload, mode: str, workspace: Workspace | None = None) -> None:
    """Note that this harness's hook has fired, and in which workspace: one small file a harness, replaced whole."""
    path = secure_dir(data / HEARTBEATS) / f"{payload.harness}.json"
    now = time.time()
    events = {**read_beat(data, payload.harness), payload.event: now}
    places = read_beat(data, payload.harness, of="workspaces")
    if workspace is not None:
        places = dict(sorted({**places, workspace.id: now}.items(), key=lambda item: -item[1])[:MOST_PLACES])
    beaten = {"events": events, "workspaces": places, "mode": mode, "version": VERSION}
    write_atomic(path, json.dumps(beaten).encode(), durable=False)


def read_beat(data: Path, harness_name: str, *, of: str = "events") -> dict[str, float]:
    """Return when each event of this harness fired last, or a hook in each workspace; empty before the first.

    Times are seconds since 1970, the keys names of events or ids of workspaces.
    """
    try:
        found = read_derived(data / HEARTBEATS / f"{harness_name}.json")[of]
        return {str(name): float(at) for name, at in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def utc_now() -> datetime:
    """Return the clock of a live turn."""
    return datetime.now(UTC)
