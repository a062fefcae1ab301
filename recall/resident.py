"""The resident service's inside: one open index a workspace, one warm model, the same engine as everywhere.

APSW reads the indexes here; the standard `sqlite3` is never imported in this process.
"""

import contextlib
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import recall.engine  # noqa: F401 a turn imports it when it searches; here it is there before the first
from indexer.rows import RowFilter
from indexer.sidefile import SideFile
from indexer.store import Store
from indexer.tokens import TokenCounter
from indexer.vectors import Hit, fault, unit
from recall import config, homes, hook_counters, hook_turn, spawn
from recall.cues import read_cues
from recall.governance_settings import AudienceSettings
from recall.harness import Payload, Refused, recognise
from recall.hook_start import HookStart
from recall.hook_turn import HookTurn, Means
from recall.service import Reply
from recall.settings import Settings
from recall.turn_query import NOT_READ
from recall.warm_model import Job, Vector, WarmModel
from scoring.pool import score_pool
from transcript.errors import ConfigError, IndexMissing, IndexNewer, LockBusy, StoreError
from transcript.workspace import Workspace, owner_root

KEPT_FOR_WORDS_S = 0.15  # of a turn's time, when the model is slow
LEDGER_LOCK_S = 1.0
SIDE_FOLDER = "vectors"
FRESH_S = 2.0  # how long read settings are taken as they are


class Resident:
    """Answers payloads for every workspace of one data folder."""

    def __init__(self, data: Path, site: Path, model: WarmModel, env: Mapping[str, str]) -> None:
        self._data, self._site, self._model, self._env = data, site, model, env
        self._rooms: dict[str, _Room] = {}
        self._guard = threading.Lock()
        self._count_tokens = TokenCounter()
        self._estimated = 0
        self._count_tokens("warm up")

    def respond(self, harness: str, raw: bytes, left_s: float) -> Reply:
        """Return the reply to one payload; its afterwards writes ledger, heartbeat and what the event asks for."""
        started = time.monotonic()
        payload = recognise(harness, raw)
        if isinstance(payload, Refused):
            kind = payload.kind
            return Reply(afterwards=(lambda delivered: hook_counters.add(self._data, harness, kind)) if kind else None)
        if payload.asks:
            return self._answer(payload, started, left_s)
        if payload.opens:
            return self._open(payload, started)
        return Reply(afterwards=lambda delivered: self._note(payload))

    def _answer(self, payload: Payload, started: float, left_s: float) -> Reply:
        now = hook_turn.utc_now()
        turn = HookTurn(payload, self._data, mode="warm", call=payload.call, now=now, started=started)
        turn.open(self._env)
        output = b""
        if turn.workspace is None:
            turn.silent("no_workspace")
        else:
            room, until = self._room(turn.workspace), started + left_s
            if room.lock.acquire(timeout=max(until - time.monotonic(), 0)):
                try:
                    output = self._search(room, turn, until)
                finally:
                    room.lock.release()
            else:  # its client has gone: one searched for all the same would make the next ones late too
                output = turn.silent("deadline")
        return Reply(output, lambda delivered: self._record(turn, delivered))

    def _open(self, payload: Payload, started: float) -> Reply:
        start = HookStart(payload, self._data, call=payload.call, now=hook_turn.utc_now(), started=started)
        output = start.answer(self._count_tokens, self._env)

        def afterwards(delivered: bool) -> None:
            missing = start.record(lock_timeout=LEDGER_LOCK_S) if delivered else ""
            if missing:
                hook_counters.add(self._data, payload.harness, f"ledger:{missing}")
            self._note(payload)

        return Reply(output, afterwards)

    def _search(self, room: "_Room", turn: HookTurn, until: float) -> bytes:
        try:
            store = room.open_store()
            settings, audience = room.settings(self._data, self._env)
            search = _VectorSearch(store, room, self._model, until, settings.retrieval.vector_limit)
            search.expect(turn.payload.prompt, gloss=settings.retrieval.gloss)
            means = Means(store, self._count_tokens, search, score_pool, store.meta(), audience=audience)
            output = turn.answer(means, settings)
            turn.note = search.reason
            return output
        except IndexMissing:
            return turn.silent("no_index")
        except IndexNewer:
            return turn.silent("index_newer")
        except (StoreError, LockBusy) as error:
            room.close()
            hook_counters.add(self._data, turn.payload.harness, f"index:{type(error).__name__}")
            return turn.silent("index_unreadable")

    def _record(self, turn: HookTurn, delivered: bool) -> None:
        """After the answer. A turn whose client has gone is the client's own to record: it answers by words."""
        if not delivered:
            hook_counters.add(self._data, turn.payload.harness, "service_too_late")
            return
        hook_turn.beat(self._data, turn.payload, "warm", turn.workspace)
        if turn.workspace is not None:
            self._warm(turn.workspace)
        if self._count_tokens.fallbacks > self._estimated:
            self._estimated = self._count_tokens.fallbacks
            hook_counters.add(self._data, turn.payload.harness, "tokens_estimated")
        missing = turn.record(lock_timeout=LEDGER_LOCK_S)
        if missing and missing not in ("excluded", "refused"):
            hook_counters.add(self._data, turn.payload.harness, f"ledger:{missing}")

    def _note(self, payload: Payload) -> None:
        workspace, reason = owner_root(payload.cwd, self._data) if payload.cwd else (None, "refused")
        hook_turn.beat(self._data, payload, "warm", workspace)
        if not payload.opens:  # a start that is answered has done so itself
            hook_turn.forget_injected(payload, workspace)
        if payload.event == "SessionStart" and workspace is not None:
            self._warm(workspace)
        if payload.captures and reason not in ("excluded", "refused"):
            name = workspace.id if workspace else ""
            data, site = str(self._data), str(self._site)
            home = homes.variable(payload.harness, payload.transcript)
            told = {"event": payload.event, "session": payload.session}
            spawn.start_capture(data, site, payload.cwd, workspace=name, home=home, **told)
        hook_counters.compact(self._data)

    def _warm(self, workspace: Workspace) -> None:
        """Bring a workspace's index into memory, after an answer or when a session starts."""
        room = self._room(workspace)
        with room.lock:
            try:
                if not room.is_warm:
                    room.warm()
            except (StoreError, LockBusy, OSError):  # the last: a full disk; the turn is still to be recorded
                room.close()

    def _room(self, workspace: Workspace) -> "_Room":
        with self._guard:
            return self._rooms.setdefault(workspace.id, _Room(workspace))


class _Room:
    """What is kept open for one workspace. Used by one turn at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.lock = threading.Lock()
        self._store: Store | None = None
        self._file: tuple[int, int] = (0, 0)
        self._settings, self._audience = Settings(), NOT_READ
        self._read_at = 0.0
        self.is_warm = False
        self._side = SideFile(workspace.run_dir / SIDE_FOLDER)

    def open_store(self) -> Store:
        """Return the open index, opened anew when the file was replaced."""
        try:
            found = self.workspace.index_path.stat()
        except FileNotFoundError:
            self.close()
            raise IndexMissing("no index for this workspace; run 'recall index' first") from None
        if self._store is None or self._file != (found.st_dev, found.st_ino):
            self.close()
            self._store = Store.open(self.workspace.index_path)
            self._file = (found.st_dev, found.st_ino)
        self._store.refresh()
        return self._store

    def close(self) -> None:
        """Let go of the index."""
        if self._store is not None:
            self._store.close()
        self._store = None
        self.is_warm = False

    def settings(self, data: Path, env: Mapping[str, str]) -> tuple[Settings, AudienceSettings]:
        """Return the workspace's settings and who reads along; the files are looked at again after two seconds."""
        if time.monotonic() - self._read_at > FRESH_S:
            try:
                found = config.load(data, self.workspace.root, env, home=self.workspace.home)
                self._settings, self._audience = found.settings(), found.audience()
            except ConfigError:
                hook_counters.add(data, "service", "config_not_readable")
            self._read_at = time.monotonic()
        return self._settings, self._audience

    def nearest(self, store: Store, vector: Vector, k: int, allowed: RowFilter | None) -> list[Hit]:
        """Return the chunks nearest to the unit vector: from the mapped file, from the store until that is warm or
        where the disk takes no more of it.
        """
        if self.is_warm:
            with contextlib.suppress(OSError):
                if self._side.refresh(store):
                    return self._side.nearest(vector, k, allowed)
        return store.nearest(vector, k, allowed)

    def warm(self) -> None:
        """Open index and vectors, outside of any turn: writing the mapped file anew takes longer than a turn may."""
        store = self.open_store()
        meta = store.meta()
        if meta.n_vectors and self._side.refresh(store):
            self._side.nearest(np.zeros(meta.dimension, np.float32), 1)
        self.is_warm = True


class _VectorSearch:
    """The engine's vector search: encodes within the time, then scans; says in `reason` why it found nothing."""

    def __init__(self, store: Store, room: _Room, model: WarmModel, until: float, limit: int) -> None:
        self._store, self._room, self._model, self._until, self._limit = store, room, model, until, limit
        self.reason = ""
        self._expected: Job | None = None
        self._served = False  # a prompt with a gloss asks twice: the second answer may be late

    def expect(self, prompt: str, *, gloss: bool = True) -> None:
        """Let the model begin with a prompt's text while words are searched: it runs beside them on another core."""
        cues = read_cues(prompt, gloss=gloss)
        if not cues.reason and self._store.meta().n_vectors and not self._model.is_busy:
            self._expected = self._model.begin(cues.meaning)

    def __call__(self, prompt: str, allowed: RowFilter | None) -> list[tuple[int, float]] | None:
        meta = self._store.meta()
        if not meta.n_vectors:
            self.reason = "no_vectors"
            return None
        left = self._until - KEPT_FOR_WORDS_S - time.monotonic()
        if self._expected is not None and self._expected.text == prompt:
            vector, reason = self._expected.wait(left)
        else:
            vector, reason = self._model.encode(prompt, seconds=left)
        if vector is None:
            self.reason = "" if self._served else reason
            return None
        embedder = self._model.embedder
        if embedder is None or not self._store.serves(embedder.id, embedder.revision, embedder.dimension):
            self.reason = "other_model"
            return None
        wrong = fault(vector, meta.dimension)
        if wrong:
            self.reason = "vector_unusable"
            return None
        self._served = True
        hits = self._room.nearest(self._store, unit(vector), self._limit, allowed)
        return [(hit.chunk_id, hit.similarity) for hit in hits]
