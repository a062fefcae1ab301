"""Codex CLI."""

import json
import os
import subprocess
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from support.clients.client import ECHO, Client

if TYPE_CHECKING:
    from support.clients.world import World

CONFIG = """\
model = "stub"
model_provider = "stub"

[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"
env_key = "STUB_KEY"
"""


class Codex(Client):
    harness = "codex"
    program = "codex"
    shell = ("exec_command", {"cmd": ECHO})
    line = "cmd"

    def prepare(self, world: "World") -> None:
        folder = world.home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(CONFIG)
        theirs = {"hooks": [{"type": "command", "command": "true"}]}
        for place in (folder, world.project / ".codex"):
            place.mkdir(exist_ok=True)
            (place / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [theirs]}}, indent="\t"))

    def environment(self, world: "World", port: int) -> dict[str, str]:
        return {"STUB_KEY": "dummy"}

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        return [
            "exec", *(["resume", "--last"] if resume else []),
            "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
            "-c", f'model_providers.stub.base_url="http://127.0.0.1:{port}/v1"', prompt,
        ]  # fmt: skip

    def review(self, world: "World") -> None:
        """Trust the project and every hook in it, as the client's own review at its start does.

        The client is asked for the hashes and the answer is written where the review writes it, so a hook whose line
        the client would not accept stays untrusted here too.
        """
        config = world.home / ".codex" / "config.toml"
        trusted = f'\n[projects.{json.dumps(str(world.project))}]\ntrust_level = "trusted"\n'
        config.write_text(config.read_text() + trusted)
        hooks = self._hooks(world)
        states = (f'\n[hooks.state.{json.dumps(h["key"])}]\ntrusted_hash = "{h["currentHash"]}"\n' for h in hooks)
        config.write_text(config.read_text() + "".join(states))
        assert {hook["trustStatus"] for hook in self._hooks(world)} == {"trusted"}

    def transcripts(self, world: "World") -> list[Path]:
        return sorted(world.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl"))

    def _hooks(self, world: "World") -> list[dict[str, Any]]:
        env = {**world.env, "STUB_KEY": "dummy", "PATH": f"{self.installed.path}{os.pathsep}{world.env['PATH']}"}
        command = [str(self.installed.program), "app-server"]
        with subprocess.Popen(
            command, cwd=world.project, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as server:  # fmt: skip
            assert server.stdin is not None
            assert server.stdout is not None
            try:
                client = {"name": "tests", "version": "1"}
                _ask(server.stdin, server.stdout, 1, "initialize", {"clientInfo": client})
                server.stdin.write('{"method": "initialized"}\n')
                found = _ask(server.stdin, server.stdout, 2, "hooks/list", {"cwds": [str(world.project)]})
            finally:
                server.kill()
        (listed,) = found["data"]
        assert not listed.get("errors"), listed
        return list(listed["hooks"])


def _ask(to: IO[str], answers: IO[str], ident: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    to.write(json.dumps({"id": ident, "method": method, "params": params}) + "\n")
    to.flush()
    for line in answers:
        found = json.loads(line)
        if found.get("id") == ident:
            return dict(found["result"])
    raise AssertionError(f"codex app-server ended before it answered {method}")
