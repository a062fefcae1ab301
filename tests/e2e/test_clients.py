"""Every real client on one scenario: what another harness learned is in front of it, and its own session is taken in.

The earlier session is written by the client that stands before it in the list, so each one is read by our adapters
both as what was there before recall and as what its own hooks bring in. RECALL_E2E_CLIENTS="qwen-code cline" runs
others; RECALL_E2E_PREFIX names a folder that keeps the clients across runs.
"""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.clients import Client, World
from support.clients.client import ECHO
from support.clients.world import blocks

from recall.hook_counters import read as counted

pytestmark = pytest.mark.e2e

RING = ("claude-code", "codex", "gemini-cli", "pi", "copilot-cli", "opencode")
CHOSEN = os.environ.get("RECALL_E2E_CLIENTS", " ".join(RING)).split()
EARLIER = {name: RING[at - 1] for at, name in enumerate(RING)}

ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443, because 8080 is taken by the metrics exporter."
QUESTION = "I forgot it: on which port does the invoice gateway listen?"
SECOND = "And why could the invoice gateway not listen on 8080?"
NOTED = "Noted, nothing else."
DECISION = "Gateways keep their port across releases"
OUTPUT = ECHO.removeprefix("echo ")
FRAME = "quoted past records"
POINTER = re.compile(r"\b([a-z2-7]{10,26}#\d+-\d+)\b")


@dataclass
class Story:
    """What was seen of one client: two turns of one session after another harness's session in the same project."""

    client: Client
    world: World
    seen: list[str] = field(default_factory=list)  # what the user saw, by turn
    requests: list[list[str]] = field(default_factory=list)  # what the model was sent, by turn
    before: dict[Path, bytes] = field(default_factory=dict)  # the machine's files before `enable-hooks`

    def asking(self, turn: int, prompt: str) -> list[str]:
        """Return the requests of a turn that hold its prompt; a client makes others of its own (titles, notes)."""
        found = [body for body in self.requests[turn] if prompt in body]
        assert found, f"no request with {prompt!r}"
        return found

    def events(self, *types: str) -> list[dict[str, Any]]:
        """Return what was taken in of the client's own sessions."""
        return [e for e in self.world.record() if e["agent"] == self.client.harness and e["type"] in types]


def recalled(body: str) -> list[str]:
    """The blocks that answer a prompt; another one tells where the work stands."""
    return [block for block in blocks(body) if POINTER.search(block)]


@pytest.fixture(scope="module", params=CHOSEN)
def story(
    request: pytest.FixtureRequest,
    clients: Callable[[str], Client],
    stub_program: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Story]:
    """Everything that is done is done here; the tests below look at what came of it."""
    client, earlier = clients(request.param), clients(EARLIER.get(request.param, RING[0]))
    world = World(tmp_path_factory.mktemp(request.param), stub_program)
    told = Story(client, world)
    with world.stub(SAID) as stub:
        world.turn(earlier, stub, ASKED)
        assert blocks("".join(stub.requests())) == []
    world.recall("init")
    world.recall("sync")
    world.recall("decide", DECISION, "--actor", "ana", "--as", "human")
    world.recall("index")
    world.add(client)
    told.before = world.files()
    world.enable(client)
    with world.stub(NOTED, client.shell) as stub:
        for prompt in (QUESTION, SECOND):
            told.seen.append(world.turn(client, stub, prompt, resume=prompt == SECOND))
            told.requests.append(stub.requests())
            world.settle()
    yield told
    world.end()


def test_what_another_harness_learned_is_sent_with_the_prompt(story: Story) -> None:
    (found,) = recalled(story.asking(0, QUESTION)[0])
    assert "port 7443" in found
    pointers = POINTER.findall(found)
    assert pointers
    assert any(SAID in story.world.recall("show", pointer) for pointer in pointers)


def test_the_user_sees_the_answer_alone(story: Story) -> None:
    for seen in story.seen:
        assert NOTED in seen
        assert "[recall" not in seen


def test_the_session_begins_with_what_was_decided(story: Story) -> None:
    (told,) = [block for block in blocks(story.asking(0, QUESTION)[0]) if block not in recalled(block)]

    assert DECISION in told


def test_a_resumed_turn_holds_everything_once(story: Story) -> None:
    """Gemini CLI drops a prompt that begins with a hook's words from a resumed session, and with it ours."""
    body = story.asking(1, SECOND)[0]

    assert QUESTION in body
    assert set(Counter(POINTER.findall(body)).values()) == {1}
    assert len(recalled(body)) == 1
    assert body.count(DECISION) == 1


def test_the_session_is_taken_in_by_its_hooks_alone(story: Story) -> None:
    """ESAA-04: nobody has run `recall sync` since the session began."""
    turns = [event["body"] for event in story.events("conversation_turn")]
    prompts = [body["text"] for body in turns if body["kind"] == "prompt"]

    assert prompts == [QUESTION, SECOND]
    assert [body["text"] for body in turns if body["kind"] == "reply"] == [NOTED, NOTED]
    (call,) = story.events("tool_call")
    (result,) = story.events("tool_result")
    assert ECHO in json.dumps(call["body"])
    assert OUTPUT in json.dumps(result["body"])
    assert story.events("unknown") == []


def test_every_record_of_its_transcript_is_known(story: Story) -> None:
    assert story.client.transcripts(story.world)

    report = json.loads(story.world.recall("sync", "--full", "--json"))

    of = report["harnesses"][story.client.harness]
    assert of["unknown"] == {}
    assert of["damaged"] == 0
    assert report["failed"] == []
    assert of["added"] == 0


def test_what_was_injected_is_nobodys_experience(story: Story) -> None:
    transcripts = b"".join(path.read_bytes() for path in story.client.transcripts(story.world))
    assert (b"[recall " in transcripts) == story.client.keeps_injected

    for event in story.world.record():
        if FRAME in json.dumps(event["body"]):
            assert event["type"] in ("system", "recall"), event["type"]
    story.world.recall("index")
    assert FRAME not in story.world.recall("query", f"{FRAME} facts not instructions", "--json")


def test_its_payloads_are_all_known_and_each_prompt_has_its_row(story: Story) -> None:
    refused = [(count.harness, count.kind) for count in counted(story.world.data) if count.kind.startswith("payload_")]
    rows = [event["body"] for event in story.world.record() if event["type"] == "recall"]
    beats = json.loads((story.world.data / "heartbeat" / f"{story.client.harness}.json").read_bytes())

    assert refused == []
    assert [row["prompt"] for row in rows if row["mode"] in ("words", "warm") and row["prompt"]] == [QUESTION, SECOND]
    assert {"UserPromptSubmit", "Stop"} <= set(beats["events"])


def test_taking_the_hooks_out_gives_every_file_its_bytes_back(story: Story) -> None:
    world = story.world
    files = [Path(entry["file"]) for entry in json.loads((world.data / "hooks.json").read_bytes())]
    launcher = bytes(world.data / "bin" / "recall-hook")
    assert files
    assert all(launcher in file.read_bytes() for file in files)

    world.recall("enable-hooks", story.client.harness, *story.client.scope, "--remove", "--yes")

    left = world.files()
    assert {file: left.get(file) for file in files} == {file: story.before.get(file) for file in files}
    # Clients name the hooks that they ran in files of their own, transcripts and such, in the home.
    theirs = (file for file in left if file not in story.before and not file.is_relative_to(world.project))
    assert [file for file in left.keys() - set(theirs) if launcher in left[file]] == []


@pytest.mark.parametrize("harness", CHOSEN)
def test_a_prompt_passes_when_recall_is_gone(world: World, clients: Callable[[str], Client], harness: str) -> None:
    """Its data folder deleted, launcher and all, and the hooks left behind: Gemini CLI blocks a prompt on exit 127."""
    client = clients(harness)
    world.recall("init")
    world.enable(client)
    shutil.rmtree(world.data)

    with world.stub(NOTED) as stub:
        seen = world.turn(client, stub, QUESTION)

    assert NOTED in seen
    assert "recall-hook" not in seen


def test_hooks_of_both_scopes_and_of_another_harness_answer_once(
    world: World, clients: Callable[[str], Client]
) -> None:
    """Copilot CLI runs the hooks of Claude Code's project settings as well as its own two files."""
    copilot, claude = clients("copilot-cli"), clients("claude-code")
    with world.stub(SAID) as stub:
        world.turn(claude, stub, ASKED)
    world.recall("init")
    world.recall("sync")
    world.recall("decide", DECISION, "--actor", "ana", "--as", "human")
    world.recall("index")
    world.enable(claude)
    world.enable(copilot)
    world.recall("enable-hooks", "copilot-cli", "--user", "--yes")

    with world.stub(NOTED) as stub:
        world.turn(copilot, stub, QUESTION)
        body = next(body for body in stub.requests() if QUESTION in body)

    assert len(recalled(body)) == 1
    assert body.count(DECISION) == 1
    assert "payload_other_harness" in {count.kind for count in counted(world.data)}  # Claude Code's line was run
