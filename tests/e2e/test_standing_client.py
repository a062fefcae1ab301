"""A real client is told who it is: at its first request, as the files stand then, and nothing of it is learned."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.clients import Client, World
from support.clients.world import Stub, blocks

pytestmark = pytest.mark.e2e

WHO = "You are the maintainer of the lighthouse timetable."
RULE = "The lamp is never moved after dusk."
LATER = "You are the maintainer of the foghorn."
FIRST, SECOND = "Good morning, nothing yet.", "And now?"
OTHERS = ("codex", "gemini-cli", "pi", "copilot-cli", "opencode")


def asking(stub: Stub, prompt: str) -> str:
    """The request of the prompt itself; a client makes others of its own."""
    return next(body for body in reversed(stub.requests()) if prompt in body)


def identity(world: World, name: str, text: str) -> Path:
    path = world.project / ".recall" / "identity" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_session_holds_its_identity_and_rules_again_after_a_compaction_and_an_edit(
    world: World, clients: Callable[[str], Client]
) -> None:
    client = clients("claude-code")
    world.recall("init", "--scaffold")
    path = identity(world, "IDENTITY.md", f"# Identity\n\n{WHO}\n")
    identity(world, "instructions/lamp.md", f"{RULE}\n")
    world.enable(client)

    with world.stub("Understood.") as stub:
        world.turn(client, stub, FIRST)
        first = asking(stub, FIRST)
        world.settle()  # what the session's end compiles is of before the edit
        path.write_text(f"# Identity\n\n{LATER}\n", "utf-8")
        world.turn(client, stub, "/compact", resume=True)
        world.turn(client, stub, SECOND, resume=True)
        second = asking(stub, SECOND)
    world.settle()

    (told,) = (block for block in blocks(first) if WHO in block)
    assert RULE in told
    assert "standing context, set by the user and kept by recall; 2 of 2 loaded" in told
    assert [block for block in blocks(second) if LATER in block and RULE in block]
    rows = [event["body"] for event in world.record() if event["type"] == "recall"]
    (start, compact) = (row["standing"] for row in rows if "standing" in row)
    assert set(start["loaded"]) == {"project:IDENTITY.md", "project:instructions/lamp.md"}
    assert "project:IDENTITY.md" in compact["changed"]
    said = [event["body"].get("text", "") for event in world.record() if event["type"] == "conversation_turn"]
    assert FIRST in said
    assert not [text for text in said if WHO in text]


@pytest.mark.parametrize("harness", OTHERS)
def test_every_other_client_is_told_too(world: World, clients: Callable[[str], Client], harness: str) -> None:
    """LCA-9.1-01."""
    client = clients(harness)
    world.recall("init")
    identity(world, "IDENTITY.md", f"{WHO}\n")
    world.enable(client)

    with world.stub("Understood.") as stub:
        world.turn(client, stub, FIRST)
        first = asking(stub, FIRST)

    assert json.dumps(WHO)[1:-1] in first
