"""Whether a session nearly fills the model's window: then what it has learned is kept before the harness compacts.

The figure is the harness's own wherever its file has one: what the record holds is half of what stands in a window.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from indexer.passages import event_text
from recall import picture_tokens, window_host
from recall.memory_settings import ConsolidationSettings
from recall.window_host import HostWindow
from recall.window_usage import Used, used_tokens
from transcript.canonical import canonical
from transcript.capture_state import CaptureState
from transcript.errors import RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.paths import read_file, write_atomic
from transcript.sieve import Sieve
from transcript.workspace import Workspace

FILE = "pressure.json"
CHARS_A_TOKEN = 4
UNSEEN_SHARE = 0.1  # of the window: system prompt, tools and instruction files, where only the record is counted
LEAST_TOKENS = 20_000  # below this no window is nearly full: a harness's own prompt and tools take as much
KEPT = 200  # crossings remembered
COUNTED = ("conversation_turn", "tool_call", "tool_result", "reasoning")
HARNESS, RECORD = "harness", "record"


@dataclass(frozen=True, slots=True)
class Pressure:
    """How full a session's window is: tokens, by whose count (harness or record), in which window."""

    tokens: int
    counted_by: str
    host: HostWindow

    @property
    def share(self) -> float:
        """Return the share of what may stand in the window; above 1 once the harness should have compacted."""
        return self.tokens / max(1, self.host.limit)


@dataclass(frozen=True, slots=True)
class Source:
    """The file that a session grows in, and its harness; what that says of the window."""

    harness: str
    path: Path
    used: Used | None
    written: float = 0.0  # seconds since 1970


def source_of(workspace: Workspace, session: str) -> Source | None:
    """Return the file of a session, the one written last where several hold it; None where capture knows none."""
    found = [
        (_written(Path(state.path)), state.path, state.harness)
        for state in CaptureState(workspace).sources.values()
        if state.session == session and not state.worker and not state.missing
    ]
    if not found:
        return None
    _, path, harness = max(found)
    return source_in(Path(path), harness)


def source_in(path: Path, harness: str) -> Source:
    """Return what a session's file says of its window."""
    return Source(harness, path, used_tokens(path, harness), _written(path))


def measure(tokens: int, source: Source | None, host: HostWindow) -> Pressure:
    """Return the pressure: the harness's figure, else `tokens` of the record and what no record holds."""
    if source is not None and source.used is not None:
        return Pressure(source.used.tokens, HARNESS, host)
    return Pressure(tokens + math.floor(UNSEEN_SHARE * host.limit), RECORD, host)


def crossing(log: Log, session: str, settings: ConsolidationSettings, env: Mapping[str, str]) -> str:
    """Return what names the crossing (session and boundary) once a session has filled its share; "" otherwise.

    Each crossing is told once: what lies behind the last compaction counts, and the next one begins anew.
    """
    if not settings.pressure:
        return ""
    source = source_of(log.workspace, session)
    harness, used = (source.harness, source.used) if source is not None else ("", None)
    window = used.window if used is not None else 0
    host = window_host.of(harness, env, log.workspace.root, window=window)
    if used is not None and used.tokens < min(LEAST_TOKENS, window_host.checkpoint_at(settings, host)):
        return ""  # far from it, wherever it was seen to compact: the record need not be read
    tokens, boundary = filled(log, session)
    name = f"{session}#{boundary}"
    held = _held(log)
    if name in held:
        return ""
    if settings.window_tokens:
        host = window_host.given(settings.window_tokens)
    else:
        seen = window_host.observed(log, harness)
        host = window_host.of(harness, env, log.workspace.root, window=window, seen=seen)
    if measure(tokens, source, host).tokens < window_host.checkpoint_at(settings, host):
        return ""
    kept = [*held, name][-KEPT:]
    write_atomic(log.workspace.run_dir / FILE, json.dumps(kept).encode("ascii"), durable=False)
    return name


def filled(log: Log, session: str) -> tuple[int, int]:
    """Return about how many tokens of the record stand in a session's window, and behind which event's number."""
    chars = 0
    for event in log.read_back(sieve=Sieve(groups=((b',"session":' + canonical(session),),))):
        if event.session != session or event.body.get("worker"):
            continue
        if event.type == "system" and event.body.get("subtype") == "compact_boundary":
            return chars // CHARS_A_TOKEN, event.seq
        chars += _chars(log, event) if event.type in COUNTED else 0
    return chars // CHARS_A_TOKEN, 0


def _chars(log: Log, event: Event) -> int:
    try:
        words, pictures = picture_tokens.split(event_text(event.type, log.body(event)))
        return len(words) + pictures * CHARS_A_TOKEN
    except RecordError:
        return 0


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _held(log: Log) -> list[str]:
    try:
        held = json.loads(read_file(log.workspace.run_dir / FILE))
    except (OSError, ValueError):
        return []
    return [str(name) for name in held] if isinstance(held, list) else []
