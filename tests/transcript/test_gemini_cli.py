"""What the Gemini CLI adapter makes of documents and journals, and how it finds a session's project."""

import json
from collections import Counter

import pytest
from support.capture import NOW, Project, said
from support.gemini import GeminiSession, project_hash, register, text
from support.harness import nothing_new, only, read, read_source, same_everywhere

from transcript.adapters.gemini_cli import GeminiCli
from transcript.injected import OPEN_PHRASE
from transcript.readapt import readapt

ADAPTER = GeminiCli()
BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
SHELL = (
    "I ran the following shell command:\n```sh\nrecall query port\n```\n\n"
    "This produced the following result:\n```\n1. 8713\n```"
)
TURN = [
    ("prompt", "Which port?"),
    ("tool_call", "run_shell_command"),
    ("tool_result", "8080"),
    ("reply", "It is 8080."),
]


def talk(**fields) -> GeminiSession:
    session = GeminiSession(**fields)
    session.user("Which port?")
    session.tool("run_shell_command__1_0", {"command": "cat port"}, "8080")
    session.model("It is 8080.")
    return session


def turns(drafts):
    return [entry for entry in said(drafts) if not entry[0].startswith("system:")]


def marks(events):
    return [
        event.body["mark"] for event in events if event.type == "mark" and event.body["mark"] != "reasoning_withheld"
    ]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture(params=[True, False], ids=["journal", "document"])
def journal(request):
    return request.param


# -- messages --------------------------------------------------------------------------------------


def test_a_turn_of_either_form_with_every_field(journal, tmp_path):
    session = talk()
    path = session.write(tmp_path, journal=journal)

    drafts = read(ADAPTER, path)

    assert turns(drafts) == TURN
    prompt, call, result, reply = drafts[:4]
    assert [draft.actor for draft in drafts[:4]] == ["user", "assistant", "tool", "assistant"]
    assert prompt.body == {"kind": "prompt", "text": "Which port?", "file": str(path)}
    assert (prompt.ts, prompt.ts_source, prompt.session) == ("2026-06-15T10:01:00.000Z", "record", session.session)
    assert prompt.native["id"] == session.messages[0]["id"]
    assert (call.body["input"], call.body["call_id"]) == ({"command": "cat port"}, "run_shell_command__1_0")
    assert (reply.body["model"], reply.body["message"]) == ("gemini-2.5-flash", session.messages[-1]["id"])
    assert result.body["call_id"] == call.body["call_id"]


def test_both_forms_give_the_same_ids(tmp_path):
    session = talk()

    one = read(ADAPTER, session.write(tmp_path / "a"))
    two = read(ADAPTER, session.write(tmp_path / "b", journal=False))

    assert [draft.id for draft in one] == [draft.id for draft in two]
    assert one[0].native["source"] != two[0].native["source"]


def test_content_is_a_text_a_part_or_parts(tmp_path):
    session = GeminiSession()
    session.message("user", "plain")
    session.message("user", text("one part"))
    session.message("user", ["bare", text("and a part")])
    session.model([text("in "), {"text": "a plan", "thought": True}, text("parts")])

    assert turns(read(ADAPTER, session.write(tmp_path))) == [
        ("prompt", "plain"), ("prompt", "one part"), ("prompt", "bare"), ("prompt", "and a part"),
        ("reply", "in "), ("reply", "parts"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("<session_context>\nThis is the Gemini CLI.\n</session_context>", "system:session_context"),
        ("<hook_context>INJECTED &lt;b&gt;</hook_context>", "system:hook_context"),
        (f"<hook_context>{BLOCK}</hook_context>", "system:hook_context"),
        (BLOCK, "system:injected"),
        ("/compress now", "system:command"),
        ("?", "system:command"),
        (SHELL, "system:shell_command"),
        (
            "Here is the user's editor context as a JSON object. This is for your information only.\n{}",
            "system:ide_context",
        ),
        ("- **Workspace Directories:**\n  - /home/dev/shop\n- **Directory Structure:**", "system:directories"),
        (
            "Background execution update:\n<background_output>\n[PID: 7] done\n</background_output>",
            "system:background_output",
        ),
        ("User has manually exited Plan Mode. Switching to Default mode.", "system:plan_mode"),
        ("I ran the following shell command:\n```sh\nls\n```\nWhy is it empty?", "prompt"),
        ("Here is the user's guide, read it", "prompt"),
        ("/home/dev/shop is empty, why?", "prompt"),
        ("Why does <hook_context> appear?", "prompt"),
        ("<hook_context> is a tag", "prompt"),
    ],
)
def test_only_a_text_that_starts_with_an_envelope_is_not_a_prompt(words, expected, tmp_path):
    session = GeminiSession()
    session.user(words)

    assert said(read(ADAPTER, session.write(tmp_path))) == [(expected, words)]


def test_a_hint_given_while_the_model_works_is_what_was_typed(tmp_path):
    session = GeminiSession()
    hint = "User steering update:\n<user_input>\nUse port 8713.\n</user_input>\nInternal instruction: Classify."
    session.user({"functionResponse": {"id": "t1", "response": {"output": "ok"}}}, hint)

    assert ("prompt", "Use port 8713.") in said(read(ADAPTER, session.write(tmp_path)))


def test_injected_text_in_front_of_a_prompt_is_cut_off_it(tmp_path):
    session = GeminiSession()
    shown = f"<hook_context>{BLOCK}</hook_context>\n\nWhich port?"
    session.user(shown, "<hook_context>more</hook_context>", displayContent=[text(shown)])

    drafts = read(ADAPTER, session.write(tmp_path))

    assert said(drafts) == [
        ("system:hook_context", f"<hook_context>{BLOCK}</hook_context>"),
        ("prompt", "Which port?"),
        ("system:hook_context", "<hook_context>more</hook_context>"),
    ]


def test_files_that_a_prompt_refers_to_are_not_its_words(tmp_path):
    session = GeminiSession()
    session.user(
        "Explain @a.py", "\n--- Content from referenced files ---", "\nContent from @a.py:\n", "print(1)",
        "\n--- End of content ---", "and be brief",
    )  # fmt: skip
    session.user("typed", "added by the client", displayContent="typed")

    drafts = read(ADAPTER, session.write(tmp_path))

    assert turns(drafts) == [("prompt", "Explain @a.py"), ("prompt", "and be brief"), ("prompt", "typed")]
    assert [name for name, _ in said(drafts, "system")] == ["system:referenced_file"] * 4 + ["system:context"]


def test_notices_are_system_events_and_an_unknown_type_is_kept(tmp_path):
    session = GeminiSession()
    for kind in ("info", "warning", "error"):
        session.message(kind, f"a {kind}")
    session.message("hologram", "x")
    session.model([{"hologramData": 1}])

    drafts, counts = read_source(ADAPTER, session.write(tmp_path))

    assert said(drafts, "system") == [
        ("system:info", "a info"),
        ("system:warning", "a warning"),
        ("system:error", "a error"),
    ]
    assert counts.unknown == {"hologram@": 1, "part/hologramData@": 1}
    assert len([draft for draft in drafts if draft.type == "unknown"]) == 2


def test_thoughts_are_reasoning_and_dropped_by_default(tmp_path):
    session = GeminiSession()
    session.user("go")
    session.model("Done.", thoughts=[{"subject": "Planning", "description": "I look first."}])
    path = session.write(tmp_path)

    off, on = read(ADAPTER, path), read(ADAPTER, path, reasoning=True)

    assert said(off, "mark") == [("reasoning_withheld", "capture.reasoning is off")]
    assert "Planning" not in str(off)
    assert said(on) == [("prompt", "go"), ("reasoning", "Planning\nI look first."), ("reply", "Done.")]


def test_tools_that_failed_have_no_id_or_answer_with_media(tmp_path):
    session = GeminiSession()
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    failed = {"functionResponse": {"id": "c1", "name": "x", "response": {"error": "no such file"}}}
    session.model("", toolCalls=[{"id": "c1", "name": "x", "args": {}, "status": "error", "result": [failed]}])
    session.model("", toolCalls=[{"name": "y", "args": {"a": 1}, "status": "success"}])
    session.model("", toolCalls=[{"id": "c3", "name": "z", "args": {}, "status": "success", "result": ["seen", image]}])

    drafts = read(ADAPTER, session.write(tmp_path))

    results = [draft.body for draft in drafts if draft.type == "tool_result"]
    assert [(body["text"], body.get("is_error")) for body in results] == [("no such file", True), ("seen", None)]
    assert results[1]["media"][0]["mime"] == "image/png"
    assert [draft.body["tool"] for draft in drafts if draft.type == "tool_call"] == ["x", "y", "z"]


# -- a journal of updates ------------------------------------------------------------------------------


def test_a_message_that_comes_again_longer_leaves_its_former_words(tmp_path):
    session = GeminiSession()
    session.user("go")
    first = session.model("I wi")
    session.model("I will look.", id=first["id"])
    session.model("I will look.", id=first["id"], tokens={"total": 2})

    drafts = read(ADAPTER, session.write(tmp_path))

    assert turns(drafts) == [("prompt", "go"), ("reply", "I wi"), ("reply", "I will look.")]
    [mark] = [draft for draft in drafts if draft.body.get("mark") == "abandoned"]
    assert mark.body["events"] == [drafts[1].id]


def test_a_conversation_listed_anew_adds_nothing_and_loses_nothing(tmp_path):
    """A resume lists what the model is sent, in other shapes and with new times."""
    session = talk()
    _, call, answer, reply = session.messages
    session.put(session.header)
    listed = [
        {"id": call["id"], "timestamp": "2026-06-16T00:00:00.000Z", "type": "gemini", "content": [
            {"functionCall": {"id": "run_shell_command__1_0", "name": "run_shell_command", "args": {}}}]},
        {"id": call["id"] + "_response", "timestamp": "2026-06-16T00:00:00.000Z", "type": "user",
         "content": answer["content"]},
        {**reply, "content": [text("It is 8080.")]},
    ]  # fmt: skip
    session.change(messages=listed, lastUpdated="x")
    session.user("And the host?")

    drafts = read(ADAPTER, session.write(tmp_path))

    assert turns(drafts) == [*TURN, ("prompt", "And the host?")]
    assert marks(drafts) == []


def test_a_compression_leaves_a_boundary_and_a_summary(tmp_path):
    session = talk()
    snapshot = {"id": "s1", "timestamp": "2026-06-16T00:00:00.000Z", "type": "user", "content": "<state_snapshot>\nx"}
    session.change(messages=[snapshot])

    drafts = read(ADAPTER, session.write(tmp_path))

    assert said(drafts)[4:] == [("system:compact_boundary", ""), ("summary", "<state_snapshot>\nx")]
    assert marks(drafts) == []


def test_what_was_taken_back_is_marked_and_kept(tmp_path):
    session = talk()
    wrong = session.user("a wrong turn")
    session.model("A wrong answer.")
    session.rewind(wrong["id"])
    session.user("the right turn")

    drafts = read(ADAPTER, session.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.body.get("mark") == "rewound"]
    gone = [draft.body["text"] for draft in drafts if draft.id in mark.body["events"]]
    assert gone == ["a wrong turn", "A wrong answer."]


def test_taking_back_an_unknown_message_takes_back_everything(tmp_path):
    session = talk()
    session.rewind("nobody")

    drafts = read(ADAPTER, session.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.body.get("mark") == "rewound"]
    assert len(mark.body["events"]) == 4


# -- capture -------------------------------------------------------------------------------------------


def test_capture_at_every_line_equals_capture_of_the_whole(project, tmp_path):
    session = talk(cwd=str(project.root))
    wrong = session.user("a wrong turn")
    session.rewind(wrong["id"])
    session.user("go on")
    register(tmp_path, shop=str(project.root))
    lines = session.lines
    for end in range(1, len(lines) + 1):
        session.lines = lines[:end]
        path = session.write(tmp_path)
        project.sync()
    again = project.sync()

    whole = read(ADAPTER, path)

    assert nothing_new(again)
    assert summary(project.events()) == summary(whole)


def summary(events):
    """Everything said and marked, whatever the order; why there is no reasoning is told once, when it is known."""
    return Counter((event.type, event.body.get("text")) for event in events if event.type != "mark") + Counter(
        marks(events)
    )


def test_a_document_rewritten_whole_gives_only_what_is_new(project, tmp_path):
    session = talk(cwd=str(project.root))
    session.write(tmp_path, folder="shop", journal=False)
    register(tmp_path, shop=str(project.root))
    project.sync()
    session.user("And the host?")
    session.messages[-2] = {**session.messages[-2], "tokens": {"total": 5}}
    session.header["lastUpdated"] = "2026-06-16T00:00:00.000Z"
    session.write(tmp_path, folder="shop", journal=False)

    report = project.sync()

    assert (report.added, report.sightings, report.marks) == (1, 0, 0)
    assert nothing_new(project.sync())


def test_messages_that_a_document_no_longer_holds_are_marked(project, tmp_path):
    session = talk(cwd=str(project.root))
    session.write(tmp_path, journal=False)
    register(tmp_path, shop=str(project.root))
    project.sync()
    last = session.messages.pop()
    session.write(tmp_path, journal=False)
    project.sync()
    assert marks(project.events()) == ["rewound"]
    session.messages.append(last)
    session.write(tmp_path, journal=False)

    project.sync()

    assert marks(project.events()) == ["rewound", "restored"]


def test_a_half_written_document_is_left_for_the_next_time(project, tmp_path):
    session = talk(cwd=str(project.root))
    path = session.write(tmp_path, journal=False)
    register(tmp_path, shop=str(project.root))
    project.sync()
    path.write_bytes(session.document()[:200])
    torn = project.sync()
    session.write(tmp_path, journal=False)

    healed = project.sync()

    assert torn.failed == [(str(path), "no whole JSON document")]
    assert (torn.added, torn.marks, healed.added, healed.marks) == (0, 0, 0, 0)


def test_both_files_of_a_migrated_session_are_one_session(project, tmp_path):
    session = talk(cwd=str(project.root))
    session.write(tmp_path, journal=False)
    session.write(tmp_path, folder="shop")
    register(tmp_path, shop=str(project.root))

    report = project.sync()

    assert (report.files, report.sessions) == (2, 1)
    assert project.texts("prompt", "reply") == ["Which port?", "It is 8080."]
    assert report.sightings == 4
    assert nothing_new(project.sync())


def test_a_folder_that_was_renamed_is_the_same_source(project, tmp_path):
    session = talk(cwd=str(project.root))
    old = session.write(tmp_path)
    register(tmp_path, shop=str(project.root))
    project.sync()
    old.unlink()
    session.write(tmp_path, folder="shop")

    report = project.sync()

    assert (report.added, report.sightings, report.marks, report.missing) == (0, 0, 0, [])


def test_a_sub_agent_belongs_to_its_parents_session(project, tmp_path):
    session = talk(cwd=str(project.root))
    session.write(tmp_path)
    worker = GeminiSession(cwd=str(project.root), seed="worker", kind="subagent")
    worker.user("Look into the port")
    worker.model("Found it.")
    worker.write(tmp_path, under=session.session)
    register(tmp_path, shop=str(project.root))

    report = project.sync()

    assert (report.files, report.sessions) == (2, 1)
    assert (project.texts("prompt"), project.texts("worker_prompt")) == (["Which port?"], ["Look into the port"])
    said_by = {event.body.get("worker") for event in project.events("conversation_turn")}
    assert said_by == {None, worker.session}


def test_a_damaged_line_costs_nothing_else(project, tmp_path):
    session = talk(cwd=str(project.root))
    session.lines.insert(2, b'{"id": "x", "type": "us')
    session.write(tmp_path)
    register(tmp_path, shop=str(project.root))

    report = project.sync()

    assert [reason for *_, reason in report.damaged] == ["unreadable JSON"]
    assert project.texts("prompt", "reply") == ["Which port?", "It is 8080."]


def test_reading_again_after_the_state_is_lost_or_with_readapt_adds_nothing(project, tmp_path):
    session = talk(cwd=str(project.root))
    session.rewind(session.user("a wrong turn")["id"])
    session.model("I wi", id="m1")
    session.model("I will.", id="m1")
    session.write(tmp_path)
    register(tmp_path, shop=str(project.root))
    project.sync()
    count = len(project.events())
    (project.workspace.run_dir / "capture.json").unlink()

    lost = project.sync()
    again = readapt(project.workspace, now=NOW)

    assert (lost.added, lost.sightings, lost.marks, again.added, again.marks) == (0, 0, 0, 0, 0)
    assert len(project.events()) == count


def test_where_a_time_comes_from(tmp_path):
    session = GeminiSession()
    session.user("timed")
    session.message("user", "untimed", timestamp=None)

    drafts = read(ADAPTER, session.write(tmp_path))

    assert [(draft.ts, draft.ts_source) for draft in drafts] == [
        ("2026-06-15T10:01:00.000Z", "record"),
        ("2026-06-15T10:01:00.000Z", "joined"),
    ]


# -- whose session it is -------------------------------------------------------------------------------


def head(path):
    with ADAPTER.open(only(ADAPTER, path)) as file:
        return ADAPTER.head([json.loads(line) for line in file])


@pytest.mark.parametrize("way", ["marker", "registry", "registry, old folder", "mentioned", "nothing"])
def test_how_the_folder_of_a_session_is_found(way, journal, tmp_path):
    cwd = "/home/dev/shop"
    session = GeminiSession(cwd=cwd)
    session.user("Read it" if way != "mentioned" else f"Read {cwd}/src/a.py, please")
    folder = project_hash(cwd) if way == "registry, old folder" else "shop"
    path = session.write(tmp_path, folder=folder, journal=journal)
    if way == "marker":
        (path.parent.parent / ".project_root").write_text(cwd)
    elif way.startswith("registry"):
        register(tmp_path, shop=cwd, other="/home/dev/other")

    found = head(path)

    assert found == (cwd if way != "nothing" else "", "2026-06-15T10:00:00.000Z", session.session)


def test_a_map_that_names_another_folder_than_the_hash_is_not_believed(tmp_path):
    path = GeminiSession(cwd="/home/dev/shop").write(tmp_path, folder="shop")
    register(tmp_path, shop="/home/dev/other")

    assert head(path)[0] == ""


def test_sessions_of_another_folder_are_not_read(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    talk(cwd=str(project.root)).write(tmp_path)
    talk(seed="two", cwd=str(tmp_path / "elsewhere")).write(tmp_path)
    talk(seed="three", cwd="/nobody/knows").write(tmp_path)
    register(tmp_path, shop=str(project.root), other=str(tmp_path / "elsewhere"))

    report = project.sync()

    assert (report.files, report.skipped) == (1, {"foreign": 1, "no_cwd": 1})


def test_what_is_no_session_is_not_claimed(tmp_path):
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "logs.json").write_text('[{"sessionId": "x"}]')
    (tmp_path / "a.json").write_text('{"sessionId": "x", "messages": []}')
    (tmp_path / "a.jsonl").write_text('{"type":"user","uuid":"x","sessionId":"y","message":{"content":"hi"}}\n')

    assert ADAPTER.discover([tmp_path]) == ([], {})


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(journal, tmp_path):
    session = talk()
    session.user("\u2028ü", {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}})
    session.message("hologram", {"z": 1, "a": {"c": 1, "b": 2}})

    printed = same_everywhere("transcript.adapters.gemini_cli:GeminiCli", session.write(tmp_path, journal=journal))

    assert printed.count(b"\n") == 8


# -- real files ----------------------------------------------------------------------------------------


@pytest.mark.real_data
def test_todays_client(shared, project):
    fresh = shared / "clients" / "fresh" / "gemini-cli"

    report = project.sync(sources=fresh, all_roots=True)

    assert (report.unknown, report.damaged, report.skipped) == ({}, [], {})
    assert project.texts("prompt", "reply") == ["please run the echo", "Understood.", "second turn", "Understood."]
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    injected = [event for event in project.events() if "zebra-42" in str(event.body)]
    assert {event.body["subtype"] for event in injected} == {"hook_context"}
    assert {event.body.get("cwd") for event in project.events("conversation_turn")} == {"/home/dev/project"}
    assert nothing_new(project.sync(sources=fresh, all_roots=True))


@pytest.mark.real_data
def test_four_real_documents(other_harnesses, project):
    report = project.sync(sources=other_harnesses / "gemini", all_roots=True)

    assert (report.files, report.sessions, report.unknown, report.damaged) == (4, 4, {}, [])
    by_kind = Counter(event.body["kind"] for event in project.events("conversation_turn"))
    assert by_kind == {"prompt": 5, "reply": 13}
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 12
    found = {event.body.get("cwd", "") for event in project.events("conversation_turn")}
    assert len(found) == 1
    assert found.pop().endswith("/entireio/cli")
    assert nothing_new(project.sync(sources=other_harnesses / "gemini", all_roots=True))
