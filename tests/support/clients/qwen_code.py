"""Qwen Code."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World


class QwenCode(Client):
    harness = "qwen-code"
    program = "qwen"
    node = 22
    shell = ("run_shell_command", {"command": ECHO, "is_background": False})

    def prepare(self, world: "World") -> None:
        theirs = {"hooks": [{"type": "command", "command": "true", "timeout": 7}]}
        own = world.home / ".qwen" / "settings.json"
        own.parent.mkdir()
        # Without $version the client writes the file anew at its start.
        settings = {"$version": 4, "security": {"auth": {"selectedType": "openai"}}, "model": {"name": "stub"}}
        own.write_text(json.dumps(settings))
        of_project = world.project / ".qwen" / "settings.json"
        of_project.parent.mkdir()
        of_project.write_text(json.dumps({"$version": 4, "hooks": {"Stop": [theirs]}}, indent=2))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {
            "OPENAI_API_KEY": "dummy",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_MODEL": "stub",
        }

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        return ["--yolo", *(["-c"] if resume else []), prompt]

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".qwen/projects/*/chats/*.jsonl"))
