"""The entry of the `recall` command: isolation, exit codes, one line for what went wrong."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from support.hooks import hold_lock

from recall.cli import group, main
from recall.cli.output import duration, visible
from transcript.errors import ConfigError, WorkspaceError

HEAVY = ("numpy", "apsw", "onnxruntime", "tokenizers", "sqlite_vec", "sentence_transformers", "rich", "zstandard")


def recall(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recall.cli.main", *args]
    given = {**os.environ, **env}
    return subprocess.run(
        command, cwd=cwd, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180
    )


def test_help_lists_every_visible_command_and_imports_nothing_heavy(tmp_path):
    code = (
        "import sys; from recall.cli.main import main; code = main(['--help'])\n"
        f"print(code, [m for m in {HEAVY!r} if m in sys.modules])"
    )

    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=180, check=True
    )

    *shown, last = result.stdout.splitlines()
    assert last == "0 []"
    names = {line.split()[0] for line in shown if line.startswith("  ") and line.split()}
    assert {"init", "sync", "index", "query", "show", "last", "health", "demo"} <= names
    assert not names & {"serve", "hook"}


def test_every_command_has_help_with_an_example():
    ctx = click.Context(group.cli)

    for name in group.cli.list_commands(ctx):
        command = group.cli.get_command(ctx, name)
        assert command is not None
        if command.hidden:
            continue
        text = command.help or ""
        assert text.splitlines()[0].endswith("."), name
        assert f"recall {name}" in text.split("\b")[-1], name


def test_a_group_without_a_command_prints_its_help_as_it_is(capsys):
    for name in group.cli.list_commands(click.Context(group.cli)):
        command = group.cli.get_command(click.Context(group.cli), name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            continue
        assert group.run([name]) == 2
        told = capsys.readouterr().err

        assert told.startswith(f"Usage: recall {name} "), name
        assert "Error" not in told, name
        assert "\\n" not in told, name
        assert told.splitlines()[2].startswith("  "), name


def test_modules_of_the_project_do_not_get_in_through_pythonpath(tmp_path):
    for name in ("click.py", "eval.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('a foreign module got in')", encoding="utf-8")
    (tmp_path / "health").mkdir()
    (tmp_path / "health" / "__init__.py").write_text("raise SystemExit('a foreign module got in')", encoding="utf-8")

    code = "import sys; sys.path[:] = [p for p in sys.path if p]; from recall.cli.main import main; sys.exit(main())"
    result = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=180,
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("recall ")


def test_arguments_survive_the_restart(tmp_path):
    result = recall("no such command", "--x=é ü", cwd=tmp_path, PYTHONPATH="/nowhere")

    assert result.returncode == 2
    assert "no such command" in result.stderr


def test_no_restart_when_already_isolated(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ".")
    command = [sys.executable, "-I", "-c", "from recall.cli.main import needs_isolation; print(needs_isolation())"]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


def test_user_site_stays_visible_where_recall_is_installed_in_it(monkeypatch):
    """`-I` would hide the very folder that holds recall."""
    monkeypatch.setattr("site.getusersitepackages", lambda: str(main.HOME))

    assert main.isolation_flags()[:2] == ["-E", "-P"]


@pytest.mark.parametrize("package", main.PACKAGES)
def test_a_package_from_elsewhere_is_named(tmp_path, monkeypatch, package):
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))

    line = main.intruder()

    assert f"'{package}' comes from {tmp_path}" in line
    assert "pipx" in line
    assert "\n" not in line


def test_a_module_in_front_is_named_like_a_package(tmp_path, monkeypatch):
    (tmp_path / "eval.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))

    assert f"'eval' comes from {tmp_path / 'eval.py'}" in main.intruder()


def test_a_package_that_another_distribution_has_overwritten_is_named(tmp_path, monkeypatch):
    """Two distributions with one package name write into one folder; ours has an empty `__init__.py`."""
    for package in main.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "health" / "__init__.py").write_text("VERSION = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(main, "HOME", tmp_path)

    assert "another distribution that ships 'health'" in main.intruder()


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(main, "HOME", tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    assert "'transcript' is missing" in main.intruder()


def test_no_intruder_here():
    assert main.intruder() == ""


@pytest.fixture
def failing(monkeypatch):
    """Make `recall fail` raise what the test gives it."""

    def arrange(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(group.LazyGroup, "get_command", lambda self, ctx, name: command)

    return arrange


def test_an_expected_failure_is_one_line_and_exit_1(failing, capsys):
    failing(WorkspaceError("no workspace for /x; run 'recall init' first"))

    code = group.run(["fail"])

    assert code == 1
    assert capsys.readouterr().err == "recall: no workspace for /x; run 'recall init' first\n"


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied", "/x/roots.lock"), OSError(28, "No space", "/x")]
)
def test_a_file_that_cannot_be_used_is_one_line_that_names_it(failing, capsys, error):
    failing(error)

    code = group.run(["fail"])

    assert code == 1
    assert capsys.readouterr().err == f"recall: cannot use {error.filename} ({error.strerror}); mend that first\n"


@pytest.mark.parametrize(
    "error", [ConfigError("weights: alpha is nan"), PermissionError(13, "Permission denied", "/x")]
)
def test_health_that_cannot_look_is_broken_not_a_warning(failing, error):
    failing(error)

    assert group.run(["health"]) == 2


def test_an_unexpected_failure_keeps_its_traceback(failing):
    failing(ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        group.run(["fail"])


def test_a_full_disk_is_one_line_although_it_names_no_file(failing, capsys):
    failing(OSError(errno.ENOSPC, "No space left on device"))

    assert group.run(["fail"]) == 1
    told = "recall: the disk refuses a write (No space left on device); mend that and run it again\n"
    assert capsys.readouterr().err == told


def test_a_machine_without_a_folder_for_temporary_files_is_one_line(failing, capsys):
    failing(FileNotFoundError(errno.ENOENT, "No usable temporary directory found"))

    assert group.run(["fail"]) == 1
    assert capsys.readouterr().err.startswith("recall: what is needed is not there (No usable temporary directory")


def test_interrupt_while_the_program_loads_is_no_traceback(monkeypatch, capsys):
    class Interrupting:
        def find_spec(self, name, path, target=None):
            if name == "recall.cli.group":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "recall.cli.group")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])

    assert main.main(["verify"]) == 130
    assert capsys.readouterr().err == "interrupted; nothing is lost\n"


def test_interrupt_says_that_nothing_is_lost_and_exits_130(failing, capsys):
    failing(KeyboardInterrupt())

    assert group.run(["fail"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted; nothing is lost"


def test_wrong_usage_exits_2(capsys):
    assert group.run(["query"]) == 2
    assert "Usage: recall query" in capsys.readouterr().err


def test_wrong_usage_of_health_exits_64():
    """1 and 2 are verdicts there."""
    assert group.run(["health", "--no-such-option"]) == 64


def test_a_closed_pipe_ends_the_command_in_silence(tmp_path):
    code = "import sys; from recall.cli.main import main; sys.exit(main(['--help']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    process.wait(180)

    assert errors == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_no_disk_takes_is_an_error_of_one_line(tmp_path):
    code = "import sys; from recall.cli.main import main; sys.exit(main(['--help']))"
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE)

    assert ended.returncode == 1
    assert ended.stderr == b"recall: the disk refuses a write (No space left on device); mend that and run it again\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("last", "code"),
    [("note('a warning')", 0), ("print('no newline', end='', file=sys.stderr)", 0), ("raise RecallError('no')", 1)],
    ids=["a warning", "a line left open", "an error"],
)
def test_a_full_standard_error_neither_stops_the_work_nor_changes_how_it_ended(last, code):
    """What a scheduler's log takes no more; Python would exit with 120, whatever was done."""
    program = f"""
import sys
from recall.cli import group
from recall.cli.output import note
from transcript.errors import RecallError
def work(**given):
    note("on the way"); print("done", flush=True); {last}
group.cli.main = work
sys.exit(group.run(["work"]))
"""
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=full)

    assert (ended.returncode, ended.stdout) == (code, b"done\n")


def test_a_clock_that_python_cannot_read_is_one_line_and_no_fault_of_ours(failing, capsys, monkeypatch):
    failing(OverflowError("timestamp too large to convert to C _PyTime_t"))
    with pytest.raises(OverflowError):
        group.run(["fail"])

    def after_2262():
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr(group.time, "time", after_2262)

    assert group.run(["fail"]) == 1
    told = "recall: this machine's clock stands after the year 2262; set it, then run this again\n"
    assert capsys.readouterr().err == told


def test_bare_recall_with_something_on_a_pipe_is_the_hook(tmp_path):
    """A payload of no known harness: nothing on either stream, exit 0."""
    command = [sys.executable, "-m", "recall.cli.main"]
    env = {**os.environ, "RECALL_HOOK_DEADLINE_MS": "4000"}
    held = hold_lock(Path(os.environ["RECALL_HOME"]))  # a hook that finds no time starts a service

    for payload in (b"", b"not json", json.dumps({"x": 1}).encode()):
        result = subprocess.run(command, cwd=tmp_path, env=env, input=payload, capture_output=True, timeout=180)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    os.close(held)


def test_the_hook_of_a_user_without_a_home_is_silent(monkeypatch, capfd):
    monkeypatch.setenv("RECALL_HOME", "~nobody-at-all")

    assert main.main(["hook"]) == 0
    assert capfd.readouterr() == ("", "")


def test_in_a_folder_that_was_removed_every_command_says_so_and_the_hook_nothing(tmp_path, monkeypatch, capfd):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert main.main(["service", "status"]) == 1
    assert capfd.readouterr().err == (
        "recall: the folder you are in is gone, or may not be entered; go to another one\n"
    )
    assert not main.needs_isolation()


def test_bare_recall_without_a_pipe_prints_help(tmp_path):
    result = recall(cwd=tmp_path)

    assert result.returncode == 0
    assert result.stdout.startswith("Usage: recall")


def test_recorded_control_characters_are_shown_not_obeyed():
    assert visible("a\x1b[2Jb\tc\n\x9b") == "a\\x1b[2Jb\tc\n\\x9b"
    assert visible("not \u202eeurt") == "not \\u202eeurt"


@pytest.mark.parametrize(("seconds", "text"), [(0.42, "0.4 s"), (45, "45 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_durations_read_like_speech(seconds, text):
    assert duration(seconds) == text
