"""The real Claude Code client through `/compact`: the request after it names what left the window, once."""

import re
from collections.abc import Callable

import pytest
from support.clients import Client, World
from support.clients.world import Stub, blocks

pytestmark = pytest.mark.e2e

FIRST, SECOND, THIRD, FOURTH = "Good morning, nothing yet.", "Still nothing.", "And now?", "And then?"
NOTICE = re.compile(
    r"this session was compacted: at least (\d+) messages? \((\d+) of them the user's\) and \d+ tool calls?, "
    r"from ([a-z2-7]{10}) to ([a-z2-7]{10}), are no longer in your window"
)


def asking(stub: Stub, prompt: str) -> str:
    """The request of the prompt itself; a client makes others of its own."""
    return next(body for body in reversed(stub.requests()) if prompt in body)


def test_after_a_real_compaction_the_model_is_told_what_left_and_where_it_is(
    world: World, clients: Callable[[str], Client]
) -> None:
    """LCA-6.1-03."""
    client = clients("claude-code")
    world.recall("init")
    world.enable(client)

    with world.stub("Understood.") as stub:
        world.turn(client, stub, FIRST)
        world.turn(client, stub, SECOND, resume=True)
        world.settle()
        before = [event for event in world.record() if event["type"] == "conversation_turn"]
        world.turn(client, stub, "/compact", resume=True)
        world.settle()
        world.turn(client, stub, THIRD, resume=True)
        third = asking(stub, THIRD)
        world.settle()
        world.turn(client, stub, FOURTH, resume=True)
        fourth = asking(stub, FOURTH)
    world.settle()

    told = [found for block in blocks(third) for found in NOTICE.findall(block)]
    assert len(told) == 1
    messages, prompts, first, last = told[0]
    ids = [event["id"][:10] for event in before]
    assert (int(messages), int(prompts)) == (len(before), sum(e["body"]["kind"] == "prompt" for e in before))
    assert (first, last) == (ids[0], ids[-1])
    assert len([found for block in blocks(fourth) for found in NOTICE.findall(block)]) == 1  # in the history alone
    assert FIRST in world.recall("context", "--around", first)
    report = world.recall("window", "report")
    assert "manual compaction" in report
    summaries = [e for e in world.record() if e["body"].get("kind") == "summary"]
    assert {name for e in summaries for name in e["body"].get("covers", [])} <= {e["id"] for e in world.record()}
