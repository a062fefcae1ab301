"""Whether a session nearly fills the model's window: then what it has learned is kept before the harness compacts."""

import json

from indexer.passages import event_text
from recall.memory_settings import ConsolidationSettings
from transcript.canonical import canonical
from transcript.errors import RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.paths import write_atomic
from transcript.sieve import Sieve

FILE = "pressure.json"
CHARS_A_TOKEN = 4
KEPT = 200  # crossings remembered
COUNTED = ("conversation_turn", "tool_call", "tool_result", "reasoning")


def crossing(log: Log, session: str, settings: ConsolidationSettings) -> str:
    """Return what names the crossing (session and boundary) once a session has filled its share; "" otherwise.

    Each crossing is told once: what lies behind the last compaction counts, and the next one begins anew.
    """
    wanted = settings.pressure * settings.window_tokens
    if not wanted:
        return ""
    tokens, boundary = filled(log, session)
    name = f"{session}#{boundary}"
    held = _held(log)
    if tokens < wanted or name in held:
        return ""
    kept = [*held, name][-KEPT:]
    write_atomic(log.workspace.run_dir / FILE, json.dumps(kept).encode("ascii"), durable=False)
    return name


def filled(log: Log, session: str) -> tuple[int, int]:
    """Return about how many tokens stand in a session's window, and the number of the compaction they stand behind."""
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
        return len(event_text(event.type, log.body(event)))
    except RecordError:
        return 0


def _held(log: Log) -> list[str]:
    try:
        held = json.loads((log.workspace.run_dir / FILE).read_bytes())
    except (OSError, ValueError):
        return []
    return [str(name) for name in held] if isinstance(held, list) else []
