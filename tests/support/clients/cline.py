"""Cline's command line."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World


class Cline(Client):
    harness = "cline"
    program = "cline"
    node = 20
    shell = ("run_commands", {"commands": [ECHO]})
    line = "commands"

    def prepare(self, world: "World") -> None:
        theirs = world.project / ".cline" / "plugins" / "theirs.js"
        theirs.parent.mkdir(parents=True)
        theirs.write_text('export default { name: "theirs", manifest: { capabilities: ["hooks"] }, hooks: {} };\n')

    def point_at(self, world: "World", port: int) -> None:
        stub = {
            "provider": "openai-compatible",
            "apiKey": "dummy",
            "model": "stub",
            "baseUrl": f"http://127.0.0.1:{port}/v1",
        }
        file = world.home / ".cline" / "data" / "settings" / "providers.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        at = {"settings": stub, "updatedAt": "2026-11-30T00:00:00.000Z", "tokenSource": "manual"}
        known = {"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}}
        file.write_text(json.dumps({**known, "providers": {"openai-compatible": at}}))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        # The other backend leaves a daemon behind.
        return {"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"}

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        # It resumes in a terminal only: without one the second turn is a session of its own.
        return ["-P", "openai", "-m", "stub", "--auto-approve", "true", prompt]

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".cline/data/sessions/*/*.messages.json"))
