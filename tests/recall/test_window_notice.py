"""After a compaction, or a cut by its harness, a session is told once what left its window and where it is."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder
from support.hooks import SITE, project
from support.payloads import raw

from indexer.store import Store
from indexer.tokens import TokenCounter
from recall import background, ledger, window_notice, window_state
from recall.replay import replay_turn
from recall.resident import Resident
from recall.warm_model import WarmModel
from transcript.injected import has_block
from transcript.log import Log
from transcript.workspace import Workspace, init

pytestmark = pytest.mark.skipif(os.name != "posix", reason="clients are started as on Unix")
SESSION = "c0442f2f-a613-5e77-899a-920779fa3307"


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")


@pytest.fixture
def workspace(data: Path) -> Workspace:
    return init(project(), data)


@pytest.fixture
def resident(data: Path, workspace: Workspace) -> Resident:
    return Resident(data, SITE, WarmModel(StubEmbedder), os.environ)


@pytest.fixture
def session() -> ClaudeSession:
    made = ClaudeSession(cwd=str(project()), session=SESSION)
    made.user("Which port?")
    made.assistant("7443.")
    made.tool("call-1", "Bash", {"command": "ls"}, "a.txt")
    made.user("And the other?")
    made.assistant("8080.")
    return made


def captured(data: Path, session: ClaudeSession, *occasions: str) -> None:
    """What runs behind a hook, with the hooks that came."""
    session.write(Path(os.environ["HOME"]) / ".claude")
    background.capture(data, project(), os.environ, occasions=[(name, SESSION) for name in occasions])


def told(resident: Resident, event: str, harness: str = "claude-code", **more: Any) -> str:
    cwd = {"workspace_roots": [str(project())]} if harness == "cursor" else {"cwd": str(project())}
    name = {"copilot-cli": "sessionId", "cursor": "conversation_id", "grok-build": "sessionId"}.get(
        harness, "session_id"
    )
    reply = resident.respond(harness, raw(harness, event, **cwd, **{name: SESSION}, **more), 60)
    if reply.afterwards is not None:
        reply.afterwards(True)
    if not reply.output:
        return ""
    found = json.loads(reply.output)
    inner = found.get("hookSpecificOutput", found)
    return str(inner.get("additionalContext") or inner.get("additional_context") or "")


def ask(resident: Resident, harness: str = "claude-code", words: str = "Please go on.") -> str:
    return told(resident, "UserPromptSubmit", harness, prompt=words)


def ids(data: Path, workspace: Workspace) -> list[str]:
    kinds = ("conversation_turn", "tool_call", "tool_result")
    return [event.id for event in Log(workspace).read() if event.type in kinds]


def test_the_start_after_a_compaction_names_what_left_as_the_record_has_it(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    """LCA-6.1-03."""
    captured(data, session, "PreCompact")
    inside = ids(data, workspace)

    first = told(resident, "SessionStart", source="compact")
    again = told(resident, "SessionStart", source="compact")
    later = ask(resident)

    assert "this session was compacted: at least 4 messages (2 of them the user's) and 1 tool call" in first
    assert f"from {inside[0][:10]} to {inside[-1][:10]}" in first
    assert f"recall context --around {inside[0][:10]}" in first
    assert has_block(first)
    assert (again, later) == ("", "")


@pytest.mark.parametrize("harness", ["claude-code", "cursor", "gemini-cli", "cline", "pi"])
def test_where_the_start_did_not_say_it_the_next_turn_does_once(
    harness: str, data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    captured(data, session, "Stop")
    assert ask(resident, harness) == ""
    session.compact("All of it.")
    captured(data, session, "Stop")

    first, second = ask(resident, harness, "And now?"), ask(resident, harness, "And then?")

    assert "at least 4 messages (2 of them the user's)" in first
    assert second == ""


def test_an_announced_compaction_that_did_not_happen_is_not_told_and_each_one_is_told(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    captured(data, session, "PreCompact")
    assert ask(resident) == ""
    session.compact("All of it.")
    captured(data, session, "Stop")
    first = ask(resident, words="one")
    session.user("Third question?")
    session.assistant("Third answer.")
    session.compact("More of it.")
    captured(data, session, "Stop")
    second, third = ask(resident, words="two"), ask(resident, words="three")

    assert "at least 4 messages" in first
    assert "at least 3 messages (1 of them the user's) and 0 tool calls" in second  # the first summary is one
    assert third == ""


def test_the_notice_is_never_taken_in_as_something_said(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    captured(data, session, "PreCompact")
    notice = told(resident, "SessionStart", source="compact")
    session.attachment("hook_additional_context", content=[notice], hookName="SessionStart", hookEvent="SessionStart")
    session.user(f"You wrote:\n{notice}\nWhy?")
    captured(data, session, "Stop")

    with Store.open(workspace.index_path) as store:
        assert store.lexical(["wrote"], limit=5).hits
        assert not store.lexical(["compacted"], limit=5).hits


def test_a_file_that_the_harness_cut_is_told_too(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    """LCA-6.1-01."""
    captured(data, session, "Stop")
    before = ids(data, workspace)
    path = session.path(Path(os.environ["HOME"]) / ".claude")
    path.write_bytes(b"".join(line + b"\n" for line in session.lines[2:]))
    background.capture(data, project(), os.environ, occasions=[("Stop", SESSION)])

    first, second = ask(resident, words="one"), ask(resident, words="two")

    assert "the harness cut this session's beginning: at least 2 messages (1 of them the user's)" in first
    assert f"from {before[0][:10]} to {before[1][:10]}" in first
    assert second == ""


def test_with_the_policy_off_nothing_is_told(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    """LCA-9.2-02."""
    (data / "config.toml").write_text('[window]\npolicy = "off"\n')
    session.compact("All of it.")
    captured(data, session, "Stop")

    assert ask(resident) == ""


def test_a_sub_agents_prompt_is_told_nothing(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    session.compact("All of it.")
    captured(data, session, "Stop")

    assert told(resident, "UserPromptSubmit", prompt="look", agent_id="a1") == ""
    assert "this session was compacted" in ask(resident)


def test_a_damaged_file_says_nothing(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    session.compact("All of it.")
    captured(data, session, "Stop")
    for path in (workspace.run_dir / window_state.FOLDER).iterdir():
        path.write_bytes(b'{"version": 1, "messages": [')

    assert ask(resident) == ""
    assert window_state.pruned(workspace.run_dir, SESSION) == frozenset()


def test_nothing_is_noted_of_a_session_that_nobody_compacted(
    workspace: Workspace, data: Path, session: ClaudeSession
) -> None:
    captured(data, session, "Stop", "SessionEnd")

    window_notice.note(workspace, [("Stop", "unknown"), ("Stop", "")])

    assert not (workspace.run_dir / window_state.FOLDER).exists()


def test_what_was_pruned_from_the_running_session_is_recalled_by_its_hook_and_can_be_replayed(
    data: Path, workspace: Workspace, resident: Resident, session: ClaudeSession
) -> None:
    """LCA-6.2-05, through the hook: hidden while it stands in the window, found with its pointer once it has left."""
    fact = "The kestrel gateway listens on port 8713 because the heron exporter took 8080 first."
    asked = "On which port does the kestrel gateway listen, and what took 8080?"
    session.assistant(fact)
    captured(data, session, "Stop")
    event = next(e for e in Log(workspace).read() if e.body.get("text") == fact)

    before = ask(resident, words=asked)
    window_state.write_pruned(workspace.run_dir, SESSION, {"pruned": [event.id]})
    after = ask(resident, words=f"{asked} Once more.")

    assert before == ""
    assert f"{event.id[:10]}#0-" in after
    row = ledger.last(Log(workspace), modes=ledger.HOOK_MODES)
    assert row is not None
    body = Log(workspace).body(row)
    assert body["pruned"] == [event.id]
    with Store.open(workspace.index_path) as store:
        assert replay_turn(body, store, None, count_tokens=TokenCounter()).turn.items
