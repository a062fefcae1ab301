"""The start of a session, the same with and without the service: what it is told, and what is written afterwards.

On the hook path: standard library only.
"""

import os
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from recall import config, harness, hook_counters
from recall.config import HandoffSettings
from recall.harness import Payload
from recall.query import Query
from recall.session_start import Told, tell
from recall.settings import Settings
from recall.turn import CountTokens, Turn
from recall.turnstate import TurnState
from transcript.errors import ConfigError, RecordError
from transcript.workspace import owner_root


class HookStart:
    """A session that starts, between its payload and its ledger row. Nothing told leaves no row."""

    def __init__(
        self, payload: Payload, data: Path, *, call: str, now: datetime, started: float, note: str = ""
    ) -> None:
        self.payload, self.data, self.call = payload, data, call
        self.now, self.started, self.note = now, started, note
        self.workspace, _ = owner_root(payload.cwd, data) if payload.cwd else (None, "refused")
        self.told = Told()
        self._settings = Settings()
        self._state: TurnState | None = None
        self._latency_ms = 0.0

    def answer(self, count_tokens: CountTokens, env: Mapping[str, str]) -> bytes:
        """Return what goes to the harness: the short handoff, without what the session was shown before.

        A compaction or a cleared window begins anew. Of two simultaneous calls that would tell the same one answers.
        """
        if self.workspace is None:
            return b""
        self._state = TurnState(self.workspace.run_dir, self.payload.session, cwd=self.payload.cwd)
        wanted = self._read_settings(env)
        told = Told()
        if wanted.session_start:
            told = tell(
                self.workspace,
                harness=self.payload.harness,
                source=self.payload.source,
                session=self.payload.session,
                already=frozenset() if self.payload.compacts else self._state.shown(),
                most_bytes=self._settings.budget.bytes,
                most_tokens=wanted.tokens,
                count_tokens=count_tokens,
            )
        claim = f"{self.payload.source}\n{told.block}"
        if told.block and self._state.begin(claim, now=self.now, call=self.call) is None:
            return b""
        if self.payload.compacts:
            self._state.clear()
        self.told = told
        self._latency_ms = (time.monotonic() - self.started) * 1000
        return harness.answer(self.payload, told.block)

    def record(self, *, lock_timeout: float = 0.02) -> str:
        """Write the ledger row and what the session was shown; return why there is no row, or ""."""
        if self.workspace is None or self._state is None or not self.told.block:
            return ""
        from recall import ledger  # with the record's writing side: imported once the answer has left
        from transcript.log import Log

        self._state.settle(list(self.told.events))
        how = ledger.Circumstances(
            mode=ledger.START_MODE,
            latency_ms=self._latency_ms,
            call=self.call or os.urandom(8).hex(),
            note=self.note,
            source=self.payload.source,
            told=self.told.events,
        )
        query = Query("", self.payload.session, self.payload.harness, self.payload.cwd)
        turn = Turn(self.told.block, (), tokens=self.told.tokens)
        row = ledger.draft(query, turn, self._settings, how, now=self.now)
        try:
            Log(self.workspace).append_or_spool(row, now=self.now, lock_timeout=lock_timeout)
        except RecordError:
            return "record_not_writable"
        return ""

    def _read_settings(self, env: Mapping[str, str]) -> HandoffSettings:
        try:
            found = config.load(self.data, self.workspace.root if self.workspace else None, env)
        except ConfigError:
            hook_counters.add(self.data, self.payload.harness, "config_not_readable")
            return HandoffSettings()
        self._settings = found.settings()
        return found.handoff()
