"""The real Claude Code client with our server of tools, against a model on the loopback that calls one of them."""

import json
import sys
from collections.abc import Callable

import pytest
from support.clients import Client, World

pytestmark = pytest.mark.e2e

ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443, because 8080 is taken by the metrics exporter."
LATER = "Look it up in the record: the port of the invoice gateway."


def test_the_client_lists_our_tools_and_the_model_gets_what_search_found(
    world: World, clients: Callable[[str], Client]
) -> None:
    claude = clients("claude-code")
    with world.stub(SAID) as stub:
        world.turn(claude, stub, ASKED)
    world.recall("init")
    world.recall("sync")
    world.recall("index")
    config = world.root / "mcp.json"
    launcher = {"command": sys.executable, "args": ["-I", "-m", "recall.cli.main", "mcp"]}
    launcher["env"] = {"RECALL_HOME": str(world.data)}
    config.write_text(json.dumps({"mcpServers": {"recall": launcher}}))

    with world.stub("Found it.", ("mcp__recall__search", {"query": "invoice gateway port"})) as stub:
        words = ["-p", "--mcp-config", str(config), "--allowedTools", "mcp__recall__search", "--", LATER]
        done = world.run(claude, words, port=stub.port)
        assert done.returncode == 0, done.stderr + done.stdout
        bodies = [json.loads(body) for body in stub.requests()]

    offered = {tool["name"] for body in bodies for tool in body.get("tools", [])}
    assert {f"mcp__recall__{name}" for name in ("search", "show", "context", "handoff", "decide", "task")} <= offered
    answers = [
        json.dumps(part["content"])
        for body in bodies
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part.get("type") == "tool_result"
    ]
    assert answers
    assert SAID in answers[-1]
    assert '"pointer\\": ' in answers[-1].replace('\\\\"', '"') or "pointer" in answers[-1]

    # The session's own transcript is taken in, and the quoted result is not found in place of its source.
    before = world.recall("query", "invoice gateway port 7443", "-n", "20", "--json").count(SAID)
    world.recall("sync")
    assert "own_output" in world.recall("index", "--json")
    assert world.recall("query", "invoice gateway port 7443", "-n", "20", "--json").count(SAID) == before
