"""What the Copilot CLI adapter makes of every kind of event, and what capture makes of its files."""

import pytest
from support.capture import Project, said
from support.copilot import CopilotSession, request
from support.harness import ids, nothing_new, only, read, read_in_steps, read_source, same_everywhere

from transcript.adapters.copilot_cli import CopilotCli
from transcript.adapters.registry import ADAPTERS
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
COPILOT = CopilotCli()


@pytest.fixture
def session():
    return CopilotSession()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / ".copilot" / "session-state"


def test_copilot_is_registered():
    assert "copilot-cli" in [adapter.harness for adapter in ADAPTERS]


def test_user_assistant_call_and_result_become_events(session, tmp_path):
    session.user("Which port?")
    asked = session.assistant("I look.", request("t1", "view", path="a.toml"))
    session.event("tool.execution_start", toolCallId="t1", toolName="view", arguments={"path": "a.toml"})
    session.result("t1", "port = 8080")
    session.assistant("8080.")
    path = session.write(tmp_path)

    drafts = read(COPILOT, path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "view"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
    ]
    prompt, reply, call, result, _ = drafts[:5]
    assert (prompt.actor, prompt.agent, prompt.session) == ("user", "copilot-cli", session.session)
    assert (prompt.ts, prompt.ts_source) == ("2026-06-15T10:01:00.000Z", "record")
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "branch": "main", "file": str(path),
        "parent": session.events[0]["id"],
    }  # fmt: skip
    assert prompt.native == {
        "harness": "copilot-cli", "version": "1.0.102", "id": session.events[1]["id"], "part": 0, "adapter": "1",
        "source": only(COPILOT, path).source,
    }  # fmt: skip
    assert reply.body["message"] == call.body["message"] == asked["data"]["messageId"]
    assert (reply.body["model"], call.body["input"], call.body["call_id"]) == ("stub", {"path": "a.toml"}, "t1")
    assert (result.actor, result.body["call_id"]) == ("tool", "t1")
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_a_call_that_no_message_asked_for_is_taken_from_its_start(session, tmp_path):
    session.event("tool.user_requested", toolCallId="t1", toolName="bash", arguments={"command": "ls"})
    session.event("tool.execution_start", toolCallId="t1", toolName="bash", arguments={"command": "ls"})
    session.result("t1", "", success=False, result=None, error={"message": "no such tool", "code": "x"})

    drafts = read(COPILOT, session.write(tmp_path))

    assert said(drafts) == [("tool_call", "bash"), ("tool_result", "no such tool")]
    assert drafts[1].body["is_error"] is True


def test_only_what_was_typed_is_a_prompt_and_what_hooks_added_is_not(session, tmp_path):
    sent = f"<current_datetime>now</current_datetime>\n\nWhich port?\n\n<system_reminder>\n{BLOCK}\n</system_reminder>"
    session.event("hook.start", hookType="userPromptSubmitted", input={"prompt": "Which port?"})
    session.event("hook.end", hookType="userPromptSubmitted", success=True, output={"additionalContext": BLOCK})
    session.user("Which port?", transformedContent=sent)
    session.user(BLOCK)

    drafts = read(COPILOT, session.write(tmp_path))

    assert said(drafts) == [
        ("system:hook_output", BLOCK),
        ("prompt", "Which port?"),
        ("system:transformed_prompt", sent),
        ("system:injected", BLOCK),
    ]
    assert drafts[0].body["hook"] == "userPromptSubmitted"


@pytest.mark.parametrize(
    ("typed", "data", "expected"),
    [
        ("<system_reminder>x</system_reminder>", {}, ["system:reminder"]),
        ("<system_notification>done</system_notification>\nGo on", {}, ["system:notification", "prompt"]),
        ("Read all of it.", {"source": "skill-pdf"}, ["system:skill"]),
        ("continue", {"source": "autopilot"}, ["system:injected"]),
        ("typed", {"source": "user"}, ["prompt"]),
        ("What is <system_reminder>x</system_reminder>?", {}, ["prompt"]),
    ],
)
def test_an_envelope_is_the_clients(session, tmp_path, typed, data, expected):
    session.user(typed, **data)

    assert [name for name, _ in said(read(COPILOT, session.write(tmp_path)))] == expected


def test_hooks_that_say_nothing_and_bookkeeping_are_counted_only(session, tmp_path):
    session.event("hook.end", hookType="agentStop", success=True)
    session.event("session.usage_record", usage={})
    session.event("subagent.configured", model="stub", multiTurn=True)
    session.event("model.messages_snapshot", kind="messages_snapshot", messages=[{"role": "user", "content": "ours"}])
    session.event("system.message", role="system", content="You are a terminal assistant.")
    session.event("session.shutdown")

    drafts, counts = read_source(COPILOT, session.write(tmp_path))

    assert drafts == []
    assert counts.records["system.message"] == counts.records["hook.end"] == 1


def test_what_the_client_says_of_itself_is_system(session, tmp_path):
    session.event("session.error", message="quota")
    session.event("abort", reason="user initiated")
    session.event("system.notification", content="agent done", kind={"type": "agent_completed"})
    session.event("skill.invoked", name="pdf", content="How to read PDFs")
    session.event("hook.end", hookType="preToolUse", success=False, error="exit 1")

    assert said(read(COPILOT, session.write(tmp_path))) == [
        ("system:api_error", "quota"),
        ("system:interrupted", "user initiated"),
        ("system:notification", "agent done"),
        ("system:skill", "How to read PDFs"),
        ("system:hook_output", "exit 1"),
    ]


def test_reasoning_stands_once_and_only_when_asked_for(session, tmp_path):
    session.event("assistant.reasoning", reasoningId="r", content="a plan")
    session.assistant("Done.", reasoningText="a plan")
    path = session.write(tmp_path)

    assert said(read(COPILOT, path)) == [("reply", "Done.")]
    assert said(read(COPILOT, path), "mark") == [("reasoning_withheld", "capture.reasoning is off")]
    assert said(read(COPILOT, path, reasoning=True)) == [("reasoning", "a plan"), ("reply", "Done.")]


def test_a_sub_agents_events_are_a_workers(session, tmp_path):
    session.user("go")
    session.assistant("", request("t1", "task", agent_type="explore", prompt="look"))
    session.event("subagent.started", toolCallId="t1", agentName="explore", agentDisplayName="Explore")
    session.user("look", parentToolCallId="t1")
    session.assistant("found it", parentToolCallId="t1")
    session.event("subagent.completed", toolCallId="t1", agentName="explore")
    session.result("t1", "found it")

    drafts = read(COPILOT, session.write(tmp_path))

    assert said(drafts) == [
        ("prompt", "go"), ("tool_call", "task"), ("worker_prompt", "look"), ("reply", "found it"),
        ("tool_result", "found it"),
    ]  # fmt: skip
    asked, found = drafts[2:4]
    assert (asked.body["worker"], asked.body["worker_type"], asked.actor) == ("t1", "explore", "assistant")
    assert (found.body["worker"], found.body["flags"]) == ("t1", ["sidechain"])
    assert "worker" not in drafts[4].body


def test_a_compaction_leaves_a_boundary_and_a_summary(session, tmp_path):
    session.user("one")
    session.event("session.compaction_start", conversationTokens=9)
    session.event("session.compaction_complete", success=True, summaryContent="They talked.")
    session.event("session.compaction_complete", success=False, error="too long")

    drafts = read(COPILOT, session.write(tmp_path))

    assert said(drafts) == [
        ("prompt", "one"), ("system:compact_boundary", ""), ("summary", "They talked."),
        ("system:compact_failed", "too long"),
    ]  # fmt: skip
    assert drafts[2].body["covers"] == [drafts[0].id, drafts[0].id]


def test_what_a_rewind_leaves_behind_is_marked(session, tmp_path):
    session.user("one")
    left = session.user("two")
    session.assistant("answer to two")
    session.event("session.snapshot_rewind", upToEventId=left["id"], eventsRemoved=2)
    session.user("another two")

    drafts = read(COPILOT, session.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.type == "mark" and draft.body["mark"] == "abandoned"]
    assert mark.body["events"] == [drafts[1].id, drafts[2].id]


def test_a_file_cut_back_by_a_rewind_is_marked_too(project):
    session = CopilotSession(str(project.root))
    session.user("one")
    session.user("two")
    path = session.write(folder(project))
    project.sync()
    path.write_bytes(b"".join(line + b"\n" for line in session.lines[:2]))

    project.sync()

    [mark] = [event for event in project.events("mark") if event.body["mark"] == "rewound"]
    assert mark.body["events"] == [project.events("conversation_turn")[1].id]


def test_a_fork_that_copies_events_adds_sightings(project):
    one = CopilotSession(str(project.root))
    one.user("shared question")
    one.write(folder(project))
    fork = CopilotSession(str(project.root), seed="fork")
    fork.lines += one.lines[1:]
    fork.user("only here")
    fork.write(folder(project))

    project.sync()

    assert sorted(project.texts("prompt")) == ["only here", "shared question"]
    assert len(project.events("sighting")) == 1
    assert nothing_new(project.sync())


def test_a_resumed_session_may_go_on_in_another_folder(session, tmp_path):
    session.user("one")
    session.event("session.resume", context={"cwd": "/home/dev/shop/sub", "branch": "next"})
    session.user("two")

    one, two = read(COPILOT, session.write(tmp_path))

    assert (one.body["cwd"], one.body["branch"]) == ("/home/dev/shop", "main")
    assert (two.body["cwd"], two.body["branch"]) == ("/home/dev/shop/sub", "next")


def test_unknown_events_are_kept_and_counted_by_type_and_version(session, tmp_path):
    session.event("session.future_thing", anything=1)

    drafts, counts = read_source(COPILOT, session.write(tmp_path))

    assert [draft.type for draft in drafts] == ["unknown"]
    assert counts.unknown == {"session.future_thing@1.0.102": 1}


def test_a_malformed_line_is_skipped_and_reported(project):
    session = CopilotSession(str(project.root))
    session.user("before")
    session.raw(session.lines[1][:40])
    session.user("behind")
    path = session.write(folder(project))

    report = project.sync()

    assert project.texts("prompt") == ["before", "behind"]
    assert [(item[0], item[1], item[3]) for item in report.damaged] == [(str(path), 3, "unreadable JSON")]


def test_an_event_without_a_time_takes_that_before(session, tmp_path):
    session.user("one")
    session.event("user.message", content="two", around={"timestamp": None})

    _, second = read(COPILOT, session.write(tmp_path))

    assert (second.ts, second.ts_source) == ("2026-06-15T10:01:00.000Z", "joined")


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(session, tmp_path):
    session.user("ü \u2028", transformedContent="x", around={"timestamp": "2026-06-15T12:00:00+02:00"})
    session.assistant("I look.", request("t1", b=1, a=2), reasoningText="plan")
    session.event("odd.thing", z=1, a={"c": 1, "b": 2})

    printed = same_everywhere("transcript.adapters.copilot_cli:CopilotCli", session.write(tmp_path))

    assert printed.count(b"\n") == 6


def test_sessions_belong_to_the_project_they_ran_in(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    mine, other = CopilotSession(str(project.root)), CopilotSession(str(tmp_path / "elsewhere"), seed="two")
    mine.user("mine")
    other.user("foreign")
    mine.write(folder(project), old=True)
    other.write(folder(project))

    report = project.sync()

    assert project.texts() == ["mine"]
    assert report.skipped["foreign"] == 1


def test_capture_in_steps_is_capture_at_once(project):
    session = CopilotSession(str(project.root))
    session.user("go")
    session.assistant("I look.", request("t1"))
    session.event("tool.execution_start", toolCallId="t1", toolName="bash", arguments={})
    session.result("t1", "x")
    session.assistant("Done.")
    path = session.write(folder(project))
    whole = path.read_bytes().splitlines(keepends=True)

    for at in range(len(whole)):
        path.write_bytes(b"".join(whole[: at + 1]))
        project.sync()

    drafts = [draft.id for draft in read(COPILOT, path) if draft.type != "mark"]
    assert [draft.id for draft in read_in_steps(COPILOT, path)] == drafts
    assert [event.id for event in project.events() if event.type != "mark"] == drafts
    assert len(ids(project)) == 5
    assert nothing_new(project.sync())


@pytest.mark.real_data
def test_what_todays_client_writes(shared, tmp_path):
    project = Project(tmp_path)

    report = project.sync(sources=shared / "clients" / "fresh" / "copilot-cli", all_roots=True)

    assert (report.files, report.damaged, dict(report.unknown), dict(report.skipped)) == (1, [], {}, {})
    assert project.texts("prompt") == ["please run the echo", "second turn"]
    assert project.texts("reply") == ["Understood.", "Understood."]
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    marked = [event.type for event in project.events() if "zebra-42" in str(event.body)]
    assert marked == ["system"] * 4
    assert nothing_new(project.sync(sources=shared / "clients" / "fresh" / "copilot-cli", all_roots=True))
