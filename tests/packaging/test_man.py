"""The manual page names every command with its options, and the formatter reads it without a warning."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recall.cli.group import COMMANDS, HIDDEN, SECTIONS


@pytest.fixture(scope="module")
def page(root: Path) -> Path:
    return root / "docs" / "recall.1"


def test_every_command_that_is_shown_has_its_part(page: Path) -> None:
    heads = [line.replace("\\-", "-").split()[2] for line in page.read_text("utf-8").splitlines() if line[:4] == ".SS "]
    assert [name for name in COMMANDS if name not in HIDDEN and name not in heads] == []
    assert not HIDDEN & set(heads)


def test_commands_stand_below_the_headings_of_help(page: Path) -> None:
    """In docs/cli.md as well: whoever looks for a command finds it where `recall --help` has it."""
    cli = (page.parent / "cli.md").read_text("utf-8")
    man = page.read_text("utf-8").replace("\\-", "-")
    for heading, names in SECTIONS.items():
        below = re.split(r"^## ", cli.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]
        assert re.findall(r"^### recall (\S+)$", below, re.MULTILINE) == list(names)
        below = re.split(r"^\.SH ", man.partition(f"\n.SH {heading.upper()}\n")[2], flags=re.MULTILINE)[0]
        assert list(dict.fromkeys(re.findall(r"^\.SS recall (\S+)", below, re.MULTILINE))) == list(names)


def test_options_and_what_stands_below_a_command_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    for part in (".SS recall memory history", ".B \\-\\-recount", ".SS recall doctor", ".SH EXIT STATUS"):
        assert part in text


def test_no_line_of_help_is_taken_for_a_request(page: Path) -> None:
    known = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".BR", ".nf", ".fi", '.\\"'}
    requests = {line.split()[0] for line in page.read_text("utf-8").splitlines() if line.startswith((".", "'"))}
    assert requests <= known


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_formatter_has_nothing_to_say(page: Path) -> None:
    ran = subprocess.run(["groff", "-ww", "-man", "-Tutf8", str(page)], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_wheel_carries_it(root: Path) -> None:
    assert '"docs/recall.1" = "share/man/man1/recall.1"' in (root / "pyproject.toml").read_text("utf-8")
