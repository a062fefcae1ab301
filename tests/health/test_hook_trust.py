"""Hooks that a harness is known to skip: by its own files, as its own review and questions write them."""

import json

import pytest

from health.hook_trust import untrusted
from recall.hook_registry import Installed


@pytest.fixture
def root(tmp_path):
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


@pytest.fixture
def asked(root, tmp_path):
    """What is said of a harness's hook after its files hold this."""

    def ask(harness, scope, file, name="", text=""):
        if name:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        entry = Installed(harness, scope, str(file), "c", "1", "2026-06-16T12:00:00+00:00", "", "")
        return untrusted(entry, root, {"HOME": str(tmp_path)})

    return ask


def codex(projects=(), files=()):
    """The configuration that Codex leaves after its review of these."""
    trusted = [f'[projects.{json.dumps(str(one))}]\ntrust_level = "trusted"\n' for one in projects]
    keys = [json.dumps(f"{one}:user_prompt_submit:0:0") for one in files]
    return "\n".join(["model = 'x'", *trusted, *(f'[hooks.state.{key}]\ntrusted_hash = "sha256:1"\n' for key in keys)])


def test_codex_skips_a_hook_until_its_review_names_the_file(asked, tmp_path):
    file = tmp_path / ".codex" / "hooks.json"
    other = tmp_path / ".codex" / "hooks.json.old"

    assert "names no review of" in asked("codex", "user", file)
    assert str(file) in asked("codex", "user", file, ".codex/config.toml", codex(files=[other]))
    assert asked("codex", "user", file, ".codex/config.toml", codex(files=[file])) == ""


def test_codex_skips_a_projects_hook_until_the_project_is_trusted_too(asked, root, tmp_path):
    file = root / ".codex" / "hooks.json"

    said = asked("codex", "project", file, ".codex/config.toml", codex([tmp_path / "mill"], [file]))

    assert said.endswith(f"does not trust {root}")
    assert asked("codex", "project", file, ".codex/config.toml", codex([root], [file])) == ""


@pytest.mark.parametrize(
    ("text", "says"), [("[hooks", False), ("hooks = 1\nprojects = []\n", True)], ids=["damaged", "other shapes"]
)
def test_a_file_that_cannot_be_read_says_nothing_of_the_hook(text, says, asked, tmp_path):
    file = tmp_path / ".codex" / "hooks.json"

    assert bool(asked("codex", "user", file, ".codex/config.toml", text)) is says


@pytest.mark.parametrize(
    ("folders", "says"),
    [("", True), (["{root}/deeper"], True), (["{root}"], False), (["{root}/.."], False), ([7], True)],
    ids=["none", "below", "itself", "above", "no path"],
)
def test_copilot_skips_a_projects_hook_in_a_folder_that_nobody_trusted(folders, says, asked, root):
    named = [str(root.parent) if str(one).endswith("..") else str(one).format(root=root) for one in folders]
    told = asked(
        "copilot-cli", "project", root / ".github", ".copilot/config.json", json.dumps({"trustedFolders": named})
    )

    assert bool(told) is says
    assert asked("copilot-cli", "user", root, ".copilot/config.json", "{}") == ""


def test_gemini_skips_a_projects_hook_in_a_folder_that_somebody_refused(asked, root):
    def said(level):
        text = json.dumps({str(root): level})
        return asked("gemini-cli", "project", root / ".gemini", ".gemini/trustedFolders.json", text)

    assert said("DO_NOT_TRUST").endswith(f"does not trust {root}")
    assert said("TRUST_FOLDER") == ""
    assert asked("gemini-cli", "project", root / ".gemini", ".gemini/trustedFolders.json", "{}") == ""


def test_a_harness_that_asks_nobody_is_never_said_to_skip(asked, root):
    assert asked("claude-code", "project", root / ".claude" / "settings.local.json") == ""
