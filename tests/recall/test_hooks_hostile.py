"""Installing where things go wrong: killed in the middle, full disk, files nobody may write, a damaged registry."""

import errno
import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recall import uninstall
from recall.hook_places import PLACES
from recall.hook_registry import registered
from recall.hooks_install import install, plan_install, plan_removal, plan_removals, remove
from transcript.errors import HookInstallError
from transcript.workspace import init

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HARNESSES = ("claude-code", "copilot-cli", "grok-build", "pi")  # grouped, flat, with rules, an extension
THEIRS = '{\r\n\t"hooks": {},\r\n\t"theme": "dark"\r\n}'


class Killed(BaseException):
    """The process ends here, whatever it still meant to do."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a repository and a settings file of its user."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    theirs = PLACES["claude-code"].file("project", folder, os.environ)
    theirs.parent.mkdir()
    theirs.write_bytes(THEIRS.encode())
    return folder


def enable(root: Path, data: Path, *harnesses: str, scope: str = "project") -> None:
    for harness in harnesses or HARNESSES:
        for plan in plan_install(harness, scope, root, data, os.environ):
            install(plan, data, now=NOW)


def disable(root: Path, data: Path) -> None:
    for harness in HARNESSES:
        for plan in plan_removal(harness, "project", root, data, os.environ):
            remove(plan, data)


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Do the work with a process that ends before its n-th change of the file system; False when it came to its end.

    Whatever it tries afterwards fails as well: no cleaning up runs in a killed process.
    """
    steps = 0

    def dying(call: Callable[..., Any], *, changes: Callable[..., bool] = lambda *_: True) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            nonlocal steps
            if changes(*args):
                steps += 1
                if steps >= step:
                    raise Killed
            return call(*args, **options)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "unlink", "mkdir", "rmdir"):
            patch.setattr(os, name, dying(getattr(os, name)))
        # Not the pid that a lock carries: the system frees a dead process's lock, this one would keep it.
        patch.setattr(os, "write", dying(os.write, changes=lambda _, part: len(part) > 10))
        patch.setattr(os, "open", dying(os.open, changes=lambda _, flags, *__: bool(flags & os.O_EXCL)))
        try:
            work()
        except Killed:
            return True
    return False


def test_what_was_killed_while_installing_can_be_taken_out_to_the_byte(root, data):
    before, step = tree(root), 1

    while killed_at(step, lambda: enable(root, data)):
        plans, stuck = plan_removals(data)
        for plan in plans:
            remove(plan, data)
        assert (step, tree(root), stuck, registered(data)) == (step, before, [], [])
        step += 2  # a run at every second step: all kinds are met in half the time

    assert step > 50, "nothing was killed"


def test_what_was_killed_while_installing_is_whole_after_a_second_run(root, data):
    before, step = tree(root), 1
    enable(root, data)
    whole = tree(root)
    disable(root, data)

    while killed_at(step, lambda: enable(root, data)):
        enable(root, data)
        assert (step, {name: held for name, held in tree(root).items() if name in whole}) == (step, whole)
        disable(root, data)
        assert (step, tree(root)) == (step, before)
        step += 7


def test_what_was_killed_while_being_taken_out_goes_with_the_second_run(root, data):
    before, step = tree(root), 1
    enable(root, data)

    while killed_at(step, lambda: disable(root, data)):
        disable(root, data)
        assert (step, tree(root), registered(data)) == (step, before, [])
        enable(root, data)
        step += 2

    assert step > 25, "nothing was killed"


def test_an_uninstallation_that_was_killed_is_finished_by_the_next_one(root, data):
    before, step = tree(root), 1

    def leave() -> None:
        uninstall.carry_out(uninstall.plan(data, os.environ, purge=True), data, os.environ, say=lambda line: None)

    while True:
        init(root, data)
        (root / ".recall" / "views").mkdir()
        (root / ".recall" / "views" / "state.md").write_text("a view")
        enable(root, data)
        if not killed_at(step, leave):
            break
        leave()
        now = tree(root)
        assert {k: (now.get(k), before.get(k)) for k in {*now, *before} if now.get(k, 1) != before.get(k, 1)} == {}, (
            step
        )
        assert not data.exists(), step
        step += 5

    assert step > 50, "nothing was killed"


@pytest.mark.parametrize("name", ["settings.local.json", "recall.json", "recall.js", "exclude"])
def test_a_change_that_fails_leaves_nothing_behind(name, root, data, monkeypatch):
    before = tree(root)
    real = os.replace

    def full(source: Any, target: Any) -> None:
        if Path(target).name == name and Path(target).is_relative_to(root):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        for harness in HARNESSES:
            for plan in plan_install(harness, "project", root, data, os.environ):
                if plan.file.name == name or name == "exclude":
                    with pytest.raises(HookInstallError, match="cannot be written: No space left"):
                        install(plan, data, now=NOW)

    assert tree(root) == before
    assert registered(data) == []


def test_a_full_data_folder_stops_before_anything_of_the_users_is_touched(root, data, monkeypatch):
    before = tree(root)
    real = os.write

    def full(descriptor: int, part: bytes) -> int:
        if b'"harness"' in bytes(part):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, part)

    monkeypatch.setattr(os, "write", full)

    with pytest.raises(OSError, match="No space left") as caught:
        enable(root, data)

    assert caught.value.filename == str(data / "hooks.json")
    assert tree(root) == before


def test_a_file_that_nobody_may_write_is_left_alone(root, data):
    file = root / ".claude" / "settings.local.json"
    file.chmod(0o444)

    with pytest.raises(HookInstallError, match="read-only"):
        enable(root, data, "claude-code")

    assert file.read_bytes() == THEIRS.encode()
    assert registered(data) == []


@pytest.mark.parametrize("harness", ["copilot-cli", "cursor", "claude-code"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"hooks":{"@":[{"hooks":5}]}}', "unknown shape"),
        ('{"hooks":{"@":[{"hooks":[5]}]}}', "unknown shape"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "too deep"),
    ],
    ids=["hooks that are a number", "a hook that is a number", "deep"],
)
def test_hooks_of_a_shape_nobody_knows_are_refused_in_every_file(harness, text, why, root, data):
    file = PLACES[harness].file("project", root, os.environ)
    file.parent.mkdir(parents=True, exist_ok=True)
    event = {"copilot-cli": "sessionStart", "cursor": "sessionStart", "claude-code": "SessionStart"}[harness]
    file.write_text(text.replace("@", event))

    with pytest.raises(HookInstallError, match=why):
        enable(root, data, harness)

    assert file.read_text() == text.replace("@", event)


def test_uninstalling_names_a_file_it_cannot_edit_and_takes_everything_else_away(root, data):
    enable(root, data)
    file = root / ".claude" / "settings.local.json"
    file.write_text("{broken")
    said: list[str] = []

    leaving = uninstall.plan(data, os.environ, purge=False)
    uninstall.carry_out(leaving, data, os.environ, say=said.append)

    assert [str(file) in sentence for sentence in leaving.stuck] == [True]
    assert f"stays     {leaving.stuck[0]}" in leaving.lines()
    assert file.read_text() == "{broken"
    assert [entry.file for entry in registered(data)] == [str(file)]
    assert not (root / ".pi").exists()
    assert not leaving.launcher.exists()


def test_an_entry_of_a_harness_this_version_does_not_know_is_said_to_stay(root, data):
    enable(root, data, "claude-code")
    entries = json.loads((data / "hooks.json").read_text())
    (data / "hooks.json").write_text(json.dumps([*entries, {**entries[0], "harness": "later", "file": "/x/y.json"}]))

    plans, stuck = plan_removals(data)

    assert [plan.harness for plan in plans] == ["claude-code"]
    assert stuck == ["/x/y.json holds hooks of 'later', which this version of recall does not know"]


@pytest.mark.parametrize("text", ["{", "[5]", '{"a": {}}', '[{"file": 5}]', "[" * 100_000])
def test_a_damaged_registry_is_one_sentence_and_removal_works_without_it(text, root, data):
    enable(root, data)
    (data / "hooks.json").write_text(text)

    with pytest.raises(HookInstallError, match=r"hooks\.json cannot be read") as caught:
        disable(root, data)
    (data / "hooks.json").unlink()
    disable(root, data)

    assert "move it away" in str(caught.value)
    assert json.loads((root / ".claude" / "settings.local.json").read_text()) == {"theme": "dark"}
    assert not any(b"recall-hook" in held for held in tree(root).values() if held)


def test_an_entry_whose_values_are_of_other_types_is_no_entry(data):
    data.mkdir()
    held = dict.fromkeys(("harness", "scope", "file", "command", "version", "at", "before", "after"), "x")
    (data / "hooks.json").write_text(json.dumps([{**held, "file": 5}]))

    with pytest.raises(HookInstallError, match="unknown shape"):
        registered(data)


def test_a_data_folder_that_no_settings_file_can_name_is_refused(root, tmp_path):
    before = tree(root)

    with pytest.raises(HookInstallError, match="not UTF-8; set RECALL_HOME"):
        enable(root, tmp_path / "d\udcff")

    assert tree(root) == before
