"""What the hooks of each harness get on standard input, key for key as the real clients sent it (November 2026).

Cursor's and the extension files' are written after their contracts; all others were recorded from live runs.
"""

import json
from typing import Any

SESSION = "c0442f2f-a613-5e77-899a-920779fa3307"
CWD = "/home/dev/shop-api"
ASKED = "Which port does the invoice gateway use?"
_ISO = "2026-11-30T01:53:56.012Z"
_CLAUDE_FILE = f"/home/dev/.claude/projects/-home-dev-shop-api/{SESSION}.jsonl"
_CODEX_FILE = f"/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T01-53-53-{SESSION}.jsonl"
_GEMINI_FILE = "/home/dev/.gemini/tmp/shop-api/chats/session-2026-11-30T01-53-c0442f2f.jsonl"
_QWEN_FILE = f"/home/dev/.qwen/projects/-home-dev-shop-api/chats/{SESSION}.jsonl"
_COPILOT_FILE = f"/home/dev/.copilot/session-state/{SESSION}/events.jsonl"
_GROK_FILE = f"/home/dev/.grok/sessions/%2Fhome%2Fdev%2Fshop-api/{SESSION}/updates.jsonl"

_claude = {"session_id": SESSION, "transcript_path": _CLAUDE_FILE, "cwd": CWD}
_codex = {"session_id": SESSION, "transcript_path": _CODEX_FILE, "cwd": CWD}
_codex_turn = {"turn_id": "01a22a28-9901", "model": "gpt-5.2-codex", "permission_mode": "default"}
_gemini = {"session_id": SESSION, "transcript_path": _GEMINI_FILE, "cwd": CWD, "timestamp": _ISO}
_qwen = {
    "session_id": SESSION,
    "transcript_path": _QWEN_FILE,
    "cwd": CWD,
    "timestamp": _ISO,
    "permission_mode": "yolo",
}
_copilot = {"sessionId": SESSION, "timestamp": 1796003652661, "cwd": CWD}
_cursor = {
    "conversation_id": SESSION,
    "generation_id": "g1",
    "model": "auto",
    "cursor_version": "3.20",
    "workspace_roots": [CWD, "/home/dev/other"],
    "user_email": None,
    "transcript_path": None,
}
_grok = {
    "sessionId": SESSION,
    "cwd": CWD,
    "workspaceRoot": f"{CWD}/",
    "timestamp": "2026-11-30T01:56:20.748185733+00:00",
    "transcriptPath": _GROK_FILE,
    "permissionMode": "bypassPermissions",
}


def _neutral(harness: str) -> dict[str, dict[str, Any]]:
    held = {"harness": harness, "session_id": SESSION, "cwd": CWD, "transcript_path": f"/home/dev/.{harness}/s.jsonl"}
    more: dict[str, dict[str, Any]] = {
        "UserPromptSubmit": {"prompt": ASKED},
        "SessionStart": {"source": "startup"},
        "Stop": {},
        "SessionEnd": {},
        "PreCompact": {},
    }
    return {event: {**held, "hook_event_name": event, **keys} for event, keys in more.items()}


PAYLOADS: dict[str, dict[str, dict[str, Any]]] = {
    "claude-code": {
        "UserPromptSubmit": {
            **_claude, "prompt_id": "p1", "permission_mode": "default", "hook_event_name": "UserPromptSubmit",
            "prompt": ASKED,
        },
        "SessionStart": {**_claude, "hook_event_name": "SessionStart", "source": "startup"},
        "Stop": {
            **_claude, "prompt_id": "p1", "permission_mode": "default", "effort": {"level": "high"},
            "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Understood.",
            "background_tasks": [], "session_crons": [],
        },
        "SessionEnd": {**_claude, "prompt_id": "p1", "hook_event_name": "SessionEnd", "reason": "other"},
        "SubagentStop": {
            **_claude, "permission_mode": "default", "hook_event_name": "SubagentStop", "agent_id": "a1",
            "agent_type": "general-purpose", "stop_hook_active": False,
        },
        "PreCompact": {**_claude, "hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""},
    },
    "codex": {
        "UserPromptSubmit": {**_codex, **_codex_turn, "hook_event_name": "UserPromptSubmit", "prompt": ASKED},
        "SessionStart": {
            **_codex, "hook_event_name": "SessionStart", "model": "gpt-5.2-codex", "permission_mode": "default",
            "source": "startup",
        },
        "Stop": {
            **_codex, **_codex_turn, "hook_event_name": "Stop", "stop_hook_active": False,
            "last_assistant_message": "Understood.",
        },
        "SessionEnd": {**_codex, "hook_event_name": "SessionEnd", "reason": "other"},
        "SubagentStop": {**_codex, **_codex_turn, "hook_event_name": "SubagentStop", "agent_id": "a1"},
        "PreCompact": {**_codex, **_codex_turn, "hook_event_name": "PreCompact", "trigger": "auto"},
    },
    "gemini-cli": {
        "UserPromptSubmit": {**_gemini, "hook_event_name": "BeforeAgent", "prompt": ASKED},
        "SessionStart": {**_gemini, "hook_event_name": "SessionStart", "source": "startup"},
        "Stop": {
            **_gemini, "hook_event_name": "AfterAgent", "prompt": ASKED, "prompt_response": "Understood.",
            "stop_hook_active": False,
        },
        "SessionEnd": {**_gemini, "hook_event_name": "SessionEnd", "reason": "exit"},
        "PreCompact": {**_gemini, "hook_event_name": "PreCompress", "trigger": "manual"},
    },
    "qwen-code": {
        "UserPromptSubmit": {
            **_qwen, "hook_event_name": "UserPromptSubmit", "prompt_id": f"{SESSION}########0", "prompt": ASKED,
            "submitted_prompt": ASKED,
        },
        "SessionStart": {**_qwen, "hook_event_name": "SessionStart", "source": "startup", "model": "qwen3"},
        "Stop": {
            **_qwen, "hook_event_name": "Stop", "prompt_id": f"{SESSION}########0", "stop_hook_active": False,
            "last_assistant_message": "Understood.", "background_tasks": [], "crons": [], "input_tokens": 1,
        },
        "SessionEnd": {**_qwen, "hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
        "SubagentStop": {
            **_qwen, "hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "general-purpose",
            "agent_transcript_path": "/home/dev/.qwen/a1.jsonl",
        },
        "PreCompact": {**_qwen, "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": ""},
    },
    "copilot-cli": {
        "UserPromptSubmit": {**_copilot, "prompt": ASKED},
        "SessionStart": {**_copilot, "source": "new", "initialPrompt": ASKED},
        "Stop": {**_copilot, "transcriptPath": _COPILOT_FILE, "stopReason": "end_turn", "stop_hook_active": False},
        "SessionEnd": {**_copilot, "reason": "complete"},
        "SubagentStop": {
            **_copilot, "transcriptPath": _COPILOT_FILE, "agentId": "a1", "agentType": "task", "agentName": "task",
            "response": "Understood.", "parentAgentId": SESSION,
        },
        "PreCompact": {**_copilot, "transcriptPath": _COPILOT_FILE, "trigger": "manual", "customInstructions": ""},
    },
    "cursor": {
        "UserPromptSubmit": {**_cursor, "hook_event_name": "beforeSubmitPrompt", "prompt": ASKED, "attachments": []},
        "SessionStart": {**_cursor, "hook_event_name": "sessionStart", "session_id": SESSION},
        "Stop": {**_cursor, "hook_event_name": "stop", "status": "completed", "loop_count": 0},
        "SessionEnd": {**_cursor, "hook_event_name": "sessionEnd", "session_id": SESSION, "reason": "completed"},
        "SubagentStop": {**_cursor, "hook_event_name": "subagentStop", "status": "completed"},
        "PreCompact": {**_cursor, "hook_event_name": "preCompact", "trigger": "auto"},
    },
    "grok-build": {
        "SessionStart": {**_grok, "hookEventName": "session_start", "source": "new"},
        "Stop": {
            **_grok, "hookEventName": "stop", "promptId": "p1", "reason": "end_turn", "stopHookActive": False,
            "lastAssistantMessage": "Understood.", "backgroundTasks": [], "sessionCrons": [],
        },
        "SessionEnd": {**_grok, "hookEventName": "session_end", "reason": "exit"},
        "SubagentStop": {**_grok, "hookEventName": "subagent_stop", "subagentType": "general"},
        "PreCompact": {**_grok, "hookEventName": "pre_compact", "trigger": "auto"},
    },
    "pi": _neutral("pi"),
    "opencode": _neutral("opencode"),
    "cline": _neutral("cline"),
}  # fmt: skip

# Payloads that reach a line of ours although no line is installed for them.
STRAYS: dict[str, dict[str, Any]] = {
    "grok-build asks": {
        **_grok, "hookEventName": "user_prompt_submit", "promptId": "p1",
        "prompt": f"<user_query>\n{ASKED}\n</user_query>",
    },
    "copilot-cli in Pascal case": {
        "hook_event_name": "UserPromptSubmit", "session_id": SESSION, "timestamp": _ISO, "cwd": CWD, "prompt": ASKED,
    },
    "copilot-cli in Pascal case starts": {
        "hook_event_name": "SessionStart", "session_id": SESSION, "timestamp": _ISO, "cwd": CWD, "source": "new",
        "initial_prompt": ASKED,
    },
    "copilot-cli in Pascal case stops": {
        "hook_event_name": "Stop", "session_id": SESSION, "timestamp": _ISO, "cwd": CWD,
        "transcript_path": _COPILOT_FILE, "stop_reason": "end_turn", "stop_hook_active": False,
    },
}  # fmt: skip


def raw(harness: str, event: str, **changes: Any) -> bytes:
    """The bytes of one payload; a change to None takes the key out."""
    found = {**PAYLOADS[harness][event], **changes}
    return json.dumps({key: value for key, value in found.items() if key not in changes or value is not None}).encode()


def context(harness: str, event: str, output: bytes) -> str:
    """The text that this harness takes from an answer, "" for none; any key that it does not know fails."""
    if not output:
        return ""
    found = json.loads(output)
    if harness in ("claude-code", "codex", "gemini-cli", "qwen-code"):
        name = PAYLOADS[harness][event]["hook_event_name"]
        assert set(found) == {"hookSpecificOutput"}
        assert set(found["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert found["hookSpecificOutput"]["hookEventName"] == name
        return str(found["hookSpecificOutput"]["additionalContext"])
    if harness == "cursor":
        assert set(found) == {"continue", "additional_context"}
        assert found["continue"] is True
        return str(found["additional_context"])
    assert set(found) == {"additionalContext"}
    return str(found["additionalContext"])
