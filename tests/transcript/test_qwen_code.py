"""What the Qwen Code adapter makes of every kind of record."""

from collections import Counter

import pytest
from support.capture import Project, said
from support.claude import made_uuid
from support.harness import nothing_new, read, read_source, same_everywhere
from support.qwen import QwenSession, text

from transcript.adapters.qwen_code import QwenCode
from transcript.injected import OPEN_PHRASE

ADAPTER = QwenCode()
BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
CONTEXT = f"<qwen:user-prompt-submit-context>\n{BLOCK}\n</qwen:user-prompt-submit-context>"
TURN = [("prompt", "Which port?"), ("tool_call", "run_shell_command"), ("tool_result", "8080"), ("reply", "8080.")]


def talk(**fields) -> QwenSession:
    session = QwenSession(**fields)
    session.user("Which port?", provenance="real_user")
    session.tool("c1", {"command": "cat port"}, {"output": "8080"})
    session.assistant("8080.")
    return session


def turns(drafts):
    return [entry for entry in said(drafts) if not entry[0].startswith("system:")]


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    made.env["QWEN_HOME"] = str(tmp_path / "qwen")
    return made


@pytest.fixture
def home(tmp_path):
    return tmp_path / "qwen"


def test_a_turn_becomes_one_event_a_part_with_every_field(tmp_path):
    session = talk()
    path = session.write(tmp_path)

    drafts = read(ADAPTER, path)

    assert turns(drafts) == TURN
    prompt, call, result, reply = drafts[:4]
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "branch": "main", "file": str(path),
    }  # fmt: skip
    assert (prompt.ts, prompt.ts_source, prompt.session) == ("2026-06-15T10:00:00.000Z", "record", session.session)
    assert (prompt.agent, prompt.native["id"], prompt.native["version"]) == (
        "qwen-code", made_uuid("one", 0), "0.24.4",
    )  # fmt: skip
    assert (call.body["input"], result.body["call_id"]) == ({"command": "cat port"}, "c1")
    assert (reply.body["message"], reply.body["model"]) == (reply.native["id"], "stub")
    assert [draft.actor for draft in drafts[:4]] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("payload", [{"displayText": "Which port?", "hookContext": BLOCK}, None])
def test_what_a_hook_put_beside_a_prompt_is_a_system_event(payload, tmp_path):
    session = QwenSession()
    session.user("Which port?", CONTEXT, **({"systemPayload": payload} if payload else {}))

    drafts = read(ADAPTER, session.write(tmp_path))

    assert said(drafts) == [("prompt", "Which port?"), ("system:hook_context", CONTEXT)]


def test_what_the_client_put_in_the_place_of_a_prompt_is_none(tmp_path):
    session = QwenSession()
    session.user("Read @a.py: print(1)", systemPayload={"displayText": "Read @a.py"})
    session.user("A task ended.", provenance="notification")
    session.user("A reminder.", subtype="cron")
    session.user(BLOCK)

    drafts = read(ADAPTER, session.write(tmp_path))

    assert Counter(said(drafts)) == Counter(
        [
            ("prompt", "Read @a.py"),
            ("system:context", "Read @a.py: print(1)"),
            ("system:notification", "A task ended."),
            ("system:cron", "A reminder."),
            ("system:injected", BLOCK),
        ]
    )


@pytest.mark.parametrize(
    "words",
    ["Why does <qwen:user-prompt-submit-context> appear?", "<hook_context> is a tag, what does it do?", "<b>x</b>"],
)
def test_a_tag_in_a_sentence_is_content(words, tmp_path):
    session = QwenSession()
    session.user(words)

    assert said(read(ADAPTER, session.write(tmp_path))) == [("prompt", words)]


def test_tools_that_failed_and_answers_with_media(tmp_path):
    session = QwenSession()
    session.tool("c1", {}, {"error": "no such file"}, status="error")
    session.tool("c2", {}, {"content": [1]}, status="cancelled")
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    answer = {"functionResponse": {"id": "c3", "name": "x", "response": {"output": "seen"}, "parts": [image]}}
    session.record("tool_result", message={"role": "user", "parts": [answer]})

    results = [draft.body for draft in read(ADAPTER, session.write(tmp_path)) if draft.type == "tool_result"]

    assert [(body["text"], body.get("is_error")) for body in results] == [
        ("no such file", True), ('{"content": [1]}', True), ("seen", None),
    ]  # fmt: skip
    assert results[2]["media"][0]["mime"] == "image/png"


def test_thoughts_are_reasoning_and_dropped_by_default(tmp_path):
    session = QwenSession()
    session.assistant({"text": "a plan", "thought": True}, text("Done."))
    path = session.write(tmp_path)

    off, on = read(ADAPTER, path), read(ADAPTER, path, reasoning=True)

    assert said(off) == [("reply", "Done.")]
    assert said(off, "mark") == [("reasoning_withheld", "capture.reasoning is off")]
    assert said(on) == [("reasoning", "a plan"), ("reply", "Done.")]


def test_system_records_are_counted_commands_or_a_compression(tmp_path):
    session = talk()
    session.system("ui_telemetry", uiEvent={})
    session.system("attribution_snapshot", snapshot={})
    session.system("slash_command", phase="invocation", rawCommand="/compress")
    session.system("slash_command", phase="result", rawCommand="/compress")
    listed = [{"role": "user", "parts": [text("<state_snapshot>\nThey talked.")]}, {"role": "model", "parts": []}]
    session.system("chat_compression", info={"originalTokenCount": 9}, compressedHistory=listed)
    session.system("hologram", x=1)
    session.record("hologram")

    drafts, counts = read_source(ADAPTER, session.write(tmp_path))

    assert said(drafts)[4:] == [
        ("system:command", "/compress"),
        ("system:compact_boundary", ""),
        ("summary", "<state_snapshot>\nThey talked."),
        ("unknown", ""),
        ("unknown", ""),
    ]
    assert counts.unknown == {"system/hologram@0.24.4": 1, "hologram@0.24.4": 1}
    assert [draft.body["covers"] for draft in drafts if draft.body.get("kind") == "summary"] == [
        [drafts[0].id, drafts[3].id]
    ]


def test_a_branch_that_was_left_is_marked(tmp_path):
    session = QwenSession()
    top = session.user("start")
    session.user("a wrong turn")
    session.assistant("A wrong answer.")
    session.user("the right turn", parentUuid=top["uuid"])
    session.assistant("Right.")

    drafts = read(ADAPTER, session.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.body.get("mark") == "abandoned"]
    gone = [draft.body["text"] for draft in drafts if draft.id in mark.body["events"]]
    assert gone == ["a wrong turn", "A wrong answer."]


def test_a_copy_in_another_session_is_sightings(project, home):
    talk(cwd=str(project.root)).write(home)
    copy = talk(cwd=str(project.root), session="00000000-copy")
    copy.user("on from here")
    copy.write(home)

    report = project.sync()

    assert project.texts("prompt") == ["Which port?", "on from here"]
    assert report.sightings == 4
    assert nothing_new(project.sync())


def test_a_sub_agent_belongs_to_its_parents_session(project, home):
    session = talk(cwd=str(project.root))
    session.write(home)
    worker = QwenSession(cwd=str(project.root), seed="worker", session=session.session)
    worker.user("Look into the port")
    worker.assistant("Found it.")
    worker.write(home, worker="explore-1")

    report = project.sync()

    assert (report.files, report.sessions) == (2, 1)
    assert (project.texts("prompt"), project.texts("worker_prompt")) == (["Which port?"], ["Look into the port"])
    assert {event.body.get("worker") for event in project.events("conversation_turn")} == {None, "explore-1"}


def test_capture_at_every_line_equals_capture_of_the_whole(project, home):
    session = talk(cwd=str(project.root))
    session.user("go on")
    lines = session.lines
    for end in range(1, len(lines) + 1):
        session.lines = lines[:end]
        path = session.write(home)
        project.sync()

    whole = {draft.id for draft in read(ADAPTER, path) if draft.type != "mark"}

    assert {event.id for event in project.events() if event.type != "mark"} == whole
    assert nothing_new(project.sync())


def test_a_damaged_line_costs_nothing_else(project, home):
    session = talk(cwd=str(project.root))
    session.lines.insert(2, b'{"uuid": "x", "type": "us')
    session.write(home)

    report = project.sync()

    assert [reason for *_, reason in report.damaged] == ["unreadable JSON"]
    assert project.texts("prompt", "reply") == ["Which port?", "8080."]


def test_where_a_time_comes_from(tmp_path):
    session = QwenSession()
    session.user("timed")
    session.user("untimed", timestamp=None)

    drafts = read(ADAPTER, session.write(tmp_path))

    assert [(draft.ts, draft.ts_source) for draft in drafts] == [
        ("2026-06-15T10:00:00.000Z", "record"),
        ("2026-06-15T10:00:00.000Z", "joined"),
    ]


def test_sessions_of_another_folder_are_not_read(project, home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    talk(cwd=str(project.root)).write(home)
    talk(seed="two", cwd=str(tmp_path / "elsewhere")).write(home)

    report = project.sync()

    assert (report.files, report.skipped) == (1, {"foreign": 1})


def test_in_a_folder_given_by_hand_it_is_not_taken_for_claude_code(project, tmp_path):
    talk().write(tmp_path / "given")
    claude = project.session()
    claude.user("Hello, Claude")
    claude.write(tmp_path / "given")

    report = project.sync(sources=tmp_path / "given", all_roots=True)

    assert {(event.agent, event.body["text"]) for event in project.events("conversation_turn")} == {
        ("qwen-code", "Which port?"), ("qwen-code", "8080."), ("claude-code", "Hello, Claude"),
    }  # fmt: skip
    assert report.skipped == {}


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(tmp_path):
    session = talk()
    session.user("\u2028ü", {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}})
    session.record("hologram", z=1, a={"c": 1, "b": 2})

    printed = same_everywhere("transcript.adapters.qwen_code:QwenCode", session.write(tmp_path))

    assert printed.count(b"\n") == 7


@pytest.mark.real_data
def test_todays_client(shared, project):
    fresh = shared / "clients" / "fresh" / "qwen-code"

    report = project.sync(sources=fresh, all_roots=True)

    assert (report.unknown, report.damaged, report.skipped) == ({}, [], {})
    assert project.texts("prompt", "reply") == ["please run the echo", "Understood.", "second turn", "Understood."]
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    injected = [event for event in project.events() if "zebra-42" in str(event.body)]
    assert {event.body["subtype"] for event in injected} == {"hook_context"}
    assert nothing_new(project.sync(sources=fresh, all_roots=True))
