"""What an agent read through recall itself is no experience: the calls stay, their results have no passages."""

import pytest
from support.talk import Talk, indexed, passages, record, recorded

SAID = "The gateway listens on port 7443."
QUOTED = f"1  abc#0-33  codex session  {SAID}"


def asked(arguments):
    """One exchange that answers, and a later one in which a tool was called and printed the answer."""
    talk = Talk()
    talk.prompt("Which port is it?")
    talk.reply(SAID)
    talk.prompt("Look it up again.")
    talk.call("Bash", arguments)
    call = talk.drafts[-1].body["call_id"]
    talk.add("tool_result", "tool", {"call_id": call, "text": QUOTED, "is_error": False})
    return talk


def texts(store):
    return [passage.text for passage in passages(store)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "recall query 'which port'"},
        {"command": "cd /srv && recall --json show abc#0-33"},
        {"cmd": ["bash", "-lc", "recall handoff --task T1 | head"]},
        {"commands": ["ls", "RECALL_ACTOR=codex /home/dev/.local/bin/recall context --last 20"]},
        {"command": "uv run recall last"},
        {"file_path": "/home/dev/shop/.recall/views/handoff.md"},
    ],
)
def test_what_a_reading_command_printed_has_no_passage(arguments, tmp_path):
    with indexed(recorded(tmp_path, asked(arguments))) as store:
        found = texts(store)

    assert SAID in found
    assert QUOTED not in found
    assert sum(text.startswith("Bash\n") for text in found) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "grep -rn port src"},
        {"command": "recall decide 'use 7443' --why metrics"},
        {"command": "grep 'recall query' notes.txt"},
        {"prompt": "Do you recall context about the gateway?"},
        {"command": "totalrecall show"},
    ],
)
def test_other_results_are_found(arguments, tmp_path):
    with indexed(recorded(tmp_path, asked(arguments))) as store:
        assert QUOTED in texts(store)


def test_a_result_that_comes_with_the_next_run_is_known_by_its_call(tmp_path):
    talk = asked({"command": "recall query port"})
    late = talk.drafts.pop()
    workspace = recorded(tmp_path, talk)
    with indexed(workspace):
        pass
    talk.drafts = [late]
    record(workspace, talk)

    with indexed(workspace) as store:
        assert SAID in texts(store)
        assert QUOTED not in texts(store)
