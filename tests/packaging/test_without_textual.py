"""The screen's library is an extra: the screen alone imports it; without it the same is asked line by line."""

import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from recall.cli.caller import AGENTS

PACKAGES = ("transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval")
WITHOUT = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.modules["textual"] = None
from recall.cli.main import main
sys.exit(main())
"""


def test_the_screen_alone_imports_textual_and_no_dependency_names_it(root: Path) -> None:
    imports = re.compile(r"^\s*(from|import) textual\b", re.MULTILINE)
    found = [
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in (root / package).rglob("*.py")
        if imports.search(path.read_text("utf-8"))
    ]
    project = (root / "pyproject.toml").read_text("utf-8")
    dependencies = project[project.index("dependencies = [") : project.index("[project.optional-dependencies]")]

    assert sorted(found) == ["recall/cli/review_dialogs.py", "recall/cli/review_screen.py"]
    assert "textual" not in dependencies
    assert 'review = ["textual' in project


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX")
def test_without_it_a_terminal_is_asked_line_by_line(tmp_path: Path) -> None:
    """The real command at a terminal: what is signed is what it printed."""
    env = {name: value for name, value in os.environ.items() if name not in (*AGENTS, "RECALL_ACTOR", "RECALL_CHILD")}
    env |= {"RECALL_HOME": str(tmp_path / "data"), "HOME": str(tmp_path), "TERM": "xterm-256color"}
    project = tmp_path / "shop"
    project.mkdir()
    (project / "time.md").write_text("All clocks run on UTC.\n")
    at_terminal(project, env, "init")
    at_terminal(project, env, "coord", "key", "new")
    hostile = "Keep it.\u202e" + "\n" * 201 + "Delete it."
    made = at_terminal(project, env, "coord", "propose", "add", "--summary", hostile, "--evidence", "time.md", "--json")
    told = json.loads(made[made.index("{") :])

    answers = (("q stop:", "a"), ("Why?", "as agreed"), (f"type {told['action_hash'][:6]}", told["action_hash"][:6]))
    printed = at_terminal(project, env, "coord", "review", answers=answers)

    assert "lca-recall[review]" in printed
    assert "(200 blank lines)" in printed
    assert "\\u{202E}" in printed
    assert "\u202e" not in printed.partition("is approved")[0].rpartition("Keep it")[2]
    assert "is approved" in printed
    held = json.loads(next((project / ".coord" / "memory-proposals").iterdir()).read_bytes())
    assert (held["state"], held["decision"]["rationale"]) == ("approved", "as agreed")


def at_terminal(folder: Path, env: dict[str, str], *words: str, answers: tuple[tuple[str, str], ...] = ()) -> str:
    """What a command prints at a terminal of its own, where each answer is typed once its question stands there."""
    import termios

    terminal, inner = os.openpty()
    termios.tcsetwinsize(inner, (24, 100))
    command = [sys.executable, "-I", "-c", WITHOUT, *words]
    child = subprocess.Popen(
        command, cwd=folder, env=env, stdin=inner, stdout=inner, stderr=inner, start_new_session=True
    )
    os.close(inner)
    printed, waiting = b"", list(answers)
    while select.select([terminal], [], [], 180)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        printed += part
        if waiting and waiting[0][0].encode() in printed:
            os.write(terminal, waiting.pop(0)[1].encode() + b"\r")
    os.close(terminal)
    assert (child.wait(), waiting) == (0, []), printed.decode("utf-8", "replace")
    return printed.decode("utf-8", "replace")
