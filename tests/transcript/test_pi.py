"""What the pi adapter makes of every kind of entry, and what capture makes of its files."""

import json
from collections import Counter

import pytest
from support.capture import Project, said
from support.claude import image
from support.harness import ids, nothing_new, only, read, read_in_steps, read_source, same_everywhere
from support.pi import PiSession, text, thinking, tool_call

from transcript.adapters.pi import Pi
from transcript.adapters.registry import ADAPTERS
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe ceiling is nine (weasel-1313).\n[/recall 1a2b3c4d]"
PI = Pi()


@pytest.fixture
def session():
    return PiSession()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / ".pi" / "agent" / "sessions"


def test_pi_is_registered():
    assert "pi" in [adapter.harness for adapter in ADAPTERS]


def test_user_assistant_call_and_result_become_events(session, tmp_path):
    session.user("Which port?")
    session.assistant(text("I look."), tool_call("t1", "read", path="a.toml"), stopReason="toolUse")
    session.result("t1", "port = 8080", is_error=True)
    session.assistant("8080.")
    path = session.write(tmp_path)

    drafts = read(PI, path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "read"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
    ]
    prompt, reply, call, result, _ = drafts[:5]
    assert (prompt.actor, prompt.agent, prompt.origin, prompt.session) == ("user", "pi", "internal", session.session)
    assert (prompt.ts, prompt.ts_source) == ("2026-06-15T10:01:00.000Z", "record")
    assert prompt.body == {"kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "file": str(path)}
    assert prompt.native == {
        "harness": "pi", "version": "3", "id": session.entries[1]["id"], "part": 0, "adapter": "1",
        "source": only(PI, path).source,
    }  # fmt: skip
    assert (reply.body["message"], reply.body["model"]) == (session.entries[2]["id"], "stub")
    assert call.body["message"] == reply.body["message"]
    assert (call.native["part"], call.body["call_id"], call.body["input"]) == (1, "t1", {"path": "a.toml"})
    assert (result.actor, result.body["call_id"], result.body["is_error"]) == ("tool", "t1", True)
    assert len({draft.id for draft in drafts}) == len(drafts)


def test_reasoning_is_kept_only_when_asked_for(session, tmp_path):
    session.assistant(thinking("a plan"), text("Done."))
    path = session.write(tmp_path)

    without, wanted = read(PI, path), read(PI, path, reasoning=True)

    assert said(without) == [("reply", "Done.")]
    assert said(without, "mark") == [("reasoning_withheld", "capture.reasoning is off")]
    assert said(wanted) == [("reasoning", "a plan"), ("reply", "Done.")]
    assert said(wanted, "mark") == []


def test_an_image_goes_with_its_prompt(session, tmp_path):
    session.user(text("What is this?"), {"type": "image", "data": image()["source"]["data"], "mimeType": "image/png"})

    [prompt] = read(PI, session.write(tmp_path))

    assert prompt.body["media"][0]["mime"] == "image/png"


def test_what_an_extension_injected_is_no_turn(session, tmp_path):
    session.user("go")
    session.entry("custom_message", customType="recall", content=BLOCK, display=False)
    session.message("custom", customType="other", content=[text("more")], display=True)
    session.message("hookMessage", customType="old", content="older", display=True)
    session.user(BLOCK)
    session.user(f"For the record:\n{BLOCK}\nBut: twelve.")

    drafts = read(PI, session.write(tmp_path))

    assert [name for name, _ in said(drafts)] == [
        "prompt", *["system:custom_message"] * 3, "system:injected", "prompt",
    ]  # fmt: skip
    assert drafts[1].body["custom_type"] == "recall"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (
            '<skill name="review" location="/x">\nRead all.\n</skill>\n\nthe parser',
            ["system:skill", "prompt"],
        ),
        ('<file name="/x/a.md">\nlong\n</file>\nSum it up', ["system:file", "prompt"]),
        ("What does <file name='x'>y</file> mean?", ["prompt"]),
        ("<skill> is a tag, what does it do?", ["prompt"]),
        ("", []),
    ],
)
def test_an_envelope_at_the_head_of_a_prompt_is_the_clients(session, tmp_path, typed, expected):
    session.user(typed)

    assert [name for name, _ in said(read(PI, session.write(tmp_path)))] == expected


def test_a_command_of_the_person_and_a_broken_answer_are_no_turns(session, tmp_path):
    session.message("bashExecution", command="ls", output="a.txt\n", exitCode=0, cancelled=False, truncated=False)
    session.assistant("I st", stopReason="aborted", errorMessage="Request was aborted")
    session.assistant(stopReason="error", errorMessage="529 overloaded")

    drafts = read(PI, session.write(tmp_path))

    assert said(drafts) == [
        ("system:bash_execution", "$ ls\na.txt\n"),
        ("reply", "I st"),
        ("system:interrupted", "Request was aborted"),
        ("system:api_error", "529 overloaded"),
    ]
    assert drafts[0].body["exit_code"] == 0


def test_a_compaction_leaves_a_boundary_and_a_summary_of_what_it_covers(session, tmp_path):
    session.user("one")
    session.assistant("two")
    session.entry("compaction", summary="They talked.", firstKeptEntryId=session.last, tokensBefore=5)
    session.user("three")

    drafts = read(PI, session.write(tmp_path))

    assert [name for name, _ in said(drafts)] == ["prompt", "reply", "system:compact_boundary", "summary", "prompt"]
    assert drafts[3].body["covers"] == [drafts[0].id, drafts[1].id]
    assert drafts[3].body["flags"] == ["compact_summary"]


def test_what_the_last_entry_does_not_descend_from_is_marked(session, tmp_path):
    top = session.user("go")
    session.assistant("one way")
    session.entry("branch_summary", parentId=top["id"], fromId=session.last, summary="One way failed.")
    session.user("another way")

    drafts = read(PI, session.write(tmp_path))

    assert said(drafts) == [
        ("prompt", "go"), ("reply", "one way"), ("summary", "One way failed."), ("prompt", "another way"),
    ]  # fmt: skip
    [mark] = [draft for draft in drafts if draft.type == "mark" and draft.body["mark"] == "abandoned"]
    assert mark.body["events"] == [drafts[1].id]


def test_a_first_prompt_written_anew_abandons_the_old_one(session, tmp_path):
    session.user("go")
    session.assistant("answer")
    session.user("go elsewhere", parentId=None)

    drafts = read(PI, session.write(tmp_path))

    [mark] = [draft for draft in drafts if draft.type == "mark" and draft.body["mark"] == "abandoned"]
    assert mark.body["events"] == [draft.id for draft in drafts[:2]]


def test_version_1_is_linear_and_has_ids_made_from_what_was_said(tmp_path):
    session = PiSession(version=1)
    session.user("go")
    session.user("go")
    session.assistant("answer")

    drafts = read(PI, session.write(tmp_path))

    assert said(drafts) == [("prompt", "go"), ("prompt", "go"), ("reply", "answer")]
    assert {draft.native["version"] for draft in drafts} == {"1"}
    assert {draft.native["id"] for draft in drafts} == {""}
    assert len({draft.id for draft in drafts}) == len(drafts)
    assert "abandoned" not in [name for name, _ in said(drafts, "mark")]


def test_a_version_1_file_that_gets_ids_stays_what_it_was(project):
    old = PiSession(str(project.root), version=1)
    old.user("go")
    old.assistant("answer")
    path = old.write(folder(project))
    project.sync()
    before = ids(project)
    lines = [json.loads(line) for line in old.lines]
    last = None
    lines[0]["version"] = 3
    for n, entry in enumerate(lines[1:]):
        entry["id"], entry["parentId"] = f"{n:08x}", last
        last = entry["id"]
    lines.append({**lines[1], "id": "ffffffff", "parentId": lines[1]["id"], "timestamp": "2026-06-15T11:00:00.000Z"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    project.sync()

    assert before < ids(project)
    assert len(ids(project)) == len(before) + 1
    marks = Counter(event.body["mark"] for event in project.events("mark"))
    assert (marks["rewound"], marks["abandoned"]) == (0, 1)


def test_a_fork_that_copies_entries_adds_sightings(project):
    one = PiSession(str(project.root))
    one.user("shared question")
    one.assistant("shared answer")
    path = one.write(folder(project))
    fork = PiSession(str(project.root), seed="fork", parent=str(path))
    for entry in one.entries[1:]:
        fork.bare(entry)
    fork.last = one.last
    fork.user("only here")
    fork.write(folder(project))

    project.sync()

    assert project.texts("prompt") == ["shared question", "only here"]
    assert {event.session for event in project.events("sighting")} == {fork.session}
    assert nothing_new(project.sync())


def test_the_same_short_id_in_another_file_is_another_entry(project):
    for seed, question in (("one", "first"), ("two", "second")):
        session = PiSession(str(project.root), seed=seed)
        session.user(question, id="00000001", timestamp=f"2026-06-15T10:00:0{len(question)}.000Z")
        session.write(folder(project))

    project.sync()

    assert sorted(project.texts("prompt")) == ["first", "second"]


def test_unknown_entries_are_kept_and_counted_and_bookkeeping_is_counted(session, tmp_path):
    session.entry("unheard-of", z=1)
    session.entry("model_change", provider="p", modelId="m")
    session.message("newRole", content="x")
    session.user({"type": "hologram"})

    drafts, counts = read_source(PI, session.write(tmp_path))

    assert [draft.type for draft in drafts] == ["unknown"] * 3
    assert counts.unknown == {"unheard-of@3": 1, "message/newRole@3": 1, "user/hologram@3": 1}
    assert counts.records["model_change"] == 1


def test_a_malformed_line_is_skipped_and_reported(project):
    session = PiSession(str(project.root))
    session.user("before")
    session.raw(b'{"type":"message","id":"1"')
    session.user("behind")
    session.raw(b'{"type":"odd","timestamp":"2026-06-15T10:00:00Z","n":NaN}')
    path = session.write(folder(project))

    report = project.sync()

    assert project.texts("prompt") == ["before", "behind"]
    assert [(item[0], item[1], item[3]) for item in report.damaged] == [(str(path), 3, "unreadable JSON")]
    assert dict(report.unknown) == {"number that is not JSON@3": 1}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-06-15T12:00:00+02:00", ("2026-06-15T10:00:00.000Z", "record")),
        (None, ("2026-06-15T10:02:00.000Z", "record")),
        ("yesterday", ("2026-06-15T10:01:00.000Z", "joined")),
    ],
)
def test_the_time_is_the_entrys_the_messages_or_that_before(session, tmp_path, given, expected):
    session.user("one")
    session.user("two", timestamp=given)

    _, second = read(PI, session.write(tmp_path))

    assert (second.ts, second.ts_source) == expected


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(tmp_path):
    session = PiSession()
    top = session.user("What is this? ü \u2028")
    session.assistant(thinking("a plan"), text("I look."), tool_call("t1", b=1, a=2))
    session.entry("unheard-of", z=1, a={"c": 1, "b": 2})
    session.user("another way", parentId=top["id"], timestamp="2026-06-15T12:00:00+02:00")

    assert same_everywhere("transcript.adapters.pi:Pi", session.write(tmp_path)).count(b"\n") == 7


def test_sessions_belong_to_the_project_they_ran_in(project, tmp_path):
    mine, other = PiSession(str(project.root)), PiSession(str(tmp_path / "elsewhere"), seed="two")
    (tmp_path / "elsewhere").mkdir()
    mine.user("mine")
    other.user("foreign")
    for session in (mine, other):
        session.write(folder(project))

    report = project.sync()

    assert project.texts() == ["mine"]
    assert report.skipped["foreign"] == 1


def test_capture_in_steps_is_capture_at_once(project):
    session = PiSession(str(project.root))
    top = session.user("go")
    session.assistant(text("one way"), tool_call("t1"))
    session.result("t1", "x")
    session.user("another way", parentId=top["id"])
    path = session.write(folder(project))
    whole = path.read_bytes()

    for at in range(len(whole.splitlines())):
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[: at + 1]))
        project.sync()

    drafts = [draft for draft in read(PI, path) if draft.type != "mark"]
    assert [draft.id for draft in read_in_steps(PI, path)] == [draft.id for draft in drafts]
    assert [event.id for event in project.events() if event.type != "mark"] == [draft.id for draft in drafts]
    assert project.events("mark")[-1].body["events"] == [draft.id for draft in drafts[1:4]]
    assert nothing_new(project.sync())


def test_a_folder_of_many_harnesses_gives_pi_only_its_own(project, tmp_path):
    mixed = tmp_path / "mixed"
    session = PiSession(str(project.root))
    session.user("mine")
    session.write(mixed)
    (mixed / "other.jsonl").write_text('{"type":"something","id":"x"}\n')
    (mixed / "notes.txt").write_text("x")

    report = project.sync(sources=mixed, all_roots=True)

    assert project.texts() == ["mine"]
    assert report.skipped == {"other_format": 1}


@pytest.mark.real_data
def test_what_todays_client_writes(shared, tmp_path):
    project = Project(tmp_path)

    report = project.sync(sources=shared / "clients" / "fresh" / "pi", all_roots=True)

    assert (report.files, report.damaged, dict(report.unknown), dict(report.skipped)) == (1, [], {}, {})
    assert project.texts("prompt") == ["please run the echo", "second turn"]
    assert project.texts("reply") == ["Understood.", "Understood."]
    assert len(project.events("tool_call")) == len(project.events("tool_result")) == 1
    marked = [event.type for event in project.events() if "RECALLED-MARKER" in str(event.body)]
    assert marked == ["system", "system"]


@pytest.mark.real_data
def test_real_version_1_sessions_hold_nothing_unknown(other_harnesses, tmp_path):
    project = Project(tmp_path)
    folder = other_harnesses / "pi"
    expected = Counter()
    for path in folder.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").split("\n"):
            message = json.loads(line).get("message", {}) if line.strip() else {}
            expected[message.get("role")] += 1
            if message.get("role") == "assistant":
                expected["calls"] += sum(block["type"] == "toolCall" for block in message["content"])

    report = project.sync(sources=folder, all_roots=True)

    assert (report.files, report.damaged, dict(report.unknown), dict(report.skipped)) == (2, [], {}, {})
    assert len(project.texts("prompt")) == expected["user"] == 143
    assert len(project.events("tool_result")) == expected["toolResult"] == 821
    assert len(project.events("tool_call")) == expected["calls"]
    assert len(project.texts("summary")) == 2
    assert nothing_new(project.sync(sources=folder, all_roots=True))
