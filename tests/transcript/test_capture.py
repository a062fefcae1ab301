"""Capture: incremental, idempotent, isolated, and never at a loss about a file that changes under it."""

import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from support.capture import NOW, Project
from support.claude import ClaudeSession, image, text, tool_result, tool_use
from support.wire import WireFile

from transcript.adapters import claude_code
from transcript.capture import sync
from transcript.capture_state import CaptureState
from transcript.errors import CaptureError, LockBusy
from transcript.injected import OPEN_PHRASE, strip_blocks
from transcript.kept_out import CHILD, OPTED_OUT, keep_out
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.settings import CaptureSettings
from transcript.verify import verify
from transcript.workspace import exclude, init


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def marks(project, name):
    return [event.body for event in project.events("mark") if event.body["mark"] == name]


def grow(path: Path, *lines: dict) -> None:
    with path.open("ab") as file:
        for line in lines:
            file.write(json.dumps(line).encode() + b"\n")


def test_a_second_sync_adds_nothing_and_new_lines_add_themselves(project):
    """ESAA-13."""
    session = project.session()
    session.user("one")
    session.write(project.config)
    first = project.sync()
    second = project.sync()
    for n in range(5):
        session.user(f"more {n}")
    session.write(project.config)

    third = project.sync()

    assert (first.added, second.added, third.added) == (1, 0, 5)
    assert (second.changed, second.bytes, third.changed) == (0, 0, 1)
    assert project.texts("prompt") == ["one", *(f"more {n}" for n in range(5))]
    assert verify(project.workspace).problems == []


def test_a_torn_last_line_waits_at_its_first_byte(project):
    """log-torn-tail (claude-code#50347, claude-mem#2282, takt#727)."""
    session = project.session()
    session.user("first")
    session.assistant("second")
    done = session.to_bytes()
    session.user("für marmot-2091")
    session.assistant("fourth")
    whole = session.to_bytes()
    path = session.write(project.config)
    torn = whole[: whole.index("ü".encode()) + 1]
    path.write_bytes(torn)
    other = project.session("other")
    other.user("a later file")
    other.write(project.config)

    first = project.sync()
    state = CaptureState(project.workspace)
    again = project.sync()
    path.write_bytes(whole)
    second = project.sync()
    third = project.sync()

    assert (first.added, first.damaged) == (3, [])
    assert first.incomplete == [(str(path), len(torn) - len(done))]
    assert [item.offset for item in state.sources.values() if item.path == str(path)] == [len(done)]
    assert (again.added, again.incomplete) == (0, first.incomplete)
    assert (second.added, second.incomplete, second.damaged) == (2, [], [])
    assert third.added == 0
    assert project.texts() == ["first", "second", "a later file", "für marmot-2091", "fourth"]


def test_a_whole_last_record_without_a_line_end_is_taken_in_once(project):
    session = project.session()
    session.user("first")
    session.user("last")
    path = session.write(project.config)
    path.write_bytes(session.to_bytes()[:-1])

    first, second = project.sync(), project.sync()
    path.write_bytes(session.to_bytes())
    third = project.sync()

    assert (first.added, second.added, third.added) == (2, 0, 0)
    assert (first.incomplete, second.changed) == ([], 0)
    [state] = CaptureState(project.workspace).sources.values()
    assert state.offset == path.stat().st_size


@pytest.mark.parametrize("order", ["abc", "bca", "cab", "cba"])
def test_copies_of_a_session_are_one_experience_seen_in_several_places(project, order):
    """log-resume-copies (claude-code#36583, #40363, clawdi#81): 4 records, 4 + 2 copied, 4 twice + 2."""
    a = project.session("a")
    for n in range(2):
        a.user(f"question {n}")
        a.assistant(f"answer {n}, ibis-3390")
    copies = {"b": project.session("b"), "c": project.session("c")}
    for name, copy in copies.items():
        for record in a.records:
            for _ in range(2 if name == "c" else 1):
                copy.bare({**record, "sessionId": copy.session})
        copy.last = a.last
        copy.user(f"new in {name}")
        copy.assistant(f"answered in {name}")
    built = {"a": a, **copies}

    for name in order:
        built[name].write(project.config)
        project.sync()
    last = project.sync()

    assert len(project.texts()) == 8
    assert len(set(project.texts())) == 8
    sightings = project.events("sighting")
    assert len(sightings) == 8
    assert len({event.id for event in sightings}) == 8
    standing = {(event.session, event.body["of"]) for event in sightings}
    standing |= {(event.session, event.id) for event in project.events("conversation_turn")}
    assert {session for session, _ in standing} == {built[name].session for name in "abc"}
    assert (last.added, last.sightings) == (0, 0)
    built["a"].path(project.config).unlink()
    assert project.sync().added == 0
    assert len(project.texts()) == 8


def test_a_file_that_was_cut_and_grew_again_is_read_anew(project):
    """log-rewound-file (deja-vu#453): longer than before, and the change time is no witness."""
    session = project.session()
    session.user("Plan: CONDOR-ONE.", uuid="u-condor")
    session.assistant("Working on CONDOR-ONE.", uuid="u-work")
    path = session.write(project.config)
    step1 = path.read_bytes()
    step2 = step1[: step1.index(b"\n") + 1]
    edited = project.session()
    edited.user("Plan: use HERON-EDIT for the importer, the other one failed the size test badly.", uuid="u-heron")
    edited.assistant("Working on HERON-EDIT with the streaming parser, as agreed.", uuid="u-agreed")
    edited.user("Good.")
    step3 = edited.to_bytes()
    clock = path.stat().st_mtime_ns

    reports = []
    for data in (step1, step2, step3, step3, step1, step1):
        path.write_bytes(data)
        os.utime(path, ns=(clock, clock))
        reports.append(project.sync())

    assert [report.added for report in reports] == [2, 0, 3, 0, 0, 0]
    assert [len(report.rewound) for report in reports] == [0, 1, 1, 0, 1, 0]
    ids = {event.body["text"]: event.id for event in project.events("conversation_turn")}
    state: dict[str, bool] = {}
    history = []
    for event in project.events("mark"):
        if event.body["mark"] in ("rewound", "restored"):
            state |= dict.fromkeys(event.body["events"], event.body["mark"] == "rewound")
            history.append((event.body["mark"], len(event.body["events"])))
    assert history == [("rewound", 1), ("rewound", 1), ("rewound", 3), ("restored", 2)]
    assert not state[ids["Plan: CONDOR-ONE."]]
    assert state[ids["Good."]]
    assert len(project.texts()) == len(set(project.texts())) == 5
    assert verify(project.workspace).problems == []


def test_from_the_first_step_straight_to_the_third_is_found_too(project):
    session = project.session()
    session.user("CONDOR-ONE")
    path = session.write(project.config)
    project.sync()
    edited = project.session()
    edited.user("HERON-EDIT, much longer than what stood there before", uuid="u-heron")
    path.write_bytes(edited.to_bytes())

    report = project.sync()

    assert (report.added, len(report.rewound)) == (1, 1)
    assert [len(body["events"]) for body in marks(project, "rewound")] == [1]


def test_a_change_before_the_last_64_kib_is_found_by_full(project):
    session = project.session()
    session.user("An old typo")
    for n in range(100):
        session.assistant(f"{n} " + "x" * 2000)
    path = session.write(project.config)
    project.sync()
    path.write_bytes(session.to_bytes().replace(b"An old typo", b"A new typos"))

    quick, full, again = project.sync(), project.sync(full=True), project.sync(full=True)

    assert (quick.rewound, full.rewound, again.rewound) == ([], [str(path)], [])


def test_branches_left_behind_are_marked_and_marked_once(project):
    """The newest leaf decides; two tools that ran at once are no branches."""
    session = project.session()
    top = session.user("start")
    call = session.assistant(tool_use("t1"), message_id="m")
    second = session.assistant(tool_use("t2"), message_id="m")
    session.user([tool_result("t1", "one")], parentUuid=call["uuid"])
    session.user([tool_result("t2", "two")], parentUuid=second["uuid"])
    old = session.user("the first way")
    session.assistant("tried")
    session.write(project.config)
    project.sync()
    assert marks(project, "abandoned") == []
    session.user("the better way", parentUuid=old["parentUuid"])
    session.write(project.config)
    project.sync()
    session.assistant("good")
    session.write(project.config)
    project.sync()

    [body] = marks(project, "abandoned")

    texts = {event.id: event.body["text"] for event in project.events("conversation_turn")}
    assert [texts[name] for name in body["events"]] == ["the first way", "tried"]
    session.assistant("back again", parentUuid=old["uuid"])
    session.write(project.config)
    project.sync()
    assert [texts[name] for name in marks(project, "restored")[0]["events"]] == ["the first way"]
    assert {texts.get(name) for name in marks(project, "abandoned")[1]["events"]} >= {"the better way", "good"}
    assert top["uuid"]


def test_a_missing_parent_abandons_nothing(project):
    session = project.session()
    session.user("one")
    session.assistant("two")
    session.user("three", parentUuid="not-in-this-file")

    session.write(project.config)
    project.sync()

    assert marks(project, "abandoned") == []


def test_a_new_first_prompt_leaves_the_old_conversation_behind(project):
    session = project.session()
    session.user("one")
    session.assistant("two")
    session.user("anew", parentUuid=None)

    session.write(project.config)
    project.sync()

    assert [len(body["events"]) for body in marks(project, "abandoned")] == [2]


def test_a_deleted_source_loses_nothing_and_comes_back_without_doubles(project):
    """log-source-deleted (claude-code#62476, #90667, agentic_coding_flywheel_setup#330, deja-vu#2970)."""
    session = project.session()
    session.user("osprey-7007")
    path = session.write(project.config)
    data = path.read_bytes()
    project.sync()
    path.unlink()

    gone, again = project.sync(), project.sync()
    missing = CaptureState(project.workspace).missing()
    path.write_bytes(data)
    back = project.sync()
    path.unlink()
    gone_twice = project.sync()

    assert (gone.missing, again.missing, missing) == ([str(path)],) * 3
    assert (gone.marks, again.marks, back.marks, back.missing, gone_twice.marks) == (1, 0, 1, [], 1)
    assert (gone.added, back.added, back.failed) == (0, 0, [])
    assert project.texts() == ["osprey-7007"]
    assert [len(marks(project, name)) for name in ("source_missing", "source_back")] == [2, 1]


def test_damaged_lines_are_counted_with_file_line_and_offset(project):
    """log-corrupt-lines: thirteen lines, four whole records."""
    session = project.session()
    session.user("Where do feature flags live?")
    session.assistant("Feature flags live in flags/otter-5530.toml.")
    session.lines[-1] += b"\0" * 300
    for line in (b"\0" * 512, b"", b"null", b"[]", b'"just text"', b"42"):
        session.raw(line)
    session.user("And who may edit them?")
    whole = session.lines[-1]
    session.lines[-1] = whole[:90] + whole
    session.raw(whole)
    session.raw(whole[:120])
    session.assistant("The rule is called badger-7718.")
    session.raw(b"\0" * 64)
    path = session.write(project.config)

    report = project.sync()
    state = CaptureState(project.workspace)

    assert sorted(project.texts()) == sorted(
        [
            "Where do feature flags live?",
            "Feature flags live in flags/otter-5530.toml.",
            "And who may edit them?",
            "The rule is called badger-7718.",
        ]
    )
    assert [(line, reason) for _, line, _, reason in report.damaged] == [
        (2, "zero bytes"), (3, "zero bytes"), (5, "not an object"), (6, "not an object"), (7, "not an object"),
        (8, "not an object"), (9, "unreadable JSON"), (11, "unreadable JSON"), (13, "zero bytes"),
    ]  # fmt: skip
    lines = path.read_bytes().split(b"\n")
    assert [offset for _, _, offset, _ in report.damaged] == [
        sum(len(line) + 1 for line in lines[: number - 1]) for _, number, _, _ in report.damaged
    ]
    assert (state.damaged(), state.damage()) == (9, report.damaged)
    assert b"\0" not in project.workspace.activity.read_bytes()


def test_two_projects_that_share_a_folder_are_kept_apart(tmp_path):
    """log-slug-collision (claude-code#70076, #35162, #52513), ESAA-34."""
    dash, slash = Project(tmp_path, "pay-api"), Project(tmp_path, "pay/api")
    for project, words in ((dash, "quokka-1101"), (slash, "numbat-2202")):
        session = project.session(words)
        session.user(words)
        path = session.write(project.config)
    assert len(list(path.parent.glob("*.jsonl"))) == 2

    report, other = dash.sync(), slash.sync()

    assert (dash.texts(), slash.texts()) == (["quokka-1101"], ["numbat-2202"])
    assert (report.skipped, other.skipped) == ({"foreign": 1}, {"foreign": 1})


def test_a_session_belongs_to_its_first_folder_and_its_workers_follow(tmp_path):
    one, two = Project(tmp_path, "one"), Project(tmp_path, "two")
    session = one.session()
    session.user("begun here")
    session.user("went there", cwd=str(two.root))
    session.write(one.config)
    worker = ClaudeSession(cwd=str(two.root), session=session.session, agent="abc")
    worker.user("help")
    path = one.config / "projects" / "x" / session.session / "subagents" / "agent-abc.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(worker.to_bytes())

    one.sync()
    two.sync()

    assert one.texts() == ["begun here", "went there", "help"]
    assert two.texts() == []


def test_sessions_that_do_not_belong_are_counted_by_reason(project):
    outside = project.base / "outside"
    outside.mkdir()
    hidden = project.root / "hidden"
    hidden.mkdir()
    exclude(hidden, project.data)
    for seed, cwd in {
        "foreign": str(outside),
        "gone": str(project.base / "no" / "more"),
        "tricky": f"{project.root}/../outside",
        "relative": "shop",
        "hidden": str(hidden),
        "child": str(project.root),
        "mine": str(project.root),
    }.items():
        session = project.session(seed, cwd=cwd)
        session.user(seed)
        session.write(project.config)
        if seed == "child":
            keep_out(str(project.data), session.session.encode(), CHILD)
    folder = project.config / "projects" / "x"
    folder.mkdir()
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "nowhere.jsonl").write_text('{"type":"mode","sessionId":"s","mode":"normal"}\n')
    (folder / "other.jsonl").write_text('{"role":"user","content":"another program"}\n')
    (folder / "linked.jsonl").symlink_to(session.path(project.config))

    report = project.sync()

    assert project.texts() == ["mine"]
    once = ("root_gone", "excluded", "child", "empty", "no_cwd", "other_format", "symlink")
    assert report.skipped == {"foreign": 3, **dict.fromkeys(once, 1)}
    assert CaptureState(project.workspace).skipped == dict(report.skipped)


@pytest.mark.parametrize("layout", ["folder", "beside"])
def test_a_session_of_a_switched_off_shell_stays_out_with_its_workers(layout, project):
    """Its transcript lies where all do: only the list says in which shell it was made."""
    session = project.session()
    session.user("said in a switched-off shell")
    session.write(project.config)
    worker = ClaudeSession(cwd=str(project.root), session=session.session, agent="abc")
    worker.user("help")
    path = worker.path(project.config)
    if layout == "beside":
        path = session.path(project.config).with_name(path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(worker.to_bytes())
    keep_out(str(project.data), session.session.encode(), OPTED_OUT)

    reports = [project.sync(), project.sync(full=True), project.sync(sources=project.config, all_roots=True)]

    assert [(report.added, report.skipped) for report in reports] == [(0, {"opted_out": 2})] * 3
    assert project.events() == []


def test_a_session_that_opts_out_on_the_way_keeps_what_was_taken_and_gets_nothing_new(project):
    session = project.session()
    session.user("said before")
    session.write(project.config)
    project.sync()
    keep_out(str(project.data), session.session.encode(), OPTED_OUT)
    session.user("said after")
    session.write(project.config)

    report = project.sync()

    assert (report.added, report.skipped) == (0, {"opted_out": 1})
    assert project.texts() == ["said before"]


def test_nothing_is_captured_inside_a_process_that_recall_started(project):
    session = project.session()
    session.user("x")
    session.write(project.config)

    report = sync(project.workspace, project.data, {**project.env, "RECALL_CHILD": "1"}, now=NOW)

    assert (report.added, report.skipped) == (0, {"child": 1})


def test_all_roots_takes_every_session_at_any_depth_into_one_workspace(project):
    folder = project.base / "from" / "deep" / "er"
    for n, cwd in enumerate(("/somewhere/else", "/nowhere", str(project.root))):
        session = ClaudeSession(cwd=cwd, seed=f"s{n}")
        session.user(f"said in {cwd}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{session.session}.jsonl").write_bytes(session.to_bytes())
    exclude(Path("/nowhere"), project.data)

    isolated = project.sync(sources=project.base / "from")
    everything = project.sync(sources=project.base / "from", all_roots=True)

    assert (isolated.added, isolated.skipped) == (1, {"root_gone": 1, "excluded": 1})
    assert (everything.added, everything.skipped) == (1, {"excluded": 1})
    assert [event.body["cwd"] for event in project.events("conversation_turn")] == [
        str(project.root),
        "/somewhere/else",
    ]


def test_all_roots_needs_a_named_folder_that_exists(project):
    with pytest.raises(CaptureError, match="--from"):
        project.sync(all_roots=True)
    with pytest.raises(CaptureError, match="does not exist"):
        project.sync(sources=project.base / "nope")


def test_without_a_workspace_each_session_goes_to_its_own(tmp_path):
    one, two = Project(tmp_path, "one"), Project(tmp_path, "two")
    for project in (one, two):
        session = project.session(project.root.name)
        session.user(project.root.name)
        session.write(project.config)

    report = one.sync(workspace=None)

    assert (report.added, one.texts(), two.texts()) == (2, ["one"], ["two"])
    assert one.sync(workspace=None).added == 0


def test_sessions_are_taken_in_by_their_first_time_and_workers_last(project):
    for seed, minutes in (("late", 60), ("early", 0)):
        session = project.session(seed)
        session.user(seed, timestamp=f"2026-06-15T{10 + minutes // 60}:00:00.000Z")
        session.write(project.config)
    worker = project.session("early", agent="w1")
    worker.user("worker", timestamp="2026-06-15T09:00:00.000Z")
    worker.write(project.config)

    project.sync()

    assert project.texts() == ["early", "late", "worker"]


def test_sessions_of_several_harnesses_are_taken_in_by_their_first_time_too(project):
    """The newest turns of a record are those at its end, whichever agent they were said in."""
    for hour in (10, 12):
        session = project.session(f"claude {hour}")
        session.user(f"claude {hour}", timestamp=f"2026-06-15T{hour}:00:00.000Z")
        session.write(project.config)
    for hour in (9, 11):
        file = WireFile(str(project.root), seed=f"loom {hour}", ts=f"2026-06-15T{hour:02}:00:00Z")
        file.add("prompt", text=f"loom {hour}", ts=f"2026-06-15T{hour:02}:00:00Z")
        file.write(project.data / "wire")
    project.env["RECALL_HOME"] = str(project.data)

    report = project.sync()

    assert project.texts() == ["loom 9", "claude 10", "loom 11", "claude 12"]
    assert {name: of.files for name, of in report.harnesses.items()} == {"claude-code": 2, "wire": 2}


def test_large_outputs_and_images_lie_in_blobs_and_open_whole(project):
    """LCA-6.1-04: a tool result of 5 MB is stored whole."""
    output = "".join(f"line {n}\n" for n in range(400_000))
    session = project.session()
    session.user([text("see"), image("aGVsbG8=")])
    session.user([tool_result("t1", output)])
    session.write(project.config)

    project.sync()

    log = Log(project.workspace)
    [result] = project.events("tool_result")
    assert (len(output) > 4_000_000, log.text(result)) == (True, output)
    assert set(result.body["text"]) == {"blob", "size"}
    [prompt] = project.events("conversation_turn")
    assert log.blobs.get(prompt.body["media"][0]["blob"]) == b"hello"
    assert project.workspace.activity.stat().st_size < 10_000
    assert verify(project.workspace).problems == []


def test_native_bytes_are_the_sources_own_and_can_be_turned_off(project):
    session = project.session()
    session.user("kept")
    session.bare({"type": "mode", "mode": "normal"})
    path = session.write(project.config)
    project.sync()
    session.user("and more")
    session.write(project.config)
    project.sync()

    [(harness, source)] = NativeStore(project.workspace).sources()

    assert b"".join(data for _, _, data in NativeStore(project.workspace).read(harness, source)) == path.read_bytes()
    other = Project(project.base, "other")
    session = other.session()
    session.user("not kept")
    session.write(other.config)
    other.sync(settings=CaptureSettings(native=False))
    assert (other.texts(), NativeStore(other.workspace).sources()) == (["not kept"], [])


@pytest.mark.parametrize("lost", ["state", "memory", "both", "garbage", "stale"])
def test_a_lost_or_old_state_costs_time_and_nothing_else(project, lost):
    session = project.session()
    top = session.user("one")
    session.user("old way")
    session.user("new way", parentUuid=top["uuid"])
    session.bare({"type": "unheard-of", "sessionId": session.session})
    session.write(project.config)
    project.sync()
    run = project.workspace.run_dir
    old = (run / "capture.json").read_bytes()
    session.user("newest way", parentUuid=top["uuid"])
    session.assistant("two")
    session.write(project.config)
    project.sync()
    before = [event.id for event in project.events()]
    if lost in ("state", "both"):
        (run / "capture.json").unlink()
    if lost in ("memory", "both"):
        shutil.rmtree(run / "capture")
    if lost == "garbage":
        (run / "capture.json").write_bytes(b'{"version": 1, "sources": 7')
    if lost == "stale":  # as after a crash between the events and the state
        (run / "capture.json").write_bytes(old)

    first = project.sync(full=True)
    session.assistant("three")
    session.write(project.config)
    second = project.sync()

    assert (first.added, first.marks, first.sightings) == (0, 0, 0)
    assert (second.added, second.marks) == (1, 0)
    assert [event.id for event in project.events()][: len(before)] == before
    assert verify(project.workspace).problems == []


def test_two_processes_at_once_write_everything_once(project):
    for n in range(30):
        session = project.session(f"s{n}")
        for turn in range(20):
            session.user(f"{n} asks {turn}")
            session.assistant(f"{n} answers {turn}")
        session.write(project.config)
    code = (
        "import sys; from pathlib import Path;"
        "from transcript.capture import sync; from transcript.workspace import locate;"
        "data, root = Path(sys.argv[1]), Path(sys.argv[2]);"
        "print(sync(locate(root, data), data, {'CLAUDE_CONFIG_DIR': sys.argv[3]}).added)"
    )
    command = [sys.executable, "-c", code, str(project.data), str(project.root), str(project.config)]

    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [int(process.communicate(timeout=180)[0]) for process in running]

    assert sum(counts) == 1200
    assert len(project.texts()) == len(set(project.texts())) == 1200
    assert verify(project.workspace).problems == []


class Killed(BaseException):
    """Ends the process here and now, as far as anybody can tell."""


POINTS = {
    "before any event": (Log, "append_batches", 0),
    "between two batches": (Log, "append_batches", 1),
    "events written, native bytes not": (NativeStore, "append", 0),
    "native bytes half written": (NativeStore, "append", 2),
    "all but the memory": (CaptureState, "remember", 0),
    "all but the state": (CaptureState, "save", 0),
    "second file": (CaptureState, "remember", 1),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_capture_that_dies_anywhere_is_made_good_by_the_next(project, monkeypatch, point):
    monkeypatch.setattr("transcript.capture_source.BATCH_BYTES", 2000)
    for seed in ("one", "two"):
        session = project.session(seed)
        for n in range(10):
            session.user(f"{seed} asks {n}")
            session.assistant(f"{seed} answers {n}")
            session.bare({"type": "unheard-of", "n": n % 2, "sessionId": session.session})
        session.write(project.config)
    owner, name, after = POINTS[point]
    real = getattr(owner, name)
    calls = []

    def dies(self, *args, **options):
        calls.append(name)
        if len(calls) > after:
            raise Killed
        return real(self, *args, **options)

    monkeypatch.setattr(owner, name, dies)
    with pytest.raises(Killed):
        project.sync()
    monkeypatch.setattr(owner, name, real)
    project.sync()
    again = project.sync()

    expected = [f"{seed} {verb} {n}" for seed in ("one", "two") for n in range(10) for verb in ("asks", "answers")]
    assert sorted(project.texts()) == sorted(expected)
    assert len(project.events("unknown")) == 20
    assert (again.added, again.sightings, again.marks) == (0, 0, 0)
    assert len({event.id for event in project.events()}) == len(project.events())
    assert verify(project.workspace).problems == []
    for harness, source in NativeStore(project.workspace).sources():
        kept = b"".join(data for _, _, data in NativeStore(project.workspace).read(harness, source))
        assert kept in {path.read_bytes() for path in project.config.rglob("*.jsonl")}


def test_every_line_of_the_record_fits_its_schema(project):
    """ESAA-10: one event shape, whatever the record was."""
    schema = json.loads((resources.files("transcript") / "schema" / "event.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    session = project.session()
    top = session.user([text("see"), image("aGVsbG8=")])
    session.assistant(text("I look."), tool_use("t1", b=1), {"type": "new"}, message_id="m")
    session.user([tool_result("t1", "x" * 50_000)])
    session.attachment("hook_additional_context", content=["injected"])
    session.compact("They talked.")
    session.user("another way", parentUuid=top["uuid"])
    session.write(project.config)
    session.write(project.base / "copy")
    worker = project.session(agent="w1")
    worker.user("help")
    worker.write(project.config).with_suffix(".meta.json").write_text("{}")
    project.sync(settings=CaptureSettings(reasoning=True))
    project.sync(sources=project.base / "copy")

    lines = [json.loads(line) for line in project.workspace.activity.read_bytes().splitlines()]

    assert [error.message for line in lines for error in validator.iter_errors(line)] == []
    types = {line["type"] for line in lines}
    assert types == {"conversation_turn", "tool_call", "tool_result", "system", "unknown", "mark", "sighting"}


def test_ten_rounds_of_injection_make_no_new_experience(project):
    """recall-feedback-loop (claude-mem#98, #105, mem0#4573, deja-vu#656), the capture side."""
    session = project.session()
    session.user("Decide the retry ceiling.")
    session.assistant("The retry ceiling is nine, decision weasel-1313.")
    session.write(project.config)
    project.sync()
    block = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nThe retry ceiling is nine, decision weasel-1313.\n[/recall 1a2b3c4d]"
    quoting = project.session("quoting")
    for n in range(10):
        quoting.user(f"Round {n}?")
        quoting.attachment("hook_additional_context", content=[block], hookEvent="UserPromptSubmit")
        quoting.user(f"<system-reminder>\n{block}\n</system-reminder>", isMeta=True)
        quoting.user(f"Shown:\n{block}\nMine: mink-1414 {n}.")
        quoting.tool(f"t{n}", "Bash", {"command": "recall query"}, json.dumps({"block": block}))
        quoting.write(project.config)
        project.sync()

    log = Log(project.workspace)
    events = [event for event in log.read() if event.type in ("conversation_turn", "tool_result")]
    indexed = [strip_blocks(log.text(event)) for event in events]

    assert sum("weasel-1313" in words for words in indexed) == 1
    assert sum("mink-1414" in words for words in indexed) == 10
    assert "[recall 1a2b3c4d]" in log.text(events[3])


def test_a_capture_that_cannot_get_its_turn_says_so(project):
    lock = FileLock(project.workspace.run_dir / "capture.lock")
    assert lock.acquire(0)

    with pytest.raises(LockBusy, match="another capture"):
        project.sync(lock_timeout=0.01)

    lock.release()


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), FileNotFoundError(2, "No such file")])
def test_a_file_that_cannot_be_read_is_reported_and_the_rest_taken_in(project, monkeypatch, error):
    paths = {}
    for seed in ("closed", "open"):
        session = project.session(seed)
        session.user(seed)
        paths[seed] = session.write(project.config)
    opened = claude_code.open_file

    def refuse(path):
        if path == paths["closed"]:
            raise error
        return opened(path)

    monkeypatch.setattr(claude_code, "open_file", refuse)
    report = project.sync()
    monkeypatch.setattr(claude_code, "open_file", opened)
    later = project.sync()

    assert (report.added, report.failed) == (1, [(str(paths["closed"]), error.strerror)])
    assert (later.added, later.failed) == (1, [])


def test_the_same_session_in_two_config_folders_is_two_sources_and_one_experience(project):
    session = project.session()
    session.user("once")
    session.write(project.config)
    session.write(project.base / "second")
    project.sync()

    other = project.sync(sources=project.base / "second")
    again = project.sync()

    assert (other.added, other.sightings, other.rewound) == (0, 1, [])
    assert (again.added, again.sightings, again.rewound) == (0, 0, [])
    assert project.texts() == ["once"]


def test_a_config_folder_that_moved_is_the_same_source(project):
    session = project.session()
    session.user("once")
    session.write(project.config)
    project.sync()
    shutil.move(project.config, project.base / "moved")

    report = project.sync(sources=project.base / "moved")

    assert (report.added, report.sightings, report.marks, report.changed) == (0, 0, 0, 0)


def test_the_first_records_of_other_projects_are_read_once(tmp_path, monkeypatch):
    """Most sessions on a machine belong to other projects; a capture after each turn must not open them all."""
    project, other = Project(tmp_path, "mine"), Project(tmp_path, "other")
    paths = {}
    for owner in (project, other):
        session = owner.session(owner.root.name)
        session.user("x")
        paths[owner.root.name] = session.write(owner.config)
    opened = []
    real = claude_code.open_file
    monkeypatch.setattr(claude_code, "open_file", lambda path: opened.append(path) or real(path))
    project.sync()
    first = opened.count(paths["other"])
    opened.clear()
    project.sync()
    second = opened.count(paths["other"])
    session.user("grows")
    session.write(other.config)
    opened.clear()
    project.sync()
    grown = opened.count(paths["other"])
    paths["other"].unlink()
    project.sync()

    assert (first, second, grown) == (1, 0, 0)
    assert CaptureState(project.workspace).heads == {}


def test_a_session_that_was_another_projects_is_seen_when_its_file_is_replaced(tmp_path):
    project, other = Project(tmp_path, "mine"), Project(tmp_path, "other")
    session = other.session()
    session.user("theirs")
    path = session.write(other.config)
    project.sync()
    mine = project.session()
    mine.user("mine")
    fresh = tmp_path / "fresh"
    fresh.write_bytes(mine.to_bytes())
    fresh.replace(path)

    project.sync()

    assert project.texts() == ["mine"]


def test_progress_reaches_the_end(project):
    session = project.session()
    session.user("x" * 1000)
    path = session.write(project.config)
    seen = []

    project.sync(progress=seen.append)

    assert (seen[-1].files, seen[-1].files_total) == (1, 1)
    assert seen[-1].bytes == seen[-1].bytes_total == path.stat().st_size


def test_a_marked_first_line_does_not_hide_a_session(tmp_path):
    """Session metadata without a folder stands before the first record."""
    project = Project(tmp_path)
    session = project.session()
    session.bare({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False})
    session.user("found")
    session.write(project.config)
    init(project.root, project.data)

    project.sync()

    assert project.texts() == ["found"]


def test_a_damaged_head_is_put_right_before_a_capture_reads(project):
    session = project.session()
    session.user("keep the queue small")
    session.write(project.config)
    project.sync()
    (project.workspace.log_dir / "head").write_bytes(b"{")
    session.user("and drain it at night")
    session.write(project.config)

    report = project.sync()

    assert report.by_type["conversation_turn"] == 1
    assert verify(project.workspace).ok


def test_a_file_whose_harness_dropped_its_beginning_is_marked_as_cut_and_the_record_is_whole(project):
    """LCA-6.1-01. What was dropped is as true as before: it does not count as taken back."""
    session = project.session()
    for n in range(6):
        session.user(f"question {n}")
        session.assistant(f"answer {n}")
    path = session.write(project.config)
    project.sync()
    before = project.texts()

    path.write_bytes(b"".join(line + b"\n" for line in session.lines[6:]))
    project.sync()
    session.user("question 6")
    path.write_bytes(b"".join(line + b"\n" for line in session.lines[6:]))
    project.sync()

    (cut,) = marks(project, "window_truncated")
    ids = {event.body["text"]: event.id for event in project.events("conversation_turn")}
    assert cut["events"] == [ids[f"{kind} {n}"] for n in range(3) for kind in ("question", "answer")]
    assert (cut["missing"], cut["session"]) == (6, session.session)
    assert marks(project, "rewound") == []
    assert project.texts() == [*before, "question 6"]
    assert verify(project.workspace).problems == []


def test_what_a_person_took_back_or_a_compaction_left_out_is_no_cut(project):
    session = project.session()
    for n in range(4):
        session.user(f"question {n}")
    path = session.write(project.config)
    project.sync()

    path.write_bytes(b"".join(line + b"\n" for line in session.lines[:2]))
    project.sync()
    session.compact("All was asked.")
    path.write_bytes(b"".join(line + b"\n" for line in session.lines[1:]))
    project.sync()

    assert marks(project, "window_truncated") == []
    assert [len(body["events"]) for body in marks(project, "rewound")] == [2, 1]
