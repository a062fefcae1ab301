"""The folder of a harness, read off the path of one of its sessions."""

from pathlib import Path

import pytest

from recall.homes import variable
from transcript.adapters.registry import ADAPTERS

PATHS = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "/opt/x", "/opt/x/projects/-home-ann-p/5b1.jsonl"),
    "codex": ("CODEX_HOME", "/opt/x", "/opt/x/sessions/2026/11/30/rollout-2026-11-30T01-53-53-5b1.jsonl"),
    "gemini-cli": ("GEMINI_CLI_HOME", "/opt/x", "/opt/x/.gemini/tmp/p/chats/session-2026-11-30T01-53-5b1.jsonl"),
    "qwen-code": ("QWEN_RUNTIME_DIR", "/opt/x", "/opt/x/projects/-home-ann-p/chats/5b1.jsonl"),
    "copilot-cli": ("COPILOT_HOME", "/opt/x", "/opt/x/session-state/5b1/events.jsonl"),
    "grok-build": ("GROK_HOME", "/opt/x", "/opt/x/sessions/%2Fhome%2Fann/5b1/updates.jsonl"),
    "pi": ("PI_CODING_AGENT_DIR", "/opt/x", "/opt/x/sessions/--home-ann--/5b1.jsonl"),
    "opencode": ("XDG_DATA_HOME", "/opt/x", "/opt/x/opencode/opencode.db"),
    "cline": ("CLINE_DIR", "/opt/x", "/opt/x/data/sessions/5b1/5b1.messages.json"),
}


@pytest.mark.parametrize("harness", PATHS)
def test_the_variable_moves_the_adapter_to_the_folder_that_holds_the_session(harness):
    name, folder, path = PATHS[harness]
    adapter = next(adapter for adapter in ADAPTERS if adapter.harness == harness)

    found = variable(harness, path)

    assert found == f"{name}={folder}"
    roots = adapter.roots({"HOME": "/home/ann", name: folder})
    assert any(Path(path).is_relative_to(root) for root in roots)
    assert not any(Path(path).is_relative_to(root) for root in adapter.roots({"HOME": "/home/ann"}))


@pytest.mark.parametrize(
    ("harness", "path"),
    [
        ("claude-code", "projects/p/s.jsonl"),
        ("claude-code", "/tmp/s.jsonl"),
        ("claude-code", "/projects/p/s.jsonl/x"),
        ("claude-code", ""),
        ("claude-code", "/opt/a\nHOME=/x/projects/p/s.jsonl"),
        ("cursor", "/home/ann/.cursor/projects/p/agent-transcripts/s.jsonl"),
        ("amp", "/opt/x/projects/p/s.jsonl"),
    ],
)
def test_a_path_that_tells_nothing_names_no_folder(harness, path):
    assert variable(harness, path) == ""
