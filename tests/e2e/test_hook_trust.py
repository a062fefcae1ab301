"""What the real Codex calls its hooks once they are reviewed is what health looks for."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support.clients import Client, World

pytestmark = pytest.mark.e2e


def trust(world: World, harness: str) -> dict[str, Any]:
    """The signal as `recall doctor` tells it, which exits 1 where it warns."""
    command = [sys.executable, "-I", "-m", "recall.cli.main", "doctor", f"hook_trusted.{harness}", "--json"]
    done = subprocess.run(
        command, cwd=world.project, env=world.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    (found,) = json.loads(done.stdout)["signals"]
    return dict(found)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_codex_is_named_until_its_hooks_are_reviewed(
    scope: str, clients: Callable[[str], Client], world: World
) -> None:
    client = clients("codex")
    world.add(client)
    world.recall("init")
    world.recall("enable-hooks", "codex", *(["--user"] if scope == "user" else []), "--yes")

    before = trust(world, "codex")
    client.review(world)
    after = trust(world, "codex")

    assert (before["level"], after["level"]) == ("warn", "ok")
    assert "config.toml" in before["text"]
    assert "/hooks" in before["action"]
