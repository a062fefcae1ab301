"""What the Cursor adapter makes of agent transcripts. No real ones are at hand: all are built by hand."""

import json

import pytest
from support.capture import Project, said
from support.cursor import CursorSession, text, tool_use
from support.harness import ids, nothing_new, only, read, read_in_steps, read_source, same_everywhere

from transcript.adapters.cursor import Cursor
from transcript.adapters.registry import ADAPTERS
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
CURSOR = Cursor()
TEXT = """user:
<user_query>
Which port?
</user_query>

assistant:
[Thinking] I should look
  into the file.
I look.
[Tool call] Read
  path: a.toml
  limit: 5

[Tool result] Read
  port = 8080

assistant:
8080.
"""


@pytest.fixture
def session():
    return CursorSession()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / ".cursor" / "projects"


def test_cursor_is_registered():
    assert "cursor" in [adapter.harness for adapter in ADAPTERS]


def test_user_assistant_and_calls_become_events_with_the_files_time(session, tmp_path):
    session.user("Which port?")
    session.assistant(text("I look."), tool_use("Read", path="a.toml"))
    session.assistant("8080.")
    path = session.write(tmp_path, minutes=5)

    drafts = read(CURSOR, path)

    assert said(drafts) == [
        ("prompt", "Which port?"), ("reply", "I look."), ("tool_call", "Read"), ("reply", "8080."),
    ]  # fmt: skip
    prompt, reply, call, last = drafts[:4]
    assert {(draft.ts, draft.ts_source) for draft in drafts[:4]} == {("2026-06-15T10:05:00.000Z", "file")}
    assert (prompt.actor, prompt.agent, prompt.session) == ("user", "cursor", session.session)
    assert prompt.body == {"kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "file": str(path)}
    assert prompt.native == {
        "harness": "cursor", "version": "", "id": "", "part": 0, "adapter": "1", "source": only(CURSOR, path).source,
    }  # fmt: skip
    assert reply.body["message"] == call.body["message"] != last.body["message"]
    assert call.body["input"] == {"path": "a.toml"}
    assert call.body["call_id"].startswith("made-")
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_a_result_belongs_to_the_call_that_waits(session, tmp_path):
    session.assistant(tool_use("A"), {"type": "tool_use", "id": "t2", "name": "B", "input": {}})
    session.message("user", {"type": "tool_result", "tool_use_id": "t2", "content": "of B"})
    session.message("user", {"type": "tool_result", "content": [text("of A")], "is_error": True})

    first, second, of_b, of_a = read(CURSOR, session.write(tmp_path))

    assert (of_b.body["call_id"], of_b.body["text"]) == (second.body["call_id"], "of B")
    assert (of_a.body["call_id"], of_a.body["text"], of_a.body["is_error"]) == (first.body["call_id"], "of A", True)


def test_a_transcript_written_as_text(session, tmp_path):
    path = session.write(tmp_path, flat=True, suffix=".txt")
    path.write_text(TEXT)

    drafts = read(CURSOR, path, reasoning=True)

    assert said(drafts) == [
        ("prompt", "Which port?"), ("reasoning", "I should look\ninto the file."), ("reply", "I look."),
        ("tool_call", "Read"), ("tool_result", "port = 8080"), ("reply", "8080."),
    ]  # fmt: skip
    call, result = drafts[3:5]
    assert call.body["input"] == {"path": "a.toml", "limit": "5"}
    assert result.body["call_id"] == call.body["call_id"]
    assert {draft.session for draft in drafts} == {session.session}


def test_a_text_that_grows_adds_only_what_is_new(project):
    session = CursorSession(str(project.root))
    path = session.write(folder(project), flat=True, suffix=".txt")
    path.write_text("user:\nWhich port?\n\nassistant:\nI look.\n")
    project.sync()
    path.write_text("user:\nWhich port?\n\nassistant:\nI look.\n\nuser:\nAnd now?\n")

    project.sync()

    assert project.texts() == ["Which port?", "I look.", "And now?"]
    assert [event.body["mark"] for event in project.events("mark")] == ["reasoning_withheld"]
    assert nothing_new(project.sync())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("<user_query>\nWhy?\n</user_query>", ["prompt"]),
        ("<external_links>\n### a\n</external_links>\n<user_query>Why?</user_query>", ["system:context", "prompt"]),
        ("<user_query>Why?</user_query>\n<system_reminder>x</system_reminder>", ["prompt", "system:context"]),
        ("<system_reminder>x</system_reminder>", ["system:reminder"]),
        ("plain words", ["prompt"]),
        ("What does <user_query>x</user_query> mean?", ["prompt"]),
        (f"{BLOCK}\n<user_query>Why?</user_query>", ["system:context", "prompt"]),
        (f"<user_query>{BLOCK}</user_query>", ["system:injected"]),
        (BLOCK, ["system:injected"]),
    ],
)
def test_the_prompt_is_what_stands_in_the_user_query(session, tmp_path, given, expected):
    session.user(given, wrapped=False)

    assert [name for name, _ in said(read(CURSOR, session.write(tmp_path)))] == expected


def test_equal_words_are_told_apart_by_how_often_they_were_said(session, tmp_path):
    session.user("continue")
    session.assistant("Done.")
    session.user("continue")
    session.assistant("Done.")

    drafts = [draft for draft in read(CURSOR, session.write(tmp_path)) if draft.type != "mark"]

    assert len({draft.id for draft in drafts}) == 4


def test_a_copy_elsewhere_is_the_same_session_and_events(session, tmp_path):
    session.user("Which port?")

    one = read(CURSOR, session.write(tmp_path / "a"))
    two = read(CURSOR, session.write(tmp_path / "b", flat=True))

    assert [draft.id for draft in one] == [draft.id for draft in two]
    assert one[0].native["source"] == two[0].native["source"]


def test_a_sub_agents_transcript_is_its_parents_worker(session, tmp_path):
    session.user("look for it")
    session.assistant("found it")

    drafts = read(CURSOR, session.write(tmp_path, worker="child-1"))

    assert said(drafts) == [("worker_prompt", "look for it"), ("reply", "found it")]
    assert {draft.session for draft in drafts} == {session.session}
    assert {draft.body["worker"] for draft in drafts} == {"child-1"}


def test_a_transcript_that_loses_its_end_is_marked(project):
    session = CursorSession(str(project.root))
    session.user("one")
    session.user("two")
    session.write(folder(project))
    project.sync()
    lost = project.events("conversation_turn")[1].id
    del session.lines[1]
    session.user("another two")
    session.write(folder(project))

    project.sync()

    [mark] = [event for event in project.events("mark") if event.body["mark"] == "rewound"]
    assert mark.body["events"] == [lost]


def test_unknown_records_and_blocks_are_kept_and_counted(session, tmp_path):
    session.record({"type": "hologram"})
    session.record({"type": "turn_ended", "status": "completed"})
    session.assistant({"type": "smell"})

    drafts, counts = read_source(CURSOR, session.write(tmp_path))

    assert [draft.type for draft in drafts] == ["unknown", "unknown"]
    assert counts.unknown == {"hologram@": 1, "assistant/smell@": 1}
    assert counts.records["turn_ended"] == 1


def test_a_malformed_line_is_skipped_and_reported(project):
    session = CursorSession(str(project.root))
    session.user("before")
    session.lines.append(b'{"role":"user","message":{"con')
    session.user("behind")
    path = session.write(folder(project))

    report = project.sync()

    assert project.texts("prompt") == ["before", "behind"]
    assert [(item[0], item[3]) for item in report.damaged] == [(str(path), "unreadable JSON")]


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(session, tmp_path):
    session.user("ü \u2028")
    session.assistant({"type": "thinking", "thinking": "plan"}, tool_use("Shell", b=1, a=2))
    session.record({"type": "hologram", "a": {"c": 1, "b": 2}})

    assert same_everywhere("transcript.adapters.cursor:Cursor", session.write(tmp_path)).count(b"\n") == 4


def test_where_it_ran_comes_from_a_path_that_the_folders_name_confirms(session, tmp_path):
    session.user("<user_info>\nWorkspace Path: /home/dev/shop\n</user_info>\n<user_query>x</user_query>", wrapped=False)
    by_client = session.write(tmp_path / "a", trusted=False)
    session.lines.clear()
    session.user("x")
    session.assistant(
        tool_use("Read", path="/home/dev/elsewhere/a.toml"), tool_use("Read", path="/home/dev/shop/a.toml")
    )
    by_tool = session.write(tmp_path / "b", trusted=False)
    session.lines.clear()
    session.user("x")
    by_trust = session.write(tmp_path / "c", trusted=True)
    home = tmp_path / "d"
    known = home / ".config" / "Cursor" / "User" / "workspaceStorage" / "1" / "workspace.json"
    known.parent.mkdir(parents=True)
    known.write_text(json.dumps({"folder": "file:///home/dev/shop"}))
    by_editor = session.write(home / ".cursor" / "projects", trusted=False)

    for path in (by_client, by_tool, by_trust, by_editor):
        assert {draft.body["cwd"] for draft in read(CURSOR, path) if draft.type != "mark"} == {"/home/dev/shop"}


def test_a_session_whose_folder_nothing_names_is_not_guessed(project):
    """Two projects can share a folder's name."""
    session = CursorSession(str(project.root))
    session.user("whose?")
    session.write(folder(project), trusted=False)

    report = project.sync()

    assert project.texts() == []
    assert report.skipped["no_cwd"] == 1


def test_a_trusted_path_is_not_believed_beside_a_project_whose_folder_has_the_same_name(tmp_path):
    """Both write into one folder, and the trust of the last stands there: nothing tells whose a session is."""
    mine, other = tmp_path / "pay-api", tmp_path / "pay" / "api"
    mine.mkdir()
    session = CursorSession(str(mine))
    session.user("Which port?")
    session.assistant(text("Port 8713."))
    path = session.write(tmp_path / "projects")
    alone = read(CURSOR, path)[0].body.get("cwd")

    other.mkdir(parents=True)

    assert alone == str(mine)
    assert [draft.body.get("cwd", "") for draft in read(CURSOR, path) if draft.type == "conversation_turn"] == ["", ""]


def test_a_trusted_path_with_another_name_is_not_believed(session, tmp_path):
    session.user("x")
    path = session.write(tmp_path)
    trusted = session.project(tmp_path) / ".workspace-trusted"
    trusted.write_text(json.dumps({"workspacePath": "/home/dev/other"}))

    assert "cwd" not in read(CURSOR, path)[0].body


def test_sessions_belong_to_the_project_they_ran_in(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    mine, other = CursorSession(str(project.root)), CursorSession(str(tmp_path / "elsewhere"), seed="two")
    for session, words in ((mine, "mine"), (other, "foreign")):
        session.user(words)
        session.write(folder(project))

    report = project.sync()

    assert project.texts() == ["mine"]
    assert report.skipped["foreign"] == 1


def test_only_files_of_its_layout_or_content_are_claimed(session, tmp_path):
    session.user("x")
    mine = session.write(tmp_path)
    (tmp_path / "chat.jsonl").write_bytes(session.lines[0] + b"\n")
    (tmp_path / "other.jsonl").write_text('{"role":"user","content":"x"}\n')
    (tmp_path / "notes.txt").write_text("user:\nx\n")
    (mine.parent / "notes.txt").write_text("some words\n")

    assert {source.path.name for source in CURSOR.discover([tmp_path])[0]} == {mine.name, "chat.jsonl"}


def test_capture_in_steps_is_capture_at_once(project):
    session = CursorSession(str(project.root))
    reports = []
    for step in (
        lambda: session.user("go"),
        lambda: session.assistant(text("I look."), tool_use("Shell", command="ls")),
        lambda: session.message("user", {"type": "tool_result", "content": "x"}),
        lambda: session.user("go"),
    ):
        step()
        path = session.write(folder(project), minutes=len(session.lines))
        reports.append(project.sync())

    whole = read(CURSOR, path)
    assert [draft.id for draft in read_in_steps(CURSOR, path)] == [d.id for d in whole if d.type != "mark"]
    assert said(project.events()) == said(whole)
    assert [event.ts[11:16] for event in project.events("conversation_turn")] == ["10:01", "10:02", "10:04"]
    assert len(ids(project)) == 5
    assert not [path for report in reports for path in report.rewound]
    assert nothing_new(project.sync())
