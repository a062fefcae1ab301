"""Copilot CLI."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World


class CopilotCli(Client):
    harness = "copilot-cli"
    program = "copilot"
    node = 18
    shell = ("bash", {"command": ECHO, "description": "says it", "mode": "sync"})

    def prepare(self, world: "World") -> None:
        theirs = {"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "true", "timeoutSec": 7}]}}
        file = world.project / ".github" / "hooks" / "theirs.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(theirs, indent=2))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "stub",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        return ["--allow-all-tools", *(["--continue"] if resume else []), "-p", prompt]

    def review(self, world: "World") -> None:
        """Trust the folder, as the question at an interactive start does: project hooks run only then."""
        config = world.home / ".copilot" / "config.json"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"trustedFolders": [str(world.project)]}))

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".copilot/session-state/*/events.jsonl"))
