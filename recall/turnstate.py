"""What a session has been shown since its last compaction, and who answers when a hook runs twice.

On the hook path: standard library only. One small file per session under `run/turns/`, derived: losing it costs at
most one repeated item. Two identical calls at the same time (a hook installed for the user and for the project)
inject once: the first one claims the prompt.
"""

import contextlib
import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from transcript.lock import FileLock
from transcript.paths import read_derived, write_atomic

TWIN_SECONDS = 5.0
LOCK_SECONDS = 0.05
MOST_IDS = 2000
KEEP_DAYS = 30


@dataclass(slots=True)
class _State:
    injected: list[str] = field(default_factory=list)
    claims: dict[str, float] = field(default_factory=dict)
    opening: str = ""  # how the session started, until a prompt has been told where the work stands
    last: "Last | None" = None


@dataclass(frozen=True, slots=True)
class Last:
    """The last injection of a session: its ledger event, its words by checksum, whether it was used."""

    turn: str
    words: frozenset[int] = frozenset()
    used: bool | None = None  # None until the answer is in the record


class TurnState:
    """The state of one session. Without a session id nothing is remembered, and twins are still told apart."""

    def __init__(self, run_dir: Path, session: str, *, cwd: str = "") -> None:
        name = hashlib.sha256(f"{session}\x1f{'' if session else cwd}".encode("utf-8", "surrogatepass")).hexdigest()[
            :24
        ]
        self.session = session
        self.path = run_dir / "turns" / f"{name}.json"

    def shown(self) -> frozenset[str]:
        """Return the events already injected, and claim nothing."""
        return frozenset(_read(self.path).injected) if self.session else frozenset()

    def begin(self, prompt: str, *, now: datetime, call: str = "") -> frozenset[str] | None:
        """Claim a prompt and return the events already injected; None when a twin of this call has it.

        `call` is the harness's own id of the prompt, where it gives one: the same prompt typed again is another
        call. A lock that cannot be had in time is no reason to stay silent.
        """
        key = hashlib.sha256(f"{call}\x1f{prompt}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
        at = now.timestamp()
        with _Held(self.path, seconds=LOCK_SECONDS) as held:
            state = _read(self.path)
            if abs(at - state.claims.get(key, float("-inf"))) <= TWIN_SECONDS:  # either may be first
                return None
            if held:
                fresh = {k: v for k, v in state.claims.items() if abs(at - v) <= TWIN_SECONDS}
                _write(self.path, replace(state, claims={**fresh, key: at}))
        return frozenset(state.injected) if self.session else frozenset()

    def settle(self, events: list[str], last: Last | None = None) -> None:
        """Remember what was injected: the events, and the injection they came in."""
        if not events or not self.session:
            return
        with _Held(self.path, seconds=1.0):
            state = _read(self.path)
            known = set(state.injected)
            state.injected += [event for event in dict.fromkeys(events) if event not in known]
            _write(self.path, replace(state, injected=state.injected[-MOST_IDS:], last=last or state.last))

    def last(self) -> Last | None:
        """Return the session's last injection, None before the first and after a compaction."""
        return _read(self.path).last if self.session else None

    def mark(self, turn: str, *, used: bool) -> None:
        """Note whether the session's last injection was used; of an older one it is of no use any more."""
        with _Held(self.path, seconds=1.0):
            state = _read(self.path)
            if state.last is not None and state.last.turn == turn and state.last.used != used:
                _write(self.path, replace(state, last=replace(state.last, used=used)))

    def opening(self) -> str:
        """Return how the session started, "" once its opening was told.

        A session of which nothing is known yet has just started: its first prompt may come before its start is noted.
        """
        if not self.session:
            return ""
        return _read(self.path).opening if self.path.exists() else "startup"

    def open(self, source: str) -> None:
        """Remember how the session started, for its next prompt; "" when that prompt has been answered."""
        if not self.session:
            return
        with _Held(self.path, seconds=1.0):
            state = _read(self.path)
            _write(self.path, replace(state, opening=source))

    def clear(self) -> None:
        """Forget what was injected: the session was compacted and no longer holds it."""
        with _Held(self.path, seconds=1.0):
            if self.path.exists():
                state = _read(self.path)
                _write(self.path, replace(state, injected=[], last=None))


def forget(path: Path, events: frozenset[str]) -> bool:
    """Drop erased events and every claim from one session's file; tell whether it changed."""
    with _Held(path, seconds=1.0):
        state = _read(path)
        kept = [event for event in state.injected if event not in events]
        if not (state.claims or state.last) and kept == state.injected:
            return False
        _write(path, _State(kept, opening=state.opening))
        return True


def prune(run_dir: Path, *, now: datetime) -> int:
    """Remove the states of sessions, and of their windows, that were silent for 30 days; return how many."""
    oldest = now.timestamp() - KEEP_DAYS * 86_400
    gone = 0
    for folder in (run_dir / "turns", run_dir / "window"):
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.suffix in (".json", ".lock", ".md") and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
                gone += path.suffix == ".json"
    return gone


class _Held:
    """The lock beside a state; says whether it was got."""

    def __init__(self, path: Path, *, seconds: float) -> None:
        self._lock = FileLock(path.with_suffix(".lock"))
        self._seconds = seconds

    def __enter__(self) -> bool:
        try:
            return self._lock.acquire(self._seconds)
        except OSError:  # a folder that may only be read
            return False

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _read(path: Path) -> _State:
    """A state that is missing or damaged is an empty one: it is derived, and the turn goes on."""
    try:
        raw = read_derived(path)
        return _State(
            [event for event in raw["injected"] if isinstance(event, str)],
            {str(key): float(value) for key, value in raw["claims"].items()},
            str(raw.get("opening", "")),
            _last(raw.get("last")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return _State()


def _last(raw: Any) -> Last | None:
    return Last(str(raw["turn"]), frozenset(map(int, raw["words"])), raw.get("used")) if raw else None


def _write(path: Path, state: _State) -> None:
    held: dict[str, Any] = {"injected": state.injected, "claims": state.claims}
    if state.opening:
        held["opening"] = state.opening
    if state.last is not None:
        held["last"] = {"turn": state.last.turn, "words": sorted(state.last.words), "used": state.last.used}
    text = json.dumps(held, separators=(",", ":"))
    with contextlib.suppress(OSError):
        write_atomic(path, text.encode(), durable=False)
