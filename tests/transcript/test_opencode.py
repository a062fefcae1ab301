"""What the opencode adapter makes of exports, of the database, and of the older tree of files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from support.capture import Project, said
from support.contract import BLOCK
from support.harness import ids, nothing_new, read, read_source, same_everywhere
from support.opencode import BEGAN, OpenCodeSession, database, fill, text, tool

from transcript.adapters.opencode import OpenCode

OPENCODE = OpenCode()
WRITER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("UPDATE session SET title = 'now'")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def session():
    return OpenCodeSession()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / "opencode"


def listing(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_user_assistant_call_and_result_become_events(session, tmp_path):
    asked = session.user("Which port?")
    call = tool("t1", "read", {"path": "a.toml"}, "port = 8080")
    answered = session.assistant({"type": "step-start"}, "I look.", call, "8080.")
    path = session.export(tmp_path)

    drafts = read(OPENCODE, path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("reply", "I look."),
        ("tool_call", "read"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
    ]
    prompt, reply, call, result, _ = drafts[:5]
    assert (prompt.actor, prompt.agent, prompt.session) == ("user", "opencode", session.id)
    assert (prompt.ts, prompt.ts_source) == ("2026-06-15T10:00:00.000Z", "record")
    assert prompt.body == {
        "kind": "prompt", "text": "Which port?", "cwd": "/home/dev/shop", "file": str(path), "model": "stub",
        "message": asked["info"]["id"],
    }  # fmt: skip
    assert (prompt.native["id"], prompt.native["version"]) == (asked["parts"][0]["id"], "1.18.33")
    assert reply.body["message"] == call.body["message"] == answered["info"]["id"]
    assert (reply.body["parent"], call.body["call_id"]) == (asked["info"]["id"], "t1")
    assert (result.ts, result.body["call_id"]) == ("2026-06-15T10:00:00.500Z", "t1")


def test_the_three_places_give_the_same_events(session, tmp_path):
    session.user("Which port?", text("x", synthetic=True))
    session.assistant(tool("t1", "read", {"path": "a"}, "8080"), "8080.")

    export = read(OPENCODE, session.export(tmp_path / "export"))
    base = read(OPENCODE, database(tmp_path / "db", session))
    tree = read(OPENCODE, session.tree(tmp_path / "old"))

    assert [draft.id for draft in export] == [draft.id for draft in base] == [draft.id for draft in tree]
    assert said(export) == said(base) == said(tree)


def test_the_quotation_marks_of_the_shell_are_taken_off(session, tmp_path):
    session.user('"say \\"please\\" now"')
    session.user('"first" and "second"')
    session.user('say "please"')

    drafts = read(OPENCODE, session.export(tmp_path))

    assert said(drafts) == [
        ("prompt", 'say "please" now'), ("prompt", '"first" and "second"'), ("prompt", 'say "please"'),
    ]  # fmt: skip
    assert [draft.body.get("flags") for draft in drafts[:3]] == [["quoted"], None, None]


def test_what_nobody_typed_is_system(session, tmp_path):
    session.user("typed", text("a reminder", synthetic=True), text(BLOCK, synthetic=True), text("x", ignored=True))
    session.user({"type": "subtask", "prompt": "Review it.", "description": "review", "agent": "general"})
    session.assistant(text("hidden", synthetic=True), "answer")

    assert said(read(OPENCODE, session.export(tmp_path))) == [
        ("prompt", "typed"),
        ("system:synthetic", "a reminder"),
        ("system:injected", BLOCK),
        ("system:ignored", "x"),
        ("system:subtask", "Review it."),
        ("system:synthetic", "hidden"),
        ("reply", "answer"),
    ]


def test_a_compaction_is_a_boundary_and_a_summary(session, tmp_path):
    session.user({"type": "compaction", "auto": True})
    session.assistant("So far: ports.", summary=True, mode="compaction")

    assert said(read(OPENCODE, session.export(tmp_path))) == [
        ("system:compact_boundary", ""), ("summary", "So far: ports."),
    ]  # fmt: skip


def test_failures_are_told_as_they_are(session, tmp_path):
    session.user("go")
    failed = tool("t1", "bash", {"command": "x"}, status="error", error="no such file")
    session.assistant(
        failed, tool("t2", "bash", {}, status="running"), {"type": "retry", "error": {"name": "APIError"}},
        error={"name": "UnknownError", "data": {"message": "overloaded"}},
    )  # fmt: skip

    drafts, counts = read_source(OPENCODE, session.export(tmp_path))

    assert said(drafts) == [
        ("prompt", "go"),
        ("tool_call", "bash"),
        ("tool_result", "no such file"),
        ("tool_call", "bash"),
        ("system:api_error", "APIError"),
        ("system:api_error", "UnknownError: overloaded"),
    ]
    assert drafts[2].body["is_error"] is True
    assert counts.notes["tool call without an end"] == 1


def test_media_of_files_and_results_are_kept(session, tmp_path):
    picture = "data:image/png;base64,iVBORw0KGgo="
    session.user("Look", {"type": "file", "mime": "image/png", "filename": "a.png", "url": picture})
    session.assistant(tool("t1", "shot", {}, "done", attachments=[{"mime": "image/png", "url": picture}]))

    drafts = read(OPENCODE, session.export(tmp_path))

    assert [(draft.type, draft.body["media"][0]["size"]) for draft in drafts if "media" in draft.body] == [
        ("system", 8), ("tool_result", 8),
    ]  # fmt: skip


def test_reasoning_is_kept_only_when_asked_for(session, tmp_path):
    session.user("go")
    session.assistant({"type": "reasoning", "text": "hm", "time": {"start": BEGAN, "end": BEGAN}}, "done")
    path = session.export(tmp_path)

    assert ("reasoning", "hm") not in said(read(OPENCODE, path))
    assert ("reasoning", "hm") in said(read(OPENCODE, path, reasoning=True))


def test_unknown_kinds_are_kept_and_counted(session, tmp_path):
    session.user("go", {"type": "hologram", "x": 1})
    session.message("oracle", "hm")
    session.messages.append("no message")

    drafts, counts = read_source(OPENCODE, session.export(tmp_path))

    assert counts.unknown == {
        "part/hologram@1.18.33": 1, "message/oracle@1.18.33": 1, "text/oracle@1.18.33": 1, "other@1.18.33": 1,
    }  # fmt: skip
    assert sum(draft.type == "unknown" for draft in drafts) == 4


def test_output_is_the_same_everywhere(session, tmp_path):
    session.user("Which port?")
    session.assistant("8080.")

    assert same_everywhere("transcript.adapters.opencode:OpenCode", database(tmp_path, session))


# -- the database is another program's --------------------------------------------------------------


def test_reading_changes_nothing_beside_the_database(session, tmp_path):
    session.user("typed")
    path = database(tmp_path / "db", session)
    before = listing(path.parent)

    read(OPENCODE, path)

    assert listing(path.parent) == before


def test_a_database_in_use_is_read_with_what_stands_in_its_journal_alone(session, tmp_path):
    session.user("typed")
    path = database(tmp_path / "db", session, journal=True)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout.readline() == "ready\n"
        journal = path.with_name("opencode.db-wal")
        before = (path.read_bytes(), journal.read_bytes(), sorted(listing(path.parent)))

        drafts = read(OPENCODE, path)

        assert said(drafts) == [("prompt", "typed")]
        assert (path.read_bytes(), journal.read_bytes(), sorted(listing(path.parent))) == before
    finally:
        writer.stdin.close()
        writer.wait(timeout=180)
        writer.stdout.close()


def test_a_copy_with_a_journal_and_no_index_is_read_and_left_as_it_is(session, tmp_path):
    source = database(tmp_path / "db", OpenCodeSession(seed="first"), journal=True)
    db = apsw.Connection(str(source))
    db.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    session.user("in the journal")
    fill(db, session)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copyfile(source.parent / name, copy / name)
    db.close()
    before = listing(copy)

    found, _ = OPENCODE.discover([copy])
    texts = [line for item in found for line in OPENCODE.open(item).read().splitlines() if b"in the journal" in line]

    assert len(found) == 2
    assert len(texts) == 1
    assert listing(copy) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_database_in_a_folder_that_cannot_be_written_is_read(session, tmp_path):
    session.user("typed")
    path = database(tmp_path / "db", session, journal=True)
    path.parent.chmod(0o500)
    try:
        assert said(read(OPENCODE, path)) == [("prompt", "typed")]
    finally:
        path.parent.chmod(0o700)


def test_only_files_of_opencode_are_claimed(session, tmp_path):
    session.user("typed")
    session.export(tmp_path, "mine.json")
    (tmp_path / "package.json").write_text('{"info": {"id": 1}}')
    (tmp_path / "other.db").write_bytes(database(tmp_path / "db", session).read_bytes())
    (tmp_path / "opencode.db").write_bytes(b"no database")
    (tmp_path / "opencode-2.db").write_bytes(b"SQLite format 3\0" + b"x" * 100)

    found, refused = OPENCODE.discover([tmp_path])

    assert [source.path.name for source in found] == ["opencode.db", "mine.json"]
    assert found[0].path.parent.name == "db"
    assert refused == {"unreadable": 1}


def test_roots_follow_the_environment():
    assert OPENCODE.roots({"HOME": "/home/dev"}) == [Path("/home/dev/.local/share/opencode")]
    assert OPENCODE.roots({"HOME": "/home/dev", "XDG_DATA_HOME": "/data"}) == [Path("/data/opencode")]


# -- capture --------------------------------------------------------------------------------------


def test_a_fork_is_sightings_of_what_it_copied(project):
    one = OpenCodeSession(str(project.root))
    one.user("shared")
    one.assistant(tool("t1", "read", {"path": "a"}, "out"), "answer")
    two = one.fork("two")
    two.user("forked")
    database(folder(project), one, two)

    report = project.sync(sources=folder(project))

    assert project.texts("prompt") == ["shared", "forked"]
    assert report.sightings == 4
    records = {event.body["record"] for event in project.events("sighting")}
    assert records == {part["id"] for message in two.messages[:2] for part in message["parts"]}


def test_two_that_say_the_same_at_different_times_are_two(project):
    one, two = OpenCodeSession(str(project.root)), OpenCodeSession(str(project.root), seed="two")
    one.user("go on")
    two.user("first")
    two.user("go on")
    database(folder(project), one, two)

    project.sync(sources=folder(project))

    assert sorted(project.texts("prompt")) == ["first", "go on", "go on"]


def test_a_sub_agents_session_belongs_to_the_one_it_works_for(project):
    main = OpenCodeSession(str(project.root))
    main.user("typed")
    child = OpenCodeSession(str(project.root), seed="child", parent=main.id)
    child.user("Look at the gate.")
    grandchild = OpenCodeSession(str(project.root), seed="grandchild", parent=child.id)
    grandchild.user("Look closer, at the hinge.")
    database(folder(project), main, child, grandchild)
    project.sync(sources=folder(project))

    turns = {(e.session, e.actor, e.body["kind"], e.body.get("worker")) for e in project.events("conversation_turn")}
    assert turns == {
        (main.id, "user", "prompt", None),
        (main.id, "assistant", "worker_prompt", child.id),
        (main.id, "assistant", "worker_prompt", grandchild.id),
    }


def test_an_answer_in_the_making_is_taken_in_as_it_settles(project):
    """Every state of the database that a sync may meet; nothing is taken back, nothing comes twice."""
    session = OpenCodeSession(str(project.root))
    states = []

    def state():
        database(folder(project), session)
        project.sync(sources=folder(project))
        states.append([name for name, _ in said(project.events())])

    asked = session.user()
    state()
    asked["parts"].append({**text("Which port?"), "id": "prt_000000", "messageID": asked["info"]["id"]})
    state()
    answer = session.assistant(text("I look", time={"start": BEGAN}), done=False)
    state()
    answer["parts"][0].update(text="I look.", time={"start": BEGAN, "end": BEGAN + 1})
    answer["parts"].append({**tool("t1", "read", {}, status="running"), "id": "prt_000101"})
    answer["parts"].append({**tool("t2", "list", {}, "a.toml"), "id": "prt_000102"})
    state()
    answer["parts"][1] = {**tool("t1", "read", {}, "8080"), "id": "prt_000101"}
    state()
    answer["info"]["time"]["completed"] = BEGAN + 5000
    answer["info"]["cost"] = 3
    session.info["title"] = "Ports"
    state()

    assert states == [
        [],
        ["prompt"],
        ["prompt"],
        ["prompt", "reply"],
        ["prompt", "reply", "tool_call", "tool_result", "tool_call", "tool_result"],
        ["prompt", "reply", "tool_call", "tool_result", "tool_call", "tool_result"],
    ]
    assert [e.body["mark"] for e in project.events("mark")] == ["reasoning_withheld"]


def test_an_old_output_left_out_of_the_prompt_changes_nothing(project):
    session = OpenCodeSession(str(project.root))
    session.user("go")
    session.assistant(tool("t1", "read", {}, "long"), "done")
    database(folder(project), session)
    project.sync(sources=folder(project))
    session.messages[1]["parts"][0]["state"]["time"]["compacted"] = BEGAN + 9
    session.messages[0]["info"]["summary"] = {"diffs": [{"file": "a"}]}
    database(folder(project), session)

    report = project.sync(sources=folder(project))

    assert nothing_new(report)


def test_a_revert_marks_what_it_removed(project):
    session = OpenCodeSession(str(project.root))
    session.user("keep")
    session.assistant("kept")
    session.user("wrong way")
    session.assistant("went wrong")
    database(folder(project), session)
    project.sync(sources=folder(project))
    del session.messages[2:]
    session.messages[1]["info"]["time"]["created"] += 0
    session.user("right way")
    session.messages[-1]["info"]["time"]["created"] += 500_000
    database(folder(project), session)
    project.sync(sources=folder(project))

    [mark] = [event for event in project.events("mark") if event.body["mark"] == "rewound"]
    by_id = {event.id: event.body.get("text") for event in project.events()}
    assert [by_id[name] for name in mark.body["events"]] == ["wrong way", "went wrong"]
    assert project.texts() == ["keep", "kept", "wrong way", "went wrong", "right way"]


def test_incremental_capture_is_whole_capture(tmp_path):
    one, two = Project(tmp_path / "a"), Project(tmp_path / "b")
    two.workspace.key_path.write_bytes(one.workspace.key_path.read_bytes())
    session = OpenCodeSession()
    for number in range(3):
        session.user(f"prompt {number}")
        session.assistant(tool(f"t{number}", "read", {"n": number}, "out"), "the same")
        database(folder(one), session)
        one.sync(sources=folder(one), all_roots=True)
    database(folder(two), session)
    two.sync(sources=folder(two), all_roots=True)

    assert ids(one) == ids(two)
    assert nothing_new(one.sync(sources=folder(one), all_roots=True))


def test_an_export_of_a_captured_session_adds_sightings_alone(project):
    session = OpenCodeSession(str(project.root))
    session.user("typed")
    session.assistant("said")
    database(folder(project), session)
    project.sync(sources=folder(project))
    session.export(folder(project))

    report = project.sync(sources=folder(project))

    assert (report.added, report.sightings) == (0, 2)


def test_a_document_half_written_is_left_for_later(project):
    session = OpenCodeSession(str(project.root))
    session.user("typed")
    path = session.export(folder(project))
    project.sync(sources=folder(project))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    report = project.sync(sources=folder(project))

    assert (report.skipped["unreadable"], report.rewound, report.marks) == (1, [], 0)
    path.write_bytes(whole)
    assert nothing_new(project.sync(sources=folder(project)))


def test_only_the_session_of_the_workspace_is_taken_from_a_database(tmp_path):
    mine, other = Project(tmp_path, "mine"), Project(tmp_path, "other")
    sessions = [OpenCodeSession(str(p.root), seed=p.root.name) for p in (mine, other)]
    for session in sessions:
        session.user(f"in {session.seed}")
    database(tmp_path / "opencode", *sessions)

    report = mine.sync(sources=tmp_path / "opencode")

    assert mine.texts() == ["in mine"]
    assert report.skipped == {"foreign": 1}
    assert mine.sync(sources=tmp_path / "opencode").skipped == {"foreign": 1}


# -- real files -----------------------------------------------------------------------------------


@pytest.mark.real_data
def test_the_real_database_and_export_hold_nothing_unknown(shared, project):
    where = shared / "clients" / "fresh" / "opencode"
    before = sorted(path.name for path in where.iterdir())

    report = project.sync(sources=where, all_roots=True)

    assert report.unknown == {}
    assert project.texts("prompt") == ["please run the echo", "second turn", "third, forked"]
    assert (report.harnesses["opencode"].files, report.sightings) == (3, 16)
    assert not any("zebra-42" in words for words in project.texts())
    assert sorted(path.name for path in where.iterdir()) == before
    assert nothing_new(project.sync(sources=where, all_roots=True))


@pytest.mark.real_data
def test_the_real_export_and_database_give_the_same_ids(shared):
    where = shared / "clients" / "fresh" / "opencode"
    found, _ = OPENCODE.discover([where])
    exported = json.loads((where / "export.json").read_text())["info"]["id"]

    lines = [OPENCODE.open(source).read() for source in found if source.session == exported]

    assert len(lines) == 2
    assert lines[0] == lines[1]
