"""A command line does not repeat an oversized argument that it refuses: what was pasted may be a record's words."""

import pytest
from support.command import runner

from health.refusals import CANARY
from transcript.errors import CurationError
from transcript.telling import MOST_ARGUMENT, MOST_QUOTED, quoted, unechoed

PASTED = CANARY[:2000]
LINES = [
    ["show", PASTED],
    ["show", f"{PASTED}#0-9"],
    ["context", "--since", PASTED],
    ["context", "--type", PASTED],
    ["config", PASTED],
    ["decide", "Use Python", "--evidence", PASTED],
    ["decide", "Use Python", "--kind", PASTED],
    ["correct", PASTED, "it is 8443"],
    ["task", "start", PASTED],
    ["question", "resolve", PASTED, "yes"],
    ["memory", "show", PASTED],
    ["memory", "list", "--state", PASTED],
    ["memory", "accept", PASTED],
    ["coord", "read", "--id", PASTED],
    ["coord", "inspect", PASTED],
    ["role", "show", PASTED],
    ["session", "show", PASTED],
    ["retention", "--older-than", PASTED],
    ["grant", "show", PASTED],
    ["sync", "--adapter", PASTED],
    ["export", "--session", PASTED],
    ["doctor", PASTED],
    ["pack", "show", PASTED],
    ["eval", "self", "--set", f"gate.threshold={PASTED}"],
    [PASTED],
    ["query", "port", f"--{PASTED}"],
]


@pytest.mark.parametrize(
    "words", LINES, ids=[" ".join(word for word in line if len(word) < 20) or "it" for line in LINES]
)
def test_an_oversized_argument_is_refused_and_not_repeated(words, tmp_path, monkeypatch, capsys):
    """LCA-D-07."""
    monkeypatch.chdir(tmp_path)
    recall = runner(capsys)
    assert recall("init").code == 0

    done = recall(*words)

    assert done.code != 0
    assert "zq9x" not in done.out + done.err
    assert (done.out + done.err).strip()


def test_a_path_and_what_was_typed_are_repeated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    recall = runner(capsys)
    assert recall("init").code == 0
    path = f"/nowhere/{'folder/' * 30}file.jsonl"
    assert MOST_QUOTED < len(path) < MOST_ARGUMENT

    assert path in recall("import", path).err
    assert "'hgfd'" in recall("context", "--since", "hgfd").err


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (f"no event {PASTED} here", "no event a text of 2,000 characters here"),
        (f"'{PASTED}' is none", "a text of 2,000 characters is none"),
        (f"{PASTED[:70]!r}… is none", "'a text of 2,000 characters'… is none"),
        ("the port is 8443", "the port is 8443"),
    ],
)
def test_a_text_that_is_too_long_leaves_a_message_whole_or_cut(message, told):
    assert unechoed(message, ["port", PASTED]) == told


def test_a_value_is_quoted_as_long_as_somebody_may_have_typed_it():
    assert quoted("8443") == "'8443'"
    assert quoted(["a"]) == "['a']"
    assert quoted("x" * MOST_QUOTED) == f"'{'x' * MOST_QUOTED}'"
    assert quoted("x" * (MOST_QUOTED + 1)) == "a text of 101 characters"
    assert quoted({"a": "x" * 200}) == f"a text of {len(repr({'a': 'x' * 200}))} characters"


def test_a_tool_of_the_protocol_does_not_repeat_what_it_was_called_with():
    """LCA-D-07: what a client pasted into a call does not come back in the call's error."""
    pytest.importorskip("mcp")
    from mcp.server.mcpserver.exceptions import ToolError

    from recall.mcp_server import Desk

    def refuse(words):
        raise CurationError(f"no task is called {words[-1]}; 'recall task list' shows them")

    with pytest.raises(ToolError) as error:
        Desk(refuse).call("task", ["task", "start", PASTED])

    assert str(error.value) == "no task is called a text of 2,000 characters; 'recall task list' shows them"
