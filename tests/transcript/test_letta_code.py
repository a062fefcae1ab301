"""What the Letta Code adapter makes of local conversations; what they share with pi is tested there."""

import json

import pytest
from support.capture import Project, said
from support.harness import ids, nothing_new, only, read, read_in_steps, read_source, same_everywhere
from support.letta import REMINDER, LettaConversation
from support.pi import PiSession, text, thinking, tool_call

from transcript.adapters.letta_code import LettaCode
from transcript.adapters.pi import Pi
from transcript.adapters.registry import ADAPTERS
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
LETTA = LettaCode()


@pytest.fixture
def session():
    return LettaConversation()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / ".letta" / "lc-local-backend" / "conversations"


def test_letta_is_registered():
    assert "letta-code" in [adapter.harness for adapter in ADAPTERS]


def test_user_assistant_call_and_result_become_events(session, tmp_path):
    session.user(REMINDER, "Which port?")
    session.assistant(text("I look."), tool_call("t1", "Bash", command="cat a.toml"))
    session.result("t1", "port = 8080")
    session.assistant("8080.")
    path = session.write(tmp_path)

    drafts = read(LETTA, path)

    assert said(drafts) == [
        ("system:reminder", REMINDER),
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "Bash"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
    ]
    prompt = drafts[1]
    assert (prompt.agent, prompt.session, prompt.native["part"]) == (
        "letta-code", "local-conv-1:agent-local-1", 1,
    )  # fmt: skip
    assert (prompt.ts, prompt.ts_source) == ("2026-06-15T10:01:00.000Z", "record")
    assert prompt.body == {"kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "file": str(path)}
    assert prompt.native["id"] == session.entries[1]["id"]
    assert len({draft.id for draft in drafts}) == len(drafts)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (f"{REMINDER}\n\nGo on", ["system:reminder", "prompt"]),
        ("<task-notification>done</task-notification>", ["system:task_notification"]),
        ("What is <system-reminder>x</system-reminder>?", ["prompt"]),
        (BLOCK, ["system:injected"]),
        (f"For the record:\n{BLOCK}\nBut: twelve.", ["prompt"]),
        (f"<system-reminder>\n{BLOCK}\n</system-reminder>", ["system:reminder"]),
    ],
)
def test_an_envelope_and_what_recall_injected_are_no_prompts(session, tmp_path, typed, expected):
    session.user(typed)

    assert [name for name, _ in said(read(LETTA, session.write(tmp_path)))] == expected


def test_a_compaction_is_a_boundary_and_a_summary(session, tmp_path):
    session.user("one")
    session.entry("compaction", summary="They talked.", firstKeptEntryId=session.last, tokensBefore=5)

    drafts = read(LETTA, session.write(tmp_path))

    assert said(drafts) == [("prompt", "one"), ("system:compact_boundary", ""), ("summary", "They talked.")]


def test_a_branch_left_behind_is_marked(session, tmp_path):
    top = session.user("go")
    session.assistant("one way")
    session.user("another way", parentId=top["id"])

    drafts = read(LETTA, session.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.type == "mark" and draft.body["mark"] == "abandoned"]
    assert mark.body["events"] == [drafts[1].id]


def test_the_same_number_of_another_agent_is_another_session(tmp_path):
    one, two = LettaConversation(agent="agent-a"), LettaConversation(agent="agent-b")
    sources = [only(LETTA, session.write(tmp_path / session.agent)) for session in (one, two)]

    assert [source.session for source in sources] == ["local-conv-1:agent-a", "local-conv-1:agent-b"]
    assert sources[0].source != sources[1].source


def test_the_agent_is_known_by_its_messages_too(session, tmp_path):
    session.user("go")
    path = session.write(tmp_path)
    path.with_name("conversation.json").unlink()
    path.with_name("manifest.json").unlink()

    assert only(LETTA, path).session == "local-conv-1:agent-local-1"


def test_pi_and_letta_leave_each_others_files_alone(tmp_path):
    LettaConversation().write(tmp_path / "a")
    PiSession().write(tmp_path / "a")
    stranger = tmp_path / "b" / "messages.jsonl"
    stranger.parent.mkdir()
    stranger.write_text('{"role":"user","content":"x"}\n')

    assert [source.path.name for source in LETTA.discover([tmp_path])[0]] == ["messages.jsonl"]
    assert "messages.jsonl" not in [source.path.name for source in Pi().discover([tmp_path])[0]]


def test_unknown_entries_are_kept_and_counted(session, tmp_path):
    session.entry("unheard-of", z=1)
    session.user({"type": "hologram"})

    drafts, counts = read_source(LETTA, session.write(tmp_path))

    assert [draft.type for draft in drafts] == ["unknown", "unknown"]
    assert counts.unknown == {"unheard-of@3": 1, "user/hologram@3": 1}


def test_reasoning_is_kept_only_when_asked_for(session, tmp_path):
    session.assistant(thinking("a plan"), text("Done."))
    path = session.write(tmp_path)

    assert said(read(LETTA, path)) == [("reply", "Done.")]
    assert said(read(LETTA, path, reasoning=True)) == [("reasoning", "a plan"), ("reply", "Done.")]


def test_a_malformed_line_is_skipped_and_reported(project):
    session = LettaConversation(str(project.root))
    session.user("before")
    session.raw(b'{"type":"message","id":"1"')
    session.user("behind")
    path = session.write(folder(project))

    report = project.sync()

    assert project.texts("prompt") == ["before", "behind"]
    assert [(item[0], item[1], item[3]) for item in report.damaged] == [(str(path), 3, "unreadable JSON")]


def test_an_entry_without_a_time_takes_its_messages_or_that_before(session, tmp_path):
    session.user("one")
    session.bare(
        {"type": "message", "id": "1", "parentId": session.last, "message": {"role": "user", "content": "two"}}
    )

    _, second = read(LETTA, session.write(tmp_path))

    assert (second.ts, second.ts_source) == ("2026-06-15T10:01:00.000Z", "joined")


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(session, tmp_path):
    session.user(REMINDER, "ü \u2028")
    session.assistant(thinking("plan"), tool_call("t1", b=1, a=2))
    session.entry("unheard-of", z=1, a={"c": 1, "b": 2})

    printed = same_everywhere("transcript.adapters.letta_code:LettaCode", session.write(tmp_path))

    assert printed.count(b"\n") == 5


def test_sessions_belong_to_the_project_they_ran_in(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    mine, other = LettaConversation(str(project.root)), LettaConversation(str(tmp_path / "elsewhere"), number=2)
    for session, words in ((mine, "mine"), (other, "foreign")):
        session.user(words)
        session.write(folder(project))

    report = project.sync()

    assert project.texts() == ["mine"]
    assert report.skipped["foreign"] == 1


def test_capture_in_steps_is_capture_at_once(project):
    session = LettaConversation(str(project.root))
    session.user(REMINDER, "go")
    session.assistant(text("I look."), tool_call("t1"))
    session.result("t1", "x")
    path = session.write(folder(project))
    whole = path.read_bytes().splitlines(keepends=True)

    for at in range(1, len(whole) + 1):
        path.write_bytes(b"".join(whole[:at]))
        project.sync()

    drafts = [draft.id for draft in read(LETTA, path) if draft.type != "mark"]
    assert [draft.id for draft in read_in_steps(LETTA, path)] == drafts
    assert ids(project) == set(drafts)
    assert nothing_new(project.sync())


@pytest.mark.real_data
def test_what_todays_client_writes(shared, tmp_path):
    project = Project(tmp_path)
    fresh = shared / "clients" / "fresh" / "letta-code"

    report = project.sync(sources=fresh, all_roots=True)

    assert (report.files, report.damaged, dict(report.unknown), dict(report.skipped)) == (3, [], {}, {})
    assert len({event.session for event in project.events("conversation_turn")}) == 3
    expected = []
    for path in fresh.rglob("messages.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            message = json.loads(line).get("message", {})
            if message.get("role") == "user":
                expected += [
                    block["text"] for block in message["content"] if not block["text"].startswith("<system-reminder>")
                ]
    assert sorted(project.texts("prompt")) == sorted(expected)
    assert expected
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    assert nothing_new(project.sync(sources=fresh, all_roots=True))
