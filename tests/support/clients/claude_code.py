"""Claude Code."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World


class ClaudeCode(Client):
    harness = "claude-code"
    program = "claude"
    shell = ("Bash", {"command": ECHO, "description": "Say it"})

    def prepare(self, world: "World") -> None:
        file = world.project / ".claude" / "settings.local.json"
        file.parent.mkdir()
        theirs = {"hooks": [{"type": "command", "command": "true", "timeout": 7}]}
        file.write_text(json.dumps({"permissions": {"allow": []}, "hooks": {"Stop": [theirs]}}, indent=4) + "\n")

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            # It leaves out the tools of a server that is not up within 5 s: a busy machine is slower than that.
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "120000",
            "MCP_TIMEOUT": "120000",
        }

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        return ["-p", *(["-c"] if resume else []), "--allowedTools", "Bash", "--", prompt]

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".claude/projects/*/*.jsonl"))
