"""Which adapters there are, adapters of other packages, and whose a file is that several could claim."""

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from support.capture import KEY, Project
from support.claude import ClaudeSession
from support.harness import nothing_new, read_in_steps, read_source
from support.toy import Point, Toy, toy_file
from support.wire import WireFile

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.jsonl import parse_line
from transcript.adapters.names import HARNESSES
from transcript.adapters.registry import ADAPTERS, fault, harness_of, named, registered
from transcript.capture_claims import claim
from transcript.errors import CaptureError


def test_our_names_are_those_of_the_registry():
    assert sorted(adapter.harness for adapter in ADAPTERS) == list(HARNESSES)


def test_every_adapter_of_ours_has_its_own_name_and_claude_is_asked_last():
    names = [adapter.harness for adapter in ADAPTERS]

    assert len(set(names)) == len(names)
    assert names[-1] == "claude-code"
    assert [fault(adapter) for adapter in ADAPTERS] == [""] * len(names)


def test_an_adapter_of_another_package_is_asked_before_claude():
    found = registered([Point("toy", Toy)])

    assert [adapter.harness for adapter in found.adapters[-2:]] == ["toy", "claude-code"]
    assert found.refused == ()


def test_a_toy_adapter_keeps_the_contract(tmp_path):
    """ESAA-09."""
    path = toy_file(tmp_path / "one", tmp_path)
    drafts, counts = read_source(Toy(), path)

    assert [(d.type, d.native["id"]) for d in drafts if d.type != "mark"] == [
        ("conversation_turn", "a"),
        ("conversation_turn", "b"),
        ("unknown", "c"),
    ]
    assert counts.unknown == {"nobody@1": 1}
    assert read_in_steps(Toy(), path) == [draft for draft in drafts if draft.type != "mark"]


def test_a_toy_adapter_is_synced_like_our_own(tmp_path):
    project = Project(tmp_path)
    toy_file(tmp_path / "sessions" / "one", project.root)
    adapters = registered([Point("toy", Toy)]).adapters

    report = project.sync(sources=tmp_path / "sessions", adapters=adapters)

    assert project.texts() == ["Which port?", "8713."]
    assert {event.agent for event in project.events()} == {"toy"}
    assert (report.harnesses["toy"].files, report.harnesses["toy"].added) == (1, 3)
    assert (report.skipped, report.unknown) == ({}, {"nobody@1": 1})
    assert nothing_new(project.sync(sources=tmp_path / "sessions", adapters=adapters))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (type("NoOrigin", (Toy,), {"origin": None}), "declares no origin: internal (the agent's own sessions) or"),
        (type("Odd", (Toy,), {"origin": "both"}), "declares no origin: internal (the agent's own sessions) or"),
        (type("NoName", (Toy,), {"harness": ""}), "declares no harness"),
        (type("NoReader", (Toy,), {"reader": None}), "lacks reader"),
        (type("Second", (Toy,), {"harness": "codex"}), "'codex' is there already"),
        (ImportError("no module"), "cannot be loaded: ImportError"),
        (object(), "declares no harness"),
    ],
)
def test_what_is_no_adapter_is_refused_with_one_line(made, why):
    """LCA-3-01."""
    found = registered([Point("odd", made), Point("toy", Toy)])

    [(name, reason)] = found.refused
    assert (name, reason.startswith(why), "\n" in reason) == ("odd", True, False)
    assert "toy" in [adapter.harness for adapter in found.adapters]


def test_a_refused_adapter_is_named_by_the_sync_that_goes_on(tmp_path, monkeypatch):
    from recall.cli.sync import as_dict, text

    project = Project(tmp_path)
    session = project.session()
    session.user("typed")
    session.write(project.config)
    points = [Point("odd", type("Odd", (Toy,), {"origin": ""}))]
    monkeypatch.setattr("transcript.adapters.registry.entry_points", lambda group: points)

    report = project.sync()

    assert project.texts() == ["typed"]
    assert [entry["adapter"] for entry in as_dict(report)["refused"]] == ["odd"]
    assert sum("adapter refused: odd declares no origin" in line for line in text(report).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "harness"),
    [
        ("claude", "claude-code"),
        ("Claude_Code", "claude-code"),
        ("copilot", "copilot-cli"),
        ("gemini", "gemini-cli"),
        ("open", "opencode"),
        ("wire", "wire"),
    ],
)
def test_an_adapter_answers_to_common_spellings(name, harness):
    assert [adapter.harness for adapter in named([name], ADAPTERS)] == [harness]


def test_spellings_of_harnesses_stand_for_one_each():
    every = ["claude-code", "cline", "codex", "copilot-cli", "gemini-cli", "grok-build", "letta-code", "qwen-code"]

    short = ["claude", "codex", "copilot", "gemini", "grok", "letta", "qwen"]

    assert [harness_of(name, every) for name in short] == [name for name in every if name != "cline"]


@pytest.mark.parametrize("name", ["c", "", "nobody"])
def test_a_name_that_is_none_or_not_clear_is_refused_with_the_names_there_are(name):
    with pytest.raises(CaptureError, match=r"no adapter '.*'; there are .*claude-code"):
        named([name], ADAPTERS)


def test_no_name_is_every_adapter():
    assert named([], ADAPTERS) == ADAPTERS


def test_the_command_takes_in_one_harness_and_counts_each(tmp_path, monkeypatch, capsys):
    from recall.cli.group import run

    home = tmp_path / "shop"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    mixed(tmp_path / "sessions", home)
    where = ("--from", str(tmp_path / "sessions"))
    run(["init"])
    capsys.readouterr()

    codes = [run(["sync", *where, "--adapter", "claude", "--json"])]
    one = json.loads(capsys.readouterr().out)
    codes.append(run(["sync", *where, "--adapter", "wire", "--adapter", "claude"]))
    text = capsys.readouterr().out
    codes.append(run(["sync", *where, "--adapter", "nobody"]))
    told = capsys.readouterr()

    assert codes == [0, 0, 1]
    assert {name: (of["files"], of["added"]) for name, of in one["harnesses"].items()} == {"claude-code": (1, 1)}
    assert one["harnesses"]["claude-code"]["skipped"] == {"other_format": 2}
    assert "  wire: 1 new event, 1 file, 1 session" in text.splitlines()
    assert "  claude-code: 0 new events, 1 file, 1 session" in text.splitlines()
    assert (told.out, told.err.count("\n"), "no adapter 'nobody'" in told.err) == ("", 1, True)


# -- whose a file is ------------------------------------------------------------------------------


def mixed(folder: Path, cwd: Path) -> tuple[Path, Path, Path]:
    """A Claude session, a wire file and a file of nobody in one folder."""
    session = ClaudeSession(str(cwd))
    session.user("to Claude")
    claude, wire, other = (folder / name for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    folder.mkdir(parents=True)
    claude.write_bytes(session.to_bytes())
    file = WireFile(str(cwd))
    file.add("prompt", text="to the loom")
    wire.write_bytes(file.to_bytes())
    other.write_text('{"temperature": 21}\n')
    return claude, wire, other


def test_a_file_that_several_look_at_goes_to_the_one_that_recognises_it(tmp_path):
    claude, wire, other = mixed(tmp_path / "sessions", tmp_path)

    taken = {c.adapter.harness: [s.path for s in c.sources] for c in claim(ADAPTERS, {}, tmp_path, None, tmp_path)}

    assert {name: paths for name, paths in taken.items() if paths} == {"wire": [wire], "claude-code": [claude, other]}


def test_what_nobody_recognises_is_counted_once(tmp_path):
    project = Project(tmp_path)
    mixed(tmp_path / "sessions", project.root)

    report = project.sync(sources=tmp_path / "sessions")

    assert report.skipped == {"other_format": 1}
    assert {name: of.files for name, of in report.harnesses.items()} == {"wire": 1, "claude-code": 1}
    assert project.texts() == ["to Claude", "to the loom"]  # the older session first


def test_only_the_adapter_that_was_asked_for_reads(tmp_path):
    project = Project(tmp_path)
    mixed(tmp_path / "sessions", project.root)

    report = project.sync(sources=tmp_path / "sessions", adapters=named(["wire"], ADAPTERS))

    assert (list(report.harnesses), report.skipped, project.texts()) == (["wire"], {}, ["to the loom"])


def test_a_file_stays_with_the_adapter_that_read_it_before(tmp_path):
    """Else a newer adapter that also knows the format would take the whole session in a second time."""
    project = Project(tmp_path)
    mixed(tmp_path / "sessions", project.root)
    project.sync(sources=tmp_path / "sessions", adapters=named(["claude"], ADAPTERS))

    class Greedy(Toy):
        harness = "greedy"

        def discover(self, roots):
            return [SourceFile("greedy", tmp_path / "sessions" / "a.jsonl", "a", "s")], Counter()

        def recognises(self, values):
            return True

    report = project.sync(sources=tmp_path / "sessions", adapters=(Greedy(), *named(["claude"], ADAPTERS)))

    assert nothing_new(report)
    assert report.harnesses["claude-code"].files == 1


def test_what_lies_in_the_folder_of_anothers_session_is_no_oddity(tmp_path):
    project = Project(tmp_path)
    folder = tmp_path / "sessions" / "one"
    toy_file(folder, project.root)
    (folder / "updates.jsonl").write_text('{"tick": 1}\n')

    class Folder(Toy):
        def discover(self, roots):
            found, refused = super().discover(roots)
            return [SourceFile("toy", s.path, s.identity, s.session, "", str(s.path.parent)) for s in found], refused

    report = project.sync(sources=tmp_path / "sessions", adapters=(Folder(), ADAPTERS[-1]))

    assert report.skipped == {}
    assert project.texts("prompt") == ["Which port?"]


def test_an_adapter_may_look_in_the_project_itself(tmp_path):
    project, other = Project(tmp_path, "mine"), Project(tmp_path, "other")
    for one in (project, other):
        toy_file(one.root / ".toy", one.root)

    class InProject(Toy):
        def in_project(self, root):
            return [root / ".toy"]

    report = project.sync(adapters=(InProject(),))

    assert (report.files, report.skipped) == (1, {})
    assert {event.body["cwd"] for event in project.events("conversation_turn")} == {str(project.root)}


def test_a_source_that_cannot_be_read_is_reported_and_the_others_go_on(tmp_path):
    from transcript.adapters.views import UnreadableSource

    project = Project(tmp_path)
    toy_file(tmp_path / "sessions" / "a", project.root)
    path = toy_file(tmp_path / "sessions" / "b", project.root)

    class Torn(Toy):
        torn = False

        def open(self, source):
            if self.torn and source.path == path:
                raise UnreadableSource("half written")
            return io.BytesIO(source.path.read_bytes())

    toy = Torn()
    project.sync(sources=tmp_path / "sessions", adapters=(toy,))
    toy.torn = True

    report = project.sync(sources=tmp_path / "sessions", adapters=(toy,))

    assert report.failed == [(str(path), "half written")]
    assert not report.rewound


def test_toy_reads_with_the_contracts_options(tmp_path):
    reader = Toy().reader(SourceFile("toy", tmp_path / "t", "t", "s"), {}, Options(KEY))
    reader.feed(parse_line(1, 0, 3, b'{"toy": "a", "who": "you", "text": "x"}', lambda value: True))

    assert [taken.draft.ts_source for taken in reader.take()] == ["capture"]
