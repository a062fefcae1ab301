"""`recall enable-hooks` as a user runs it, for several harnesses at once."""

import io
import json
import os
from pathlib import Path

import pytest
from support.command import runner

from recall.cli.enable_hooks import NAMES
from recall.hook_places import PLACES
from recall.hook_registry import registered


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def recall(capsys, project):
    return runner(capsys)


def home() -> Path:
    return Path(os.environ["HOME"])


def data() -> Path:
    return Path(os.environ["RECALL_HOME"])


def test_several_are_announced_together_and_installed_each_in_its_file(recall, project):
    ran = recall("enable-hooks", "codex", "gemini-cli", "pi")

    assert ran.code == 0
    assert ran.out.startswith(f"Hooks of Codex, Gemini CLI and pi for the project {project}:\n")
    assert "results of their sessions" in ran.out
    for file in (".codex/hooks.json", ".gemini/settings.json", ".pi/extensions/recall.js"):
        assert (project / file).exists()
        assert f"hooks are in {project / file}" in ran.err
    assert "Codex: let codex trust this project, then start codex and review the hooks" in ran.err
    assert "the next prompt is answered" not in ran.err  # each has something left to do


def test_a_second_run_changes_nothing_and_says_so(recall, project):
    recall("enable-hooks", "codex", "pi")

    again = recall("enable-hooks", "codex", "pi")

    assert again.code == 0
    assert f"{project / '.codex/hooks.json'}: nothing to change" in again.out
    assert "+++" not in again.out


def test_short_names_are_understood_and_a_name_given_twice_counts_once(recall, project):
    ran = recall("enable-hooks", "claude", "claude-code", "grok", "--dry-run")

    assert ran.code == 0
    assert ran.out.startswith("Hooks of Claude Code and Grok Build")
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("args", [[], ["codex", "--all"], ["amp"], ["all"], ["codex", "--user", "--project"]])
def test_no_harness_an_unknown_one_or_both_of_two_ways_is_wrong_usage(args, recall, project):
    assert recall("enable-hooks", *args).code == 2
    assert list(project.iterdir()) == []


def test_all_takes_those_of_this_machine_and_names_the_missing(recall, project, monkeypatch):
    monkeypatch.setenv("PATH", "")
    (home() / ".codex").mkdir()
    (home() / ".pi" / "agent").mkdir(parents=True)
    (home() / ".aider").mkdir()

    ran = recall("enable-hooks", "--all")

    assert ran.code == 0
    assert "found      Codex, pi and Aider" in ran.err
    missing = next(line for line in ran.err.splitlines() if line.startswith("not found"))
    assert "Claude Code" in missing
    assert "Codex" not in missing
    assert {entry.harness for entry in registered(data())} == {"codex", "pi"}


def test_all_on_a_machine_without_any_installs_nothing(recall, project, monkeypatch):
    monkeypatch.setenv("PATH", "")

    ran = recall("enable-hooks", "--all")

    assert ran.code == 0
    assert "found      no harness" in ran.err
    assert list(project.iterdir()) == []
    assert not data().exists() or registered(data()) == []


def test_removing_all_takes_out_what_this_scope_has_and_leaves_the_other(recall, project):
    recall("enable-hooks", "codex", "grok-build", "opencode")
    recall("enable-hooks", "codex", "--user", "--yes")

    ran = recall("enable-hooks", "--all", "--remove")

    assert ran.code == 0
    assert list(project.iterdir()) == []
    assert [(entry.harness, entry.scope) for entry in registered(data())] == [("codex", "user")]
    assert f"{home() / '.codex' / 'hooks.json'} holds ours too, for every project; --user takes it out\n" in ran.err

    recall("enable-hooks", "pi")
    other = recall("enable-hooks", "--all", "--user", "--remove").err
    assert f"{project / '.pi' / 'extensions' / 'recall.js'} holds ours too, for this project" in other


@pytest.mark.parametrize("harness", ["letta-code", "aider"])
def test_a_harness_without_hooks_is_a_plain_statement(harness, recall, project):
    ran = recall("enable-hooks", harness)

    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"{PLACES[harness].title}: {PLACES[harness].says}\n"
    assert list(project.iterdir()) == []


def test_one_that_cannot_be_edited_is_named_and_the_others_go_on(recall, project):
    (project / ".codex").mkdir()
    (project / ".codex" / "hooks.json").write_text("{,}")

    ran = recall("enable-hooks", "codex", "pi")

    assert ran.code == 1
    assert f"recall: {project / '.codex/hooks.json'} is not valid JSON" in ran.err
    assert "nothing was changed" in ran.err
    assert (project / ".pi" / "extensions" / "recall.js").exists()
    assert (project / ".codex" / "hooks.json").read_text() == "{,}"


def test_the_users_files_are_asked_about_once_with_their_names(recall, project, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))

    ran = recall("enable-hooks", "codex", "pi", "--user")

    assert ran.code == 1
    assert f"{home() / '.codex/hooks.json'}, {home() / '.pi/agent/extensions/recall.js'}" in ran.err
    assert not (home() / ".codex").exists()


def test_json_is_one_object_a_file(recall, project):
    ran = recall("enable-hooks", "grok-build", "--json")

    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [(row["kind"], row["action"], row["file"]) for row in rows] == [
        ("hooks", "added", str(project / ".grok" / "hooks" / "recall.json")),
        ("rules", "added", str(project / ".grok" / "rules" / "recall.md")),
    ]
    assert any("takes no text from a hook" in line for line in rows[0]["left_to_do"])
    assert rows[0]["parts"] == ["SessionStart", "Stop", "SessionEnd", "SubagentStop", "PreCompact"]
    again = recall("enable-hooks", "grok-build", "--json")
    assert [json.loads(line)["action"] for line in again.out.splitlines()] == ["unchanged", "unchanged"]
    gone = recall("enable-hooks", "grok-build", "--json", "--remove")
    assert [json.loads(line)["action"] for line in gone.out.splitlines()] == ["removed", "removed"]
    assert list(project.iterdir()) == []


def test_a_dry_run_in_json_changes_nothing(recall, project):
    ran = recall("enable-hooks", *NAMES, "--json", "--dry-run")

    assert ran.code == 0
    assert {json.loads(line)["harness"] for line in ran.out.splitlines()} == {n for n in NAMES if PLACES[n].form}
    assert list(project.iterdir()) == []


def test_hooks_of_several_harnesses_each_have_their_signals(recall, project):
    recall("init")
    recall("enable-hooks", "codex", "pi")

    ids = {row["id"] for row in json.loads(recall("health", "--json").out)["signals"]}

    hooks = {name for name in ids if name.startswith("hook_last_fired.")}
    assert hooks == {"hook_last_fired.codex", "hook_last_fired.pi"}
