"""The contract that every registered adapter keeps, over one built session of each harness (tests/support)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.capture import KEY, Project
from support.contract import BLOCK, ENVELOPE, INJECTED, PROMPT, REPLY, RESULT, Contract, builder_of
from support.harness import nothing_new, only, read_in_steps, read_source, same_everywhere

from recall.cli.app import App
from recall.cli.group import cli
from transcript.adapters.base import Adapter, Options
from transcript.adapters.jsonl import Damage, Line, parse_line, raw_lines
from transcript.adapters.registry import ADAPTERS, fault
from transcript.capture import sync
from transcript.capture_claims import claim
from transcript.event import ACTORS, ORIGINS

EVERY = pytest.mark.parametrize("adapter", ADAPTERS, ids=[adapter.harness for adapter in ADAPTERS])


def build(adapter: Adapter, root: Path, cwd: str) -> Contract:
    builder = builder_of(adapter.harness)
    assert builder is not None, f"tests/support has no contract_sessions for {adapter.harness}"
    return builder(root, cwd)


@pytest.fixture
def built(adapter, tmp_path):
    cwd = tmp_path / "shop"
    cwd.mkdir()
    return build(adapter, tmp_path / "sessions", str(cwd))


def fed(adapter, path, *, shift=0, garbage=False):
    """The drafts of a source whose lines stand elsewhere, or with damaged ones between them."""
    source = only(adapter, path)
    reader = adapter.reader(source, {"session": "", "ts": ""}, Options(KEY, True))
    with adapter.open(source) as file:
        for number, (start, end, raw, _) in enumerate(raw_lines(file, 0), 1):
            line = parse_line(number + shift, start + shift * 100, end + shift * 100, raw, adapter.is_record)
            reader.feed(line)
            if garbage:
                reader.feed(Line(number, start, end, b"{torn", [], [Damage(number, start, "unreadable JSON")]))
    return [taken.draft for taken in reader.take() + reader.finish()]


@EVERY
def test_adapter_declares_what_the_registry_asks_for(adapter):
    assert fault(adapter) == ""


@EVERY
def test_user_assistant_call_and_result_are_there_in_order(adapter, built):
    drafts, _ = read_source(adapter, built.path)
    turns = [(d.actor, d.body["kind"], d.body["text"]) for d in drafts if d.type == "conversation_turn"]
    kinds = [d.type for d in drafts if d.type in ("conversation_turn", "tool_call", "tool_result")]
    outputs = [d.body["text"] for d in drafts if d.type == "tool_result"]
    calls = [d.body["call_id"] for d in drafts if d.type in ("tool_call", "tool_result")]

    assert turns == [("user", "prompt", PROMPT), ("assistant", "reply", REPLY)]
    assert sorted(kinds) == ["conversation_turn", "conversation_turn", "tool_call", "tool_result"]
    assert kinds.index("tool_call") < kinds.index("tool_result")
    assert calls[0] == calls[1] != ""
    assert adapter.harness == "aider" or outputs == [RESULT]


@EVERY
def test_every_draft_says_whence_it_comes(adapter, built):
    drafts, _ = read_source(adapter, built.path)
    source = only(adapter, built.path)

    for draft in drafts:
        assert draft.native["harness"] == adapter.harness
        assert (draft.native["adapter"], draft.native["source"]) == (adapter.version, source.source)
        assert draft.actor in ACTORS
        assert (draft.origin, draft.origin in ORIGINS) == (adapter.origin, True)
        assert draft.session
        assert draft.type == "mark" or draft.body["file"] == str(built.path)
        assert draft.type == "mark" or draft.ts_source in ("record", "joined", "file")


@EVERY
def test_output_is_the_same_in_any_time_zone_and_with_any_hash_seed(adapter, built):
    printed = same_everywhere(f"{type(adapter).__module__}:{type(adapter).__qualname__}", built.path)

    assert PROMPT.encode() in printed


@EVERY
def test_no_native_identity_is_lost(adapter, built):
    drafts, _ = read_source(adapter, built.path)

    assert built.native <= {draft.native["id"] for draft in drafts}


@EVERY
def test_unknown_records_are_kept_and_counted_by_type_and_version(adapter, built):
    drafts, counts = read_source(adapter, built.path)
    kept = [draft for draft in drafts if draft.type == "unknown"]

    assert dict(counts.unknown) == ({built.unknown: 1} if built.unknown else {})
    assert len(kept) == bool(built.unknown)


@EVERY
def test_ids_do_not_depend_on_where_a_line_stands(adapter, built):
    assert fed(adapter, built.path, shift=1000) == fed(adapter, built.path)


@EVERY
def test_damaged_lines_between_the_records_change_nothing(adapter, built):
    assert fed(adapter, built.path, garbage=True) == fed(adapter, built.path)


@pytest.mark.parametrize(
    ("name", "harness"), [("codex", "codex"), ("claude", "claude-code"), ("grok", "grok-build")]
)  # fmt: skip
def test_the_command_takes_in_a_session_of_one_adapter_around_a_malformed_line(tmp_path, name, harness):
    """ESAA-08: user turn, assistant turn, call and result are in the record, the malformed line is reported."""
    project = Project(tmp_path)
    path = builder_of(harness)(tmp_path / "sessions", str(project.root)).path
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(first + b'\n{"type": "user", "mess\n' + rest)
    app = App(project.env, project.root, project.data)

    done = CliRunner().invoke(cli, ["sync", "--adapter", name, "--from", str(tmp_path / "sessions")], obj=app)

    assert done.exit_code == 0, done.output
    assert f"{path} line " in done.output
    assert "unreadable JSON" in done.output
    assert project.texts() == [PROMPT, REPLY]
    assert [event.body["call_id"] for event in project.events("tool_call", "tool_result")] == ["t1", "t1"]
    assert {event.agent for event in project.events("conversation_turn")} == {harness}


@EVERY
def test_reading_in_steps_gives_what_reading_at_once_gives(adapter, built):
    """The same events, in whatever order two forms of one thing came to be known."""

    def told(drafts):
        return sorted((d.id, d.type, d.actor, d.body.get("text", "")) for d in drafts if d.type != "mark")

    assert told(read_in_steps(adapter, built.path)) == told(read_source(adapter, built.path)[0])


@EVERY
def test_envelopes_are_recognised_and_injected_text_is_never_said(adapter, built):
    drafts, _ = read_source(adapter, built.path)
    said = "\n".join(d.body["text"] for d in drafts if d.type in ("conversation_turn", "tool_result", "reasoning"))
    system = "\n".join(d.body.get("text", "") for d in drafts if d.type == "system")

    assert INJECTED not in said
    assert ENVELOPE not in said
    assert (BLOCK.splitlines()[1] in system) == built.injected
    assert (ENVELOPE in system) == built.envelope


@EVERY
def test_only_sessions_of_the_workspace_are_taken_in(adapter, tmp_path):
    mine, other = Project(tmp_path, "mine"), Project(tmp_path, "other")
    folder = tmp_path / "sessions"
    for project in (mine, other):
        build(adapter, folder, str(project.root))
    where = tmp_path if adapter.harness == "aider" else folder

    report = mine.sync(sources=where, adapters=[adapter])

    assert (report.files, report.skipped) == (1, {"foreign": 1})
    assert {event.body["cwd"] for event in mine.events() if "cwd" in event.body} == {str(mine.root)}
    assert mine.texts() == [PROMPT, REPLY]


@EVERY
def test_a_second_sync_adds_nothing_even_after_the_state_is_lost(adapter, tmp_path):
    project = Project(tmp_path)
    build(adapter, tmp_path / "sessions", str(project.root))
    where = project.root if adapter.harness == "aider" else tmp_path / "sessions"
    first = project.sync(sources=where, adapters=[adapter])
    again = project.sync(sources=where, adapters=[adapter])
    (project.workspace.run_dir / "capture.json").unlink()
    anew = project.sync(sources=where, adapters=[adapter])

    assert first.added > 3
    assert nothing_new(again)
    assert (anew.added, anew.sightings, anew.marks) == (0, 0, 0)


@EVERY
def test_native_bytes_give_the_same_events_again(adapter, tmp_path):
    from support.capture import NOW

    from transcript.readapt import readapt

    project = Project(tmp_path)
    build(adapter, tmp_path / "sessions", str(project.root))
    where = project.root if adapter.harness == "aider" else tmp_path / "sessions"
    project.sync(sources=where, adapters=[adapter])

    report = readapt(project.workspace, now=NOW)

    assert (report.added, report.sightings, report.marks) == (0, 0, 0)


@EVERY
def test_only_its_own_adapter_takes_a_session(adapter, built):
    """All adapters look in the folder, and one takes the file; what lies beside it is no oddity."""
    folder = built.path.parent if adapter.harness == "aider" else built.path.parents[1]

    takers = [c.adapter.harness for c in claim(ADAPTERS, {}, folder, None, folder) if c.sources]

    assert takers == [adapter.harness]


def test_one_workspace_takes_in_all_harnesses_at_once(tmp_path):
    project = Project(tmp_path)
    for adapter in ADAPTERS:
        build(adapter, project.root / "sessions", str(project.root))

    report = project.sync(sources=project.root)

    assert sorted(report.harnesses) == sorted(adapter.harness for adapter in ADAPTERS)
    assert {name: of.files for name, of in report.harnesses.items()} == dict.fromkeys(report.harnesses, 1)
    assert report.skipped == {}
    assert sum(of.added for of in report.harnesses.values()) == report.added
    assert project.texts("prompt") == [PROMPT] * len(ADAPTERS)
    assert nothing_new(project.sync(sources=project.root))


def test_a_session_of_a_process_that_recall_started_is_left_alone(tmp_path):
    project = Project(tmp_path)

    report = sync(project.workspace, project.data, {"RECALL_CHILD": "1"})

    assert (report.harnesses, report.skipped) == ({}, {"child": 1})


def test_memory_is_plain_json(tmp_path):
    for adapter in ADAPTERS:
        root = tmp_path / adapter.harness
        (root / "shop").mkdir(parents=True)
        session = build(adapter, root / "sessions", str(root / "shop"))
        memory = {"session": "", "ts": ""}
        read_source(adapter, session.path, memory=memory)

        assert json.loads(json.dumps(memory)) == memory
