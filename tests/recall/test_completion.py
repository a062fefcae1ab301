"""`recall completion`: a script for each shell, and what is offered for a half-typed line."""

import io
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete
from support.command import runner

from recall.cli import main
from recall.cli.completion import SHELLS, VARIABLE
from recall.cli.group import COMMANDS, HIDDEN, cli


@pytest.fixture
def recall(capsys):
    return runner(capsys)


def offered(*words: str) -> list[str]:
    """Return what may stand in the place of the last word."""
    *before, half = words
    return [one.value for one in BashComplete(cli, {}, "recall", VARIABLE).get_completions(list(before), half)]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_asks_recall(recall, shell):
    told = recall("completion", shell)
    assert told.code == 0
    assert f"{VARIABLE}={shell}_complete" in told.out


def test_a_shell_without_a_script_is_wrong_usage(recall):
    assert recall("completion", "tcsh").code == 2


def test_commands_are_offered_but_not_those_that_nobody_types():
    assert offered("") == [name for name in COMMANDS if name not in HIDDEN]
    assert offered("he") == ["health"]
    assert "--version" in offered("--")


def test_what_stands_below_a_command_is_offered():
    assert offered("memory", "hist") == ["history"]
    assert offered("health", "--rec") == ["--recount"]
    assert offered("completion", "") == list(SHELLS)


def test_the_shell_is_answered_whatever_its_standard_input_is(monkeypatch, capsys):
    """A pipe there makes bare `recall` the hook, but not while a line is completed."""
    monkeypatch.setattr(main, "stdin_is_payload", lambda: True)
    for name, value in {VARIABLE: "bash_complete", "COMP_WORDS": "recall sched", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(SystemExit) as ended:
        main.main([])
    assert ended.value.code == 0
    assert capsys.readouterr().out == "plain,schedule\n"


def test_completing_a_name_imports_no_command():
    code = (
        "import sys; from click.shell_completion import BashComplete; from recall.cli.group import cli;"
        f"BashComplete(cli, {{}}, 'recall', '{VARIABLE}').get_completions([], 'h');"
        "print(sorted(name for name in sys.modules if name in ('recall.cli.health', 'recall.cli.query', 'numpy')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
