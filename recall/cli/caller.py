"""Who runs a command: a person, an agent of a harness, or a program that recall started.

Told by the environment alone. What a person alone may do asks besides for a terminal (recall.cli.person).
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping

# A variable that a harness sets for the commands its agent runs -> the harness.
AGENTS = {
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini-cli",
    "QWEN_CODE": "qwen-code",
    "COPILOT_CLI": "copilot-cli",
    "PI_CODING_AGENT": "pi",
    "OPENCODE": "opencode",
    "CURSOR_AGENT": "cursor",
}
CHILD = "a program that recall started"


def harness_of(env: Mapping[str, str]) -> str:
    """Return the harness whose agent runs this command, by the variable that it sets; "" for none."""
    return next((harness for variable, harness in AGENTS.items() if env.get(variable)), "")


def is_child(env: Mapping[str, str]) -> bool:
    """Whether recall itself started this program."""
    return env.get("RECALL_CHILD", "") not in ("", "0")


def agent_of(env: Mapping[str, str]) -> str:
    """Return who runs this command in a person's place: a harness, a child of recall, a named agent; "" for none."""
    kind, mark, name = env.get("RECALL_ACTOR", "").partition(":")
    named = (name.strip() or "an agent") if mark and kind.strip().lower() == "agent" else ""
    return harness_of(env) or (CHILD if is_child(env) else "") or named


def name_of(env: Mapping[str, str]) -> str:
    """Return who runs this command: the agent, the person that RECALL_ACTOR names, or the user of this machine."""
    return agent_of(env) or env.get("RECALL_ACTOR", "").partition(":")[2].strip() or user()


def user() -> str:
    """Return the user of this machine, "unknown" where the system has no name for it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
