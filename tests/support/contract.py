"""What one session of every harness must hold for the contract that all adapters keep.

Each builder `support.<harness>.contract_sessions(root, cwd)` writes one session that ran in cwd under root, in the
harness's own shape: PROMPT, a call of TOOL with its RESULT, REPLY, where the harness can show it BLOCK (what recall
injected) and ENVELOPE (what the client itself says), and one record of a kind that nobody knows.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.claude import ClaudeSession, tool_result, tool_use
from support.codex import Rollout
from support.copilot import CopilotSession, request
from support.pi import PiSession, tool_call
from transcript.injected import OPEN_PHRASE

PROMPT = "Which port does the pelican gate use?"
REPLY = "The pelican gate uses port 8713."
TOOL = "look"
RESULT = "gate = 8713"
BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
INJECTED = "weasel-1313"
ENVELOPE = "ferret-4711"


@dataclass(frozen=True, slots=True)
class Contract:
    """One built session: where it lies, the ids its harness gave, and what it holds of what not all can show.

    unknown is how the planted unknown record must be counted, "" where the format has no place for one.
    """

    path: Path
    native: frozenset[str]
    unknown: str
    injected: bool = True
    envelope: bool = True


Builder = Callable[[Path, str], Contract]


def builder_of(harness: str) -> Builder | None:
    """Return the builder of a harness: from its own support module, else from here."""
    try:
        module = importlib.import_module(f"support.{harness.partition('-')[0]}")
    except ModuleNotFoundError:
        return _HERE.get(harness)
    found: Builder | None = getattr(module, "contract_sessions", None)
    return found or _HERE.get(harness)


def _claude(root: Path, cwd: str) -> Contract:
    session = ClaudeSession(cwd=cwd, seed=cwd)
    native = [session.user(PROMPT)["uuid"]]
    native.append(session.attachment("hook_additional_context", content=[BLOCK])["uuid"])
    native.append(session.user(f"<system-reminder>{ENVELOPE}</system-reminder>")["uuid"])
    native.append(session.assistant(tool_use("t1", TOOL, path="gate.toml"))["uuid"])
    native.append(session.user([tool_result("t1", RESULT)])["uuid"])
    native.append(session.record("hologram")["uuid"])
    native.append(session.assistant(REPLY)["uuid"])
    return Contract(session.write(root / "claude"), frozenset(native), "hologram@2.1.197")


def _codex(root: Path, cwd: str) -> Contract:
    rollout = Rollout(cwd, seed=cwd)
    rollout.response("message", role="developer", content=[{"type": "input_text", "text": BLOCK}])
    rollout.response(
        "message",
        role="user",
        content=[{"type": "input_text", "text": f"<environment_context>{ENVELOPE}</environment_context>"}],
    )
    rollout.user(PROMPT)
    rollout.tool("t1", {"path": "gate.toml"}, RESULT, TOOL)
    rollout.record("hologram", {"text": "x"})
    rollout.assistant(REPLY)
    return Contract(rollout.write(root / "codex"), frozenset(), "hologram@0.142.5")


def _copilot(root: Path, cwd: str) -> Contract:
    session = CopilotSession(cwd, seed=cwd)
    native = [
        session.event("hook.end", hookType="userPromptSubmitted", success=True, output={"additionalContext": BLOCK})
    ]
    native.append(session.user(PROMPT))
    native.append(session.user(f"<system_reminder>{ENVELOPE}</system_reminder>"))
    native.append(session.assistant("", request("t1", TOOL, path="gate.toml")))
    native.append(session.result("t1", RESULT))
    native.append(session.event("hologram"))
    native.append(session.assistant(REPLY))
    return Contract(session.write(root / "copilot"), frozenset(item["id"] for item in native), "hologram@1.0.102")


def _pi(root: Path, cwd: str) -> Contract:
    session = PiSession(cwd, seed=cwd)
    native = [session.user(PROMPT)]
    native.append(session.entry("custom_message", customType="recall", content=BLOCK, display=False))
    native.append(session.assistant(tool_call("t1", TOOL, path="gate.toml")))
    native.append(session.result("t1", RESULT))
    native.append(session.entry("hologram"))
    native.append(session.assistant(REPLY))
    path = session.write(root / "pi")
    return Contract(path, frozenset(item["id"] for item in native), "hologram@3", envelope=False)


def _gemini(root: Path, cwd: str) -> Contract:
    from support.gemini import GeminiSession, project_hash

    talk = GeminiSession(cwd, seed=cwd)
    native = [talk.user(PROMPT, f"<hook_context>{BLOCK}</hook_context>")]
    native.append(talk.user(f"<session_context>{ENVELOPE}</session_context>"))
    answer = {"functionResponse": {"id": "t1", "name": TOOL, "response": {"output": RESULT}}}
    call = {"id": "t1", "name": TOOL, "args": {"path": "gate.toml"}, "status": "success", "result": [answer]}
    native.append(talk.model("", toolCalls=[call]))
    native.append(talk.message("hologram", "x"))
    native.append(talk.model(REPLY))
    path = talk.write(root / "gemini", folder=project_hash(cwd))
    path.parent.parent.joinpath(".project_root").write_text(cwd)
    return Contract(path, frozenset(item["id"] for item in native), "hologram@")


def _grok(root: Path, cwd: str) -> Contract:
    from support.grok import GrokSession, call

    session = GrokSession(cwd, seed=cwd)
    session.row("user", content=[{"type": "text", "text": f"<user_info>\n{ENVELOPE}\n</user_info>"}])
    session.user(PROMPT)
    session.row("user", content=[{"type": "text", "text": BLOCK}])
    session.assistant("", call("t1", TOOL, target_file="gate.toml"))
    session.result("t1", RESULT)
    session.row("hologram", text="x")
    session.assistant(REPLY)
    return Contract(session.write(root / "grok"), frozenset(), "hologram@chat-v1")


_HERE: dict[str, Builder] = {
    "claude-code": _claude,
    "codex": _codex,
    "copilot-cli": _copilot,
    "gemini-cli": _gemini,
    "grok-build": _grok,
    "pi": _pi,
}
