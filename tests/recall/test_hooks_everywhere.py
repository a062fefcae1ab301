"""Installing for every harness: exactly what is ours comes, and the same bytes are back when it goes (ESAA-12)."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recall import launcher
from recall.announcement import announcement, left_to_do
from recall.hook_places import PLACES, SCOPES
from recall.hook_registry import registered
from recall.hooks_install import Plan, install, plan_install, plan_removal, plan_removals, remove
from transcript.adapters.names import SPELLINGS
from transcript.curation import Author, Setting, decision
from transcript.errors import HookInstallError
from transcript.log import Log
from transcript.projections import views
from transcript.workspace import init

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ABLE = [name for name, place in PLACES.items() if place.form]
ENTRIES = [name for name in ABLE if PLACES[name].form in ("grouped", "flat")]
COMMENTED = [name for name in ABLE if PLACES[name].comments]
EXTENSIONS = [name for name in ABLE if PLACES[name].form == "extension"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "da ta"


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder / ".git"


@pytest.fixture
def root(tmp_path: Path, repository: Path) -> Path:
    """A project with a repository; git itself is asked where it matters."""
    folder = tmp_path / "project"
    (folder / ".git" / "info").mkdir(parents=True)
    for name in ("HEAD", "config", "info/exclude"):
        (folder / ".git" / name).write_bytes((repository / name).read_bytes())
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir()
    return folder


def enable(harness: str, scope: str, root: Path, data: Path) -> list[Plan]:
    plans = plan_install(harness, scope, root, data, os.environ)
    for plan in plans:
        install(plan, data, now=NOW)
    return plans


def disable(harness: str, scope: str, root: Path, data: Path) -> None:
    for plan in plan_removal(harness, scope, root, data, os.environ):
        remove(plan, data)


def place(harness: str, scope: str, root: Path, text: str | None) -> Path:
    """The harness's file of hooks, with this text in it."""
    file = PLACES[harness].file(scope, root, os.environ)
    if text is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def their_hook(harness: str) -> dict[str, Any]:
    """A hook of somebody else at the harness's first event, in its form."""
    hook = {"type": "command", "bash" if harness == "copilot-cli" else "command": "other-tool  prompt", "timeout": 10}
    return {"matcher": "*", "hooks": [hook]} if PLACES[harness].form == "grouped" else hook


def event(harness: str) -> str:
    from recall.hook_places import entries

    return next(iter(entries(harness, Path("/d")).hooks))


def foreign(harness: str, layout: str) -> str | None:
    """A file of somebody else's in one layout."""
    held = {
        "version": 1,
        "number": 1.50,
        "text": "caf\u00e9 \u2028 // no comment",
        "hooks": {event(harness): [their_hook(harness)], "Other": []},
    }
    if layout == "tabs":
        return json.dumps(held, indent="\t", ensure_ascii=False) + "\n"
    if layout == "windows":
        return "\ufeff" + json.dumps(held, indent=4).replace("\n", "\r\n")
    if layout == "one line":
        return json.dumps(held)
    return {"absent": None, "empty": "", "blank": " \n", "bare": "{}", "no hooks": '{\n  "a": [1,  2]\n}'}[layout]


LAYOUTS = {
    "absent": "project",
    "empty": "user",
    "blank": "user",
    "bare": "project",
    "no hooks": "user",
    "tabs": "project",
    "windows": "user",
    "one line": "user",
}


@pytest.mark.parametrize(("layout", "scope"), LAYOUTS.items())
@pytest.mark.parametrize("harness", ENTRIES)
def test_foreign_bytes_stay_a_second_run_is_nothing_and_removal_gives_all_back(harness, scope, layout, root, data):
    text = foreign(harness, layout)
    file = place(harness, scope, root, text)
    home = Path(os.environ["HOME"])
    before = tree(root), tree(home)

    enable(harness, scope, root, data)

    during = file.read_bytes()
    read = json.loads(during.decode("utf-8-sig"))
    if layout in ("tabs", "windows", "one line"):
        assert read["hooks"][event(harness)][0] == their_hook(harness)
        assert launcher.hook_command(data, harness) in json.dumps(read["hooks"][event(harness)][1:]).replace('\\"', '"')
    if layout in ("tabs", "windows"):
        lines = during.split(b"\n")
        assert [
            line for line in text.encode().split(b"\n") if line not in lines and _with_comma(line) not in lines
        ] == []
    again = plan_install(harness, scope, root, data, os.environ)
    assert not any(plan.changes or plan.exclude for plan in again)
    assert file.read_bytes() == during

    disable(harness, scope, root, data)

    assert (tree(root), tree(home)) == before
    assert registered(data) == []
    assert not (data / "hooks-backup").exists() or list((data / "hooks-backup").iterdir()) == []


def _with_comma(line: bytes) -> bytes:
    return line.removesuffix(b"\r") + b"," + line[len(line.removesuffix(b"\r")) :]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("harness", ENTRIES)
def test_what_somebody_changed_meanwhile_stays_and_only_ours_goes(harness, scope, root, data):
    text = foreign(harness, "tabs")
    file = place(harness, scope, root, text)
    enable(harness, scope, root, data)
    file.write_text(file.read_text().replace('"number": 1.5', '"number": 2.75'))

    disable(harness, scope, root, data)

    assert file.read_text() == text.replace("1.5", "2.75")


@pytest.mark.parametrize("harness", ENTRIES)
def test_ours_is_found_at_any_event_also_beside_what_nobody_knows(harness, root, data):
    """An earlier version registered other events, and people move hooks around."""
    strange = {"Strange": [5, "text", {"hooks": 7}, {"hooks": [None, {"command": ["a"]}]}], "Other": "text"}
    file = place(harness, "project", root, json.dumps({"hooks": strange}))
    enable(harness, "project", root, data)
    held = json.loads(file.read_text())
    ours = held["hooks"].pop(event(harness))
    held["hooks"] |= {"Moved": ours, "Strange": [*strange["Strange"], *ours]}
    file.write_text(json.dumps(held, indent=4))

    disable(harness, "project", root, data)

    assert json.loads(file.read_text()) == {"hooks": strange}


@pytest.mark.parametrize("harness", ENTRIES)
def test_a_link_stays_a_link(harness, root, data, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    file = place(harness, "user", root, "")
    file.unlink()
    file.symlink_to(real)

    enable(harness, "user", root, data)
    assert file.is_symlink()
    assert "recall-hook" in real.read_text()
    disable(harness, "user", root, data)

    assert file.is_symlink()
    assert real.read_text() == "{}"


def test_a_link_that_leads_nowhere_yet_is_left_as_it_was(root, data, tmp_path):
    file = place("codex", "user", root, "")
    file.unlink()
    file.symlink_to(tmp_path / "dotfiles.json")

    enable("codex", "user", root, data)
    assert (tmp_path / "dotfiles.json").exists()
    disable("codex", "user", root, data)

    assert file.is_symlink()
    assert not (tmp_path / "dotfiles.json").exists()


def test_a_file_where_a_folder_is_needed_is_one_sentence_and_nothing_is_registered(root, data):
    (root / ".codex").write_text("not a folder")

    with pytest.raises(HookInstallError, match="cannot be made"):
        enable("codex", "project", root, data)
    assert registered(data) == []


@pytest.mark.parametrize("harness", COMMENTED)
def test_comments_survive_both_ways(harness, root, data):
    name = event(harness)
    text = (
        '// mine\n{\n  /* theme */ "ui": {"theme": "a // b"}, // trailing\n'
        f'  "hooks": {{\n    "{name}": [ // prompts\n'
        f"      {json.dumps(their_hook(harness))} // theirs\n    ]\n  }}\n}}\n"
    )
    file = place(harness, "user", root, text)

    enable(harness, "user", root, data)
    during = file.read_text()
    for comment in ("// mine", "/* theme */", "// trailing", "// prompts", "// theirs"):
        assert during.count(comment) == 1
    file.write_text(during.replace("// mine", "// still mine"))  # so that the backup does not serve
    disable(harness, "user", root, data)

    assert file.read_text() == text.replace("// mine", "// still mine")


@pytest.mark.parametrize("harness", ["claude-code", "codex", "copilot-cli", "cursor", "grok-build"])
def test_comments_where_the_harness_takes_none_are_refused_and_nothing_changes(harness, root, data):
    file = place(harness, "user", root, '{} // "hooks"')

    with pytest.raises(HookInstallError, match="nothing was changed"):
        enable(harness, "user", root, data)

    assert file.read_text() == '{} // "hooks"'


COMMON = ["UserPromptSubmit", "SessionStart", "Stop", "SessionEnd", "SubagentStop", "PreCompact"]
CAMEL = ["userPromptSubmitted", "sessionStart", "agentStop", "sessionEnd", "subagentStop", "preCompact"]
CURSOR = ["beforeSubmitPrompt", "sessionStart", "stop", "sessionEnd", "subagentStop", "preCompact"]
GEMINI = ["BeforeAgent", "SessionStart", "AfterAgent", "SessionEnd", "PreCompress"]


@pytest.mark.parametrize(
    ("harness", "file", "events", "limit"),
    [
        ("claude-code", ".claude/settings.json", COMMON, ("timeout", 5)),
        ("codex", ".codex/hooks.json", COMMON, ("timeout", 5)),
        ("gemini-cli", ".gemini/settings.json", GEMINI, ("timeout", 5000)),
        ("qwen-code", ".qwen/settings.json", COMMON, ("timeout", 5)),
        ("copilot-cli", ".copilot/hooks/recall.json", CAMEL, ("timeoutSec", 5)),
        ("cursor", ".cursor/hooks.json", CURSOR, ("timeout", 5)),
        ("grok-build", ".grok/hooks/recall.json", COMMON[1:], ("timeout", 5)),
    ],
)
def test_each_event_is_named_and_timed_as_the_harness_does_it(harness, file, events, limit, root, data):
    enable(harness, "user", root, data)

    found = json.loads((Path(os.environ["HOME"]) / file).read_text())
    line = launcher.hook_command(data, harness)
    key, seconds = limit
    ours = {"type": "command", "bash" if harness == "copilot-cli" else "command": line, key: seconds}
    if harness == "cursor":
        del ours["type"]
    expected: dict[str, Any] = {event: [ours] for event in events}
    if harness == "codex":
        expected["SessionEnd"] = [{**ours, "timeout": 3}]  # it clamps a longer one, with a warning
    if harness not in ("copilot-cli", "cursor"):
        expected = {event: [{"hooks": hooks}] for event, hooks in expected.items()}
    assert found == {**({"version": 1} if harness in ("copilot-cli", "cursor") else {}), "hooks": expected}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("harness", EXTENSIONS)
def test_an_extension_is_written_whole_with_the_launchers_path_and_goes_whole(harness, scope, root, data):
    home = Path(os.environ["HOME"])
    before = tree(root), tree(home)

    (plan,) = enable(harness, scope, root, data)

    text = plan.file.read_text()
    assert f"const HOOK = {json.dumps(str(launcher.launcher_path(data)))};" in text
    assert "@RECALL_HOOK@" not in text
    assert not plan_install(harness, scope, root, data, os.environ)[0].changes
    disable(harness, scope, root, data)
    assert (tree(root), tree(home)) == before


@pytest.mark.parametrize("harness", EXTENSIONS)
def test_an_extension_of_another_version_is_written_anew_and_one_of_somebody_else_is_left_alone(harness, root, data):
    (plan,) = enable(harness, "user", root, data)
    plan.file.write_text(plan.file.read_text() + "// of an older version\n")
    enable(harness, "user", root, data)
    assert "older version" not in plan.file.read_text()
    disable(harness, "user", root, data)
    assert not plan.file.exists()

    plan.file.parent.mkdir(parents=True)
    plan.file.write_text("export default () => {}\n")
    with pytest.raises(HookInstallError, match="somebody else's file"):
        enable(harness, "user", root, data)
    assert plan.file.read_text() == "export default () => {}\n"


def test_the_places_follow_each_harness_own_variables(root, tmp_path):
    env = {"HOME": "/home/ann", "PATH": ""}
    moved = {
        "claude-code": ("CLAUDE_CONFIG_DIR", "settings.json"),
        "codex": ("CODEX_HOME", "hooks.json"),
        "gemini-cli": ("GEMINI_CLI_HOME", ".gemini/settings.json"),
        "qwen-code": ("QWEN_HOME", "settings.json"),
        "copilot-cli": ("COPILOT_HOME", "hooks/recall.json"),
        "grok-build": ("GROK_HOME", "hooks/recall.json"),
        "pi": ("PI_CODING_AGENT_DIR", "extensions/recall.js"),
        "opencode": ("XDG_CONFIG_HOME", "opencode/plugin/recall.js"),
        "cline": ("CLINE_DIR", "plugins/recall.js"),
    }

    for harness, (variable, file) in moved.items():
        assert PLACES[harness].file("user", root, {**env, variable: "/opt/x"}) == Path("/opt/x", file)
        assert PLACES[harness].file("user", root, env).is_relative_to("/home/ann")
        assert PLACES[harness].file("project", root, env).is_relative_to(root)


@pytest.mark.parametrize("harness", ABLE)
def test_git_sees_nothing_of_a_projects_files_and_its_list_is_as_it_was_afterwards(harness, root, data):
    listed = root / ".git" / "info" / "exclude"
    listed.write_text("# theirs\n*.log\n")

    enable(harness, "project", root, data)
    seen = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True)
    disable(harness, "project", root, data)

    assert seen.stdout == ""
    assert listed.read_text() == "# theirs\n*.log\n"


def test_a_line_of_the_users_own_in_that_list_stays(root, data):
    listed = root / ".git" / "info" / "exclude"
    listed.write_text("/.gemini/settings.json\n")

    enable("gemini-cli", "project", root, data)
    disable("gemini-cli", "project", root, data)

    assert listed.read_text() == "/.gemini/settings.json\n"


def test_a_file_that_the_team_shares_is_said_to_be_shared(root, data):
    file = place("gemini-cli", "project", root, "{}\n")
    subprocess.run(["git", "add", str(file)], cwd=root, check=True)

    (plan,) = plan_install("gemini-cli", "project", root, data, os.environ)

    assert "is tracked" in plan.summary
    assert plan.exclude is None


def test_two_work_trees_share_a_line_until_the_last_one_is_gone(tmp_path, data):
    common = tmp_path / "repo" / ".git"
    trees = [tmp_path / "one", tmp_path / "two"]
    for tree_ in trees:
        own = common / "worktrees" / tree_.name
        own.mkdir(parents=True)
        tree_.mkdir()
        (own / "HEAD").write_text("x")
        (own / "commondir").write_text("../..\n")
        (own / "gitdir").write_text(f"{tree_}/.git\n")
        (tree_ / ".git").write_text(f"gitdir: {own}\n")
    for tree_ in trees:
        enable("codex", "project", tree_, data)

    disable("codex", "project", trees[0], data)
    between = (common / "info" / "exclude").read_text()
    disable("codex", "project", trees[1], data)

    assert between == "/.codex/hooks.json\n"
    assert (common / "info" / "exclude").read_text() == ""


def test_a_line_that_an_earlier_version_wrote_is_replaced(root, data):
    file = place("codex", "user", root, foreign("codex", "tabs"))
    enable("codex", "user", root, data)
    entries = json.loads((data / "hooks.json").read_text())
    old = f'"{launcher.launcher_path(data)}" codex'
    new = launcher.hook_command(data, "codex")
    file.write_text(file.read_text().replace(json.dumps(new), json.dumps(old)))
    entries[0]["command"] = old
    (data / "hooks.json").write_text(json.dumps(entries))

    enable("codex", "user", root, data)

    hooks = json.loads(file.read_text())["hooks"]["UserPromptSubmit"]
    assert [hook["command"] for group in hooks for hook in group["hooks"]] == ["other-tool  prompt", new]
    disable("codex", "user", root, data)
    assert file.read_text() == foreign("codex", "tabs")


def test_ours_comes_last_so_that_what_codex_trusts_by_position_stays_trusted(root, data):
    file = place("codex", "user", root, foreign("codex", "tabs"))

    enable("codex", "user", root, data)

    groups = json.loads(file.read_text())["hooks"]["UserPromptSubmit"]
    assert "recall-hook" in groups[-1]["hooks"][0]["command"]


@pytest.mark.parametrize("text", [None, "# Rules\n\nno end", "# Rules\r\n\r\nBe kind.\r\n", "\ufeff# Rules\n"])
def test_grok_builds_rules_get_a_block_and_their_bytes_back(text, root, data):
    rules = root / ".grok" / "rules" / "recall.md"
    if text is not None:
        rules.parent.mkdir(parents=True)
        rules.write_bytes(text.encode())
    before = tree(root)

    enable("grok-build", "project", root, data)
    assert b"recall query" in rules.read_bytes()
    assert rules.read_bytes().startswith((text or "").encode())
    assert [entry.kind for entry in registered(data)] == ["hooks", "rules"]
    rules.write_bytes(rules.read_bytes().replace(b"on record", b"ON RECORD"))  # as a later capture writes it anew
    disable("grok-build", "project", root, data)

    assert tree(root) == before


@pytest.mark.parametrize("setting", ["session_start = false", "session_start = 7"], ids=["off", "not readable"])
def test_a_block_tells_nothing_of_the_record_where_telling_is_off(setting, root, data):
    log = Log(init(root, data))
    log.append([decision(Author("ana", "human"), Setting("2026-03-01T08:00:00Z", "s", "k"), "Use SQLite")], now=NOW)
    views.project(log.workspace)
    (data / "config.toml").write_text(f"[handoff]\n{setting}\n")

    enable("grok-build", "project", root, data)

    text = (root / ".grok" / "rules" / "recall.md").read_text()
    assert "recall query" in text
    assert "SQLite" not in text


def test_the_users_own_grok_hooks_bring_no_rules_of_one_project(root, data):
    enable("grok-build", "user", root, data)

    assert [entry.kind for entry in registered(data)] == ["hooks"]


@pytest.mark.parametrize("harness", [name for name in PLACES if name not in ABLE])
def test_a_harness_without_hooks_has_nothing_to_install_and_says_what_works(harness, root, data):
    assert plan_install(harness, "project", root, data, os.environ) == []
    assert "nothing is installed" in PLACES[harness].says
    assert "recall sync" in PLACES[harness].says


def test_uninstalling_takes_everything_out_of_every_harness(root, data):
    home = Path(os.environ["HOME"])
    for harness in ENTRIES:
        for scope in SCOPES:
            place(harness, scope, root, foreign(harness, "windows"))
    before = tree(root), tree(home)
    for harness in ABLE:
        for scope in SCOPES:
            enable(harness, scope, root, data)

    plans, stuck = plan_removals(data)
    for plan in plans:
        remove(plan, data)

    assert len(plans) == 2 * len(ABLE) + 1
    assert stuck == []
    assert (tree(root), tree(home)) == before
    assert registered(data) == []


def test_a_lost_backup_is_no_hindrance_ours_is_cut_out(root, data):
    text = foreign("codex", "tabs")
    file = place("codex", "user", root, text)
    enable("codex", "user", root, data)
    for backup in (data / "hooks-backup").iterdir():
        backup.unlink()

    disable("codex", "user", root, data)

    assert file.read_bytes() == text.encode()


@pytest.mark.parametrize("harness", ABLE)
def test_what_is_left_to_the_user_is_said(harness, root):
    told = "\n".join(left_to_do(harness, "project", os.environ))

    expected = {"codex": "review", "gemini-cli": "trust", "qwen-code": "trust", "copilot-cli": "trust"}
    expected |= {"cursor": "never tried", "grok-build": "takes no text from a hook", "claude-code": ""}
    assert expected.get(harness, "next start") in told
    assert bool(told) is (harness != "claude-code")


@pytest.mark.parametrize("name", ["hooks", "codex_hooks"])
def test_codex_hooks_that_its_configuration_switches_off_are_noticed(name, root):
    config = Path(os.environ["HOME"]) / ".codex" / "config.toml"
    config.parent.mkdir()

    config.write_text(f"[features]\n{name} = false\n")
    assert f"features.{name} = false" in left_to_do("codex", "user", os.environ)[-1]
    config.write_text(f"[features]\n{name} = true\n")
    assert "features" not in left_to_do("codex", "user", os.environ)[-1]
    config.write_text("[features\n")
    assert "features" not in left_to_do("codex", "user", os.environ)[-1]


@pytest.mark.parametrize(
    ("text", "told"),
    [("[[hooks.Stop]]\nhooks = []\n", True), ('[hooks.state."x"]\ntrusted_hash = "sha256:1"\n', False)],
    ids=["hooks", "only the trust in hooks"],
)
def test_codex_hooks_in_its_configuration_besides_ours_are_noticed(text, told, root):
    config = Path(os.environ["HOME"]) / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(text)

    assert ("has hooks of its own" in left_to_do("codex", "user", os.environ)[-1]) is told


def test_the_announcement_promises_no_injection_where_none_is_possible(root, data):
    assert "injected  nothing" in announcement(["grok-build"], "project", root, data)
    assert "at most six quoted passages" in announcement(["pi", "grok-build"], "user", root, data)


@pytest.mark.parametrize(
    ("program", "folder", "here"), [("codex", "", True), ("", ".codex", True), ("", "", False), ("codec", "", False)]
)
def test_a_harness_is_here_when_its_program_or_its_folder_is(program, folder, here, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    if program:
        (tmp_path / "bin" / program).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / program).chmod(0o755)
    if folder:
        (tmp_path / "home" / folder).mkdir()

    env = {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin")}

    assert PLACES["codex"].is_here(env) is here


def test_every_harness_has_its_place_and_the_registry_knows_it():
    from recall.cli.enable_hooks import NAMES
    from recall.contracts import CONTRACTS

    assert tuple(PLACES) == NAMES
    assert set(CONTRACTS) == set(ABLE)
    assert set(SPELLINGS.values()) <= set(NAMES)
