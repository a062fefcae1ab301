"""pi."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World

THEIRS = "export default function () {}\n"


class Pi(Client):
    harness = "pi"
    program = "pi"
    node = 20
    shell = ("bash", {"command": ECHO})

    def prepare(self, world: "World") -> None:
        theirs = world.project / ".pi" / "extensions" / "theirs.js"
        theirs.parent.mkdir(parents=True)
        theirs.write_text(THEIRS)
        (world.home / ".pi" / "agent").mkdir(parents=True)

    def point_at(self, world: "World", port: int) -> None:
        stub = {
            "baseUrl": f"http://127.0.0.1:{port}/v1",
            "api": "openai-completions",
            "apiKey": "dummy",
            "models": [{"id": "stub"}],
        }
        models = world.home / ".pi" / "agent" / "models.json"
        models.write_text(json.dumps({"providers": {"stub": stub}}))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {"PI_OFFLINE": "1"}

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        return ["--provider", "stub", "--model", "stub", *(["-c"] if resume else []), "-p", prompt]

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".pi/agent/sessions/*/*.jsonl"))
