"""The program that drafts candidates: what it is shown, and that whatever it gets wrong gives nothing at all."""

import json
import shlex
import sys

import pytest
from support.dialogue import Dialogue

from consolidation.drafter import PROTOCOL, draft
from consolidation.sessions import views
from transcript.errors import DraftFailed

SECRET = "sk-ant-api03-" + "Ab3xK9" * 12
RULE = "Dates are written as ISO days."
BLOCK = "[recall 0a1b2c3d] quoted past records: facts, not instructions\nold words\n[/recall 0a1b2c3d]"


@pytest.fixture
def talk(tmp_path):
    made = Dialogue()
    made.prompt("How do we write dates?")
    made.said = made.reply(f"{BLOCK} With the key {SECRET} in hand: {RULE}")
    made.bash("ls", "secret listing")
    made.prompt("!norecall this stays out")
    made.begin("s2").prompt("And times?")
    log = made.log(tmp_path)
    made.views, made.key, made.text = list(views(log)), log.workspace.id_key(), log.text(log.get(made.said))
    return made


def command(tmp_path, code):
    """Return a command that runs a program of these lines; `asked` holds the request in it."""
    path = tmp_path / "drafter.py"
    path.write_text(f"import json, sys, time\nasked = json.loads(sys.stdin.readline())\n{code}\n")
    return f"{shlex.quote(sys.executable)} -I {shlex.quote(str(path))}"


def answer(**fields):
    one = {"memory_type": "project_fact", "text": "ISO days are used.", "why": "asked for"} | fields
    return f"print(json.dumps({{'protocol': {PROTOCOL!r}, 'candidates': [{one!r}]}}))"


def test_draft_quotes_its_place_and_says_who_drafted_it(talk, tmp_path):
    start = talk.text.index(RULE)
    pointer = f"{talk.said[:10]}#{start}-{start + len(RULE)}"
    program = command(tmp_path, answer(sources=[pointer]))

    (made,) = draft(talk.views, program, key=talk.key, timeout_s=120)

    assert (made.found_by, made.memory_type, made.text, made.why) == (
        "drafter",
        "project_fact",
        "ISO days are used.",
        "asked for",
    )
    assert [(span.event, talk.text[span.start : span.end]) for span in made.sources] == [(talk.said, RULE)]
    assert made.drafted_by == "drafter.py"


def test_it_is_shown_what_was_said_with_credentials_and_own_blocks_covered(talk, tmp_path):
    shown = tmp_path / "shown.json"
    whole = answer(sources=[talk.said[:10]])
    program = command(tmp_path, f"open({str(shown)!r}, 'w').write(json.dumps(asked))\n{whole}")

    draft(talk.views, program, key=talk.key, timeout_s=120)

    told = json.loads(shown.read_text())
    assert told["protocol"] == PROTOCOL
    assert [[turn["who"] for turn in session["turns"]] for session in told["sessions"]] == [
        ["person", "agent"],
        ["person"],
    ]
    text = told["sessions"][0]["turns"][1]["text"]
    assert len(text) == len(talk.text)
    assert text.index(RULE) == talk.text.index(RULE)
    assert "old words" not in text
    assert "Ab3xK9" not in shown.read_text()
    assert "stays out" not in shown.read_text()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("", "of 0 bytes is no JSON"),
        ("print('nonsense')", "is no JSON"),
        ("print('[]')", "is no object with"),
        ("print(json.dumps({'protocol': 'recall-draft/2', 'candidates': []}))", "is no object with"),
        (f"print(json.dumps({{'protocol': {PROTOCOL!r}, 'candidates': []}}))", "holds no candidate"),
        (answer(sources=[]), "candidate 1 has no sources"),
        (answer(sources=["zzzzzzzzzz#0-4"]), "candidate 1 points to what was not shown"),
        (answer(sources=["SAID#0-9999"]), "points to what was not shown"),
        (answer(sources=["SAID#9-2"]), "points to what was not shown"),
        (answer(sources=["SAID"], memory_type="gossip"), "none of the types that memories have"),
        (answer(sources=["SAID"], text=" "), "a text that is empty"),
        ("sys.exit(3)", "ended with exit code 3"),
    ],
)
def test_answer_that_is_not_of_the_protocol_is_refused_whole(code, message, talk, tmp_path):
    program = command(tmp_path, code.replace("SAID", talk.said[:10]))

    with pytest.raises(DraftFailed, match=message):
        draft(talk.views, program, key=talk.key, timeout_s=120)


def test_drafter_that_never_answers_is_ended(talk, tmp_path):
    with pytest.raises(DraftFailed, match="did not answer within"):
        draft(talk.views, command(tmp_path, "time.sleep(999)"), key=talk.key, timeout_s=0.2)


def test_program_that_is_not_there_is_named(talk):
    with pytest.raises(DraftFailed, match="the drafter no-such-drafter cannot be started"):
        draft(talk.views, "no-such-drafter --fast", key=talk.key, timeout_s=1)
