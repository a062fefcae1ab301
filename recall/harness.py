"""What a harness's hook sends and what it takes in return. Claude Code; other harnesses get a table of their own.

The same installed line is run by other clients that read Claude Code's settings, with payloads of another shape: such
a payload is recognised and answered with nothing.
"""

import json
from dataclasses import dataclass

PROMPT = "UserPromptSubmit"
CLAUDE_CODE = "claude-code"
EVENTS = (PROMPT, "SessionStart", "Stop", "SessionEnd", "SubagentStop", "PreCompact")
CAPTURE_EVENTS = frozenset({"Stop", "SessionEnd", "SubagentStop", "PreCompact"})
HOOK_TIMEOUT_S = 5  # registered with the harness, far above the client's own deadline

# Keys that no Claude Code payload has: Codex, Grok and Copilot, Qwen Code, Copilot in Pascal case, Cursor.
_FOREIGN = ("turn_id", "hookEventName", "sessionId", "submitted_prompt", "timestamp", "conversation_id")


@dataclass(frozen=True, slots=True)
class Payload:
    """One event of a session, as far as recall uses it."""

    harness: str
    event: str
    session: str
    cwd: str
    prompt: str = ""
    agent: str = ""  # id of the sub-agent inside which the event happened
    source: str = ""  # of SessionStart: startup, resume, clear, compact, fork
    call: str = ""  # the harness's own id of the prompt
    transcript: str = ""  # the session's file

    @property
    def asks(self) -> bool:
        """Whether an answer may be injected: a prompt of the session itself, not of a sub-agent."""
        return self.event == PROMPT and not self.agent

    @property
    def captures(self) -> bool:
        """Whether the session's file has something new to take in."""
        return self.event in CAPTURE_EVENTS

    @property
    def compacts(self) -> bool:
        """Whether what was injected so far leaves the model's window."""
        return self.event == "PreCompact" or (self.event == "SessionStart" and self.source in ("compact", "clear"))


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a payload is not taken; a kind of `recall.hook_counters`."""

    kind: str


def recognise(harness: str, raw: bytes) -> Payload | Refused:
    """Return the payload, or why it is none of this harness. Never raises."""
    if not raw.strip():
        return Refused("payload_empty")
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Refused("payload_not_utf8")
    except (ValueError, RecursionError):
        return Refused("payload_not_json")
    if not isinstance(found, dict):
        return Refused("payload_not_json")
    if harness != CLAUDE_CODE:
        return Refused("payload_unknown_harness")
    if any(key in found for key in _FOREIGN):
        return Refused("payload_other_harness")
    event, session, cwd = (_text(found, key) for key in ("hook_event_name", "session_id", "cwd"))
    if not session or event not in EVENTS or (event == PROMPT and not isinstance(found.get("prompt"), str)):
        return Refused("payload_unknown_shape")
    more = (_text(found, key) for key in ("prompt", "agent_id", "source", "prompt_id", "transcript_path"))
    return Payload(harness, event, session, cwd, *more)


def answer(payload: Payload, block: str) -> bytes:
    """Return what goes to standard output: one JSON object in ASCII, or nothing. Only a prompt is ever answered."""
    if not block or not payload.asks:
        return b""
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": PROMPT, "additionalContext": block}}, separators=(",", ":")
    ).encode("ascii")


def _text(found: dict[str, object], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""
