"""The launcher: a line that never changes, a script that always ends with 0."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.hooks import hold_lock, payload, run_client

from recall import launcher
from transcript.kept_out import kept_out
from transcript.paths import secure_dir

unix = pytest.mark.skipif(os.name != "posix", reason="a shell script")


@pytest.fixture(params=["data", "my data", 'it\'s $HOME `x` "q" \\ é'])
def data(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / request.param


def fake_python(tmp_path: Path, body: str) -> str:
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


@unix
def test_the_hook_line_runs_the_client_with_folder_harness_and_site(tmp_path, data):
    out = tmp_path / "arguments"
    python = fake_python(tmp_path, f'for word in "$@"; do printf "%s\\n" "$word"; done >"{out}"; cat')
    launcher.write(data, python=python)
    line = launcher.hook_command(data, "claude-code", windows=False)

    done = subprocess.run(line, shell=True, input=b"payload", capture_output=True)

    site = launcher.site_folder()
    assert (done.returncode, done.stdout) == (0, b"payload")
    assert out.read_text().splitlines() == [
        "-I", "-S", str(site / "recall" / "client.py"), str(data), "claude-code", str(site)
    ]  # fmt: skip


@unix
@pytest.mark.parametrize(
    "body",
    ["exit 2", "exit 127", "kill -9 $$", "kill -14 $$", "echo broken >&2; exit 1"],
    ids=["blocks", "not found", "killed", "alarm", "stderr"],
)
def test_whatever_the_interpreter_does_the_hook_ends_with_0_and_says_nothing(body, tmp_path):
    """A harness erases the prompt on exit 2."""
    launcher.write(tmp_path / "data", python=fake_python(tmp_path, body))

    ran = run_client(tmp_path, payload("x"), command=[str(launcher.launcher_path(tmp_path / "data")), "claude-code"])

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


@unix
@pytest.mark.parametrize(("value", "noted"), [("1", True), ("0", False), ("", False)])
def test_the_client_of_a_switched_off_shell_notes_the_session_and_prints_nothing(value, noted, tmp_path):
    data = secure_dir(tmp_path / "data")
    held = hold_lock(data)
    launcher.write(data)

    command = [str(launcher.launcher_path(data)), "claude-code"]
    ran = run_client(data, payload("x"), command=command, RECALL_OFF=value, RECALL_HOOK_DEADLINE_MS="4000")
    os.close(held)

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert list(kept_out(data).values()) == ["opted_out"] * noted


@unix
def test_a_missing_interpreter_is_silence(tmp_path):
    launcher.write(tmp_path / "data", python=str(tmp_path / "gone"))

    ran = run_client(tmp_path, b"{}", command=[str(launcher.launcher_path(tmp_path / "data")), "claude-code"])

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


def test_only_its_owner_can_run_or_read_it(tmp_path):
    path = launcher.write(tmp_path / "data")

    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_the_line_does_not_change_with_version_or_interpreter(tmp_path):
    before = launcher.hook_command(tmp_path, "claude-code")
    launcher.write(tmp_path, python="/one/python")
    launcher.write(tmp_path, python="/two/python")

    assert launcher.hook_command(tmp_path, "claude-code") == before


@unix
def test_problems_are_named_in_one_sentence(tmp_path):
    assert "missing" in launcher.problem(tmp_path)
    launcher.write(tmp_path)
    assert launcher.problem(tmp_path) == ""
    launcher.write(tmp_path, python="/no/such/python")
    assert "interpreter /no/such/python is gone" in launcher.problem(tmp_path)
    path = launcher.write(tmp_path)
    path.write_text(path.read_text().replace("client.py", "gone.py"))
    assert "client" in launcher.problem(tmp_path)
    launcher.write(tmp_path).chmod(0o600)
    assert "may not be run" in launcher.problem(tmp_path)


def test_an_upgrade_rewrites_a_launcher_whose_program_is_gone_and_no_other(tmp_path):
    assert not launcher.refresh(tmp_path)
    path = launcher.write(tmp_path)
    right = path.read_text()
    assert not launcher.refresh(tmp_path)

    path.write_text(right.replace(sys.executable, "/gone/python"))
    assert launcher.refresh(tmp_path)
    assert path.read_text() == right

    other = right.replace(str(launcher.site_folder()), str(tmp_path))
    (tmp_path / "recall").mkdir()
    (tmp_path / "recall" / "client.py").touch()
    path.write_text(other)
    assert not launcher.refresh(tmp_path)
    assert path.read_text() == other


@unix
@pytest.mark.parametrize(
    ("damage", "mended"),
    [
        (lambda path: path.write_bytes(path.read_bytes().replace(b"exec", b"ex\xdd\xff")), True),
        (lambda path: path.write_bytes(b"\xf5\xdd"), False),  # whose it was cannot be seen
        (lambda path: (path.unlink(), os.mkfifo(path)), False),
        (lambda path: (path.unlink(), path.mkdir()), False),
    ],
    ids=["bytes flipped", "no text", "a pipe", "a folder"],
)
def test_a_damaged_launcher_keeps_nobody_from_a_command(damage, mended, tmp_path):
    path = launcher.write(tmp_path)
    right = path.read_bytes()
    damage(path)

    assert launcher.refresh(tmp_path) is mended
    assert (path.is_file() and path.read_bytes() == right) is mended
    found = launcher.stated(tmp_path)
    assert (found is not None and found.version != "") is mended


@unix
def test_a_data_folder_whose_name_is_no_text_has_a_launcher_that_runs(tmp_path):
    data = tmp_path / os.fsdecode(b"no\xfftext")

    path = launcher.write(data)

    assert not launcher.refresh(data)
    assert not launcher.stated(data).edited
    assert b"no\xfftext" in path.read_bytes()
    assert subprocess.run([path, "any"], input=b"", capture_output=True).returncode == 0


@unix
def test_any_command_mends_the_launcher_after_the_program_has_moved(tmp_path):
    path = launcher.write(tmp_path)
    right = path.read_text()
    path.write_text(right.replace(sys.executable, "/gone/python"))

    subprocess.run(
        [sys.executable, "-I", "-m", "recall.cli.main", "config"],
        env={**os.environ, "RECALL_HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )

    assert path.read_text() == right


def test_the_windows_launcher_quotes_every_path_and_ends_with_0(tmp_path):
    text = launcher.render(
        Path("C:/Users/Ann B/recall"), python="C:/Py 100%/python.exe", site=Path("C:/site"), version="1", windows=True
    )

    assert text.endswith("exit /b 0\r\n")
    assert '"C:/Py 100%%/python.exe" -I -S' in text


def test_the_windows_line_is_guarded_in_the_shell_that_the_harness_uses():
    path = str(Path("C:/d e/bin/recall-hook.cmd"))

    lines = {name: launcher.hook_command(Path("C:/d e"), name, windows=True) for name in ("codex", "gemini-cli")}

    assert lines["codex"] == f'if exist "{path}" "{path}" codex'
    assert lines["gemini-cli"] == f"if (Test-Path -LiteralPath '{path}') {{ & '{path}' gemini-cli }}; exit 0"


@unix
@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
@pytest.mark.parametrize("state", ["there", "gone", "not executable", "killed"])
def test_the_line_ends_with_0_and_says_nothing_else_in_any_shell(shell, state, tmp_path, data):
    """Gemini CLI throws the prompt away when the hook's program is gone (exit 127)."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    path = launcher.launcher_path(data)
    path.parent.mkdir(parents=True)
    if state != "gone":
        path.write_text("#!/bin/sh\n" + ("kill -9 $$\n" if state == "killed" else "cat\n"))
        path.chmod(0o600 if state == "not executable" else 0o700)

    line = launcher.hook_command(data, "gemini-cli", windows=False)
    done = subprocess.run([shell, "-c", line], input=b"payload", capture_output=True)

    if state == "killed":
        assert (done.returncode, done.stdout) == (0, b"")
    else:
        assert (done.returncode, done.stdout, done.stderr) == (0, b"payload" if state == "there" else b"", b"")
