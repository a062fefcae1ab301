"""The start of a session, the same with and without the service: what it is told, and what is written afterwards.

On the hook path: standard library only.
"""

import os
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from recall import caps, config, freshness, harness, hook_counters, standing_context, window_state
from recall.audiences import wide
from recall.config import HandoffSettings
from recall.governance_settings import StandingSettings
from recall.harness import Payload
from recall.injection import frame
from recall.query import Query
from recall.session_start import Told, tell
from recall.settings import Settings
from recall.standing_context import Standing
from recall.standing_places import places
from recall.turn import CountTokens, Turn
from recall.turn_query import NOT_READ, query_of
from recall.turnstate import TurnState
from recall.window_state import Left
from transcript.errors import ConfigError, RecordError
from transcript.workspace import Workspace, owner_root


class HookStart:
    """A session that starts, between its payload and its ledger row. Nothing told leaves no row."""

    def __init__(
        self, payload: Payload, data: Path, *, call: str, now: datetime, started: float, note: str = ""
    ) -> None:
        self.payload, self.data, self.call = payload, data, call
        self.now, self.started, self.note = now, started, note
        self.workspace, _ = owner_root(payload.cwd, data) if payload.cwd else (None, "refused")
        self.told = Told()
        self.standing = Standing()
        self.block = ""
        self.gone: Left | None = None  # what the compaction took away, once that is told
        self._settings = Settings()
        self._handoff, self._carried, self._audience = HandoffSettings(), StandingSettings(), NOT_READ
        self._query = Query("")
        self._state: TurnState | None = None
        self._latency_ms = 0.0

    def answer(self, count_tokens: CountTokens, env: Mapping[str, str]) -> bytes:
        """Return what goes to the harness: the standing context, then the short handoff; nothing the session holds.

        A compaction or a cleared window begins anew. Of two simultaneous calls that would tell the same one answers.
        """
        if self.workspace is None:
            return b""
        self._state = TurnState(self.workspace.run_dir, self.payload.session, cwd=self.payload.cwd)
        self._read_settings(env)
        self._query = query_of(self.payload, self.workspace, self._audience)
        already: frozenset[str] = frozenset() if self.payload.compacts else self._state.shown()
        told = Told()
        if self._handoff.session_start and not wide(self._query.audience):  # where the work stands is the project's
            told = tell(
                self.workspace,
                harness=self.payload.harness,
                source=self.payload.source,
                session=self.payload.session,
                already=already,
                most_bytes=self._settings.budget.bytes,
                most_tokens=self._handoff.tokens,
                count_tokens=count_tokens,
            )
        gone = self._gone(self.workspace)
        older = freshness.behind(self.data)
        notice = _joined(frame(older) if older else "", window_state.tell(gone) if gone is not None else "")
        standing = self._standing(self.workspace, _joined(notice, told.block), count_tokens)
        if standing.mark in already:
            standing = Standing()
        block = _joined(notice, standing.block, told.block)
        if block and self._state.begin(f"{self.payload.source}\n{block}", now=self.now, call=self.call) is None:
            return b""
        if self.payload.compacts:
            self._state.clear()
        self.told, self.standing, self.block, self.gone = told, standing, block, gone
        self._latency_ms = (time.monotonic() - self.started) * 1000
        return harness.answer(self.payload, block)

    @property
    def events(self) -> tuple[str, ...]:
        """The events whose words the session was told: no turn tells them again."""
        return (*self.told.events, *self.standing.events)

    def record(self, *, lock_timeout: float = 0.02) -> str:
        """Write the ledger row and what the session was shown; return why there is no row, or ""."""
        if self.workspace is None or self._state is None or not self.block:
            return ""
        from recall import ledger  # with the record's writing side: imported once the answer has left
        from transcript.log import Log

        self._state.settle([*self.events, *filter(None, (self.standing.mark,))])
        if self.gone is not None:
            window_state.note_told(self.workspace.run_dir, self.payload.session, self.gone)
        how = ledger.Circumstances(
            mode=ledger.START_MODE,
            latency_ms=self._latency_ms,
            call=self.call or os.urandom(8).hex(),
            note=self.note,
            source=self.payload.source,
            told=self.told.events,
            standing=self.standing.account(),
        )
        turn = Turn(self.block, (), tokens=self.told.tokens + self.standing.tokens)
        row = ledger.draft(self._query, turn, self._settings, how, now=self.now)
        try:
            Log(self.workspace).append_or_spool(row, now=self.now, lock_timeout=lock_timeout)
        except RecordError:
            return "record_not_writable"
        return ""

    def _gone(self, workspace: Workspace) -> Left | None:
        """What a compaction took out of the window, where it is the reason of this start."""
        if self.payload.source != "compact":
            return None
        return window_state.left(workspace.run_dir, self.payload.session, announced=True)

    def _standing(self, workspace: Workspace, beside: str, count_tokens: CountTokens) -> Standing:
        """What the session always carries, as far as it fits into the harness's cap beside the handoff."""
        name, cap = self.payload.harness, caps.cap_of(self.payload.harness)
        if not self._carried.told_tokens:
            return Standing()
        return standing_context.tell(
            standing_context.held(workspace.run_dir),
            places(self.data, workspace.root, self._carried.folders),
            role=self._query.role or "",
            audience=self._query.audience,
            now=self.now,
            chars=self._carried.chars,
            most_tokens=self._carried.told_tokens,
            fits=lambda block: caps.fits(_joined(block, beside), name, most_bytes=cap.bytes),
            count_tokens=count_tokens,
        )

    def _read_settings(self, env: Mapping[str, str]) -> None:
        try:
            found = config.load(self.data, self.workspace.root if self.workspace else None, env)
        except ConfigError:
            hook_counters.add(self.data, self.payload.harness, "config_not_readable")
            return
        self._settings, self._handoff = found.settings(), found.handoff()
        self._carried, self._audience = found.standing(), found.audience()


def _joined(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block)
