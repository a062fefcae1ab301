"""Leaving: nothing of ours stays behind, everything of others does."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.hooks import SITE, event, payload, run_client, service_pids, stop_services, wait_for

from recall import hook_registry, hooks_install, launcher, uninstall
from recall.service import call
from transcript.kept_out import OPTED_OUT, keep_out
from transcript.workspace import init

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def set_up(root: Path, data: Path) -> None:
    init(root, data)
    for scope in ("user", "project"):
        for plan in hooks_install.plan_install("claude-code", scope, root, data, os.environ):
            hooks_install.install(plan, data, now=NOW)


def test_planning_touches_nothing_and_names_what_goes(root, data):
    set_up(root, data)
    before = everything(root.parent)

    lines = uninstall.plan(data, os.environ, purge=True).lines()

    assert everything(root.parent) == before
    text = "\n".join(lines)
    for needed in ("settings.json", "settings.local.json", "recall-hook", str(data), ".recall", "recall-id"):
        assert needed in text
    listed = root / ".git" / "info" / "exclude"
    for line in ("/.claude/settings.local.json", ".recall/", ".coord/"):
        assert f"git       {line} in {listed}" in lines
    assert "service" not in text


def test_a_plan_without_purge_leaves_the_projects_own_lines_out(root, data):
    set_up(root, data)

    lines = uninstall.plan(data, os.environ, purge=False).lines()

    assert [line.split()[1] for line in lines if line.startswith("git")] == ["/.claude/settings.local.json"]


def test_the_ignore_line_of_a_folder_that_stays_is_not_in_the_plan(root, data):
    set_up(root, data)
    (root / ".recall" / "notes.txt").write_text("theirs")

    lines = uninstall.plan(data, os.environ, purge=True).lines()

    assert [line.split()[1] for line in lines if line.startswith("git")] == ["/.claude/settings.local.json", ".coord/"]


def test_purge_leaves_nothing_of_ours_and_all_of_theirs(root, data):
    home = Path(os.environ["HOME"])
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"model": "theirs"}')
    (root / "README").write_text("theirs")
    before = everything(root), everything(home)
    set_up(root, data)
    keep_out(str(data), b"80b5532c", OPTED_OUT)

    uninstall.carry_out(uninstall.plan(data, os.environ, purge=True), data, os.environ, say=print)

    assert (everything(root), everything(home)) == before
    assert not data.exists()
    assert list(Path(os.environ["XDG_RUNTIME_DIR"]).iterdir()) == []


def test_without_purge_the_records_stay(root, data):
    set_up(root, data)

    uninstall.carry_out(uninstall.plan(data, os.environ, purge=False), data, os.environ, say=print)

    assert (data / "workspaces").is_dir()
    assert (root / ".recall" / "config.toml").exists()
    assert hook_registry.registered(data) == []
    assert not launcher.launcher_path(data).exists()


def test_something_of_somebody_else_in_our_folder_stays(root, data):
    set_up(root, data)
    (root / ".recall" / "notes.txt").write_text("theirs")

    uninstall.carry_out(uninstall.plan(data, os.environ, purge=True), data, os.environ, say=print)

    assert [path.name for path in (root / ".recall").iterdir()] == ["notes.txt"]


def test_a_data_folder_that_holds_other_things_keeps_them(root, data):
    """RECALL_HOME set to one's home must not cost one's home."""
    data.mkdir()
    (data / "thesis.txt").write_text("theirs")
    (data / "photos").mkdir()
    set_up(root, data)
    said = []

    uninstall.carry_out(uninstall.plan(data, os.environ, purge=True), data, os.environ, say=said.append)

    assert sorted(path.name for path in data.iterdir()) == ["photos", "thesis.txt"]
    assert "holds what recall did not write (photos, thesis.txt)" in said[0]


def test_keys_and_what_a_person_wrote_stay_and_are_named_as_ours(root, data):
    """A backup's signatures are checked with the keys; without them it could only be believed."""
    set_up(root, data)
    for name in ("keys/head.key", "identity/USER.md"):
        (data / name).parent.mkdir()
        (data / name).write_text("kept")
    leaving, said = uninstall.plan(data, os.environ, purge=True), []

    told = [line for line in leaving.lines() if line.startswith("stays")]
    uninstall.carry_out(leaving, data, os.environ, say=said.append)

    assert sorted(path.name for path in data.rglob("*")) == ["USER.md", "head.key", "identity", "keys"]
    assert [line.split()[1] for line in told] == [f"{data / 'identity'}:", f"{data / 'keys'}:"]
    assert said == []


def test_a_settings_file_that_cannot_be_edited_is_named_and_the_rest_goes(root, data):
    set_up(root, data)
    leaving = uninstall.plan(data, os.environ, purge=True)
    (root / ".claude" / "settings.local.json").write_text("{}")
    said = []

    uninstall.carry_out(leaving, data, os.environ, say=said.append)

    assert len(said) == 1
    assert "settings.local.json" in said[0]
    assert not data.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
def test_a_running_service_is_gone_before_its_folder(root, data, monkeypatch, request):
    request.addfinalizer(lambda: stop_services(data))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    set_up(root, data)
    run_client(data, event("SessionStart", root, source="startup"))
    wait_for(lambda: call(data, "status", site=SITE) is not None)
    leaving = uninstall.plan(data, os.environ, purge=True)
    assert f"service   process {service_pids(data)[0]} is stopped" in leaving.lines()

    uninstall.carry_out(leaving, data, os.environ, say=print)

    assert service_pids(data) == []
    assert not data.exists()


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_hook_of_a_removed_program_exits_0_in_silence(root, data, tmp_path):
    """A plain `pip uninstall` leaves the hook lines in place."""
    launcher.write(data)
    path = launcher.launcher_path(data)
    path.write_text(path.read_text().replace(str(SITE), str(tmp_path / "gone")))

    ran = run_client(data, payload("why"), command=[str(path), "claude-code"])

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_a_hook_line_whose_data_folder_is_gone_does_not_block_a_prompt(data):
    """Exit 127 of a missing program is harmless for Claude Code; 2 would erase the prompt."""
    done = subprocess.run(f'"{data}/bin/recall-hook" claude-code', shell=True, input=b"{}", capture_output=True)

    assert done.returncode == 127
    assert done.stdout == b""
