"""The commands, each run as a user runs it, over the demo's project and over small projects of their own."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support.claude import ClaudeSession
from support.command import runner
from support.embedder import StubEmbedder

from recall.cli import demo as demo_module
from recall.cli.app import App
from recall.cli.group import cli, run
from recall.cli.output import Progress, confirm
from recall.cli.sync import text as sync_text
from recall.settings import GateSettings
from transcript.capture import SyncReport
from transcript.event import TYPES
from transcript.skipped import SKIPPED

POINTER = re.compile(r"\b([a-z2-7]{10})#(\d+)-(\d+)")


@pytest.fixture
def recall(capsys):
    """Run one command line in this process and give back exit code and both streams."""

    return runner(capsys)


@pytest.fixture(autouse=True)
def _stub_model(monkeypatch):
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
    monkeypatch.setattr("indexer.embedder.check", lambda *args, **kwargs: StubEmbedder())


@pytest.fixture(scope="module")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder, written once with the stub embedder."""
    data = tmp_path_factory.mktemp("demo-data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
        patch.setattr("indexer.embedder.check", lambda *args, **kwargs: StubEmbedder())
        outcome = CliRunner().invoke(cli, ["demo"], obj=App({"RECALL_HOME": str(data)}, data, data))
    assert outcome.exit_code == 0, outcome.output
    return data


@pytest.fixture
def demo(demo_home, monkeypatch, tmp_path) -> Path:
    """A copy of the demo's folder as this test's data folder."""
    data = tmp_path / "data"
    shutil.copytree(demo_home, data)
    table = data / "demo" / "roots.json"
    table.write_text(table.read_text(encoding="utf-8").replace(str(demo_home), str(data)), encoding="utf-8")
    monkeypatch.setenv("RECALL_HOME", str(data))
    monkeypatch.chdir(tmp_path)
    return data


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A project with one Claude Code session of three exchanges, and nothing of recall yet."""
    folder = tmp_path / "shop"
    folder.mkdir()
    session = ClaudeSession(cwd=str(folder))
    for question, answer in (
        ("Which port does the wagtail service listen on?", "The wagtail service listens on port 8443."),
        ("Who rotates the heron key?", "The heron key is rotated by the nightly timer."),
        ("Why was the osprey cache dropped?", "The osprey cache was dropped because its key lacked the tenant."),
    ):
        session.user(question)
        session.assistant(answer)
    session.write(Path(os.environ["HOME"]) / ".claude")
    monkeypatch.chdir(folder)
    return folder


def filled(recall) -> None:
    for args in (["init"], ["sync"], ["index"]):
        assert recall(*args).code == 0


# -- demo -----------------------------------------------------------------------------------


def test_a_caller_that_closed_the_streams_gets_the_exit_code_all_the_same(tmp_path, monkeypatch):
    """What `recall status >&- 2>&- <&-` starts with; pytest's own streams come back by themselves."""
    monkeypatch.chdir(tmp_path)
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)

    assert run(["config"]) == 0
    assert run(["verify"]) == 1


def test_demo_prints_a_block_with_at_least_three_pointers_and_show_opens_each(demo, recall):
    last = recall("last", "--demo")
    block = last.out[last.out.index("[recall ") : last.out.index("[/recall ")]
    pointers = list(dict.fromkeys(match.group(0) for match in POINTER.finditer(block)))

    assert len(pointers) >= 3
    for pointer in pointers:
        shown = recall("show", pointer)
        assert shown.code == 0, shown.err
        assert shown.out.startswith(("  ", "> "))
        assert f"> {pointer[:10]}" in shown.out


def test_demo_without_the_model_goes_on_by_words_and_says_so(tmp_path, monkeypatch, recall):
    from transcript.errors import EmbedderUnavailable

    def missing(*args, **kwargs):
        raise EmbedderUnavailable("the model file is missing; place it with 'recall model add FILE'")

    monkeypatch.setattr("indexer.embedder.load", missing)
    monkeypatch.setattr("indexer.embedder.check", missing)
    monkeypatch.chdir(tmp_path)

    result = recall("demo")

    assert result.code == 0
    assert "words only: the model file is missing" in result.err
    assert len({match.group(1) for match in POINTER.finditer(result.out)}) >= 3


def test_demo_is_written_anew_and_removed_on_request(demo, recall):
    stray = demo / "demo" / "stray"
    stray.touch()

    assert recall("demo", "--dry-run").code == 0
    assert stray.exists()
    assert recall("demo").code == 0
    assert not stray.exists()
    assert recall("demo", "--remove").code == 0
    assert not (demo / "demo").exists()


def test_demo_leaves_the_users_own_projects_alone(project, recall):
    filled(recall)
    before = recall("verify", "--json").out

    recall("demo")

    assert recall("verify", "--json").out == before
    assert recall("query", "heron key", "-n", "1").out.count("heron") > 0


def test_demo_pointers_are_the_same_on_every_machine(demo, recall):
    """Ids come from the shipped records alone: README can name one."""
    assert recall("show", "khe4pa6ysa").out.startswith("  ")


def test_demo_inside_a_repository_does_not_mark_the_repository(tmp_path, monkeypatch, recall):
    """The data folder may lie in a home folder that is itself under version control."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))

    assert recall("demo").code == 0
    assert not (tmp_path / ".recall").exists()
    assert not (tmp_path / ".git" / "recall-id").exists()


# -- the way of a new user --------------------------------------------------------------------


def test_init_says_where_the_record_lies_and_a_second_run_changes_nothing(project, recall):
    first, second = recall("init"), recall("init")

    assert first.code == second.code == 0
    assert first.out.splitlines()[:3] == second.out.splitlines()[:3]
    assert "nothing changed" not in first.out
    assert second.out.splitlines()[-1] == "nothing changed: the project had all of it already"
    assert [recall("init", "--json").rows()[0][key] for key in ("changed", "exclude")] == [False, None]
    assert str(Path(os.environ["RECALL_HOME"]) / "workspaces") in first.out


def test_init_names_the_exclude_file_that_it_edits(project, recall):
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    listed = project / ".git" / "info" / "exclude"

    first = recall("init", "--json").rows()[0]
    second = recall("init")
    listed.write_text("", encoding="utf-8")
    mended = recall("init")

    assert (first["changed"], first["exclude"]) == (True, str(listed))
    assert f"ignored    .recall/ and .coord/ in the project, by lines in {listed}" in second.out
    assert "nothing changed" in second.out
    assert "nothing changed" not in mended.out
    assert listed.read_text(encoding="utf-8") == ".recall/\n.coord/\n"


def test_init_dry_run_writes_nothing(project, recall):
    assert "no workspace yet" in recall("init", "--dry-run").out
    assert not (project / ".recall").exists()


@pytest.mark.parametrize("args", [["sync"], ["index"], ["query", "x"], ["verify"], ["context"], ["last"], ["health"]])
def test_without_a_workspace_a_command_says_what_to_do(tmp_path, monkeypatch, recall, args):
    monkeypatch.chdir(tmp_path)

    result = recall(*args)

    assert result.code == (2 if args == ["health"] else 1)  # for cron: what cannot be looked at is broken
    assert result.out == ""
    assert re.fullmatch(r"recall: no workspace for .*; run 'recall init' first\n", result.err)


def test_query_before_index_names_the_command(project, recall):
    recall("init")

    result = recall("query", "heron")

    assert result.code == 1
    assert "run 'recall index' first" in result.err


def test_a_session_is_taken_in_indexed_found_and_opened(project, recall):
    filled(recall)

    found = recall("query", "who rotates the heron key", "-n", "2", "--json").rows()
    shown = recall("show", found[0]["pointer"], "--json").rows()[0]

    assert any("nightly timer" in row["text"] for row in found)
    assert shown["words"] == found[0]["text"]


def test_a_second_sync_and_index_add_nothing(project, recall):
    filled(recall)

    again = recall("sync", "--json").rows()[0]
    index = recall("index", "--json").rows()[0]

    assert (again["added"], again["sightings"], again["marks"]) == (0, 0, 0)
    assert (index["words"]["chunks"], index["words"]["pointers"], index["vectors"]["embedded"]) == (0, 0, 0)


def test_sync_dry_run_names_the_files_and_reads_none(project, recall):
    recall("init")

    planned = recall("sync", "--dry-run", "--json").rows()[0]

    assert len(planned["files"]) == 1
    assert recall("verify", "--json").rows()[0]["counts"].get("events", 0) == 0


def test_sync_counts_sessions_of_other_projects(project, tmp_path, recall):
    other = tmp_path / "other"
    other.mkdir()
    session = ClaudeSession(cwd=str(other), seed="other")
    session.user("not ours")
    session.write(Path(os.environ["HOME"]) / ".claude")
    recall("init")

    result = recall("sync")

    assert "passed over: 1 of other projects" in result.out
    assert recall("query", "not ours").code == 1


def test_sync_says_in_words_why_files_were_passed_over(project, recall):
    folder = Path(os.environ["HOME"]) / ".claude" / "projects" / "other"
    folder.mkdir()
    (folder / "empty.jsonl").touch()
    (folder / "notes.jsonl").write_text('{"title": "a list of mine"}\n', encoding="utf-8")
    (folder / "link.jsonl").symlink_to(folder / "notes.jsonl")
    recall("init")

    told = recall("sync").out

    assert "passed over: 1 with nothing in them yet" in told
    assert "passed over: 1 in another format than the harness's" in told
    assert "passed over: 1 behind a symbolic link, which is not followed" in told


def test_sync_names_the_folders_that_are_gone_for_adopt_to_take(project, recall):
    """The fullest first: without the name nobody can tell 'recall adopt' what it is to link."""
    for n, cwd in enumerate(("/gone/one", "/gone/most", "/gone/most", "/gone/two", "/gone/zero")):
        session = ClaudeSession(cwd=cwd, seed=f"gone-{n}")
        session.user("said there")
        session.write(Path(os.environ["HOME"]) / ".claude")
    recall("init")

    planned, told = recall("sync", "--dry-run").out, recall("sync").out

    wanted = [
        "  passed over: 5 of folders that are gone ('recall adopt' links a moved project)",
        "    2 of /gone/most",
        "    1 of /gone/one",
        "    1 of /gone/two",
        "    and of 1 other folder; --json names them",
    ]
    for lines in (planned.splitlines(), told.splitlines()):
        at = lines.index(wanted[0])
        assert lines[at : at + len(wanted)] == wanted
    assert recall("sync", "--json").rows()[0]["gone"] == {
        "/gone/most": 2,
        "/gone/one": 1,
        "/gone/two": 1,
        "/gone/zero": 1,
    }


def test_every_reason_to_pass_a_file_over_has_words():
    """Those of the capture, of the plan and of the workspace table, as they stand in their sources."""
    root = Path(__file__).resolve().parents[2]
    text = "".join(
        (root / "transcript" / name).read_text(encoding="utf-8")
        for name in ("capture.py", "capture_plan.py", "readapt.py", "workspace.py", "adapters/claude_code.py")
    )
    reasons = set(re.findall(r'(?:skipped|refused)\["(\w+)"\]|return None, "(\w+)"|\(None, "(\w+)"\)', text))

    assert len(reasons) >= 6
    assert {"".join(found) for found in reasons} <= SKIPPED.keys() | {"known"}


def test_readapt_adds_nothing_with_the_same_adapter(project, recall):
    filled(recall)

    assert recall("sync", "--readapt").out.startswith("0 new events from 1 of 1 file")


def test_all_roots_needs_a_folder(project, recall):
    recall("init")

    result = recall("sync", "--all-roots")

    assert result.code == 2
    assert "--from" in result.err


def test_index_words_only_leaves_vectors_for_later(project, recall):
    recall("init")
    recall("sync")

    recall("index", "--words-only")
    before = recall("index", "status", "--json").rows()[0]
    recall("index", "--limit", "2")
    after = recall("index", "status", "--json").rows()[0]

    assert (before["chunks"], before["vectors"], before["vectors_wanted"]) == (6, 0, 6)
    assert after["vectors"] == 2


def test_index_dry_run_changes_nothing(project, recall):
    filled(recall)
    path = next(Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite"))
    before = path.read_bytes()

    assert recall("index", "--dry-run").code == 0
    assert path.read_bytes() == before


def test_index_dry_run_counts_what_waits_before_there_is_an_index(project, recall):
    recall("init")
    recall("sync")

    result = recall("index", "--dry-run")

    assert result.code == 0
    assert re.fullmatch(r"no index yet; \d+ events wait\n", result.out)
    assert list(Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite")) == []


def test_interrupted_index_says_that_nothing_is_lost_and_the_next_run_goes_on(project, recall, monkeypatch):
    def interrupt() -> None:
        raise KeyboardInterrupt

    recall("init")
    recall("sync")
    monkeypatch.setattr("indexer.embedder.load", lambda *a, **k: StubEmbedder(failures={"osprey cache was": interrupt}))
    stopped = recall("index")
    monkeypatch.setattr("indexer.embedder.load", lambda *a, **k: StubEmbedder())
    again = recall("index", "--json").rows()[0]

    assert stopped.code == 130
    assert "interrupted; nothing is lost" in stopped.err
    assert (again["words"]["chunks"], again["vectors"]["set_aside"], again["vectors"]["remaining"]) == (0, 0, 0)


# -- looking things up ------------------------------------------------------------------------


def test_query_says_of_each_result_whether_a_turn_shows_it(demo, recall):
    rows = recall("query", "--demo", demo_module.PROMPT, "--json", "-n", "50").rows()

    assert {"shown"} < {row["verdict"] for row in rows}
    assert [row["verdict"] for row in rows[:3]] == ["shown"] * 3


def test_query_explains_every_candidate(demo, recall):
    text = recall("query", "--demo", demo_module.PROMPT, "--explain").out

    assert re.search(r"R 0\.\d+ = 0\.50\*S\(", text)
    assert "left out:" in text


def test_query_as_of_finds_only_what_had_been_said(demo, recall):
    rows = recall("query", "--demo", demo_module.PROMPT, "--as-of", "2026-03-01", "-n", "50", "--json").rows()

    assert rows
    assert all(row["ts"] < 1772323200 for row in rows)


def test_query_of_another_root_finds_nothing(demo, recall):
    result = recall("query", "--demo", demo_module.PROMPT, "--root", "/somewhere/else")

    assert (result.code, result.out) == (0, "")
    assert "nothing found" in result.err


def test_a_time_that_is_none_is_one_line(demo, recall):
    result = recall("query", "--demo", "x", "--as-of", "soon")

    assert result.code == 1
    assert "'soon' is no time" in result.err


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_query_is_wrong_usage(demo, recall, text):
    result = recall("query", "--demo", text)

    assert result.code == 2
    assert "the query is empty" in result.err


def test_times_for_people_are_marked_as_utc_and_json_keeps_iso(demo, recall):
    moments = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}\S*")
    for args in (["last"], ["last", "-n", "3"], ["context"], ["query", "tide"]):
        told = moments.findall(recall(*args, "--demo").out)
        assert told
        assert all(re.fullmatch(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}Z", text) for text in told), args
    assert moments.findall(recall("show", "khe4pa6ysa").out)[0].endswith("Z")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T[0-9:.]+Z", recall("context", "--demo", "--json").rows()[0]["ts"])


def test_query_survives_full_text_syntax_and_lone_surrogates(demo, recall):
    for prompt in ('a AND (b OR "c', "NEAR(x, 5) *", "\ud800 tide"):
        assert recall("query", "--demo", prompt, "-n", "1").code == 0


def test_show_prints_the_exact_words_and_neighbours(project, recall):
    filled(recall)
    pointer = recall("query", "osprey cache tenant", "-n", "1", "--json").rows()[0]["pointer"]

    plain = recall("show", pointer, "-n", "0")
    around = recall("show", pointer, "-n", "3", "--json").rows()[0]

    assert plain.out.splitlines()[1].startswith(("The osprey cache", "Why was the osprey"))
    assert len(around["before"]) == 3


def test_show_of_nothing_is_one_line(project, recall):
    filled(recall)

    for pointer in ("zzzzzzzzzz", "#", "zzzzzzzzzz#5-1"):
        result = recall("show", pointer)
        assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)


def test_show_says_when_this_folder_has_no_record_to_look_in(demo, project, recall):
    elsewhere = recall("show", "zzzzzzzzzz")
    recall("init")
    here = recall("show", "zzzzzzzzzz")

    assert elsewhere.code == here.code == 1
    assert f"({project} has no workspace, so only the user's and the demo's records were searched)" in elsewhere.err
    assert "no workspace" not in here.err


def test_last_shows_the_block_its_terms_and_what_was_left_out(demo, recall):
    page = recall("last", "--demo").out

    assert "[recall " in page
    assert re.search(r"1\. \S+#\d+-\d+  shown\n +R 0\.\d+ = 0\.\d+\*S\(0\.\d+\) \+ ", page)
    assert "left out (" in page


def test_last_counts_only_hooks_unless_asked(project, recall):
    filled(recall)
    recall("query", "heron key")

    assert recall("last").code == 1
    assert "heron key" in recall("last", "--all", "-n", "5").out


def test_a_recorded_turn_gives_the_same_block_again(demo, recall):
    result = recall("replay-turn", "--demo")

    assert result.code == 0
    assert result.err == "the same block as then\n"


def test_a_replay_over_a_grown_record_says_so_in_numbers_of_events(project, recall):
    filled(recall)
    recall("query", "heron key")
    recall("query", "osprey cache")
    recall("index")

    result = recall("replay-turn")

    assert re.search(r"not as it was then: the record has grown: event \d+ then, \d+ now\n", result.err)
    assert "{" not in result.err


def test_a_replay_of_a_turn_without_a_block_says_that_nothing_was_injected(project, recall):
    filled(recall)
    recall("query", "zebra unicorn quagga")

    result = recall("replay-turn")

    assert result.code == 0
    assert result.out == "nothing is injected: the best match is too weak for any item to be shown\n"
    assert result.err == "as then: nothing was injected\n"


def test_explain_runs_a_turn_again(demo, recall):
    name = json.loads(recall("last", "--demo", "--json").out)["id"][:12]

    assert recall("explain", name, "--demo").out.startswith("words: ")
    assert recall("explain", "nosuchturn", "--demo").code == 1


def test_context_walks_the_record_page_by_page_without_gap_or_repeat(demo, recall):
    """ESAA-16."""
    whole = [row["id"] for row in recall("context", "--demo", "--all", "--json").rows()[:-1]]
    walked: list[str] = []
    cursor: list[str] = []
    while True:
        *turns, end = recall("context", "--demo", "--last", "7", "--json", *cursor).rows()
        walked = [turn["id"] for turn in turns] + walked
        if end["cursor"] is None:
            break
        cursor = ["--cursor", end["cursor"]]

    assert len(whole) == 35
    assert walked == whole


def test_context_without_flags_is_capped(demo, recall):
    """ESAA-20."""
    *turns, end = recall("context", "--demo", "--json").rows()

    assert len(turns) == 20
    assert sum(turn["tokens"] for turn in turns) <= 8000
    assert end["cursor"]


def test_context_around_a_pointer_marks_it(demo, recall):
    rows = recall("context", "--demo", "--around", "khe4pa6ysa", "--radius", "1", "--json").rows()[:-1]

    assert [row["target"] for row in rows] == [False, True]


def test_verify_is_clean_and_finds_a_changed_byte(project, recall):
    filled(recall)
    activity = next(Path(os.environ["RECALL_HOME"]).glob("workspaces/*/log/activity.jsonl"))
    assert recall("verify").out.startswith("ok: ")

    text = activity.read_bytes()
    activity.write_bytes(text.replace(b"port 8443", b"port 8444", 1))
    result = recall("verify", "--json")

    assert result.code == 1
    assert [problem["code"] for problem in result.rows()[0]["problems"]] == ["commit_mismatch"]


def test_verify_counts_types_that_the_record_knows(demo, recall):
    report = recall("verify", "--demo", "--json").rows()[0]

    assert report["ok"]
    assert set(report["types"]) <= TYPES


# -- health, settings, ways out -----------------------------------------------------------------


def test_health_of_an_empty_workspace_is_not_ok(project, recall):
    recall("init")

    assert recall("health").code in (1, 2)


def test_health_shows_duplicates_and_failed_embeddings_first(demo, recall):
    """CARD-11: both figures on the first screen, for people and as JSON."""
    text = recall("health", "--demo").out
    signals = {s["id"] for s in recall("health", "--demo", "--json").rows()[0]["signals"]}

    assert {"duplicate_ratio", "embeddings_failed"} <= {
        line.split()[1] for line in text.splitlines() if len(line.split()) > 1
    }
    assert {"duplicate_ratio", "embeddings_failed"} <= signals


def test_config_names_the_origin_of_each_setting(project, recall, monkeypatch):
    recall("init")
    with (project / ".recall" / "config.toml").open("a", encoding="utf-8") as file:
        file.write("\n[budget]\nitems = 4\n")
    monkeypatch.setenv("RECALL_GATE_THRESHOLD", "0.4")

    rows = {row["key"]: row for row in recall("config", "--json").rows()}

    assert (rows["gate.threshold"]["value"], rows["gate.threshold"]["origin"]) == (0.4, "variable")
    assert (rows["budget.items"]["value"], rows["budget.items"]["origin"]) == (4, "project file")
    assert rows["budget.chars"]["origin"] == "default"


def test_config_names_both_files_and_explains_one_setting(project, recall):
    recall("init")

    every, one = recall("config").out, recall("config", "gate.threshold").out

    assert f"project file  {project / '.recall' / 'config.toml'}\n" in every
    assert f"user file     {Path(os.environ['RECALL_HOME']) / 'config.toml'} (not there yet)\n" in every
    assert f"data folder   {os.environ['RECALL_HOME']}\n" in every
    assert one.split()[:2] == ["gate.threshold", str(GateSettings().threshold)]
    assert "a turn" in recall("config", "gate.evidence").out
    assert "  0 or more; variable RECALL_GATE_THRESHOLD\n" in one
    assert "fits it to this project" in recall("config", "gate.threshold", "--json").rows()[0]["meaning"]


def test_config_of_an_unknown_name_is_one_line(project, recall):
    result = recall("config", "gate.treshold")

    assert result.code == 1
    assert "gate.threshold" in result.err


def test_an_excluded_project_is_not_taken_in(project, recall):
    recall("init")
    assert recall("exclude", str(project)).code == 0

    result = recall("sync", "--json").rows()[0]

    assert (result["added"], result["skipped"]) == (0, {"excluded": 1})
    assert recall("exclude", "--json").rows()[0]["excluded"] == [os.path.realpath(project)]
    recall("exclude", str(project), "--remove")
    assert recall("sync", "--json").rows()[0]["added"] > 0


def test_adopt_links_a_moved_project(project, tmp_path, recall, monkeypatch):
    filled(recall)
    moved = tmp_path / "moved"
    shutil.rmtree(project / ".recall")
    monkeypatch.chdir(tmp_path)
    project.rename(moved)
    monkeypatch.chdir(moved)
    assert recall("query", "heron").code == 1

    assert recall("adopt", str(project), "--dry-run").code == 0
    assert recall("query", "heron").code == 1
    assert recall("adopt", str(project)).code == 0

    assert "nightly timer" in recall("query", "who rotates the heron key").out
    assert recall("verify").code == 0


def test_enable_hooks_says_what_and_where_before_it_changes_anything(project, recall):
    settings = project / ".claude" / "settings.local.json"

    dry = recall("enable-hooks", "claude-code", "--dry-run")

    assert dry.code == 0
    assert "+++ " in dry.out
    assert not settings.exists()
    for words in ("captured", "injected", "RECALL_OFF=1", "!norecall", "recall-hook", "UserPromptSubmit"):
        assert words in dry.out
    assert recall("enable-hooks", "claude-code").code == 0
    assert "recall-hook" in settings.read_text(encoding="utf-8")
    assert recall("enable-hooks", "claude-code", "--remove").code == 0
    assert not settings.exists()


def test_enable_hooks_shows_the_entry_once_and_the_diff_only_in_a_dry_run(project, recall):
    added = recall("enable-hooks", "claude-code").out
    dry = recall("enable-hooks", "claude-code", "--remove", "--dry-run").out
    removed = recall("enable-hooks", "claude-code", "--remove").out

    for text in (added, removed):
        assert text.count('"command": ') == 1
        assert "SubagentStop, PreCompact" in text
        assert "+++ " not in text
        assert text.count("\n") < 20
    assert dry.count('"command": ') == 7
    assert dry.startswith(removed)


def test_enable_hooks_for_the_user_asks_first(project, recall, monkeypatch):
    settings = Path(os.environ["HOME"]) / ".claude" / "settings.json"

    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert recall("enable-hooks", "claude-code", "--user").code == 1
    assert not settings.exists()
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert recall("enable-hooks", "claude-code", "--user").code == 0
    assert settings.exists()


@pytest.mark.parametrize("stdin", [None, io.StringIO("")], ids=["closed", "empty"])
@pytest.mark.parametrize("args", [["enable-hooks", "claude-code", "--user"], ["uninstall", "--purge"]])
def test_a_question_that_nobody_can_answer_is_one_line(project, recall, monkeypatch, args, stdin):
    recall("init")
    monkeypatch.setattr("sys.stdin", stdin)

    result = recall(*args)

    assert (result.code, result.err) == (1, "recall: nobody to ask; use --yes\n")
    assert recall("verify").code == 0


def test_ctrl_d_at_a_terminal_ends_the_line_of_the_question(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def end_of_file(question: str, err: bool) -> bool:
        raise click.Abort

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("click.confirm", end_of_file)

    with pytest.raises(click.Abort):
        confirm("Go on?")

    assert capsys.readouterr().err == "\n"


def test_model_add_refuses_a_file_that_is_not_the_model(tmp_path, recall):
    file = tmp_path / "model.onnx"
    file.write_bytes(b"something else")

    result = recall("model", "add", str(file))

    assert result.code == 1
    assert "SHA-256" in result.err


# -- building, leaving, measuring ---------------------------------------------------------------


def test_rebuild_gives_the_same_rows_and_takes_vectors_over(project, recall):
    filled(recall)
    before = recall("query", "heron key", "--json").rows()

    report = recall("index", "rebuild", "--json").rows()[0]

    assert (report["generation"], report["serves"], report["chunks"]) == (2, True, 6)
    assert (report["vectors_reused"], report["vectors_made"]) == (6, 0)
    assert recall("query", "heron key", "--json").rows() == before


def test_rebuild_mends_a_damaged_index(project, recall):
    filled(recall)
    path = next(Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite"))
    path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    broken = recall("query", "heron")

    assert broken.code == 1
    assert "run 'recall index rebuild'" in broken.err
    assert recall("index", "rebuild").code == 0
    assert "nightly timer" in recall("query", "who rotates the heron key").out


def test_rebuild_dry_run_says_what_differs(project, recall, monkeypatch):
    filled(recall)
    monkeypatch.setenv("RECALL_INDEX_CHUNK_CHARS", "200")

    result = recall("index", "rebuild", "--dry-run")

    assert "chunk settings" in result.out
    assert recall("index", "status", "--json").rows()[0]["generation"] == 1


def test_compact_of_a_clean_index_takes_nothing_out(project, recall):
    filled(recall)

    planned = recall("index", "compact", "--dry-run", "--json").rows()[0]
    done = recall("index", "compact", "--json").rows()[0]

    assert planned == {"rows": 6, "copies": 0, "orphan_vectors": 0, "orphan_pointers": 0}
    assert (done["rows"], done["copies"]) == (6, 0)


def test_backfill_brings_nothing_twice(project, recall):
    filled(recall)

    first = recall("index", "backfill", "--since", "2026-01-01", "--json").rows()[0]

    assert (first["scanned"], first["inserted"], first["deduped"], first["failed"]) == (6, 0, 6, 0)
    assert "6 events" in recall("index", "backfill", "--since", "2026-01-01", "--dry-run").out


def test_uninstall_takes_hooks_out_and_keeps_the_record_unless_purged(project, recall):
    filled(recall)
    recall("enable-hooks", "claude-code")
    data = Path(os.environ["RECALL_HOME"])

    dry = recall("uninstall", "--dry-run")
    assert dry.out.startswith("hooks ")
    assert dry.err == "dry run: nothing was removed\n"
    assert (project / ".claude" / "settings.local.json").exists()
    assert recall("uninstall").code == 0
    assert not (project / ".claude" / "settings.local.json").exists()
    assert recall("query", "heron").code == 0
    assert recall("uninstall", "--purge", "--yes").code == 0
    assert not data.exists()
    assert not (project / ".recall").exists()


def test_purge_asks_first(project, recall, monkeypatch):
    filled(recall)
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))

    result = recall("uninstall", "--purge")

    assert result.code == 1
    assert result.err.endswith("not confirmed; nothing was changed\n")
    assert recall("verify").code == 0


def test_a_newer_index_and_a_newer_record_are_one_sentence(project, recall):
    filled(recall)
    home = next(Path(os.environ["RECALL_HOME"]).glob("workspaces/*/log")).parent
    change = "UPDATE meta SET value = '999' WHERE key = 'schema'"
    code = f"import apsw, sys; apsw.Connection(sys.argv[1]).execute({change!r})"
    subprocess.run([sys.executable, "-c", code, str(home / "index.sqlite")], check=True)
    newer_index = recall("query", "heron")
    activity = home / "log" / "activity.jsonl"
    activity.write_bytes(activity.read_bytes().replace(b'"v":1}', b'"v":2}'))
    newer_record = recall("context")

    assert (newer_index.code, newer_record.code) == (1, 1)
    assert "upgrade recall" in newer_record.err
    assert newer_index.err.count("\n") == newer_record.err.count("\n") == 1


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (["a"], "1 file is gone; the record keeps what it held"),
        (["a", "b"], "2 files are gone; the record keeps what they"),
    ],
    ids=["one", "several"],
)
def test_sync_says_that_nothing_is_lost_with_a_deleted_file(missing, said):
    assert f"  {said}" in sync_text(SyncReport(missing=missing))


def test_sync_calls_no_line_damaged_whose_records_were_all_taken_in():
    told = sync_text(SyncReport(damaged=[("a", 3, 70, "more than one record"), ("a", 5, 90, "unreadable JSON")]))

    assert "  damaged: a line 5 (byte 90): unreadable JSON\n" in told
    assert "  1 line held more than one record; every one was taken in" in told
    assert told.count("damaged") == 1


def test_progress_is_a_line_now_and_then_where_no_terminal_is_at_hand():
    stream = io.StringIO()
    times = iter([0.0, 1.0, 6.0, 7.0])

    with Progress("words", stream=stream, clock=lambda: next(times)) as bar:
        bar(1, 10, "events")
        bar(5, 10, "events")
        bar(10, 10, "events")

    assert stream.getvalue() == "words 5/10 events (50%)\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_of_80_columns_has_room_for_the_time_that_is_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()

    with Progress("vectors", stream=stream) as bar:
        bar(0, 0, "[find]")
        bar._bar.refresh()
        bar(1248, 2000, "6 a second, 1 min 58 s left; newest session first")
        bar._bar.refresh()

    assert "[find]" in stream.getvalue()
    assert "1,248/2,000 6 a second, 1 min 58 s left" in stream.getvalue()
    assert "?" not in re.sub(r"\x1b\[\?\d+", "", stream.getvalue())


def test_ctrl_c_ends_a_watch_with_130_and_one_line(project, recall):
    recall("init")
    process = subprocess.Popen(
        [sys.executable, "-m", "recall.cli.main", "sync", "--watch"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A shell that starts the tests in its background has them ignore Ctrl-C, and what they start inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stdout is not None
    assert process.stderr.readline().startswith(b"watching")
    assert b"6 new events" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=180)

    assert process.returncode == 130
    assert err.strip() == b"interrupted; nothing is lost"
    assert recall("verify").code == 0


@pytest.mark.slow
def test_eval_index_times_every_step(demo, recall):
    report = recall("eval", "index", "--from", str(demo / "demo" / "claude"), "--words-only", "--json").rows()[0]

    assert [step["name"] for step in report["steps"]][:3] == ["first sync", "sync, nothing new", "words"]
    assert report["chunks"] > 50
