"""Gemini CLI."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World


class GeminiCli(Client):
    harness = "gemini-cli"
    program = "gemini"
    node = 20
    shell = ("run_shell_command", {"command": ECHO})

    def prepare(self, world: "World") -> None:
        theirs = {"hooks": [{"type": "command", "command": "true", "timeout": 7000}]}
        own = world.home / ".gemini" / "settings.json"
        own.parent.mkdir()
        own.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
        of_project = world.project / ".gemini" / "settings.json"
        of_project.parent.mkdir()
        of_project.write_text("// ours\n" + json.dumps({"hooks": {"AfterAgent": [theirs]}}, indent=2))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"}

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        # Without -m a routing call asks a small model for JSON and retries on the stub's sentence.
        again = ["--resume", "latest"] if resume else []
        return ["--skip-trust", "--yolo", "-m", "gemini-2.5-flash", *again, "-p", prompt]

    def review(self, world: "World") -> None:
        """Trust the folder, as the question at an interactive start does: project hooks run only then."""
        (world.home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(world.project): "TRUST_FOLDER"}))

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".gemini/tmp/*/chats/session-*.jsonl"))
