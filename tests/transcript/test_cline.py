"""What the Cline adapter makes of the command line's sessions and of the extension's tasks."""

import json
from pathlib import Path

import pytest
from support.capture import Project, said
from support.cline import BEGAN, ClineSession, text, tool_result, tool_use
from support.contract import BLOCK
from support.harness import ids, nothing_new, only, read, read_source, same_everywhere

from transcript.adapters.cline import Cline
from transcript.adapters.cline_text import answer_pieces, user_pieces

CLINE = Cline()
DETAILS = "<environment_details>\n# Current Working Directory (/home/dev/shop) Files\na.toml\n</environment_details>"  #


@pytest.fixture
def session():
    return ClineSession()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / ".cline" / "data" / "sessions"


def test_user_assistant_call_and_result_become_events(session, tmp_path):
    asked = session.user("Which port?")
    answered = session.assistant("I look.", tool_use("t1", "run_commands", commands=["cat a.toml", "ls"]))
    session.message("user", tool_result("t1", "port = 8080", "a.toml"))
    session.assistant("8080.")
    path = session.write(tmp_path)

    drafts = read(CLINE, path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "run_commands"),
        ("tool_result", "port = 8080\na.toml"),
        ("reply", "8080."),
    ]
    prompt, reply, call, result, _ = drafts[:5]
    assert (prompt.actor, prompt.agent, prompt.session) == ("user", "cline", session.id)
    assert (prompt.ts, prompt.ts_source) == ("2026-06-15T10:00:00.000Z", "record")
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "file": str(path),
        "message": asked["id"],
    }  # fmt: skip
    assert prompt.native == {
        "harness": "cline", "version": "3.0.65", "id": asked["id"], "part": 0, "adapter": "1",
        "source": only(CLINE, path).source,
    }  # fmt: skip
    assert reply.body["message"] == call.body["message"] == answered["id"]
    assert (call.body["call_id"], result.body["call_id"], reply.body["model"]) == ("t1", "t1", "stub")


def test_what_the_client_says_is_system_and_what_it_injects_is_known(session, tmp_path):
    session.user("typed", text(DETAILS))
    session.message("user", f"<hook_context source='x'>\n{BLOCK}\n</hook_context>", metadata={"displayRole": "system"})
    session.message("user", "told by the client", metadata={"displayRole": "system"})
    session.user("<user_input> is what <task>x</task> does?")

    assert said(read(CLINE, session.write(tmp_path))) == [
        ("prompt", "typed"),
        ("system:environment_details", DETAILS),
        ("system:injected", f"<hook_context source='x'>\n{BLOCK}\n</hook_context>"),
        ("system:client", "told by the client"),
        ("prompt", "<user_input> is what <task>x</task> does?"),
    ]


def test_a_command_that_failed_and_media_are_kept_as_such(session, tmp_path):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    session.user("Look", picture)
    session.assistant(tool_use("t1", "run_commands"))
    session.message("user", tool_result("t1", "no", success=False))

    drafts = read(CLINE, session.write(tmp_path))

    assert drafts[0].body["media"][0]["size"] == 8
    assert [draft.body.get("is_error") for draft in drafts if draft.type == "tool_result"] == [True]


def test_the_words_of_a_tool_that_speaks_are_a_reply(session, tmp_path):
    session.user("go")
    session.assistant(tool_use("t1", "attempt_completion", result="All done."))

    assert said(read(CLINE, session.write(tmp_path)))[1:] == [
        ("tool_call", "attempt_completion"), ("reply", "All done."),
    ]  # fmt: skip


def test_reasoning_is_kept_only_when_asked_for(session, tmp_path):
    session.user("go")
    session.assistant({"type": "thinking", "thinking": "hm"}, "done")
    path = session.write(tmp_path)

    assert ("reasoning", "hm") not in said(read(CLINE, path))
    assert ("reasoning", "hm") in said(read(CLINE, path, reasoning=True))


def test_unknown_kinds_are_kept_and_counted(session, tmp_path):
    session.user("go", {"type": "hologram"})
    session.assistant({"type": "hologram"})
    session.message("oracle", "hm")
    session.messages.append("no message")

    drafts, counts = read_source(CLINE, session.write(tmp_path))

    assert counts.unknown == {
        "user/hologram@3.0.65": 1, "assistant/hologram@3.0.65": 1, "message/oracle@3.0.65": 1, "message/str@3.0.65": 1,
    }  # fmt: skip
    assert sum(draft.type == "unknown" for draft in drafts) == 4


def test_output_is_the_same_everywhere(session, tmp_path):
    session.user("Which port?")
    session.assistant("8080.")

    assert same_everywhere("transcript.adapters.cline:Cline", session.write(tmp_path))


# -- tasks of the extension -------------------------------------------------------------------------


def task(session, tmp_path, **options):
    return session.task(tmp_path / "globalStorage" / "saoudrizwan.claude-dev" / "tasks", **options)


def test_a_task_that_calls_tools_in_plain_text_is_taken_apart(session, tmp_path):
    session.message("user", "<task>\nWhich port?\n</task>", DETAILS)
    session.assistant(
        "<thinking>hm</thinking>\nI look.\n\n<read_file>\n<path>a.toml</path>\n</read_file>",
    )
    session.message("user", "[read_file for 'a.toml'] Result:", "port = 8080", DETAILS)
    session.assistant("<attempt_completion>\n<result>\n8080.\n</result>\n</attempt_completion>")
    session.message("user", "[attempt_completion] Result:\n<feedback>\nAnd TLS?\n</feedback>", DETAILS)
    session.message("user", "[ERROR] You did not use a tool in your previous response!")
    path = task(session, tmp_path)

    drafts = read(CLINE, path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("system:environment_details", DETAILS),
        ("reply", "I look."),
        ("tool_call", "read_file"),
        ("tool_result", "port = 8080"),
        ("system:environment_details", DETAILS),
        ("tool_call", "attempt_completion"),
        ("reply", "8080."),
        ("prompt", "And TLS?"),
        ("system:environment_details", DETAILS),
        ("system:client", "[ERROR] You did not use a tool in your previous response!"),
    ]
    call, result = drafts[3], drafts[4]
    assert call.body["input"] == {"path": "a.toml"}
    assert call.body["call_id"] == result.body["call_id"] != ""
    assert {draft.body["cwd"] for draft in drafts if draft.type != "mark"} == {"/home/dev/shop"}


def test_a_tasks_times_are_joined_from_what_the_screen_showed(session, tmp_path):
    session.message("user", "<task>go</task>")
    session.assistant("done")
    session.message("user", "<feedback>more</feedback>")
    shown = [
        {"ts": BEGAN + 1000, "conversationHistoryIndex": -1},
        {"ts": BEGAN + 2000, "conversationHistoryIndex": 0},
        {"ts": BEGAN + 3000, "conversationHistoryIndex": 0},
        {"ts": BEGAN + 9000, "conversationHistoryIndex": 1},
    ]

    drafts = [draft for draft in read(CLINE, task(session, tmp_path, shown=shown)) if draft.type != "mark"]

    assert [(draft.ts[17:19], draft.ts_source) for draft in drafts] == [
        ("01", "joined"),
        ("02", "joined"),
        ("09", "joined"),
    ]


def test_a_task_finds_its_folder_in_the_list_of_tasks(project):
    session = ClineSession()
    session.message("user", "<task>go</task>")
    storage = project.base / "globalStorage" / "saoudrizwan.claude-dev"
    path = session.task(storage / "tasks")
    (storage / "state").mkdir()
    entry = {"id": path.parent.name, "cwdOnTaskInitialization": str(project.root)}
    (storage / "state" / "taskHistory.json").write_text(json.dumps([{"id": "other"}, entry]))

    report = project.sync(sources=storage)

    assert (project.texts(), report.skipped) == (["go"], {})


def test_messages_without_ids_are_known_again(session, tmp_path):
    for _ in range(2):
        session.message("user", "<feedback>again</feedback>")
    path = task(session, tmp_path)

    first = [draft.id for draft in read(CLINE, path)]

    assert len(set(first)) == len(first)
    assert [draft.id for draft in read(CLINE, path)] == first


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("plain", [("plain", "plain")]),
        ("  indented\n", [("plain", "  indented\n")]),
        ("<task>a</task>\n<environment_details>b</environment_details>", [("said", "a"), ("client", "b")]),
        ("<task>never closed", [("plain", "<task>never closed")]),
        ("<b>bold</b> words", [("plain", "<b>bold</b> words")]),
        ("<answer>yes</answer>\n\nrest", [("said", "yes"), ("plain", "rest")]),
    ],
)
def test_a_users_text_in_pieces(given, expected):
    found = [
        (p.kind, p.text.removeprefix("<environment_details>").removesuffix("</environment_details>"))
        for p in user_pieces(given)
    ]

    assert found == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("just words", [("reply", "just words", "")]),
        ("In <read_file> you name a path.", [("reply", "In <read_file> you name a path.", "")]),
        (
            "a\n<list_files><path>.</path></list_files>\nb",
            [("reply", "a", ""), ("call", "<path>.</path>", "list_files"), ("reply", "b", "")],
        ),
        ("<write_to_file><path>a</path><content>cut", [("call", "<path>a</path><content>cut", "write_to_file")]),
    ],
)
def test_an_answer_in_pieces(given, expected):
    assert [(p.kind, p.text, p.name) for p in answer_pieces(given)] == expected


# -- capture --------------------------------------------------------------------------------------


def test_incremental_capture_is_whole_capture(tmp_path):
    one, two = Project(tmp_path / "a"), Project(tmp_path / "b")
    two.workspace.key_path.write_bytes(one.workspace.key_path.read_bytes())
    session = ClineSession()
    for number in range(3):
        session.user(f"prompt {number}")
        session.assistant("the same")
        session.messages[-1]["metrics"] = {"inputTokens": number}
        session.write(folder(one))
        assert one.sync(sources=folder(one), all_roots=True).rewound == []
    session.write(folder(two))
    two.sync(sources=folder(two), all_roots=True)

    assert ids(one) == ids(two)
    assert nothing_new(one.sync(sources=folder(one), all_roots=True))


def test_a_checkpoint_that_was_restored_marks_what_it_removed(project):
    session = ClineSession(str(project.root))
    session.user("keep")
    session.user("wrong way")
    session.write(folder(project))
    project.sync(sources=folder(project))
    del session.messages[1]
    session.write(folder(project))

    report = project.sync(sources=folder(project))

    assert report.rewound == [str(folder(project) / session.id / f"{session.id}.messages.json")]
    assert [event.body["mark"] for event in project.events("mark")] == ["rewound"]


def test_a_copied_session_is_sightings(project):
    one, two = ClineSession(str(project.root)), ClineSession(str(project.root), seed="two")
    one.user("shared")
    two.messages = [*one.messages]
    two.user("forked")
    one.write(folder(project))
    two.write(folder(project))

    report = project.sync(sources=folder(project))

    assert (sorted(project.texts()), report.sightings) == (["forked", "shared"], 1)


def test_a_document_half_written_is_left_for_later(project):
    session = ClineSession(str(project.root))
    session.user("typed")
    path = session.write(folder(project))
    project.sync(sources=folder(project))
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])

    report = project.sync(sources=folder(project))

    assert report.failed == [(str(path), "no whole JSON document (perhaps half written)")]
    assert (report.rewound, report.marks) == ([], 0)
    path.write_bytes(whole)
    assert nothing_new(project.sync(sources=folder(project)))


def test_a_document_that_an_editor_gave_a_byte_order_mark_is_read(project):
    session = ClineSession(str(project.root))
    session.user("typed")
    path = session.write(folder(project))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    report = project.sync(sources=folder(project))

    assert (project.texts(), report.failed) == (["typed"], [])


def test_a_damaged_message_loses_nothing_else(project):
    session = ClineSession(str(project.root))
    session.user("one")
    session.messages.append(None)
    session.user("two")
    session.write(folder(project))

    report = project.sync(sources=folder(project))

    assert (project.texts(), report.unknown) == (["one", "two"], {"message/NoneType@3.0.65": 1})


def test_only_the_workspaces_sessions_are_taken_in(project, tmp_path):
    mine, other = ClineSession(str(project.root)), ClineSession("/elsewhere", seed="two")
    for session in (mine, other):
        session.user(f"in {session.cwd}")
        session.write(folder(project))

    project.sync(sources=folder(project))

    assert project.texts() == [f"in {project.root}"]


def test_roots_are_the_command_lines_and_the_editors():
    found = CLINE.roots({"HOME": "/home/dev"})

    assert found[0] == Path("/home/dev/.cline/data/sessions")
    assert Path("/home/dev/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks") in found
    assert CLINE.roots({"HOME": "/home/dev", "CLINE_DIR": "/c"})[0] == Path("/c/data/sessions")


@pytest.mark.real_data
def test_the_real_session_holds_nothing_unknown(shared, project):
    report = project.sync(sources=shared / "clients" / "fresh" / "cline", all_roots=True)

    assert report.unknown == {}
    assert project.texts() == ["please run the echo", "Understood."]
    assert said(project.events("tool_call", "tool_result")) == [
        ("tool_call", "run_commands"), ("tool_result", "tool-ran-ok\n"),
    ]  # fmt: skip
    assert [event.body["subtype"] for event in project.events("system")] == ["hook_context"]
