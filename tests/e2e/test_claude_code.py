"""The real Claude Code client with the real hooks, against a model on the loopback that records what it is sent.

Nothing leaves the machine but the installation of the client from the npm registry (once; RECALL_E2E_PREFIX names a
folder that keeps it).
"""

import json
import re
from collections.abc import Callable

import pytest
from support.clients import Client, Stub, World
from support.clients.world import blocks

pytestmark = pytest.mark.e2e

ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443, because 8080 is taken by the metrics exporter."
QUESTION = "I forgot it: on which port does the invoice gateway listen?"
THIRD = "Once more: on which port does the invoice gateway listen?"
SECOND = "And why could the invoice gateway not listen on 8080?"
POINTER = re.compile(r"\b([a-z2-7]{10,26}#\d+-\d+)\b")


@pytest.fixture
def claude(clients: Callable[[str], Client]) -> Client:
    return clients("claude-code")


def test_a_prompt_is_sent_to_the_model_with_the_earlier_answer_in_front_of_it(world: World, claude: Client) -> None:
    with world.stub(SAID) as stub:
        world.turn(claude, stub, ASKED)
        assert blocks("".join(stub.requests())) == []
    world.recall("init")
    world.enable(claude)
    world.recall("sync")
    world.recall("index")

    with world.stub("Noted, nothing else.") as stub:
        # First turn: words answer it (no service ran yet), and the service is started behind it.
        seen = world.turn(claude, stub, QUESTION)
        bodies = [body for body in stub.requests() if QUESTION in body]
        assert bodies
        assert seen.strip() == "Noted, nothing else."
        found = blocks(bodies[-1])
        assert len(found) == 1
        assert "port 7443" in found[0]
        pointers = POINTER.findall(found[0])
        assert pointers
        shown = "".join(world.recall("show", pointer) for pointer in pointers)
        assert SAID in shown
        assert "7443" in world.recall("last")

        # Second turn of the same session: the client repeats the first block, and the same item is not put in again.
        world.settle()
        world.turn(claude, stub, SECOND, resume=True)
        body = last(stub, SECOND)
        for pointer in pointers:
            assert body.count(pointer) == 1
    world.settle()

    # What was injected has come back in the client's own transcript, and is taken in as nobody's experience.
    world.recall("sync")
    world.recall("index")
    transcripts = "".join(path.read_text() for path in claude.transcripts(world))
    assert "[recall " in transcripts
    events = world.record()
    for event in events:
        if "quoted past records" in json.dumps(event["body"]):
            assert event["type"] in ("system", "recall"), event["type"]
    assert [e["type"] for e in events if "quoted past records" in json.dumps(e["body"]) and e["type"] == "system"]
    ledger = [event["body"] for event in events if event["type"] == "recall"]
    assert [row["prompt"] for row in ledger] == [QUESTION, SECOND]
    assert {row["mode"] for row in ledger} <= {"words", "warm"}
    assert "quoted past records" not in world.recall("query", "quoted past records facts not instructions", "--json")


def test_after_a_compaction_the_same_answer_comes_again(world: World, claude: Client) -> None:
    """What was injected has left the model's window."""
    with world.stub(SAID) as stub:
        world.turn(claude, stub, ASKED)
    world.recall("init")
    world.recall("sync")
    world.recall("index")
    world.enable(claude)
    with world.stub("Noted.") as stub:
        world.turn(claude, stub, QUESTION)
        world.turn(claude, stub, SECOND, resume=True)
        (shown,) = set(answered("".join(stub.requests())))
        world.turn(claude, stub, THIRD, resume=True)
        assert answered(last(stub, THIRD)) == [shown]  # the third turn asks the same and holds the first one's block

        world.turn(claude, stub, "/compact", resume=True)
        world.turn(claude, stub, THIRD, resume=True)
        body = last(stub, THIRD)

    assert answered(body) == [shown]


def last(stub: Stub, prompt: str) -> str:
    """The last request that holds a prompt; the client makes others of its own."""
    return [body for body in stub.requests() if prompt in body][-1]


def answered(body: str) -> list[str]:
    """The pointers of the answer in the blocks of a request."""
    return [p for block in blocks(body) for p in re.findall(r"final answer \| ([a-z2-7]{10,26}#\d+-\d+)", block)]


def test_a_session_is_captured_without_anybody_asking_for_it(world: World, claude: Client) -> None:
    """ESAA-04: after `enable-hooks` no command is needed for a later session to know an earlier one."""
    world.recall("init")
    world.enable(claude)
    with world.stub(SAID) as stub:
        world.turn(claude, stub, ASKED)
        world.settle()
        stub.requests()
        world.turn(claude, stub, QUESTION)
        found = blocks(last(stub, QUESTION))

    assert len(found) == 1
    assert "port 7443" in found[0]


def test_opt_outs_hold_in_the_real_client(world: World, claude: Client) -> None:
    with world.stub(SAID) as stub:
        world.turn(claude, stub, ASKED)
    world.recall("init")
    world.enable(claude)
    world.recall("sync")
    world.recall("index")
    with world.stub("Noted.") as stub:
        world.turn(claude, stub, f"!norecall {QUESTION}")
        world.env["RECALL_OFF"] = "1"
        world.turn(claude, stub, QUESTION)
        del world.env["RECALL_OFF"]
        world.settle()
        taken_in = json.loads(world.recall("sync", "--json"))
        world.recall("index")
        found = world.recall("query", "--json", QUESTION)
        world.recall("exclude", str(world.project))
        world.turn(claude, stub, QUESTION)

        assert blocks("".join(stub.requests())) == []
    assert taken_in["skipped"]["opted_out"] == 1
    assert "port 7443" in found
    assert "Noted." not in found
    assert "!norecall" not in found
