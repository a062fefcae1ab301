"""`recall mcp`, asked by the SDK's own client: in this process, and once over standard input and output."""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client
from support.project import exchanges

from indexer.own_output import OwnOutput
from recall.cli import mcp as mcp_command
from recall.cli.app import App
from recall.cli.group import cli, run
from recall.cli.mcp import INSTALL
from recall.cli.warm import Keeper
from recall.mcp_server import environment, server
from transcript.event import Event
from transcript.log import Log

ASKED = "Which port does the pelican gate use?"
SAID = "The pelican gate listens on port 8713, behind the heron proxy."
TOOLS = ["context", "decide", "handoff", "search", "show", "task"]
Talk = Callable[[Client], Awaitable[Any]]


@pytest.fixture
def project(indexed: Callable[..., Path]) -> Path:
    return indexed(exchanges([(ASKED, SAID)]))


def asked(talk: Talk) -> Any:
    """Let a client talk to a server of this folder, in this process."""
    keeper = Keeper(App(environment(os.environ), Path.cwd()), by_agent=True)

    def execute(words: Any) -> None:
        cli.main(args=list(words), prog_name="recall", standalone_mode=False, obj=keeper.app())

    async def go() -> Any:
        async with Client(server(execute)) as client:
            return await talk(client)

    return anyio.run(go)


def results(answer: Any) -> list[dict[str, Any]]:
    assert not answer.is_error, answer.content
    return json.loads(answer.content[0].text)["results"]


def test_the_tools_are_listed_with_what_they_take_and_whether_they_only_read(project: Path) -> None:
    listed = asked(lambda client: client.list_tools()).tools

    assert sorted(tool.name for tool in listed) == TOOLS
    assert {tool.name for tool in listed if tool.annotations.read_only_hint} == {*TOOLS} - {"decide", "task"}
    for tool in listed:
        assert tool.description
        for given in tool.input_schema["properties"].values():
            assert given.get("description") or "enum" in given


def test_search_finds_what_query_finds_and_show_opens_its_pointer(project: Path, capsys: Any) -> None:
    async def talk(client: Client) -> Any:
        found = await client.call_tool("search", {"query": "pelican gate port", "limit": 2})
        pointer = results(found)[0]["pointer"]
        return found, await client.call_tool("show", {"pointer": pointer, "neighbours": 1})

    found, shown = asked(talk)

    capsys.readouterr()
    assert run(["query", "pelican gate port", "-n", "2", "--json"]) == 0
    assert results(found) == [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert SAID in {results(shown)[0]["text"], *(turn["text"] for turn in results(shown)[0]["after"])}


def test_words_that_look_like_an_option_are_words(project: Path) -> None:
    found = asked(lambda client: client.call_tool("search", {"query": "--help pelican"}))

    assert results(found)


def test_context_and_handoff_read_the_record(project: Path) -> None:
    async def talk(client: Client) -> Any:
        return await client.call_tool("context", {"last": 5}), await client.call_tool("handoff", {})

    window, handoff = asked(talk)

    assert [turn["text"] for turn in results(window)[:-1]] == [ASKED, SAID]
    assert "sections" in results(handoff)[0]


def test_a_decision_is_recorded_as_the_agent_that_calls_and_never_as_a_person(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALL_ACTOR", "human:ines")

    async def talk(client: Client) -> Any:
        await client.call_tool("decide", {"statement": "Keep port 8713", "why": "the proxy knows it"})
        return await client.call_tool("task", {"action": "add", "title": "Write the port down"})

    (task,) = results(asked(talk))

    assert task["body"]["task"] == "T1"
    workspace = App(os.environ, project).workspace()
    made = {event.type: event for event in Log(workspace).read() if event.type in ("decision", "task")}
    assert made["decision"].body["statement"] == "Keep port 8713"
    assert {event.body["actor_kind"] for event in made.values()} == {"agent"}
    assert "ines" not in {event.body["actor"] for event in made.values()}


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("show", {"pointer": "zzzzzzzzzz#0-5"}, "zzzzzzzzzz"),
        ("search", {"query": "  "}, "empty"),
        ("search", {"query": "gate", "as_of": "yesterday-ish"}, "yesterday-ish"),
        ("decide", {"statement": "Keep it", "evidence": ["zzzzzzzzzz"]}, "zzzzzzzzzz"),
        ("task", {"action": "done", "name": "T9"}, "T9"),
        ("task", {"action": "add"}, "title"),
        ("task", {"action": "start"}, "T1"),
        ("context", {"last": 2000}, "last"),
    ],
)
def test_what_cannot_be_done_is_an_error_that_names_the_value(
    project: Path, tool: str, given: dict[str, Any], says: str
) -> None:
    before = Log(App(os.environ, project).workspace()).head().seq

    answer = asked(lambda client: client.call_tool(tool, given))

    assert answer.is_error
    assert says in answer.content[0].text
    after = Log(App(os.environ, project).workspace())
    assert [e.type for e in after.read() if e.seq > before and e.type != "recall"] == []


def test_without_a_workspace_a_tool_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    answer = asked(lambda client: client.call_tool("search", {"query": "gate"}))

    assert answer.is_error
    assert "recall init" in answer.content[0].text


def test_the_command_serves_the_protocol_alone_on_its_standard_output(project: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "recall.cli.main", "mcp"],
        env={**os.environ},
        cwd=str(project),
    )

    async def go() -> Any:
        async with Client(stdio_client(command)) as client:
            listed = await client.list_tools()
            window = await client.call_tool("context", {"last": 5})
            return listed, window

    listed, window = anyio.run(go)

    assert sorted(tool.name for tool in listed.tools) == TOOLS
    assert [turn["text"] for turn in results(window)[:-1]] == [ASKED, SAID]


def test_without_the_extra_the_command_says_how_to_install_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "recall.mcp_server", None)

    outcome = CliRunner().invoke(mcp_command.command, [], obj=App(os.environ, project))

    assert outcome.exit_code == 1
    assert INSTALL.split(" (")[0] in outcome.output


@pytest.mark.parametrize(
    ("tool", "text", "own"),
    [
        ("mcp__recall__search", "x", True),
        ("mcp_recall_show", "x", True),
        ("recall-context", "x", True),
        ("recall.handoff", "x", True),
        ("search", '{\n  "recall": "search",\n  "results": []}', True),
        ("mcp__recall__decide", "x", False),
        ("mcp__docs__search", "x", False),
        ("mcp__totalrecall__search", "x", False),
        ("search", '{"recall": 0.8, "precision": 0.7}', False),
    ],
)
def test_what_the_tools_print_is_known_as_our_own_in_a_transcript(
    project: Path, tool: str, text: str, own: bool
) -> None:
    known = OwnOutput(Log(App(os.environ, project).workspace()), None)
    call = next(e for e in Log(App(os.environ, project).workspace()).read() if e.type == "conversation_turn")

    known.note(_event(call, "tool_call", {"tool": tool, "call_id": "c1", "input": {"query": "port"}}))

    assert known.holds(_event(call, "tool_result", {"call_id": "c1", "text": text}), text) is own


def _event(like: Event, kind: str, body: dict[str, Any]) -> Event:
    from dataclasses import replace

    return replace(like, type=kind, body=body)
