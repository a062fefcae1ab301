"""What the Claude Code adapter makes of every kind of record."""

import json

import pytest
import support.capture
from support.capture import adapt, adapt_counted, said
from support.claude import ClaudeSession, image, made_uuid, text, thinking, tool_result, tool_use

from transcript.canonical import canonical, sha256_hex
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"


@pytest.fixture
def session():
    return ClaudeSession()


def test_a_turn_becomes_one_event_a_block_with_every_field(session, tmp_path):
    session.user("Which port?")
    session.assistant(text("I look."), tool_use("t1", "Read", file_path="a.toml"), message_id="msg_1")
    session.user([tool_result("t1", "port = 8080")], toolUseResult={"stdout": "port = 8080"})
    session.assistant("8080.", message_id="msg_2")
    path = session.write(tmp_path)

    drafts = adapt(path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "Read"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
    ]
    prompt, reply, call, result, _ = drafts[:5]
    assert (prompt.type, prompt.actor, prompt.agent, prompt.origin) == (
        "conversation_turn",
        "user",
        "claude-code",
        "internal",
    )
    assert (prompt.ts, prompt.ts_source, prompt.session) == ("2026-06-15T10:00:00.000Z", "record", session.session)
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "branch": "main", "file": str(path),
    }  # fmt: skip
    assert prompt.native == {
        "harness": "claude-code", "version": "2.1.197", "id": session.records[0]["uuid"], "part": 0, "adapter": "1",
        "source": prompt.native["source"],
    }  # fmt: skip
    assert len(prompt.native["source"]) == 16
    assert (reply.body["message"], reply.body["model"], reply.body["parent"]) == (
        "msg_1",
        "claude-opus-4-8",
        prompt.native["id"],
    )
    assert (call.actor, call.native["part"], call.body["call_id"], call.body["input"]) == (
        "assistant",
        1,
        "t1",
        {"file_path": "a.toml"},
    )
    assert (result.actor, result.body["call_id"]) == ("tool", "t1")
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_identity_depends_on_the_records_uuid_alone(session, tmp_path):
    """Other session, other folder, other line, other content around: the same event."""
    record = session.user("Which port?")
    other = ClaudeSession(cwd="/elsewhere", seed="two")
    other.user("first")
    other.user("Which port?", uuid=record["uuid"])

    [one] = [draft for draft in adapt(session.write(tmp_path)) if draft.type != "mark"]
    [_, two] = [draft for draft in adapt(other.write(tmp_path)) if draft.type != "mark"]

    assert one.id == two.id
    assert one.session != two.session
    assert one.native["source"] != two.native["source"]


def test_a_copied_config_folder_is_the_same_source(session, tmp_path):
    session.user("x")

    one = adapt(session.write(tmp_path / "a"))
    two = adapt(session.write(tmp_path / "b" / "deeper"))

    assert one[0].native["source"] == two[0].native["source"]


def test_parts_of_a_message_that_are_not_adjacent_share_its_id(session, tmp_path):
    """227 of 462 real files: text, first call, its result, then the second call of the same message."""
    session.user("go")
    session.assistant("Two things.", message_id="m")
    session.assistant(tool_use("t1"), message_id="m")
    session.user([tool_result("t1", "one")])
    session.assistant(tool_use("t2"), message_id="m")
    session.user([tool_result("t2", "two")])

    drafts = adapt(session.write(tmp_path))

    assert [draft.body["message"] for draft in drafts if draft.actor == "assistant"] == ["m", "m", "m"]
    assert said(drafts, "mark") == [("reasoning_withheld", "none in the source")]


def test_a_cumulative_snapshot_leaves_the_longest_form_of_each_block(session, tmp_path):
    session.user("go")
    session.assistant("I wi", message_id="m")
    session.assistant("I will look.", tool_use("t1", command="l"), message_id="m")
    session.assistant("I will look.", tool_use("t1", command="ls"), tool_use("t2"), message_id="m")
    path = session.write(tmp_path)

    drafts, counts = adapt_counted(path)

    assert said(drafts) == [("prompt", "go"), ("reply", "I will look."), ("tool_call", "Bash"), ("tool_call", "Bash")]
    assert [draft.body["input"] for draft in drafts if draft.type == "tool_call"] == [{"command": "ls"}, {}]
    assert counts.notes["longer form of a block"] == 2
    assert counts.notes["repeated block"] == 1
    assert said(drafts, "mark") == [("reasoning_withheld", "none in the source")]


def test_a_proxy_that_gives_all_its_messages_one_id_loses_none_of_them(session, tmp_path):
    for asked in ("Is it up?", "And now?"):
        session.user(asked)
        session.assistant("Yes.", message_id="msg_1")

    assert said(adapt(session.write(tmp_path)), "reply") == [("reply", "Yes."), ("reply", "Yes.")]


def test_the_same_record_rewritten_longer_is_a_new_event(session, tmp_path):
    session.user("go")
    one = session.assistant("I wi", message_id="m")
    session.assistant("I will look.", message_id="m", uuid=one["uuid"])

    drafts = adapt(session.write(tmp_path))

    assert said(drafts) == [("prompt", "go"), ("reply", "I will look.")]


def test_two_texts_of_one_message_are_two_events(session, tmp_path):
    session.assistant("First.", message_id="m")
    session.assistant("Second.", message_id="m")
    session.assistant("First. And more.", message_id="other")

    assert said(adapt(session.write(tmp_path))) == [
        ("reply", "First."),
        ("reply", "Second."),
        ("reply", "First. And more."),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<task-notification>\n<task-id>a</task-id>\n</task-notification>\nTranscript: /x", "system:task_notification"),
        ("<local-command-caveat>Caveat: x</local-command-caveat>", "system:local_command_caveat"),
        (
            "Caveat: The messages below were generated by the user while running local commands. x",
            "system:local_command_caveat",
        ),
        ("<local-command-stdout>Bye!</local-command-stdout>", "system:local_command_output"),
        ("<bash-input>git status</bash-input>", "system:bash_input"),
        ("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>", "system:bash_output"),
        ("<ci-monitor-event>x</ci-monitor-event>", "system:ci_monitor_event"),
        ("[Request interrupted by user for tool use]", "system:interrupted"),
        ("Base directory for this skill: /x", "system:skill"),
        ("<system-reminder>\nremember\n</system-reminder>", "system:reminder"),
        ("This session is being continued from a previous conversation that ran out of context. x", "summary"),
        ("Why does <task-notification>a</task-notification> appear?", "prompt"),
        ("<system-reminder> is a tag, what does it do?", "prompt"),
        ("<b>bold</b> text", "prompt"),
        ("a < b", "prompt"),
    ],
)
@pytest.mark.parametrize("blocks", [False, True], ids=["string", "blocks"])
def test_only_a_text_that_starts_with_an_envelope_is_not_a_prompt(session, tmp_path, content, expected, blocks):
    session.user([text(content)] if blocks else content)

    assert said(adapt(session.write(tmp_path))) == [(expected, content)]


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        (
            "<command-name>/compact</command-name>\n  <command-message>compact</command-message>\n"
            "  <command-args>keep it</command-args>",
            "/compact keep it",
        ),
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
            "<command-args></command-args>",
            "/review",
        ),
        ("<command-message>review is running…</command-message>", "/review is running…"),
    ],
)
def test_a_slash_command_is_shown_as_it_was_typed(session, tmp_path, content, typed):
    session.user(content)

    assert said(adapt(session.write(tmp_path))) == [("system:command", typed)]


def test_an_envelope_in_front_of_words_is_cut_off_them(session, tmp_path):
    session.user("<ide_opened_file>The user opened a.go</ide_opened_file>\nWhy is it slow?")

    drafts = adapt(session.write(tmp_path))

    assert said(drafts) == [
        ("system:ide", "<ide_opened_file>The user opened a.go</ide_opened_file>"),
        ("prompt", "\nWhy is it slow?"),
    ]
    assert drafts[0].id != drafts[1].id


@pytest.mark.parametrize(
    "fields",
    [{"isMeta": True}, {"origin": {"kind": "task-notification"}}, {"promptSource": "task-notification"}],
    ids=["meta", "origin", "source"],
)
def test_what_the_client_says_it_wrote_is_no_prompt(session, tmp_path, fields):
    session.user("Looks typed.", **fields)
    session.user("Is typed.", origin={"kind": "human"}, promptSource="sdk")

    drafts = adapt(session.write(tmp_path))

    assert [name for name, _ in said(drafts)] == [said(drafts)[0][0], "prompt"]
    assert drafts[0].type == "system"


def test_a_queued_command_is_a_prompt_that_stands_nowhere_else(session, tmp_path):
    session.attachment("queued_command", prompt="and the tests too", commandMode="prompt", origin={"kind": "human"})
    session.attachment("queued_command", prompt=[text("and this"), image()])
    session.attachment("queued_command", prompt="<x>done</x>", commandMode="task-notification")
    session.bare(
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "content": "and the tests too",
            "sessionId": session.session,
        }
    )

    drafts, counts = adapt_counted(session.write(tmp_path))

    assert said(drafts) == [
        ("prompt", "and the tests too"),
        ("prompt", "and this"),
        ("system:task_notification", "<x>done</x>"),
    ]
    assert drafts[0].body["flags"] == ["queued"]
    assert drafts[1].body["media"][0]["mime"] == "image/png"
    assert counts.records["queue-operation"] == 1


def test_bookkeeping_is_counted_and_makes_no_event(session, tmp_path):
    for kind in (
        "file-history-snapshot",
        "summary",
        "last-prompt",
        "mode",
        "permission-mode",
        "ai-title",
        "custom-title",
    ):
        session.bare({"type": kind, "sessionId": session.session, "summary": "another conversation"})
    session.record("system", subtype="stop_hook_summary")
    session.record("system", subtype="turn_duration")
    session.record("progress", data={"type": "bash_progress", "output": "x"})
    session.attachment("skill_listing", content="the vendor's own prompt")
    session.attachment("nested_memory", content="rules")

    drafts, counts = adapt_counted(session.write(tmp_path))

    assert drafts == []
    assert counts.unknown == {}
    assert (
        sum(
            counts.records[name]
            for name in ("summary", "mode", "system", "progress/bash_progress", "attachment/skill_listing")
        )
        == 6
    )


def test_a_pull_request_link_is_kept_once(session, tmp_path):
    for _ in range(3):
        session.bare(
            {"type": "pr-link", "sessionId": session.session, "prNumber": 7, "prUrl": "https://example.org/pr/7"}
        )

    ids = {draft.id for draft in adapt(session.write(tmp_path))}

    assert len(ids) == 1


def test_system_records_are_events_of_their_subtype(session, tmp_path):
    session.record("system", subtype="api_error", error={"message": "overloaded"})
    session.record("system", subtype="brand_new", content="what is this")

    drafts, counts = adapt_counted(session.write(tmp_path))

    assert said(drafts) == [("system:api_error", '{"message": "overloaded"}'), ("system:brand_new", "what is this")]
    assert counts.unknown == {"system/brand_new@2.1.197": 1}


def test_a_compaction_adds_a_summary_and_takes_no_turn_away(session, tmp_path):
    """LCA-4.2-04: the covered turns stay, and the summary names the first and the last of them."""
    session.user("first question")
    session.assistant("first answer")
    session.compact("They talked.")
    session.user("second question")
    session.compact("They talked more.")

    drafts = adapt(session.write(tmp_path))

    assert [name for name, _ in said(drafts)] == [
        "prompt", "reply", "system:compact_boundary", "summary", "prompt", "system:compact_boundary", "summary",
    ]  # fmt: skip
    first, second = [draft for draft in drafts if draft.body.get("kind") == "summary"]
    assert first.body["covers"] == [drafts[0].id, drafts[1].id]
    assert second.body["covers"][1] == drafts[4].id
    assert (first.actor, first.body["flags"]) == ("assistant", ["compact_summary"])
    assert drafts[2].body["compact"]["trigger"] == "auto"
    assert not [draft for draft in drafts if draft.body.get("mark") == "abandoned"]


def test_reasoning_is_dropped_by_default_and_the_record_says_so_once_a_session(session, tmp_path):
    """ESAA-05, LCA-4.2-05, LCA-4.2-06."""
    session.user("go")
    session.assistant(thinking("secret plan"), "Done.")
    session.assistant(thinking("more"), "Really.")
    path = session.write(tmp_path)

    off, counts = adapt_counted(path)
    on = adapt(path, reasoning=True)

    assert "secret plan" not in str(off)
    assert said(off, "mark") == [("reasoning_withheld", "capture.reasoning is off")]
    assert counts.notes["reasoning not kept"] == 2
    assert said(on, "reasoning") == [("reasoning", "secret plan"), ("reasoning", "more")]
    assert said(on, "mark") == []


@pytest.mark.parametrize("block", [thinking(""), {"type": "redacted_thinking", "data": "x"}], ids=["empty", "redacted"])
@pytest.mark.parametrize("reasoning", [False, True])
def test_reasoning_that_the_harness_withholds_is_marked(session, tmp_path, block, reasoning):
    session.assistant(block, "Done.")

    drafts = adapt(session.write(tmp_path), reasoning=reasoning)

    assert said(drafts, "mark") == [("reasoning_withheld", "withheld by the harness")]
    assert said(drafts, "reasoning") == []


def test_images_and_documents_are_named_by_their_hash(session, tmp_path):
    data = "aGVsbG8="  # hello
    session.user([image(data), text("What is this?")])
    session.user([image(data)])
    session.user([tool_result("t1", [text("see"), image(data)])])
    session.user(
        [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "%%%"}}, text("broken")]
    )

    drafts, counts = adapt_counted(session.write(tmp_path))

    entry = {"blob": sha256_hex(b"hello"), "mime": "image/png", "size": 5}
    assert said(drafts) == [("prompt", "What is this?"), ("prompt", ""), ("tool_result", "see"), ("prompt", "broken")]
    assert [draft.body.get("media") for draft in drafts[:4]] == [[entry], [entry], [entry], None]
    assert counts.notes["image without data"] == 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("plain", "plain"),
        ([text("a"), text("b")], "a\nb"),
        (["a", "b"], "a\nb"),
        (None, ""),
        ([], ""),
        ({"type": "text", "text": "a"}, "a"),
        ([{"type": "tool_reference", "tool_name": "x"}], '{"type": "tool_reference", "tool_name": "x"}'),
    ],
)
def test_a_tool_result_may_have_any_shape(session, tmp_path, content, expected):
    session.user([tool_result("t1", content)], toolUseResult="Error: a copy that is not taken in")

    assert said(adapt(session.write(tmp_path))) == [("tool_result", expected)]


def test_a_failed_tool_says_so(session, tmp_path):
    session.user([tool_result("t1", "no such file", is_error=True)])
    session.user([tool_result("t2", "fine")])

    assert [draft.body.get("is_error") for draft in adapt(session.write(tmp_path))] == [True, None]


def test_a_spilled_output_is_taken_in_whole(session, tmp_path):
    """LCA-6.1-04: the client keeps 2 KB of it in the transcript and deletes the file after 30 days."""
    stub = "<persisted-output>\nToo large (5MB). Full output saved to: /gone/x/tool-results/b1.txt\n\nPreview:\nline"
    session.user([tool_result("t1", stub)])
    session.user([tool_result("t2", stub.replace("b1.txt", "missing.txt"))])
    session.user([tool_result("t3", stub.replace("/gone/x/tool-results/b1.txt", "/etc/../b1.txt"))])
    session.user([tool_result("t4", f"I saw: {stub}")])
    path = session.write(tmp_path)
    folder = path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    whole = "line\n" * 1_000_000
    (folder / "b1.txt").write_text(whole)

    drafts, counts = adapt_counted(path)

    assert [draft.body["text"] == whole for draft in drafts] == [True, False, True, False]
    assert [draft.body.get("stub") for draft in drafts[:2]] == [stub, None]
    assert drafts[1].body["text"] == stub.replace("b1.txt", "missing.txt")
    assert counts.notes == {"spilled output": 2, "spilled output not at hand": 1}


def test_a_link_in_place_of_a_spilled_output_is_not_followed(session, tmp_path):
    stub = "<persisted-output>\nOutput too large. Full output saved to: /x/tool-results/b1.txt"
    session.user([tool_result("t1", stub)])
    path = session.write(tmp_path)
    (tmp_path / "secret").write_text("secret")
    folder = path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").symlink_to(tmp_path / "secret")

    assert said(adapt(path)) == [("tool_result", stub)]


def test_sub_agents_of_every_layout_carry_their_worker_and_the_parents_session(session, tmp_path):
    parent = session.session
    session.user("ask a helper")
    outer = {"agentId": "a411d5c", "type": "agent_progress", "prompt": "find it"}
    session.record(
        "progress",
        data={
            **outer,
            "message": {
                "type": "user",
                "uuid": made_uuid("i1"),
                "message": {"role": "user", "content": [text("find it")]},
            },
        },
    )
    inner = {"role": "assistant", "id": "m9", "model": "haiku", "content": [tool_use("t9", "Grep")]}
    session.record(
        "progress", data={**outer, "message": {"type": "assistant", "uuid": made_uuid("i2"), "message": inner}}
    )
    session.user("inline", isSidechain=True, parentUuid=None, uuid=made_uuid("side"))
    session.assistant("inline answer", isSidechain=True, parentUuid=made_uuid("side"))
    nested = ClaudeSession(agent="adc06", session=parent)
    nested.user("look around")
    nested.assistant("I see.")
    beside = ClaudeSession(agent="1234abcd", session=parent, seed="beside")
    beside.user("look there")
    path = session.write(tmp_path)
    beside_path = path.with_name("agent-1234abcd.jsonl")
    beside_path.write_bytes(beside.to_bytes())
    flow = path.with_suffix("") / "subagents" / "workflows" / "run1" / "agent-f1.jsonl"
    flow.parent.mkdir(parents=True)
    flow.write_bytes(ClaudeSession(agent="f1", session=parent, seed="flow").to_bytes())

    main = adapt(path)
    [*own, _] = [draft for draft in adapt(nested.write(tmp_path)) if draft.type != "mark"], None
    other = adapt(beside_path)

    assert said(main) == [
        ("prompt", "ask a helper"), ("worker_prompt", "find it"), ("tool_call", "Grep"),
        ("worker_prompt", "inline"), ("reply", "inline answer"),
    ]  # fmt: skip
    assert [draft.body.get("worker") for draft in main[:5]] == [
        None,
        "a411d5c",
        "a411d5c",
        *[made_uuid("side")[:8]] * 2,
    ]
    assert main[1].body["flags"] == ["sidechain"]
    assert main[1].native["id"] == made_uuid("i1")
    assert {draft.session for draft in [*main, *own[0], *other]} == {parent}
    assert said(own[0]) == [("worker_prompt", "look around"), ("reply", "I see.")]
    assert [draft.body["worker"] for draft in own[0]] == ["adc06", "adc06"]
    assert said(other) == [("worker_prompt", "look there")]
    assert not [draft for draft in main if draft.body.get("mark") == "abandoned"]


def test_a_sub_agent_is_named_by_the_file_beside_it(tmp_path):
    worker = ClaudeSession(agent="a1")
    worker.user("look around")
    path = worker.write(tmp_path)
    path.with_suffix(".meta.json").write_text('{"agentType":"Explore","description":"look","spawnDepth":1}')
    [named, *_] = adapt(path)
    path.with_suffix(".meta.json").write_text("[]")
    [nameless, *_] = adapt(path)

    assert (named.body["worker_type"], named.body["worker_task"]) == ("Explore", "look")
    assert "worker_type" not in nameless.body


def test_our_own_injections_become_system_events_and_quoted_ones_stay(session, tmp_path):
    """recall-feedback-loop (claude-mem#98, #105, mem0#4573, deja-vu#656)."""
    session.user("What is the retry ceiling?")
    session.attachment(
        "hook_additional_context", content=[BLOCK], hookName="UserPromptSubmit", hookEvent="UserPromptSubmit"
    )
    output = json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": BLOCK}})
    session.attachment("hook_success", content="", stdout=output, stderr="", exitCode=0)
    session.user(
        f"<system-reminder>\nUserPromptSubmit hook additional context: {BLOCK}\n</system-reminder>", isMeta=True
    )
    session.user(f"For the record:\n{BLOCK}\nBut: the ceiling for uploads is twelve, mink-1414.")
    session.user([tool_result("t1", BLOCK)])

    drafts = adapt(session.write(tmp_path))

    assert [name for name, _ in said(drafts)] == [
        "prompt", "system:hook_additional_context", "system:hook_success", "system:reminder", "prompt", "tool_result",
    ]  # fmt: skip
    assert drafts[4].body["text"].startswith("For the record:\n[recall 1a2b3c4d]")


def test_api_errors_and_made_up_answers_are_no_replies(session, tmp_path):
    session.assistant("No response requested.", model="<synthetic>")
    session.assistant("API Error: 529", model="<synthetic>", isApiErrorMessage=True)

    assert said(adapt(session.write(tmp_path))) == [
        ("system:synthetic", "No response requested."),
        ("system:api_error", "API Error: 529"),
    ]


def test_shapes_nobody_knows_are_kept_raw_and_counted(session, tmp_path):
    """log-shape-drift (wakatime-cli#1370, #1292, cc-connect#932, claude-code-trace#316, skills#199)."""
    session.user("yes continue with lemur-8120")
    session.assistant(
        thinking("internal notes"),
        text("Using lemur-8120-stage."),
        7,
        None,
        {},
        {"type": "future_block", "data": {"x": 1}},
    )
    session.record("user", message=None)
    session.user(42)
    session.record("brand-new-record", payload={"deep": [1, 2, 3]})
    renamed = session.assistant("Renamed fields record: kiwi-9003.")
    renamed["session_id"], renamed["parent_uuid"] = renamed.pop("sessionId"), renamed.pop("parentUuid")
    session.lines[-1] = json.dumps(renamed).encode()
    session.bare({"type": "another", "x": 1})
    session.bare({"x": 1})
    session.bare({"x": 1})
    session.user("Last line, dingo-2214.")

    drafts, counts = adapt_counted(session.write(tmp_path))

    assert said(drafts, "conversation_turn") == [
        ("prompt", "yes continue with lemur-8120"),
        ("reply", "Using lemur-8120-stage."),
        ("reply", "Renamed fields record: kiwi-9003."),
        ("prompt", "Last line, dingo-2214."),
    ]
    raws = [draft.body["raw"] for draft in drafts if draft.type == "unknown"]
    assert raws[:4] == [7, None, {}, {"type": "future_block", "data": {"x": 1}}]
    assert [raw.get("type") for raw in raws[4:]] == ["user", "user", "brand-new-record", "another", None, None]
    assert dict(counts.unknown) == {
        "assistant/int@2.1.197": 1,
        "assistant/NoneType@2.1.197": 1,
        "assistant/dict@2.1.197": 1,
        "assistant/future_block@2.1.197": 1,
        "user/content:NoneType@2.1.197": 1,
        "user/content:int@2.1.197": 1,
        "brand-new-record@2.1.197": 1,
        "another@2.1.197": 1,
        "NoneType@2.1.197": 2,
    }
    assert "internal notes" not in str([draft for draft in drafts if draft.type != "unknown"])
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_a_record_without_an_id_gets_one_that_only_the_workspace_can_make(session, tmp_path, monkeypatch):
    session.bare({"type": "another", "said": "swordfish", "sessionId": session.session})
    path = session.write(tmp_path)

    [one] = adapt(path)
    [again] = adapt(path)

    assert one.id == again.id
    assert one.native["id"] == ""
    monkeypatch.setattr(support.capture, "KEY", b"x" * 32)
    assert adapt(path)[0].id != one.id


def test_a_record_with_a_number_json_does_not_have_is_kept_as_text(session, tmp_path):
    session.raw(b'{"type":"user","uuid":"u1","sessionId":"s","cwd":"/x","n":NaN,"message":{"content":"x"}}')

    drafts, counts = adapt_counted(session.write(tmp_path))

    assert [(draft.type, draft.body["raw"][:8]) for draft in drafts] == [("unknown", '{"type":')]
    assert sum(counts.unknown.values()) == 1
    assert canonical(drafts[0].body)


def test_lone_surrogates_stay_recoverable(session, tmp_path):
    """log-lone-surrogate (claude-code-log#139, cognee-integrations#275)."""
    session.raw(
        b'{"type":"user","uuid":"u1","sessionId":"s","cwd":"/x","message":{"content":'
        b'[{"type":"tool_result","tool_use_id":"t","content":"a\\udc80\\udcffb\\ud83d"}]}}'
    )
    session.user("clean")

    one, two = adapt(session.write(tmp_path)), adapt(session.path(tmp_path))

    assert one[0].body["text"] == "a\udc80\udcffb\ud83d"
    assert [draft.id for draft in one] == [draft.id for draft in two]
    assert canonical(one[0].body) == canonical(two[0].body)


@pytest.mark.parametrize(
    ("given", "ts", "source"),
    [
        ("2026-01-05T08:00:00.123Z", "2026-01-05T08:00:00.123Z", "record"),
        ("2026-01-05T10:00:00.5+02:00", "2026-01-05T08:00:00.500Z", "record"),
        ("2026-01-05T10:00:00", "2026-06-15T10:00:00.000Z", "joined"),
        ("yesterday", "2026-06-15T10:00:00.000Z", "joined"),
        (17, "2026-06-15T10:00:00.000Z", "joined"),
    ],
)
def test_a_time_that_cannot_be_trusted_is_taken_from_the_record_before(session, tmp_path, given, ts, source):
    session.user("first")
    session.user("second", timestamp=given)

    second = adapt(session.write(tmp_path))[1]

    assert (second.ts, second.ts_source) == (ts, source)
