"""Real clients to a resume and a compaction: told once, then only what is new, again when the window was emptied."""

import json
from collections.abc import Callable

import pytest
from support.clients import Client, World
from support.clients.world import Stub, blocks

pytestmark = pytest.mark.e2e

DECISION = "Invoices are numbered per tenant, never globally"
LATER = "Ship on Friday"
OTHERS = ("codex", "gemini-cli", "pi", "copilot-cli", "opencode")
FIRST, SECOND, THIRD = "Good morning, nothing yet.", "Still nothing.", "And now?"
COMPACTED = "at this session's compaction"


def asking(stub: Stub, prompt: str) -> str:
    """The request of the prompt itself; a client makes others of its own."""
    return next(body for body in reversed(stub.requests()) if prompt in body)


def test_a_session_is_told_once_and_again_after_its_compaction(world: World, clients: Callable[[str], Client]) -> None:
    client = clients("claude-code")
    world.recall("init")
    world.recall("decide", DECISION, "--actor", "ana", "--as", "human")
    world.enable(client)

    with world.stub("Understood.") as stub:
        world.turn(client, stub, FIRST)
        first = asking(stub, FIRST)
        world.turn(client, stub, SECOND, resume=True)
        second = asking(stub, SECOND)
        world.turn(client, stub, "/compact", resume=True)
        world.turn(client, stub, THIRD, resume=True)
        third = asking(stub, THIRD)
    world.settle()

    (told,) = blocks(first)
    assert DECISION in told
    assert blocks(second) == [told]  # the one of before, in the session's own history
    (again,) = (block for block in blocks(third) if DECISION in block)  # beside the notice of what left the window
    assert COMPACTED in again
    rows = [event["body"] for event in world.record() if event["type"] == "recall"]
    assert [row["source"] for row in rows if row["mode"] == "handoff"] == ["startup", "compact"]


@pytest.mark.parametrize("harness", OTHERS)
def test_a_resumed_session_is_told_what_is_new_and_nothing_again(
    world: World, clients: Callable[[str], Client], harness: str
) -> None:
    client = clients(harness)
    world.recall("init")
    world.recall("decide", DECISION, "--actor", "ana", "--as", "human")
    world.enable(client)

    with world.stub("Understood.") as stub:
        world.turn(client, stub, FIRST)
        first = asking(stub, FIRST)
        world.turn(client, stub, SECOND, resume=True)
        second = asking(stub, SECOND)
        world.recall("decide", LATER, "--actor", "ana", "--as", "human")
        world.turn(client, stub, THIRD, resume=True)
        third = asking(stub, THIRD)

    (told,) = blocks(first)
    assert DECISION in told
    assert second.count(DECISION) <= 1  # the one of before, where the client keeps it in the session's history
    assert third.count(DECISION) <= 1
    assert third.count(LATER) == 1


def test_what_was_told_does_not_come_back_and_the_handoff_holds_the_state_of_before(
    world: World, clients: Callable[[str], Client]
) -> None:
    client = clients("claude-code")
    world.recall("init")
    world.recall("decide", DECISION, "--actor", "ana", "--as", "human")
    world.enable(client)

    with world.stub("Understood.") as stub:
        world.turn(client, stub, FIRST)
        world.turn(client, stub, "/compact", resume=True)
    world.settle()

    said = [event["body"]["text"] for event in world.record() if event["type"] == "conversation_turn"]
    assert FIRST in said
    assert not [text for text in said if "[recall" in text]
    held = [event for event in world.record() if "quoted past records" in json.dumps(event["body"])]
    assert {event["type"] for event in held} <= {"system", "recall"}
    handoff = world.recall("handoff", "--for", "compaction")
    assert DECISION in handoff
    assert FIRST in handoff
