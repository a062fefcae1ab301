"""What the Grok Build adapter makes of every kind of row, and what capture makes of its folders."""

import json
from collections import Counter

import pytest
from support.capture import Project, said
from support.grok import GrokSession, call
from support.harness import ids, nothing_new, only, read, read_in_steps, read_source, same_everywhere

from transcript.adapters.base import Options
from transcript.adapters.grok_build import GrokBuild
from transcript.adapters.registry import ADAPTERS
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
GROK = GrokBuild()
TITLE = ("system:title", "Ports")


@pytest.fixture
def session():
    return GrokSession()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / ".grok" / "sessions"


def marks(project):
    return Counter(event.body["mark"] for event in project.events("mark"))


def test_grok_is_registered():
    assert "grok-build" in [adapter.harness for adapter in ADAPTERS]


def test_user_assistant_call_and_result_become_events_with_joined_times(session, tmp_path):
    session.row("system", content="You are Grok")
    session.row("user", content=[{"type": "text", "text": "<user_info>\nOS: linux\n</user_info>"}])
    session.user("Which port?")
    session.assistant("I look.", call("t1", "read_file", target_file="a.toml"))
    session.result("t1", "port = 8080")
    session.assistant("8080.")
    path = session.write(tmp_path)

    drafts = read(GROK, path)

    assert said(drafts) == [
        ("system:context", "<user_info>\nOS: linux\n</user_info>"),
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "read_file"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
        TITLE,
    ]
    info, prompt, reply, tool, result, last = drafts[:6]
    assert [(draft.ts[11:16], draft.ts_source) for draft in drafts[:6]] == [
        ("10:00", "file"), ("10:01", "joined"), ("10:02", "joined"), ("10:02", "joined"), ("10:06", "joined"),
        ("10:07", "joined"),
    ]  # fmt: skip
    assert (info.actor, prompt.actor, prompt.agent, prompt.session) == (
        "system", "user", "grok-build", session.session,
    )  # fmt: skip
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "branch": "main", "file": str(path),
    }  # fmt: skip
    assert prompt.native == {
        "harness": "grok-build", "version": "chat-v1", "id": "", "part": 0, "adapter": "1",
        "source": only(GROK, path).source,
    }  # fmt: skip
    assert reply.body["message"] == tool.body["message"] != last.body["message"]
    assert (reply.body["model"], tool.body["input"], tool.body["call_id"]) == (
        "grok-4.5", {"target_file": "a.toml"}, "t1",
    )  # fmt: skip
    assert (result.actor, result.body["call_id"]) == ("tool", "t1")
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_without_updates_a_prompt_has_the_time_of_its_rewind_point(session, tmp_path):
    session.user("Which port?")
    session.assistant("8080.")

    prompt, reply, *_ = read(GROK, session.write(tmp_path, updates=False))

    assert (prompt.ts[11:16], prompt.ts_source) == ("10:01", "joined")
    assert (reply.ts[11:16], reply.ts_source) == ("10:01", "joined")


def test_rows_of_a_lone_history_have_the_time_of_capture(tmp_path):
    (tmp_path / "chat_history.jsonl").write_text(
        '{"type":"user","content":[{"type":"text","text":"<user_query>Hello</user_query>"}]}\n'
        '{"type":"assistant","content":"Hi"}'
    )

    drafts = read(GROK, tmp_path)

    assert said(drafts) == [("prompt", "Hello"), ("reply", "Hi")]
    assert {draft.ts_source for draft in drafts} == {"capture"}


def test_synthetic_rows_are_the_clients_except_an_interjection(session, tmp_path):
    session.row("user", content=[{"type": "text", "text": "policy"}], synthetic_reason="project_instructions")
    session.row("user", content=[{"type": "text", "text": "remember"}], synthetic_reason="system_reminder")
    session.row("user", content=[{"type": "text", "text": "and the tests"}], synthetic_reason="interjection")

    drafts = read(GROK, session.write(tmp_path))

    assert said(drafts) == [
        ("system:project_instructions", "policy"), ("system:system_reminder", "remember"),
        ("prompt", "and the tests"), TITLE,
    ]  # fmt: skip
    assert drafts[2].body["flags"] == ["interjection"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<user_query>\nWhy?\n</user_query>", [("prompt", "Why?")]),
        (
            "<system-reminder>x</system-reminder>\n<user_query>Why?</user_query>",
            [("system:context", None), ("prompt", "Why?")],
        ),
        ("<user_query>What is </user_query>?</user_query>", [("prompt", "What is </user_query>?")]),
        ("What does <user_query>x</user_query> mean?", [("prompt", "What does <user_query>x</user_query> mean?")]),
        ("Review it", [("prompt", "Review it")]),
        ("<system-reminder>x</system-reminder>", [("system:reminder", None)]),
        (f"<user_query>\n{BLOCK}\n</user_query>", [("system:injected", BLOCK)]),
        (f"<user_query>\nGo on.\n</user_query>\n\n{BLOCK}", [("prompt", "Go on."), ("system:context", BLOCK)]),
    ],
)
def test_the_prompt_is_what_stands_in_the_user_query(session, tmp_path, text, expected):
    session.user(text, wrapped=False)

    *found, title = said(read(GROK, session.write(tmp_path)))

    assert title == TITLE
    assert [(name, words if wanted else None) for (name, words), (_, wanted) in zip(found, expected, strict=True)] == (
        expected
    )


def test_reasoning_and_calls_of_the_backend(session, tmp_path):
    session.row("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "Inspect"}])
    session.row(
        "backend_tool_call",
        kind={"tool_type": "web_search", "action": {"query": "ports"}, "id": "ws_1", "status": "completed"},
    )
    session.assistant("Done.")
    path = session.write(tmp_path)

    without, wanted = read(GROK, path), read(GROK, path, reasoning=True)

    assert said(without) == [("tool_call", "web_search"), ("reply", "Done."), TITLE]
    assert said(without, "mark") == [("reasoning_withheld", "capture.reasoning is off")]
    assert said(wanted)[0] == ("reasoning", "Inspect")
    assert wanted[0].native["id"] == "rs_1"
    assert (without[0].body["call_id"], without[0].body["input"]) == ("ws_1", {"query": "ports"})


def test_the_older_form_of_rows_is_read(tmp_path):
    session = GrokSession(chat_format_version=0)
    for row in (
        {"role": "system", "content": "You are Grok"},
        {"role": "user", "content": "Review it"},
        {
            "role": "assistant", "content": "Reading.", "reasoning_content": "Check the old format",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a": 1}'}}],
        },
        {"role": "tool", "content": "body", "tool_call_id": "c1"},
    ):  # fmt: skip
        session.lines.append(json.dumps(row).encode())

    drafts = read(GROK, session.write(tmp_path), reasoning=True)

    assert said(drafts) == [
        ("prompt", "Review it"), ("reasoning", "Check the old format"), ("reply", "Reading."), ("tool_call", "read"),
        ("tool_result", "body"), TITLE,
    ]  # fmt: skip
    assert drafts[3].body["input"] == {"a": 1}


def test_a_fork_holds_its_parents_rows_and_its_own(project):
    one = GrokSession(str(project.root))
    one.user("shared question")
    one.assistant("Understood.")
    fork = one.fork("fork")
    one.user("continue")
    one.assistant("Understood.")
    fork.user("continue")
    fork.assistant("Understood.")
    one.write(folder(project))
    fork.write(folder(project))

    project.sync()

    assert sorted(project.texts("prompt")) == ["continue", "continue", "shared question"]
    assert len(project.texts("reply")) == 3
    sighted = project.events("sighting")
    assert {event.session for event in sighted} == {fork.session}
    assert len(sighted) == 2
    assert nothing_new(project.sync())


def test_a_sub_agents_session_is_its_parents_worker(project):
    one = GrokSession(str(project.root))
    one.user("go")
    one.assistant("", call("t1", "spawn_subagent"))
    worker = GrokSession(str(project.root), seed="sub", parent_session_id=one.session)
    worker.user("look for it")
    worker.assistant("found it")
    one.write(folder(project))
    worker.write(folder(project))
    meta = one.folder(folder(project)) / "subagents" / "a1" / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(
        json.dumps({"child_session_id": worker.session, "subagent_type": "explore", "description": "find the port"})
    )

    project.sync()

    asked, found = [event for event in project.events("conversation_turn") if event.body.get("worker")]
    assert (asked.session, asked.body["worker"], asked.actor) == (one.session, worker.session, "assistant")
    assert (asked.body["kind"], asked.body["worker_type"], asked.body["worker_task"]) == (
        "worker_prompt", "explore", "find the port",
    )  # fmt: skip
    assert found.body["flags"] == ["sidechain"]
    assert project.texts("prompt") == ["go"]


def test_a_sub_agent_is_known_by_its_kind_alone(tmp_path):
    worker = GrokSession(seed="sub", parent_session_id="parent-1", session_kind="subagent")
    worker.user("look")

    source = only(GROK, worker.write(tmp_path))

    assert (source.session, source.worker) == ("parent-1", worker.session)


def test_a_rewound_history_marks_what_it_took_back(project):
    session = GrokSession(str(project.root))
    session.user("one")
    session.assistant("first")
    session.user("two")
    session.assistant("second")
    session.write(folder(project))
    project.sync()
    lost = [event.id for event in project.events("conversation_turn")][2:]
    session.lines = session.lines[:2]
    session.prompts = 1
    session.user("another two")
    session.write(folder(project))

    project.sync()

    [mark] = [event for event in project.events("mark") if event.body["mark"] == "rewound"]
    assert mark.body["events"] == lost
    assert project.texts("prompt") == ["one", "two", "another two"]
    assert nothing_new(project.sync())


def test_a_compacted_history_takes_nothing_back(project):
    session = GrokSession(str(project.root))
    session.user("one")
    session.assistant("Understood.")
    session.user("two")
    session.write(folder(project))
    project.sync()
    session.lines = session.lines[2:]
    session.lines.insert(
        0,
        json.dumps(
            {"type": "user", "content": [{"type": "text", "text": "They talked."}], "synthetic_reason": "compaction"}
        ).encode(),
    )
    session.assistant("Understood.")
    session.write(folder(project))

    project.sync()

    assert marks(project)["rewound"] == 0
    assert project.texts("prompt") == ["one", "two"]
    assert project.texts("reply") == ["Understood.", "Understood."]
    assert project.texts("summary") == ["They talked."]


def test_times_that_come_late_change_nothing(project):
    session = GrokSession(str(project.root))
    session.user("one")
    session.assistant("Understood.")
    session.write(folder(project), updates=False)
    project.sync()
    before = ids(project)
    session.write(folder(project))

    report = project.sync()

    assert (report.added, report.sightings, ids(project)) == (0, 0, before)


def test_the_titles_id_tells_nothing_to_whoever_lacks_the_key(session, tmp_path):
    session.user("hello")
    source = only(GROK, session.write(tmp_path))
    titles = [GROK.reader(source, {"session": ""}, Options(key * 32)).finish()[0].draft for key in (b"k", b"k", b"x")]

    assert [title.body["text"] for title in titles] == ["Ports"] * 3
    assert titles[0].id == titles[1].id != titles[2].id


def test_the_title_is_kept_as_the_clients_words(project):
    session = GrokSession(str(project.root))
    session.user("one")
    session.write(folder(project))
    project.sync()
    session.summary["generated_title"] = "Ports and more"
    session.assistant("Understood.")
    session.write(folder(project))

    project.sync()

    titles = [event.body["text"] for event in project.events("system") if event.body["subtype"] == "title"]
    assert titles == ["Ports", "Ports and more"]


def test_unknown_rows_are_kept_and_counted(session, tmp_path):
    session.user("go")
    session.row("hologram", content="x")
    session.row("tool_result", tool_call_id="t", content=[{"type": "smell"}])

    drafts, counts = read_source(GROK, session.write(tmp_path))

    assert [draft.type for draft in drafts] == ["conversation_turn", "unknown", "tool_result", "system"]
    assert counts.unknown == {"hologram@chat-v1": 1, "content/smell@chat-v1": 1}


def test_a_malformed_line_is_skipped_and_reported(project):
    session = GrokSession(str(project.root))
    session.user("before")
    session.lines.append(b'{"type":"assistant","content":"torn')
    session.user("behind")
    session.lines.append(
        session.lines[0].replace(b"before", b"glued 1") + session.lines[0].replace(b"before", b"glued 2")
    )
    path = session.write(folder(project))

    report = project.sync()

    assert project.texts("prompt") == ["before", "behind", "glued 1", "glued 2"]
    assert [(item[0], item[3]) for item in report.damaged] == [
        (str(path), "unreadable JSON"), (str(path), "more than one record"),
    ]  # fmt: skip


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(session, tmp_path):
    session.user("ü \u2028")
    session.assistant("I look.", call("t1", b=1, a=2))
    session.row("hologram", z=1, a={"c": 1, "b": 2})

    printed = same_everywhere("transcript.adapters.grok_build:GrokBuild", session.write(tmp_path))

    assert printed.count(b"\n") == 6


def test_sessions_belong_to_the_project_they_ran_in(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    mine, other = GrokSession(str(project.root)), GrokSession(str(tmp_path / "elsewhere"), seed="two")
    for session, words in ((mine, "mine"), (other, "foreign")):
        session.user(words)
        session.write(folder(project))

    report = project.sync()

    assert project.texts() == ["mine"]
    assert report.skipped["foreign"] == 1


def test_without_a_summary_the_folders_name_says_where_it_ran(project):
    session = GrokSession(str(project.root))
    session.user("mine")
    session.write(folder(project)).with_name("summary.json").unlink()

    project.sync()

    assert project.texts() == ["mine"]


def test_capture_in_steps_is_capture_at_once(project):
    session = GrokSession(str(project.root))
    steps = [
        lambda: session.row("user", content=[{"type": "text", "text": "<user_info>x</user_info>"}]),
        lambda: session.user("go"),
        lambda: session.assistant("I look.", call("t1")),
        lambda: session.result("t1", "x"),
        lambda: session.assistant("Done."),
    ]
    reports = []
    for step in steps:
        step()
        path = session.write(folder(project))
        reports.append(project.sync())

    whole = read(GROK, path)
    assert {draft.id for draft in read_in_steps(GROK, path)} == {draft.id for draft in whole if draft.type != "mark"}
    assert sorted(said(project.events())) == sorted(said(whole))
    assert len(ids(project)) == len(said(whole))
    assert not [path for report in reports for path in report.rewound]
    assert nothing_new(project.sync())


@pytest.mark.real_data
def test_what_todays_client_writes(shared, tmp_path):
    project = Project(tmp_path)
    fresh = shared / "clients" / "fresh" / "grok-build"

    report = project.sync(sources=fresh, all_roots=True)

    assert (report.files, report.damaged, dict(report.unknown), dict(report.skipped)) == (2, [], {}, {})
    assert project.texts("prompt") == ["please run the echo", "second turn", "third, forked"]
    assert len(project.texts("reply")) == 3
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    turns = project.events("conversation_turn", "tool_call", "tool_result")
    assert {event.ts_source for event in turns} == {"joined"}
    assert [event.ts for event in turns] == sorted(event.ts for event in turns)
    assert not [event for event in turns if "zebra-42" in str(event.body)]
    assert nothing_new(project.sync(sources=fresh, all_roots=True))


@pytest.mark.real_data
def test_both_published_forms_hold_nothing_unknown(other_harnesses, tmp_path):
    """The archive keeps paths flat (`/` as `__`); they are laid out again as the client does."""
    project = Project(tmp_path)
    fixtures = other_harnesses / "fixtures" / "kenn-io__agentsview"
    for path in fixtures.glob("*grok-build__*__019f*"):
        *_, bucket, session, name = path.name.rsplit("__", 3)
        target = tmp_path / "grok" / bucket / session / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())

    report = project.sync(sources=tmp_path / "grok", all_roots=True)

    assert (report.files, report.damaged, dict(report.unknown), dict(report.skipped)) == (2, [], {}, {})
    assert sorted(project.texts("prompt")) == [
        "Review parser compatibility", "Review parser compatibility", "also keep interjections",
    ]  # fmt: skip
    assert len(project.events("tool_call")) == 3
