"""What the Codex adapter makes of every kind of record, and how rollouts are captured."""

import json
from collections import Counter

import pytest
from support.capture import NOW, Project, said
from support.codex import ERAS, Rollout, part, session_id
from support.harness import ids, nothing_new, only, read, read_source, same_everywhere

from transcript.adapters.codex import Codex
from transcript.injected import OPEN_PHRASE
from transcript.readapt import readapt

ADAPTER = Codex()
BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
TURN = [("prompt", "Which port?"), ("tool_call", "exec_command"), ("tool_result", "8080"), ("reply", "It is 8080.")]


def talk(**fields) -> Rollout:
    rollout = Rollout(**fields)
    rollout.user("Which port?")
    rollout.tool("c1", {"cmd": "cat port"}, "8080")
    rollout.assistant("It is 8080.")
    return rollout


def turns(drafts):
    return [entry for entry in said(drafts) if not entry[0].startswith("system:")]


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    made.env["CODEX_HOME"] = str(tmp_path / "codex")
    return made


@pytest.fixture
def home(tmp_path):
    return tmp_path / "codex"


# -- one channel ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_a_turn_of_every_era_is_there_once_whatever_forms_it_was_written_in(era, tmp_path):
    """Case log-codex-double-record."""
    drafts = read(ADAPTER, talk(era=era).write(tmp_path))

    assert turns(drafts) == TURN
    prompt, call, result, reply = [draft for draft in drafts if draft.type not in ("system", "mark")]
    assert [draft.actor for draft in (prompt, call, result, reply)] == ["user", "assistant", "tool", "assistant"]
    assert {draft.session for draft in drafts} == {session_id("one")}
    assert (call.body["input"], call.body["call_id"], result.body["call_id"]) == ({"cmd": "cat port"}, "c1", "c1")
    assert {draft.body["cwd"] for draft in drafts} == {"/home/dev/shop"}
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_every_field_of_an_event(tmp_path):
    rollout = Rollout(era="paginated")
    rollout.turn()
    rollout.user("Which port?")
    path = rollout.write(tmp_path)

    [prompt] = read(ADAPTER, path)

    assert (prompt.type, prompt.agent, prompt.origin) == ("conversation_turn", "codex", "internal")
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "branch": "main", "model": "gpt-5-codex",
        "file": str(path),
    }  # fmt: skip
    assert {name: prompt.native[name] for name in ("harness", "version", "adapter", "part")} == {
        "harness": "codex", "version": "0.142.5", "adapter": "1", "part": 0,
    }  # fmt: skip
    assert prompt.native["id"] == json.loads(rollout.lines[-1])["payload"]["item"]["id"]


def test_one_speaker_may_have_a_clean_form_and_the_other_none(tmp_path):
    """`codex exec` of spring 2026: the prompt stands as a response item only, the answer as an event too."""
    rollout = Rollout(era="items")
    rollout.user("blablabla?")
    rollout.event("agent_message", message="> blabla2", phase="final_answer")
    rollout.assistant("> blabla2")

    drafts = read(ADAPTER, rollout.write(tmp_path))

    assert turns(drafts) == [("prompt", "blablabla?"), ("reply", "> blabla2")]
    assert drafts[1].body["flags"] == ["final_answer"]


def test_the_same_words_twice_are_two_events(tmp_path):
    rollout = Rollout()
    for _ in range(3):
        rollout.user("go on")
        rollout.assistant("Done.")

    drafts = read(ADAPTER, rollout.write(tmp_path))

    assert turns(drafts) == [("prompt", "go on"), ("reply", "Done.")] * 3
    assert len({draft.id for draft in drafts}) == len(drafts)


@pytest.mark.parametrize("era", ERAS)
def test_capture_at_every_line_equals_capture_of_the_whole(era, project, tmp_path):
    rollout = talk(era=era, cwd=str(project.root))
    rollout.user("go on")
    rollout.assistant("It is 8080.")
    for end in range(1, len(rollout.lines) + 1):
        part_of = Rollout(era=era, cwd=str(project.root))
        part_of.lines = rollout.lines[:end]
        part_of.write(tmp_path / "codex")
        project.sync()
    again = project.sync()
    whole = read(ADAPTER, rollout.write(tmp_path / "other"))

    assert nothing_new(again)
    assert Counter((event.type, event.body.get("text")) for event in project.events() if event.type != "mark") == (
        Counter((draft.type, draft.body.get("text")) for draft in whole if draft.type != "mark")
    )


# -- what nobody typed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", "system:environment"),
        ("<user_instructions>\nx", "system:instructions"),
        ("# AGENTS.md instructions for /x", "system:instructions"),
        ("<permissions instructions>x", "system:instructions"),
        ("<collaboration_mode>x", "system:instructions"),
        ("<multi_agent_mode>x", "system:instructions"),
        ("<apps_instructions>x", "system:instructions"),
        ("<turn_aborted>\nx", "system:interrupted"),
        ("<skill>\n<name>x</name>", "system:skill"),
        ("<user_action>\n<context>a review</context>", "system:user_action"),
        ("<model_switch>\nx", "system:instructions"),
        (BLOCK, "system:injected"),
        ("Why does <environment_context> appear?", "prompt"),
        ("<b>bold</b>", "prompt"),
    ],
)
@pytest.mark.parametrize("era", ["events", "items", "bare"])
def test_only_a_text_that_starts_with_an_envelope_is_not_a_prompt(era, words, expected, tmp_path):
    rollout = Rollout(era=era)
    rollout.user(words)

    found = said(read(ADAPTER, rollout.write(tmp_path)))

    assert (expected, words) in found
    assert ("prompt", words) not in found or expected == "prompt"


@pytest.mark.parametrize("era", ERAS)
def test_an_editors_prompt_is_what_stands_behind_its_heading(era, tmp_path):
    rollout = Rollout(era=era)
    rollout.user("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nWhy is it slow?\n")

    drafts = read(ADAPTER, rollout.write(tmp_path))

    assert turns(drafts) == [("prompt", "Why is it slow?")]
    [head] = [draft for draft in drafts if draft.body.get("subtype") == "ide"]
    assert head.body["text"].startswith("# Context from my IDE setup:")


def test_developer_text_and_what_a_hook_injected_are_system_events(tmp_path):
    rollout = talk()
    kinds = {"content_item_kinds": ["permissions.instructions", "hooks.additional_context"]}
    rollout.response(
        "message", role="developer", content=[part("Be careful."), part(BLOCK)],
        internal_chat_message_metadata_passthrough=kinds,
    )  # fmt: skip

    drafts = read(ADAPTER, rollout.write(tmp_path))

    assert turns(drafts) == TURN
    assert said(drafts, "system") == [
        ("system:developer", "Be careful."),
        ("system:hook_additional_context", BLOCK),
    ]


# -- tools, media, reasoning, compaction -----------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("plain", "plain", None),
        ('{"output":"inner","metadata":{"exit_code":1,"duration_seconds":0.1}}', "inner", True),
        ('{"output":"inner","metadata":{"exit_code":0}}', "inner", None),
        ('{"a": 1}', '{"a": 1}', None),
        ({"content": "x", "success": False}, "x", True),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb", None),
    ],
)
def test_a_tools_output_in_every_shape(output, text, failed, tmp_path):
    rollout = Rollout()
    rollout.tool("c1", {}, output)

    [_, result] = read(ADAPTER, rollout.write(tmp_path))

    assert (result.body["text"], result.body.get("is_error")) == (text, failed)


def test_every_kind_of_call(tmp_path):
    rollout = Rollout()
    rollout.response("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch")
    rollout.response("custom_tool_call_output", call_id="c1", output="ok")
    rollout.response("local_shell_call", call_id="c2", action={"type": "exec", "command": ["ls"]})
    rollout.response("web_search_call", id="ws_1", action={"type": "search", "query": "sqlite"})
    rollout.response("function_call", name="x", arguments="{broken", call_id="c3")
    rollout.event("patch_apply_end", call_id="c1", stdout="ok")
    rollout.event("mcp_tool_call_end", call_id="c9")

    drafts, counts = read_source(ADAPTER, rollout.write(tmp_path))

    assert [(d.body["tool"], d.body["call_id"], d.body["input"]) for d in drafts if d.type == "tool_call"] == [
        ("apply_patch", "c1", {"": "*** Begin Patch"}),
        ("local_shell", "c2", {"type": "exec", "command": ["ls"]}),
        ("web_search", "ws_1", {"type": "search", "query": "sqlite"}),
        ("x", "c3", {"": "{broken"}),
    ]
    assert counts.unknown == {}


def test_a_call_id_used_again_in_the_next_turn_is_another_call(tmp_path):
    rollout = Rollout()
    for output in ("one", "two"):
        rollout.tool("call_0", {}, output)

    drafts = read(ADAPTER, rollout.write(tmp_path))

    assert said(drafts, "tool_result") == [("tool_result", "one"), ("tool_result", "two")]


def test_an_image_goes_with_its_prompt(tmp_path):
    rollout = Rollout()
    rollout.event("user_message", message="Look", images=["data:image/png;base64,iVBORw0KGgo=", "https://x/y.png"])

    [prompt] = read(ADAPTER, rollout.write(tmp_path))

    assert [(medium["mime"], medium["size"]) for medium in prompt.body["media"]] == [("image/png", 8)]


def test_reasoning_is_kept_on_demand_and_what_is_encrypted_never(tmp_path):
    rollout = talk()
    rollout.event("agent_reasoning", text="**Consider** docs.")
    rollout.response(
        "reasoning", summary=[part("**Consider** docs.", "summary_text")], encrypted_content="gAAAAABFAKE"
    )  # fmt: skip
    rollout.response("reasoning", summary=[], encrypted_content="gAAAAABFAKE")
    path = rollout.write(tmp_path)

    off, on = read(ADAPTER, path), read(ADAPTER, path, reasoning=True)

    assert said(off, "reasoning") == []
    assert said(off, "mark") == [("reasoning_withheld", "withheld by the harness")]
    assert said(on, "reasoning") == [("reasoning", "**Consider** docs.")]
    assert "gAAAA" not in str(off) + str(on)


def test_a_compaction_leaves_a_boundary_and_never_the_history_it_repeats(tmp_path):
    rollout = talk()
    rollout.record(
        "compacted", {"message": "They talked.", "replacement_history": [{"role": "user", "content": "zzz"}]}
    )
    rollout.event("context_compacted")
    rollout.record("compacted", {"message": "", "replacement_history": []})
    rollout.user("And then?")

    drafts = read(ADAPTER, rollout.write(tmp_path))

    assert said(drafts)[4:] == [
        ("system:compact_boundary", ""),
        ("summary", "They talked."),
        ("system:compact_boundary", ""),
        ("prompt", "And then?"),
    ]
    assert "zzz" not in str(drafts)


# -- turns that are gone, copies, sub-agents --------------------------------------------------------


def test_turns_that_were_rolled_back_are_marked_and_kept(tmp_path):
    rollout = talk()
    rollout.user("a wrong turn")
    rollout.assistant("A wrong answer.")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.user("the right turn")

    drafts = read(ADAPTER, rollout.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.body.get("mark") == "rewound"]
    gone = {draft.id: draft.body["text"] for draft in drafts if draft.id in mark.body["events"]}
    assert list(gone.values()) == ["a wrong turn", "A wrong answer."]


@pytest.mark.parametrize("ended_by", ["turn", "task_started", "pause"])
def test_a_fork_is_its_own_part_and_sightings_of_its_parent(ended_by, project, home):
    parent = talk(seed="parent", cwd=str(project.root))
    parent.user("yes")
    fork = Rollout(seed="fork", hour=12, cwd=str(project.root), meta={"forked_from_id": parent.session})
    fork.copies(parent)
    if ended_by == "turn":
        fork.turn()
    elif ended_by == "task_started":
        fork.event("task_started")
    fork.user("yes")
    fork.assistant("Then so.")
    parent.write(home)
    fork.write(home)

    report = project.sync()
    again = project.sync()

    assert project.texts("prompt") == ["Which port?", "yes", "yes"]
    sightings = project.events("sighting")
    assert {event.session for event in sightings} == {fork.session}
    assert len(sightings) == report.sightings == 5
    own = [event for event in project.events("conversation_turn") if event.session == fork.session]
    assert [event.body["text"] for event in own] == ["yes", "Then so."]
    assert nothing_new(again)


def test_a_fork_of_a_fork_repeats_both(project, home):
    first = Rollout(seed="a", cwd=str(project.root))
    first.turn()
    first.user("first")
    second = Rollout(seed="b", hour=12, cwd=str(project.root))
    second.copies(first)
    second.turn()
    second.user("second")
    third = Rollout(seed="c", hour=14, cwd=str(project.root))
    third.copies(second)
    third.turn()
    third.user("third")
    for rollout in (first, second, third):
        rollout.write(home)

    project.sync()

    assert [(event.body["text"], event.session) for event in project.events("conversation_turn")] == [
        ("first", first.session), ("second", second.session), ("third", third.session),
    ]  # fmt: skip


def test_a_sub_agent_belongs_to_its_parents_session(project, home):
    parent = talk(seed="parent", cwd=str(project.root))
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": parent.session, "depth": 1}}}
    child = Rollout(seed="child", hour=12, cwd=str(project.root), meta={"source": spawned})
    child.copies(parent)
    child.turn()
    child.user("Look into the port")
    child.assistant("Found it.")
    parent.write(home)
    child.write(home)

    report = project.sync()

    assert (report.files, report.sessions) == (2, 1)
    assert project.texts("prompt") == ["Which port?"]
    assert project.texts("worker_prompt") == ["Look into the port"]
    worker = [event for event in project.events("conversation_turn") if event.body.get("worker")]
    assert {(event.session, event.body["worker"]) for event in worker} == {(parent.session, child.session)}
    assert nothing_new(project.sync())


# -- files -----------------------------------------------------------------------------------------


def test_archiving_and_packing_a_rollout_change_nothing(project, home):
    rollout = talk(cwd=str(project.root))
    plain = rollout.write(home)
    project.sync()
    plain.unlink()
    rollout.write(home, archived=True, packed=True)

    report = project.sync()

    assert (report.added, report.sightings, report.missing) == (0, 0, [])
    assert project.texts("prompt") == ["Which port?"]


def test_a_packed_rollout_is_read_and_beside_a_plain_one_passed_over(tmp_path):
    talk().write(tmp_path / "packed", packed=True)
    talk().write(tmp_path / "both")
    talk().write(tmp_path / "both", packed=True)

    assert turns(read(ADAPTER, tmp_path / "packed")) == TURN
    assert only(ADAPTER, tmp_path / "both").path.suffix == ".jsonl"


def test_what_is_no_rollout_is_not_claimed(tmp_path):
    (tmp_path / "history.jsonl").write_text('{"session_id":"x","ts":1,"text":"hi"}\n')
    (tmp_path / "a.jsonl").write_text('{"type":"user","uuid":"x","sessionId":"y","message":{"content":"hi"}}\n')
    (tmp_path / "b.jsonl").write_text("not JSON\n")

    assert ADAPTER.discover([tmp_path]) == ([], {})


def test_a_damaged_line_and_an_unknown_record_cost_nothing_else(project, home):
    rollout = talk(cwd=str(project.root))
    rollout.lines.insert(2, b'{"timestamp":"2026-06-15T10:0')
    rollout.record("future_record", {"x": 1})
    rollout.event("item_completed", item={"type": "Hologram", "id": "h"})
    rollout.write(home)

    report = project.sync()

    assert [reason for *_, reason in report.damaged] == ["unreadable JSON"]
    assert report.unknown == {"future_record@0.142.5": 1, "item/Hologram@0.142.5": 1}
    assert len(project.events("unknown")) == 2
    assert project.texts("prompt", "reply") == ["Which port?", "It is 8080."]


def test_reading_again_after_the_state_is_lost_or_with_readapt_adds_nothing(project, home):
    rollout = talk(cwd=str(project.root))
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.user("And the host?")
    rollout.write(home)
    project.sync()
    count = len(project.events())
    (project.workspace.run_dir / "capture.json").unlink()

    lost = project.sync()
    again = readapt(project.workspace, now=NOW)

    assert (lost.added, lost.sightings, lost.marks, again.added, again.marks) == (0, 0, 0, 0, 0)
    assert len(project.events()) == count


def test_where_a_time_comes_from(tmp_path):
    bare = read(ADAPTER, talk(era="bare").write(tmp_path / "bare"))
    enveloped = read(ADAPTER, talk().write(tmp_path / "enveloped"))

    assert {(draft.ts, draft.ts_source) for draft in bare} == {("2026-06-15T10:00:00.000Z", "joined")}
    assert {draft.ts_source for draft in enveloped if draft.type != "mark"} == {"record"}


def test_sessions_of_another_folder_are_not_read(project, home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    talk(seed="mine", cwd=str(project.root)).write(home)
    talk(seed="bare", era="bare", cwd=str(project.root)).write(home)
    talk(seed="other", cwd=str(tmp_path / "elsewhere")).write(home)

    report = project.sync()

    assert (report.files, report.skipped) == (2, {"foreign": 1})
    assert project.texts("prompt") == ["Which port?", "Which port?"]


def test_a_rewritten_rollout_keeps_what_it_held_and_marks_it(project, home):
    rollout = talk(cwd=str(project.root))
    rollout.write(home)
    project.sync()
    before = ids(project)
    shorter = Rollout(cwd=str(project.root))
    shorter.user("Which port?")
    shorter.write(home)

    project.sync()

    assert ids(project) == before
    [mark] = [event for event in project.events("mark") if event.body["mark"] == "rewound"]
    assert len(mark.body["events"]) == 3


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(tmp_path):
    rollout = talk()
    rollout.response("message", role="user", content=[part("<environment_context>ü\u2028")])
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.record("unheard_of", {"z": 1, "a": {"c": 1, "b": 2}})

    assert same_everywhere("transcript.adapters.codex:Codex", rollout.write(tmp_path)).count(b"\n") == 8


# -- real files --------------------------------------------------------------------------------------


@pytest.mark.real_data
def test_the_case_of_the_double_record(shared, project):
    report = project.sync(sources=shared / "cases" / "log-codex-double-record" / "input", all_roots=True)

    assert project.texts("prompt") == [
        "Rename the cache prefix to pelican-3131.",
        "Now update the docs for toucan-4242.",
    ]
    assert project.texts("reply") == [
        "Renamed the cache prefix to pelican-3131.",
        "Docs updated for toucan-4242.",
    ]
    assert report.unknown == {"future_record@0.146.0": 1}
    assert "gAAAA" not in str([event.body for event in project.events()])


@pytest.mark.real_data
def test_todays_client(shared, project):
    report = project.sync(sources=shared / "clients" / "fresh" / "codex", all_roots=True)

    assert (report.unknown, report.damaged, report.skipped) == ({}, [], {})
    assert project.texts("prompt", "reply") == ["please run the echo", "Understood.", "second turn", "Understood."]
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    injected = [event for event in project.events() if "zebra-42" in str(event.body)]
    assert {event.body["subtype"] for event in injected} == {"hook_additional_context"}
    assert nothing_new(project.sync(sources=shared / "clients" / "fresh" / "codex", all_roots=True))


@pytest.mark.real_data
def test_thirteen_real_rollouts(other_harnesses, project):
    """0.34 to 0.42; one is a fork of another, whose turns it repeats with new times."""
    typed = Counter()
    for path in sorted((other_harnesses / "codex").rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            payload = (json.loads(line) if line else {}).get("payload") or {}
            if payload.get("type") == "user_message" and payload.get("kind") == "plain":
                typed[path.name[-45:]] += 1

    report = project.sync(sources=other_harnesses / "codex", all_roots=True)

    assert (report.files, report.sessions, report.unknown, report.damaged) == (13, 13, {}, [])
    prompts = [event for event in project.events("conversation_turn") if event.body["kind"] == "prompt"]
    assert sum(typed.values()) - len(prompts) == 5  # those the fork repeats
    assert report.sightings > 90
    assert nothing_new(project.sync(sources=other_harnesses / "codex", all_roots=True))
