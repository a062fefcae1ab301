"""Three recorded faults of other tools, for every harness, through the service's inside.

Cases recall-output-cap, recall-stdout-purity, recall-feedback-loop. Public references: anthropics/claude-code#91614,
#94358; openai/codex#22861, #45999; thedotmack/claude-mem#98, #105, #621, #3280, #3802, #3910; mem0ai/mem0#4573.
"""

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hooks import SITE, hold_lock, project, remember
from support.payloads import PAYLOADS, context, raw

from recall.caps import cap_of, utf16_units
from recall.contracts import CONTRACTS, PROMPT, START
from recall.harness import Payload, Refused, recognise
from recall.resident import Resident
from recall.warm_model import WarmModel
from transcript.errors import EmbedderUnavailable
from transcript.injected import strip_blocks
from transcript.paths import secure_dir

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the resident service is for Unix")
ANSWERED = [name for name, contract in CONTRACTS.items() if contract.answers]
ASKED = "How do we round invoice totals at the half-even boundary of a ledger line?"
WORDS = [f"{a}{b}" for a in ("ba", "ko", "li", "mu", "ne", "pro", "sta", "tri") for b in ("der", "gon", "lix", "rant")]


def decision(number: int) -> tuple[str, str]:
    """A question and an answer of about 1,500 characters: on the prompt's subject, in words of their own."""
    rng = random.Random(number)
    said = [
        f"We round invoice totals at the half-even boundary of a ledger line in <{rng.choice(WORDS)}> {number} & on."
    ]
    while sum(map(len, said)) < 1400:
        said.append(" ".join(f"{rng.choice(WORDS)}{number}" for _ in range(8)).capitalize() + ".")
    rng.shuffle(said)
    return f"What about {rng.choice(WORDS)}{number}?", " ".join(said)


DECISIONS = tuple(decision(number) for number in range(40))
ROOMY = "[budget]\nitems = 40\nitem_chars = 1500\nchars = 200000\ntokens = 20000\nbytes = 200000\n"


def no_model() -> None:
    raise EmbedderUnavailable("none")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr("recall.spawn.start_capture", lambda *words, **more: True)
    folder = secure_dir(tmp_path / "data")
    held = hold_lock(folder)
    remember(folder, project(), *DECISIONS)
    yield folder
    os.close(held)


def respond(made: Resident, harness: str, event: str, **changes: object) -> bytes:
    cwd = [str(project())] if harness == "cursor" else str(project())
    keys = CONTRACTS[harness].keys
    more = {keys["cwd"]: cwd, keys["session"]: f"a session of {harness}"}
    reply = made.respond(harness, raw(harness, event, **more, **changes), 60)
    if reply.afterwards is not None:
        reply.afterwards(True)
    return reply.output


def resident(data: Path) -> Resident:
    return Resident(data, SITE, WarmModel(no_model), os.environ)


def as_seen(harness: str, block: str) -> str:
    """The block as this harness puts it in front of the model."""
    if harness in ("gemini-cli", "qwen-code"):
        return block.replace("<", "&lt;").replace(">", "&gt;")
    return block


@pytest.mark.parametrize("configured", ["", ROOMY], ids=["default", "20,000 tokens"])
def test_no_harness_gets_more_than_it_takes_and_every_one_gets_whole_items(configured, data):
    (data / "config.toml").write_text(configured)
    made = resident(data)
    for harness in ANSWERED:
        output = respond(made, harness, PROMPT, prompt=ASKED)
        block = context(harness, PROMPT, output)
        cap, seen = cap_of(harness), as_seen(harness, block)

        assert utf16_units(json.dumps(seen, ensure_ascii=False)) + cap.envelope <= cap.units, harness
        assert len(seen.encode()) + cap.envelope <= cap.bytes, harness
        if harness == "codex":
            assert len(block.encode()) / 4 <= 2500
        items = re.findall(r"^\d+\. ", block, re.MULTILINE)
        assert items, harness
        if not configured or cap.units == 10_000:  # else all of them have room
            assert re.search(r"\(([1-9]\d*) more matched and had no room\)", block), harness
        for passage in re.split(r"^\d+\. .*\n", block, flags=re.MULTILINE)[1:]:
            text = passage.split("\n(")[0].split("\n[/recall")[0].strip()
            assert text.endswith((".", "…", "?")), text[-80:]


def test_every_event_of_every_harness_is_answered_with_one_whole_object_or_nothing(data):
    made = resident(data)
    for harness, events in PAYLOADS.items():
        for event in events:
            output = respond(made, harness, event)

            found = context(harness, event, output)
            if event not in (PROMPT, START) or harness == "grok-build":
                assert output == b"", (harness, event)
            else:
                assert output.isascii()
                assert not any(byte < 32 for byte in output)
            assert bool(found) is bool(output)


def test_a_block_that_comes_back_from_any_harness_is_cut_out_whole(data):
    """The frame holds nothing that a harness escapes, and the words around it stay."""
    made = resident(data)
    for harness in ANSWERED:
        block = context(harness, PROMPT, respond(made, harness, PROMPT, prompt=ASKED))

        assert "half-even boundary" in block
        assert strip_blocks(f"before mink-1414 {as_seen(harness, block)} after") == "before mink-1414  after"
        assert strip_blocks(json.dumps(as_seen(harness, block))) == '""'


def test_the_recorded_payloads_of_the_cases_are_taken_by_their_own_line_alone(shared):
    folder = shared / "cases" / "recall-stdout-purity" / "input"
    files = {path.stem: path.read_bytes() for path in folder.glob("*.json")}
    codex = (shared / "cases" / "recall-output-cap" / "input" / "prompt-codex.json").read_bytes()

    for name, harness in (("claude-user-prompt", "claude-code"), ("claude-session-start", "claude-code"),
                          ("codex-user-prompt", "codex")):  # fmt: skip
        assert isinstance(recognise(harness, files[name]), Payload), name
    assert recognise("claude-code", files["codex-user-prompt"]) == Refused("payload_other_harness")
    assert isinstance(recognise("codex", codex), Payload)
