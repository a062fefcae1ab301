"""A whole record goes out and comes back as it was; single sessions go out as trajectories of ATIF 1.7."""

import errno
import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from atif import Trajectory
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from pydantic import ValidationError
from support.capture import NOW, Project
from support.claude import image, made_uuid, text, thinking, tool_use
from support.record import make_draft, make_log, make_workspace

from recall.cli.app import App
from recall.cli.export import file_name
from recall.cli.group import cli
from transcript.accounts import stats
from transcript.atif import sessions, trajectory
from transcript.canonical import canonical
from transcript.capture import CaptureSettings
from transcript.errors import RecordError
from transcript.event import to_line
from transcript.export import export, header_of, import_record
from transcript.log import Log
from transcript.projections import views
from transcript.redaction import erase
from transcript.redaction_plan import plan_text
from transcript.verify import verify
from transcript.workspace import init, locate

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "atif-1.7.schema.json").read_bytes())


def made(base):
    """A project with long texts, media, reasoning, a sub-agent, a copy of a session, a decision and a redaction."""
    project = Project(base)
    one = project.session("one")
    one.user([text("Look at this."), image()])
    one.assistant(thinking("It is red."), text("It is red."), message_id="m1")
    one.assistant(tool_use("t1", "Bash", command="cat big"), message_id="m1")
    one.tool("t2", "Read", {"file_path": "a.py"}, "words " * 9000)
    one.user([{"type": "tool_result", "tool_use_id": "t1", "content": "out", "is_error": True}])
    one.user("The key is phoenix-3333.")
    one.compact("What was done.")
    one.write(project.config)
    worker = project.session("one", agent="a1", session=one.session)
    worker.user("Look for it.")
    worker.assistant("Found it.")
    worker.write(project.config)
    copied = project.session("two")
    for line in one.lines[:3]:
        copied.raw(line.replace(one.session.encode(), copied.session.encode()))
    copied.user("And now?", uuid=made_uuid("and now"))
    copied.write(project.config)
    project.sync(settings=CaptureSettings(reasoning=True))
    decision = make_draft("d", "decision", native={}, body={"text": "red it is", "statement": "red it is"})
    Log(project.workspace).append([decision], now=NOW)
    erase(project.workspace, lambda: plan_text(project.workspace, "phoenix-3333"), now=NOW)
    views.project(project.workspace)
    return project, one.session, copied.session


def run(app, *arguments):
    return CliRunner().invoke(cli, list(arguments), obj=app)


def moved(project, base):
    """Export a project and import it on another machine; return its app there and what the import said."""
    out = base / "record.jsonl"
    done = run(App(project.env, project.root, project.data), "export", str(out))
    assert done.exit_code == 0, done.output
    root = base / "there" / "shop"
    root.mkdir(parents=True)
    init(root, base / "there" / "data")
    app = App(project.env, root, base / "there" / "data")
    brought = run(app, "import", str(out), "--json")
    assert brought.exit_code == 0, brought.output
    return app, json.loads(brought.stdout), out


def test_an_import_gives_the_same_record_views_and_verdict(tmp_path):
    """LCA-12.2-03."""
    project, _, _ = made(tmp_path / "here")

    app, said, _ = moved(project, tmp_path)

    there, here = app.workspace(), project.workspace
    before, after = verify(here), verify(there)
    assert (after.problems, after.types, after.counts["blobs"]) == ([], before.types, before.counts["blobs"])
    assert said == {"events": len(project.events()), "media": 1, "chained": True, "workspace": here.id}
    assert [vars_of(event) for event in Log(there).read()] == [vars_of(event) for event in Log(here).read()]
    assert Log(there).head().hash == Log(here).head().hash
    for name in views.NAMES:
        assert (app.cwd / ".recall/views" / name).read_bytes() == (project.root / ".recall/views" / name).read_bytes()
    assert stats(Log(there).read()) == stats(Log(here).read())


def vars_of(event):
    return {name: getattr(event, name) for name in event.__slots__ if name != "position"}


def test_the_export_is_one_readable_event_a_line(tmp_path):
    project, _, _ = made(tmp_path)

    lines = [json.loads(line) for line in export(project.workspace)]

    assert lines[0]["recall_export"] == 1
    events = [line for line in lines[1:] if "recall_medium" not in line]
    assert [event["seq"] for event in events] == list(range(1, lines[0]["events"] + 1))
    long = [
        event
        for event in events
        if event["type"] == "tool_result" and event["body"].get("text", "").count("words") == 9000
    ]
    assert len(long) == 1
    assert "phoenix-3333" not in json.dumps(lines)
    assert project.workspace.id_key().hex() not in json.dumps(lines)


def test_every_line_is_of_the_published_schema(tmp_path):
    project, _, _ = made(tmp_path)
    schema = json.loads(files("transcript.schema").joinpath("export.schema.json").read_bytes())
    check = Draft202012Validator(schema)

    lines = [json.loads(line) for line in export(project.workspace)]

    assert [error.message for line in lines for error in check.iter_errors(line)] == []
    assert not check.is_valid({**lines[0], "more": 1})
    assert not check.is_valid({name: value for name, value in lines[-1].items() if name != "salt"})
    assert any(line.get("body") == {} for line in lines)


def test_beside_its_original_a_copy_gets_a_chain_of_its_own(tmp_path):
    project, _, _ = made(tmp_path / "here")
    out = tmp_path / "record.jsonl"
    run(App(project.env, project.root, project.data), "export", str(out))
    other = tmp_path / "here" / "other"
    other.mkdir()
    init(other, project.data)
    app = App(project.env, other, project.data)

    said = json.loads(run(app, "import", str(out), "--json").stdout)

    assert said["chained"] is False
    assert verify(app.workspace()).problems == []
    assert [event.id for event in Log(app.workspace()).read()] == [event.id for event in project.events()]
    assert run(app, "import", str(out)).exit_code == 1
    assert locate(project.root, project.data).id == project.workspace.id


def test_what_was_imported_goes_on_growing(tmp_path):
    project, _, _ = made(tmp_path / "here")
    app, _, _ = moved(project, tmp_path)
    log = Log(app.workspace())

    log.append([make_draft("more")], now=NOW)
    views.project(app.workspace())

    assert verify(app.workspace()).problems == []
    assert log.get(make_draft("more").id).seq == log.head().seq


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[:-1], "ends at event"),
        (lambda lines: [lines[0], *lines[2:]], "follow|medium"),
        (lambda lines: [line.replace(b"red it is", b"blue it is") for line in lines], "changed"),
        (lambda lines: [lines[0], b"{", *lines[1:]], "no JSON"),
        (lambda lines: lines[1:], "no export"),
        (lambda lines: [lines[0].replace(b'"recall_export":1', b'"recall_export":2'), *lines[1:]], "newer|version"),
        (lambda lines: [line.replace(b'"type":"decision"', b'"type":"wish"') for line in lines], "no event"),
        (
            lambda lines: [line.replace(b'"through":{', b'"through":[{').replace(b'},"w', b'}],"w') for line in lines],
            "header",
        ),
        (lambda lines: [lines[0].replace(b'"events":', b'"events":1'), *lines[1:]], "ends at event"),
        (lambda lines: [line.replace(b'"actor":"tool"', b'"actor":["tool"]') for line in lines], "no event"),
        (lambda lines: [without_words(line, b"And now?") for line in lines], "without a redaction"),
    ],
    ids=[
        "cut-short",
        "line-out",
        "edited",
        "torn",
        "no-header",
        "newer",
        "unknown-type",
        "odd-header",
        "other-count",
        "odd-actor",
        "emptied",
    ],
)
def test_a_damaged_export_is_refused_as_a_whole(tmp_path, change, reason):
    project, _, _ = made(tmp_path / "here")
    lines = change(list(export(project.workspace)))
    out = tmp_path / "damaged.jsonl"
    out.write_bytes(b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines))
    target = make_workspace(tmp_path / "there")

    with out.open("rb") as handle, pytest.raises(RecordError, match=reason):
        import_record(target, handle)

    assert Log(target).head().seq == 0
    assert Log(target).blobs.names() == []


def without_words(line, words):
    """Return a line as a redaction would leave it, where it holds these words."""
    return canonical({**json.loads(line), "body": {}, "salt": ""}) + b"\n" if words in line else line


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=["Ctrl-C", "full"])
def test_an_import_that_is_broken_off_leaves_the_workspace_empty(tmp_path, monkeypatch, fault):
    project, _, _ = made(tmp_path / "here")
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"".join(export(project.workspace)))
    target = make_workspace(tmp_path / "there")
    lines_made = []

    def broken(*args, **options):
        lines_made.append(1)
        if len(lines_made) > 2 * Log(project.workspace).head().seq - 3:
            raise fault
        return to_line(*args, **options)

    with out.open("rb") as handle, monkeypatch.context() as patched:
        patched.setattr("transcript.export.to_line", broken)
        with pytest.raises(type(fault)):
            import_record(target, handle)
    left = (Log(target).head().seq, Log(target).blobs.names(), list(target.log_dir.rglob("*import*")))
    with out.open("rb") as handle:
        import_record(target, handle)

    assert left == (0, [], [])
    assert verify(target).problems == []
    assert Log(target).head().seq == Log(project.workspace).head().seq


def test_a_foreign_name_is_no_path(tmp_path):
    project, _, _ = made(tmp_path / "here")
    lines = list(export(project.workspace))
    out = tmp_path / "odd.jsonl"
    out.write_bytes(b"".join([lines[0].replace(project.workspace.id.encode(), b"../../evil"), *lines[1:]]))
    root = tmp_path / "there"
    root.mkdir()
    init(root, tmp_path / "data")

    done = run(App({}, root, tmp_path / "data"), "import", str(out))

    assert done.exit_code == 1
    assert not list(tmp_path.rglob("evil"))


def test_many_segments_are_imported(tmp_path):
    log = make_log(tmp_path / "here", [make_draft(n, text="w" * 900) for n in range(2500)])
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"".join(export(log.workspace)))
    target = make_workspace(tmp_path / "there")

    with out.open("rb") as handle:
        assert header_of(handle)["events"] == 2500
        handle.seek(0)
        import_record(target, handle, segment_bytes=500_000)

    assert Log(target).head().segment > 1
    assert verify(target).problems == []


def test_trajectories_are_valid_and_whole(tmp_path):
    project, one, two = made(tmp_path)
    log = Log(project.workspace)

    made_of = {name: trajectory(log, session) for name, session in sessions(log).items()}

    assert set(made_of) == {one, two}
    for document in made_of.values():
        assert faults(document) == []
        assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    first = made_of[one]
    assert first["agent"]["name"] == "claude-code"
    [answer] = [step for step in first["steps"] if step["message"] == "It is red."]
    assert answer["reasoning_content"] == "It is red."
    assert [call["function_name"] for call in answer["tool_calls"]] == ["Bash"]
    assert answer["observation"]["results"] == [{"content": "out", "source_call_id": "t1", "extra": {"is_error": True}}]
    assert [step["extra"].get("redacted") for step in first["steps"]].count(True) == 1
    [worker] = first["subagent_trajectories"]
    assert [step["message"] for step in worker["steps"]] == ["Look for it.", "Found it."]
    assert "phoenix-3333" not in json.dumps(made_of)


def test_copied_steps_are_marked(tmp_path):
    project, _, two = made(tmp_path)

    log = Log(project.workspace)
    steps = trajectory(log, sessions(log)[two])["steps"]

    assert [step.get("is_copied_context", False) for step in steps] == [True] * (len(steps) - 1) + [False]
    assert steps[-1]["message"] == "And now?"


def test_trajectories_are_written_one_file_a_session(tmp_path):
    project, one, _ = made(tmp_path)
    app = App(project.env, project.root, project.data)

    every = run(app, "export", str(tmp_path / "out"), "--format", "atif")
    single = run(app, "export", str(tmp_path / "one.json"), "--format", "atif", "--session", one[:8])
    none = run(app, "export", str(tmp_path / "x.json"), "--format", "atif", "--session", "nobody")
    dry = run(app, "export", str(tmp_path / "dry"), "--dry-run")

    assert (every.exit_code, single.exit_code, none.exit_code, dry.exit_code) == (0, 0, 1, 0)
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert json.loads((tmp_path / "one.json").read_bytes())["session_id"] == one
    assert not (tmp_path / "dry").exists()
    assert (tmp_path / "one.json").stat().st_mode & 0o077 == 0


def test_no_two_sessions_share_a_file():
    """Ids come from any tool that writes the wire format."""
    names = ["one", "a/b", "a-b", "a b", "x" * 400, "x" * 401]

    files = [file_name(name) for name in names]

    assert files[0] == "one.json"
    assert len({name.casefold() for name in files}) == len(names)
    assert all("/" not in name and len(name) < 150 for name in files)


@pytest.mark.parametrize("kind", [[], ["--format", "atif", "--session"]], ids=["wire", "atif"])
def test_an_export_that_fails_leaves_the_one_before_and_one_that_does_not_closes_it_to_others(
    tmp_path, monkeypatch, kind
):
    project, one, _ = made(tmp_path)
    app = App(project.env, project.root, project.data)
    out = tmp_path / "kept" / "record"
    out.parent.mkdir()
    words = ["export", str(out), *kind, *([one] if kind else [])]
    assert run(app, *words).exit_code == 0
    before = out.read_bytes()
    out.chmod(0o644)

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        failed = run(app, *words)
    between = out.read_bytes(), [path.name for path in out.parent.iterdir()]
    done = run(app, *words)

    assert failed.exit_code != 0
    assert between == (before, ["record"])
    assert done.exit_code == 0
    assert json.loads(out.read_bytes() if kind else out.read_bytes().partition(b"\n")[0])
    assert os.name != "posix" or out.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", [[], ["--format", "atif", "--session"]], ids=["wire", "atif"])
def test_an_export_writes_over_no_file_that_is_none(tmp_path, kind):
    project, one, _ = made(tmp_path)
    app = App(project.env, project.root, project.data)
    notes, folder, empty = tmp_path / "notes.md", tmp_path / "folder", tmp_path / "empty"
    notes.write_text("mine")
    folder.mkdir()
    empty.touch()

    tried = [run(app, "export", str(out), *kind, *([one] if kind else [])) for out in (notes, folder, empty)]

    assert [ran.exit_code for ran in tried] == [1, 1, 0]
    assert "exists and is no export of recall" in str(tried[0].exception or tried[0].stderr)
    assert notes.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def no_space(descriptor):
    raise OSError(errno.ENOSPC, "No space left on device", str(descriptor))


@pytest.mark.real_data
def test_real_sessions_are_valid_trajectories(shared, tmp_path):
    project = Project(tmp_path)
    project.sync(sources=shared / "clients" / "fresh", all_roots=True)
    log = Log(project.workspace)

    documents = [trajectory(log, session) for session in sessions(log).values()]

    assert len(documents) == 20
    assert [fault for document in documents for fault in faults(document)] == []


def test_the_published_models_notice_what_a_schema_cannot_say():
    project = {"schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "1"}}
    steps = [{"step_id": number, "source": "user", "message": "hi"} for number in (1, 3)]

    assert faults({**project, "steps": steps[:1]}) == []
    assert "not sequential" in faults({**project, "steps": steps})[0]


def faults(document):
    """What the format's published schema (1.7) and its published models (the newest) have against a document."""
    found = [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)]
    try:
        Trajectory.model_validate(document)
    except ValidationError as error:
        found.append(str(error))
    return found
