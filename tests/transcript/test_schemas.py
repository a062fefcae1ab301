"""The schemas in the package: valid themselves, of the versions that are written, and true of what is written."""

import json
import re
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import jsonschema
import pytest
from support.record import make_log, make_workspace
from support.story import story
from support.wire import WireFile, contract_sessions

from transcript import event, export
from transcript.adapters import wire
from transcript.capture import sync
from transcript.log import Log
from transcript.projections import fold, views

NAMES = ("event", "export", "tasks", "wire")
VERSIONS = {"event": event.VERSION, "export": export.FORMAT, "tasks": fold.VERSION, "wire": wire.FORMAT}
PAGE = Path(__file__).parents[2] / "docs" / "wire.md"


def schema(name: str) -> dict:
    return json.loads(files("transcript.schema").joinpath(f"{name}.schema.json").read_bytes())


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(name))


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_one_and_carries_the_version_that_the_code_writes(name):
    """LCA-12.7-06."""
    held = schema(name)

    jsonschema.Draft202012Validator.check_schema(held)
    assert held["$id"] == f"urn:lca-recall:{name}:{VERSIONS[name]}"


def test_every_schema_of_the_package_is_held_against_something_here():
    found = {path.name for path in files("transcript.schema").iterdir() if path.name.endswith(".json")}

    assert found == {f"{name}.schema.json" for name in NAMES}


def test_record_that_goes_out_and_comes_back_is_valid_at_every_step_and_the_same(tmp_path):
    """LCA-12.7-06: by a validator that knows the schemas alone."""
    log = make_log(tmp_path / "here", story())
    lines = list(export.export(log.workspace))
    there = make_workspace(tmp_path / "there")

    export.import_record(there, BytesIO(b"".join(lines)))

    for line in lines:
        validator("export").validate(json.loads(line))
    written = [workspace.activity.read_bytes().splitlines() for workspace in (log.workspace, there)]
    for line in (*written[0], *written[1]):
        validator("event").validate(json.loads(line))
    assert [(e.id, e.native, e.origin, e.body) for e in Log(there).read()] == [
        (e.id, e.native, e.origin, e.body) for e in log.read()
    ]
    views.project(there)
    validator("tasks").validate(json.loads((there.root / ".recall" / "views" / "tasks.json").read_bytes()))


def whole_file(cwd: str) -> WireFile:
    """A file with a line of every type and every field."""
    file = WireFile(cwd, branch="main", model="m", surface="cli", session_key="desk", parent_session="p")
    media = [{"mime": "image/png", "data": "iVBORw0KGgo="}]
    file.add("prompt", text="Which port?", media=media, parent=None, cwd=cwd)
    file.add("worker_prompt", text="Find out.")
    file.add("reasoning", text="a look")
    file.add("tool_call", tool="read", call_id="c1", input={"path": "a"}, message="m1")
    file.add("tool_result", call_id="c1", text="8713", is_error=False)
    told = file.add("reply", text="8713.", message="m1")
    file.add("summary", text="It was 8713.")
    file.add("system", subtype="notice", text="low on space")
    file.add("compaction")
    file.add("abandon", of=[told["id"]], note="went back")
    file.add("restore", of=[told["id"]])
    return file


def test_file_that_the_wire_schema_allows_is_read_whole(tmp_path):
    """LCA-12.7-06: no line of it is unknown to the adapter, and every type is in it."""
    workspace = make_workspace(tmp_path)
    file = whole_file(str(workspace.root))
    lines = [json.loads(line) for line in file.lines]
    for line in lines:
        validator("wire").validate(line)
    file.write(tmp_path / "wire")

    done = sync(workspace, tmp_path / "data", {}, sources=tmp_path / "wire")

    assert {line["type"] for line in lines[1:]} == set(schema("wire")["$defs"]["record"]["properties"]["type"]["enum"])
    assert done.by_type == {"conversation_turn": 4, "system": 2, "mark": 2, "tool_call": 1, "tool_result": 1}
    assert not [e for e in Log(workspace).read() if e.type == "unknown"]


def test_types_of_the_wire_schema_are_those_of_its_page():
    table = PAGE.read_text(encoding="utf-8").split("| `type` | fields | becomes |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", table, re.MULTILINE)

    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    assert named == set(schema("wire")["$defs"]["record"]["properties"]["type"]["enum"])


def test_sessions_of_the_adapters_contract_differ_from_the_schema_by_their_unknown_type_alone(tmp_path):
    made = contract_sessions(tmp_path, "/home/dev/shop")
    lines = [json.loads(line) for line in made.path.read_bytes().splitlines()]

    refused = [line["type"] for line in lines if not validator("wire").is_valid(line)]

    assert refused == [made.unknown.partition("@")[0]]


@pytest.mark.parametrize(
    "line",
    [
        {"recall_wire": 2, "cwd": "/a"},
        {"recall_wire": 1},
        {"type": "prompt"},
        {"type": "tool_call", "tool": "read", "call_id": "c"},
        {"type": "tool_result", "call_id": "c", "text": 1},
        {"type": "abandon", "of": "x"},
        {"text": "no type"},
        {"type": "prompt", "text": "x", "ts": "yesterday"},
        [],
    ],
)
def test_wire_schema_refuses_what_is_no_line_of_the_format(line):
    assert not validator("wire").is_valid(line)
