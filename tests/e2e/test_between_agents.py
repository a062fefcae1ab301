"""What one agent decided this morning is in front of another this afternoon, though they never shared a session."""

import shlex
import sys
from collections.abc import Callable

import pytest
from support.clients import Client, World
from support.clients.world import blocks

pytestmark = pytest.mark.e2e

DECISION = "Invoices are numbered per tenant, never globally"
REASON = "the auditors read the numbers as a sequence"
OPENING = "Good afternoon. Please go on with the work."


@pytest.mark.parametrize("afternoon", ["claude-code", "codex", "gemini-cli", "pi", "copilot-cli", "opencode"])
def test_a_cold_start_begins_with_what_the_other_agent_decided(
    world: World, clients: Callable[[str], Client], afternoon: str
) -> None:
    morning = "claude-code" if afternoon == "codex" else "codex"
    first, second = clients(morning), clients(afternoon)
    decide = [sys.executable, "-I", "-m", "recall.cli.main", "decide", DECISION, "--why", REASON]
    tool, arguments = first.shell
    call = {**arguments, first.line: shlex.join(decide)}
    world.recall("init")
    world.enable(second)

    # The first agent runs the command itself, in its own shell: nobody tells recall who it is.
    with world.stub("Decided and recorded.", (tool, call)) as stub:
        world.turn(first, stub, "Decide how invoices are numbered and record it.")
    (decided,) = [event for event in world.record() if event["type"] == "decision"]
    with world.stub("Then I go on.") as stub:
        world.turn(second, stub, OPENING)
        body = next(body for body in stub.requests() if OPENING in body)

    assert (decided["agent"], decided["actor"]) == (morning, "assistant")
    (found,) = blocks(body)
    pointer = decided["id"][:10]
    assert DECISION in found
    assert f"{morning}, agent" in found
    assert pointer in found
    assert REASON in world.recall("show", pointer)
    handoff = world.recall("handoff", "--for", afternoon)
    assert DECISION in handoff
    assert pointer in handoff
