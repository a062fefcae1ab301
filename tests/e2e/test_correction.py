"""A correction made in session one stands in front of session two at the right moment, and its use is counted.

The real Claude Code client with the real hooks: nobody types a command of recall between the sessions.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.clients import Client, World
from support.clients.world import blocks

pytestmark = pytest.mark.e2e

ASKED = "Install the dependencies"
CORRECTED = "No: use pnpm, never npm, in this repository."
AGAIN = "Please install the dependencies of the web app"
WHY = "Why did you take that package manager?"
THIRD = "Install the dependencies of the admin app"


def memory(world: World) -> dict[str, Any]:
    """The one preference that is remembered, with what it has done."""
    (line,) = world.recall("memory", "list", "--type", "user_preference", "--json").splitlines()
    shown: dict[str, Any] = json.loads(world.recall("memory", "show", json.loads(line)["id"], "--json"))
    return shown


def test_a_correction_is_in_front_of_the_next_session_and_its_citation_raises_its_weight(
    world: World, clients: Callable[[str], Client]
) -> None:
    claude = clients("claude-code")
    world.recall("init")
    world.enable(claude)

    with world.stub(
        "Done.", ("Bash", {"command": "npm install --dry-run --offline", "description": "Install"})
    ) as stub:
        world.turn(claude, stub, ASKED)
        world.turn(claude, stub, CORRECTED, resume=True)
    world.settle()  # the hook at the session's end has its memories made

    learned = memory(world)
    pointer = learned["id"][:10]
    assert learned["statement"] == CORRECTED

    with world.stub("Installed.") as stub:
        world.turn(claude, stub, AGAIN)
        (body,) = [body for body in stub.requests() if AGAIN in body][-1:]
        assert any(pointer in block and "pnpm" in block for block in blocks(body))
    with world.stub(f"Because of {pointer}: it is to be used here.") as stub:
        world.turn(claude, stub, WHY, resume=True)
    world.settle()

    cited = memory(world)
    assert (learned["hits"], cited["hits"]) == (0, 1)
    assert cited["experience"] > learned["experience"]

    call = ("Bash", {"command": "pnpm install --dry-run --offline", "description": "Install"})
    with world.stub(f"As {pointer} says.", call) as stub:
        world.turn(claude, stub, THIRD)
    world.settle()

    (prevented,) = [event["body"] for event in world.record() if event["type"] == "memory.prevented_mistake"]
    assert prevented["memory"] == learned["id"]
    assert all(prevented[name]["end"] > prevented[name]["start"] for name in ("cited", "action"))
    assert memory(world)["experience"] > cited["experience"]
