"""claude-code-log, a reader by others, finds the same messages in every Claude Code and Codex file.

It has many dependencies, so it lives in an environment of its own, kept in the folder RECALL_E2E_PREFIX names. The
tables that this prints (`pytest -s`) stand in docs/adapters.md.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.oracle import Tally, compare

pytestmark = [pytest.mark.real_data, pytest.mark.slow]
PACKAGE = "claude-code-log==1.7.0"


@pytest.fixture(scope="session")
def python(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter that can import the package; installed only where there is something to read."""
    assert shared.is_dir()
    prefix = Path(os.environ.get("RECALL_E2E_PREFIX") or tmp_path_factory.mktemp("oracle"))
    folder = prefix / PACKAGE.replace("==", "-")
    found = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, capture_output=True)
        done = subprocess.run(
            [str(found), "-m", "pip", "install", "-q", PACKAGE], capture_output=True, text=True, timeout=900
        )
        if done.returncode:
            pytest.skip(f"the package index did not give {PACKAGE}: {done.stderr.strip().splitlines()[-1:]}")
        (folder / "installed").touch()
    return found


def agreed(python: Path, harness: str, folder: Path, title: str) -> Tally:
    tally = compare(python, harness, folder)
    print("\n" + tally.table(title))
    assert tally.unexplained == []
    return tally


def test_every_message_of_273_claude_sessions_is_agreed_on_or_explained(python, real_sessions):
    tally = agreed(python, "claude", real_sessions, "Claude Code, the archive")

    assert tally.files == 273
    assert sum(tally.agreed.values()) > 11_000


def test_every_message_of_the_older_codex_files_is_agreed_on_or_explained(python, other_harnesses):
    tally = agreed(python, "codex", other_harnesses / "codex", "Codex, 2025")

    assert tally.files == 13
    assert (tally.agreed["user"], tally.agreed["assistant"]) == (tally.ours["user"], tally.ours["assistant"])


@pytest.mark.parametrize(("harness", "folder"), [("claude", "claude-code"), ("codex", "codex")])
def test_todays_files_hold_the_same_messages_for_both(python, shared, harness, folder):
    tally = agreed(python, harness, shared / "clients" / "fresh" / folder, f"{folder}, today")

    assert tally.agreed["assistant"] == tally.ours["assistant"] > 0


def test_fixtures_of_other_viewers_hold_the_same_messages_for_both(python, other_harnesses):
    tally = agreed(python, "claude", other_harnesses / "claude", "Claude Code, fixtures of other viewers")

    assert tally.files == 9
