"""Where a harness keeps its sessions, told by the path of one of them.

The resident service may have been started from another home than the session that a hook speaks of. On the hook path:
standard library only.
"""

import os
from pathlib import Path

# The variable that moves the harness's folder, and the path of a session below that folder ("*": any name).
_BELOW = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "projects/*/*"),
    "codex": ("CODEX_HOME", "sessions/*/*/*/*"),
    "gemini-cli": ("GEMINI_CLI_HOME", ".gemini/tmp/*/chats/*"),
    "qwen-code": ("QWEN_RUNTIME_DIR", "projects/*/chats/*"),
    "copilot-cli": ("COPILOT_HOME", "session-state/*/*"),
    "grok-build": ("GROK_HOME", "sessions/*/*/*"),
    "pi": ("PI_CODING_AGENT_DIR", "sessions/*/*"),
    "opencode": ("XDG_DATA_HOME", "opencode/*"),
    "cline": ("CLINE_DIR", "data/sessions/*/*"),
}


def variable(harness: str, transcript: str) -> str:
    """Return `NAME=folder` as a capture of this session needs it in its environment, "" where the path tells none."""
    name, pattern = _BELOW.get(harness, ("", ""))
    parts = Path(transcript).parts
    below = pattern.split("/")
    if not name or len(parts) <= len(below) or parts[0] != os.sep or "\n" in transcript:
        return ""
    if any(wanted not in ("*", found) for wanted, found in zip(below, parts[-len(below) :], strict=True)):
        return ""
    return f"{name}={Path(*parts[: -len(below)])}"
