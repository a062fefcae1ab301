"""opencode."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World


class Opencode(Client):
    harness = "opencode"
    program = "opencode"
    node = 18
    shell = ("bash", {"command": ECHO, "description": "says it"})

    def prepare(self, world: "World") -> None:
        theirs = world.project / ".opencode" / "plugin" / "theirs.js"
        theirs.parent.mkdir(parents=True)
        theirs.write_text("export const Theirs = async () => ({});\n")
        # With a plugin it looks for a package at every start, and offline waits 80 s for it.
        (world.home / ".npmrc").write_text("fetch-retries=0\nfetch-timeout=1000\nregistry=http://127.0.0.1:9/\n")

    def point_at(self, world: "World", port: int) -> None:
        stub = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "dummy"},
            "models": {"stub": {}},
        }
        settings = {"provider": {"stub": stub}, "model": "stub/stub", "small_model": "stub/stub"}
        file = world.home / ".config" / "opencode" / "opencode.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {f"OPENCODE_DISABLE_{what}": "1" for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        return ["run", *(["-c"] if resume else []), prompt]

    def transcripts(self, world: "World") -> list[Path]:
        # The database first: what was said last may stand in its journal alone.
        return sorted(world.home.glob(".local/share/opencode/opencode.db*"))
