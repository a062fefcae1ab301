"""Claude Code's hooks in its settings: exactly our entries, everybody else's bytes as they were."""

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recall import hooks_install, launcher
from recall.announcement import announcement
from recall.contracts import EVENTS
from recall.hook_registry import registered
from recall.hooks_install import install, plan_install, plan_removal, plan_removals, remove
from transcript.errors import HookInstallError

NOW = datetime(2026, 3, 1, tzinfo=UTC)

FOREIGN = """{
   "permissions": { "allow": ["Bash(ls:*)"],   "deny": [] },
   "number": 1.50, "text": "caf\\u00e9 \u2028",
   "hooks": {
      "UserPromptSubmit": [
         { "hooks": [ { "type": "command", "command": "other-tool prompt", "timeout": 10 } ] }
      ],
      "PreToolUse": [ {"matcher": "Bash", "hooks": []} ]
   }
}"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "da ta"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def user_settings(text: str | None) -> Path:
    file = Path(os.environ["HOME"]) / ".claude" / "settings.json"
    if text is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(text.encode())
    return file


def enable(scope: str, root: Path, data: Path) -> hooks_install.Plan:
    (plan,) = plan_install("claude-code", scope, root, data, os.environ)
    install(plan, data, now=NOW)
    return plan


def disable(scope: str, root: Path, data: Path) -> None:
    (plan,) = plan_removal("claude-code", scope, root, data, os.environ)
    remove(plan, data)


def test_every_event_gains_exactly_our_entry_and_foreign_ones_stay(root, data):
    file = user_settings(FOREIGN)

    enable("user", root, data)

    after = json.loads(file.read_text())
    launched = f'"{data}/bin/recall-hook"'
    ours = {"type": "command", "command": f"[ -x {launched} ] && {launched} claude-code || exit 0", "timeout": 5}
    assert {event: after["hooks"][event][-1]["hooks"] for event in EVENTS} == {event: [ours] for event in EVENTS}
    assert after["hooks"]["UserPromptSubmit"][0] == json.loads(FOREIGN)["hooks"]["UserPromptSubmit"][0]
    assert {key: after[key] for key in ("permissions", "number", "text")} == {
        key: json.loads(FOREIGN)[key] for key in ("permissions", "number", "text")
    }


def test_every_foreign_line_stays_byte_for_byte(root, data):
    file = user_settings(FOREIGN)

    enable("user", root, data)

    lines = file.read_text().split("\n")
    assert [line for line in FOREIGN.split("\n") if line not in lines and line + "," not in lines] == []


def test_a_second_run_changes_nothing(root, data):
    file = user_settings(FOREIGN)
    enable("user", root, data)
    before = file.read_bytes()

    again = enable("user", root, data)

    assert not again.changes
    assert again.diff == ""
    assert file.read_bytes() == before
    assert len(registered(data)) == 1


@pytest.mark.parametrize("text", [FOREIGN, "{}", "{}\n", "", '{"hooks": {}}', '\ufeff{\r\n  "a": 1\r\n}\r\n'])
def test_removal_gives_the_original_bytes_back(text, root, data):
    file = user_settings(text)
    enable("user", root, data)
    assert file.read_bytes() != text.encode()

    disable("user", root, data)

    assert file.read_bytes() == text.encode()
    assert registered(data) == []
    assert list((data / "hooks-backup").iterdir()) == []


def test_removal_deletes_file_and_folder_that_we_made(root, data):
    enable("project", root, data)
    assert (root / ".claude" / "settings.local.json").exists()

    disable("project", root, data)

    assert not (root / ".claude").exists()


def test_removal_keeps_what_somebody_else_changed_meanwhile(root, data):
    file = user_settings(FOREIGN)
    enable("user", root, data)
    file.write_text(file.read_text().replace('"number": 1.50', '"number": 2.75'))

    disable("user", root, data)

    assert file.read_text() == FOREIGN.replace("1.50", "2.75")


def test_a_change_between_two_installations_survives_the_removal(root, data):
    file = user_settings(FOREIGN)
    enable("user", root, data)
    changed = json.loads(file.read_text())
    del changed["hooks"]["Stop"]
    changed["number"] = 3
    file.write_text(json.dumps(changed, indent=2))
    enable("user", root, data)

    disable("user", root, data)

    after = json.loads(file.read_text())
    assert after["number"] == 3
    assert after["hooks"] == json.loads(FOREIGN)["hooks"]


def test_our_command_is_cut_from_a_group_that_holds_another(root, data):
    file = user_settings("{}")
    enable("user", root, data)
    changed = json.loads(file.read_text())
    changed["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "theirs"})
    file.write_text(json.dumps(changed, indent=2))

    disable("user", root, data)

    assert json.loads(file.read_text())["hooks"] == {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}


@pytest.mark.parametrize("text", ['{"a": 1,}', "// comment\n{}", "[]", '{"hooks": []}', '{"hooks": {"Stop": [1]}}'])
def test_settings_that_cannot_be_edited_are_left_alone_with_one_sentence(text, root, data):
    file = user_settings(text)

    with pytest.raises(HookInstallError, match="nothing was changed"):
        enable("user", root, data)

    assert file.read_text() == text
    assert not data.exists()


def test_planning_writes_nothing(root, data):
    user_settings(FOREIGN)

    (plan,) = plan_install("claude-code", "user", root, data, os.environ)

    assert plan.changes
    assert "+" in plan.diff
    assert "one entry at each of UserPromptSubmit, SessionStart" in plan.summary
    assert "nothing else stands in it" not in plan.summary
    assert not data.exists()


def test_a_change_after_the_diff_was_shown_is_not_overwritten(root, data):
    file = user_settings(FOREIGN)
    (plan,) = plan_install("claude-code", "user", root, data, os.environ)
    file.write_text("{}")

    with pytest.raises(HookInstallError, match="changed meanwhile"):
        install(plan, data, now=NOW)

    assert file.read_text() == "{}"


def test_another_harness_is_refused_by_name(root, data):
    with pytest.raises(HookInstallError, match="'amp'; known: claude-code, codex"):
        plan_install("amp", "user", root, data, os.environ)


def test_a_program_in_the_user_site_is_refused_and_pipx_named(root, data, monkeypatch):
    monkeypatch.setattr("site.getusersitepackages", lambda: str(launcher.site_folder()))

    with pytest.raises(HookInstallError, match="pipx"):
        plan_install("claude-code", "user", root, data, os.environ)


def test_the_project_file_is_excluded_from_git_and_the_line_goes_with_it(root, data):
    info = root / ".git" / "info"
    info.mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (info / "exclude").write_text("# theirs\n*.log")

    enable("project", root, data)
    during = (info / "exclude").read_text()
    disable("project", root, data)

    assert during == "# theirs\n*.log\n/.claude/settings.local.json\n"
    assert (info / "exclude").read_text() == "# theirs\n*.log\n"


def test_a_worktree_is_excluded_in_the_list_all_worktrees_share(tmp_path, data):
    common, tree = tmp_path / "repo" / ".git", tmp_path / "tree"
    (common / "worktrees" / "tree").mkdir(parents=True)
    tree.mkdir()
    (common / "worktrees" / "tree" / "HEAD").write_text("x")
    (common / "worktrees" / "tree" / "commondir").write_text("../..\n")
    (common / "worktrees" / "tree" / "gitdir").write_text(f"{tree}/.git\n")
    (tree / ".git").write_text(f"gitdir: {common}/worktrees/tree\n")

    enable("project", tree, data)

    assert (common / "info" / "exclude").read_text() == "/.claude/settings.local.json\n"


def test_a_linked_settings_file_stays_a_link_and_its_mode_stays(tmp_path, root, data):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o644)
    file = user_settings(None)
    file.parent.mkdir(parents=True)
    file.symlink_to(real)

    enable("user", root, data)

    assert file.is_symlink()
    assert "recall-hook" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644


def test_claudes_own_folder_variable_is_followed(tmp_path, root, data, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "conf"))

    plan = enable("user", root, data)

    assert plan.file == tmp_path / "conf" / "settings.json"
    assert plan.file.exists()


def test_uninstalling_finds_every_file_that_was_written(tmp_path, root, data):
    user_settings(FOREIGN)
    other = tmp_path / "other"
    other.mkdir()
    for scope, folder in (("user", root), ("project", root), ("project", other)):
        enable(scope, folder, data)

    plans, stuck = plan_removals(data)
    for plan in plans:
        remove(plan, data)

    assert len(plans) == 3
    assert stuck == []
    assert registered(data) == []
    assert not (root / ".claude").exists()
    assert not (other / ".claude").exists()


def test_the_announcement_names_record_retention_reasoning_and_the_ways_out(root, data):
    text = announcement(["claude-code"], "project", root, data)

    for needed in (
        str(root),
        str(data),
        "until you delete it",
        "reasoning",
        "recall exclude",
        "RECALL_OFF=1",
        "nothing of its sessions is captured",
        "!norecall",
        "nothing is injected or indexed",
    ):
        assert needed in text
