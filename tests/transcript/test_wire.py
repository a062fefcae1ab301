"""Our own format, and the example of docs/wire.md run end to end."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.capture import KEY, Project, said
from support.contract import BLOCK
from support.embedder import StubEmbedder
from support.harness import ids, nothing_new, read, read_source, same_everywhere
from support.wire import WireFile

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.wire import Wire

WIRE = Wire()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "wire.md"


@pytest.fixture
def file():
    return WireFile()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def folder(project):
    return project.base / "wire"


def test_user_assistant_call_and_result_become_events(file, tmp_path):
    file.add("prompt", text="Which port?")
    file.add("tool_call", tool="read", call_id="t1", input={"path": "a.toml"}, message="m1")
    file.add("tool_result", call_id="t1", text="port = 8080", is_error=True)
    asked = file.add("reply", text="8080.", message="m1", model="spool-3")
    path = file.write(tmp_path)

    drafts = read(WIRE, path)

    assert said(drafts) == [
        ("prompt", "Which port?"),
        ("tool_call", "read"),
        ("tool_result", "port = 8080"),
        ("reply", "8080."),
    ]
    reply = drafts[3]
    assert (reply.agent, reply.actor, reply.session, reply.ts) == (
        "loom", "assistant", file.session, "2026-06-15T10:04:00.000Z",
    )  # fmt: skip
    assert (reply.native["harness"], reply.native["version"], reply.native["id"]) == ("wire", "7", asked["id"])
    assert (reply.body["cwd"], reply.body["message"], reply.body["model"]) == ("/home/dev/shop", "m1", "spool-3")
    assert drafts[2].body["is_error"] is True


def test_a_prompt_keeps_its_speaker_and_another_record_has_none(file, tmp_path):
    file.add("prompt", text="Which port?", speaker="Ines Duarte")
    file.add("prompt", text="And the host?")

    assert [draft.body.get("speaker") for draft in read(WIRE, file.write(tmp_path))] == ["Ines Duarte", None]


def test_reasoning_is_kept_only_when_asked_for_and_compactions_are_boundaries(file, tmp_path):
    file.add("reasoning", text="hm")
    file.add("compaction")
    file.add("summary", text="So far: ports.")
    path = file.write(tmp_path)

    assert said(read(WIRE, path)) == [("system:compact_boundary", ""), ("summary", "So far: ports.")]
    assert ("reasoning", "hm") in said(read(WIRE, path, reasoning=True))


def test_a_record_of_an_unknown_type_is_kept_and_counted(file, tmp_path):
    file.add("dream", text="x")
    file.put({"no": "type"})
    drafts, counts = read_source(WIRE, file.write(tmp_path))

    assert counts.unknown == {"dream@7": 1, "?@7": 1}
    assert [draft.type for draft in drafts] == ["unknown", "unknown"]


def test_a_format_of_the_future_is_read_as_far_as_it_is_known_and_told(tmp_path):
    file = WireFile(recall_wire=2)
    file.add("prompt", text="typed")

    drafts, counts = read_source(WIRE, file.write(tmp_path))

    assert counts.unknown == {"header/2@7": 1}
    assert ("prompt", "typed") in said(drafts)


def test_a_damaged_line_and_a_number_that_is_no_json_lose_nothing_else(file, tmp_path):
    file.add("prompt", text="one")
    file.lines.append(b'{"type": "reply", "te')
    file.lines.append(b'{"type": "reply", "text": "x", "score": NaN}')
    file.add("reply", text="two")
    drafts, counts = read_source(WIRE, file.write(tmp_path))

    assert said(drafts) == [("prompt", "one"), ("unknown", ""), ("reply", "two")]
    assert counts.unknown == {"number that is not JSON@7": 1}


def test_what_recall_injected_is_system_and_never_a_prompt(file, tmp_path):
    file.add("system", text=BLOCK)
    file.add("system", subtype="reminder", text="x")
    file.add("system", text="y")

    assert [name for name, _ in said(read(WIRE, file.write(tmp_path)))] == [
        "system:injected", "system:reminder", "system:notice",
    ]  # fmt: skip


def test_media_go_with_what_was_said(file, tmp_path):
    file.add("prompt", text="Look", media=[{"mime": "image/png", "data": "iVBORw0KGgo="}, {"mime": "x", "data": "%%"}])

    [draft] = [draft for draft in read(WIRE, file.write(tmp_path)) if draft.type != "mark"]

    assert [(medium["mime"], medium["size"]) for medium in draft.body["media"]] == [("image/png", 8)]


def test_a_line_without_a_time_has_the_one_before(tmp_path):
    file = WireFile(ts="2026-06-15T12:00:00+02:00")
    file.put({"type": "prompt", "text": "one"})
    file.put({"type": "reply", "text": "two", "ts": "2026-06-15T10:00:30"})

    times = [(draft.ts, draft.ts_source) for draft in read(WIRE, file.write(tmp_path)) if draft.type != "mark"]

    assert times == [("2026-06-15T10:00:00.000Z", "joined")] * 2


def test_records_without_ids_are_told_apart_and_known_again(tmp_path):
    file = WireFile(ids=False)
    for _ in range(2):
        file.put({"type": "prompt", "text": "again"})
    drafts = [draft for draft in read(WIRE, file.write(tmp_path)) if draft.type != "mark"]

    assert len({draft.id for draft in drafts}) == 2
    assert [draft.native["id"] for draft in drafts] == ["", ""]


def test_output_is_the_same_everywhere(file, tmp_path):
    file.add("prompt", text="one")
    file.put({"type": "reply", "text": "no id"})

    assert same_everywhere("transcript.adapters.wire:Wire", file.write(tmp_path))


# -- capture --------------------------------------------------------------------------------------


def test_a_fork_is_a_sighting_of_the_records_it_shares(project):
    one = WireFile(str(project.root))
    one.add("prompt", text="shared")
    one.write(folder(project))
    two = WireFile(str(project.root), seed="two")
    two.lines.append(one.lines[1])
    two.add("prompt", text="forked")
    two.write(folder(project))

    report = project.sync(sources=folder(project))

    assert project.texts("prompt") == ["shared", "forked"]
    assert report.sightings == 1


def test_a_rewind_is_marked_and_can_be_taken_back(project):
    file = WireFile(str(project.root))
    left = file.add("prompt", text="wrong way")
    file.add("abandon", of=[left["id"]], note="rewound by hand")
    path = file.write(folder(project))
    project.sync(sources=folder(project))
    file.add("restore", of=[left["id"]])
    file.write(folder(project))
    project.sync(sources=folder(project))
    path.touch()
    project.sync(sources=folder(project))

    marks = [(event.body["mark"], event.body["note"]) for event in project.events("mark") if event.body["events"]]
    assert marks == [("abandoned", "rewound by hand"), ("restored", "")]


def test_a_sub_agents_file_belongs_to_the_session_it_works_for(project):
    main = WireFile(str(project.root))
    main.add("prompt", text="typed")
    main.write(folder(project))
    worker = WireFile(str(project.root), seed="worker", parent_session=main.session)
    worker.add("prompt", text="Look at the gate.")
    worker.write(folder(project))
    project.sync(sources=folder(project))

    turns = [(e.session, e.actor, e.body["kind"], e.body.get("worker")) for e in project.events("conversation_turn")]
    assert turns == [
        (main.session, "user", "prompt", None),
        (main.session, "assistant", "worker_prompt", worker.session),
    ]


def test_incremental_capture_is_whole_capture(tmp_path):
    one, two = Project(tmp_path / "a"), Project(tmp_path / "b")
    (two.workspace.key_path).write_bytes(one.workspace.key_path.read_bytes())
    file = WireFile("/home/dev/shop")
    for number in range(4):
        file.add("prompt", text=f"prompt {number}")
        file.put({"type": "reply", "text": "the same"})
        file.write(folder(one))
        one.sync(sources=folder(one), all_roots=True)
    file.write(folder(two))
    two.sync(sources=folder(two), all_roots=True)

    assert ids(one) == ids(two)
    assert nothing_new(one.sync(sources=folder(one), all_roots=True))


def test_files_of_tools_are_found_beside_the_workspaces(project, monkeypatch):
    project.env["RECALL_HOME"] = str(project.data)
    file = WireFile(str(project.root))
    file.add("prompt", text="typed")
    file.write(project.data / "wire")

    assert project.sync().harnesses["wire"].added == 1


# -- the page -------------------------------------------------------------------------------------


@pytest.fixture
def recall(capsys, monkeypatch):
    from recall.cli.group import run

    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())

    def call(*args):
        code = run(list(args))
        return code, capsys.readouterr().out

    return call


def test_the_example_of_the_page_is_taken_in_indexed_and_recalled(recall, tmp_path, monkeypatch):
    """LCA-12.7-03."""
    [example] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    home = tmp_path / "shop"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    recall("init")
    subprocess.run([sys.executable, "-c", example], cwd=home, env=dict(os.environ), check=True, timeout=180)

    code, out = recall("sync", "--adapter", "wire", "--json")
    assert code == 0
    assert json.loads(out)["harnesses"]["wire"]["added"] == 4
    assert recall("index")[0] == 0
    code, out = recall("query", "pelican gate port", "--json")
    assert code == 0
    assert "heron proxy" in out


def test_the_example_has_at_most_twenty_lines_of_code_and_the_page_names_every_type():
    page = PAGE.read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    reader = WIRE.reader(SourceFile("wire", PAGE, "a", "s"), {}, Options(KEY))

    assert len([line for line in example.splitlines() if line.strip()]) <= 20
    assert set(reader._readers) <= set(re.findall(r"`([a-z_]+)`", page))


def test_one_key_unites_the_surfaces_of_two_files(project):
    """LCA-4.7-01."""
    from transcript.context import context
    from transcript.filters import Filter
    from transcript.log import Log

    for offset, surface in enumerate(("cli", "web")):
        head = {"recall_wire": 1, "tool": "loom", "session": f"s-{surface}", "cwd": str(project.root)}
        lines = [{**head, "surface": surface, "session_key": "desk"}]
        lines += [
            {"type": "prompt", "id": f"{surface}{n}", "ts": f"2026-03-01T12:0{2 * n + offset}:00Z", "text": surface}
            for n in range(3)
        ]
        folder(project).mkdir(exist_ok=True)
        (folder(project) / f"{surface}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    project.sync(sources=folder(project), adapters=(WIRE,))

    window = context(Log(project.workspace), wanted=Filter(session_key="desk"))

    assert [turn.text for turn in window.turns] == ["cli", "web"] * 3
    assert {turn.event.body["surface"] for turn in window.turns} == {"cli", "web"}
