"""A drafter that returns nothing, garbage, never, or what it was not shown changes nothing but one checkpoint."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.running import CAUSE, make_running, talk_of_causes

from recall.cli.app import App
from recall.cli.group import cli
from transcript.log import Log

DANGLING = {"protocol": "recall-draft/1", "candidates": [
    {"memory_type": "lesson", "text": "Hooks run in the repository.", "why": "", "sources": ["aaaaaaaaaa#0-10"]},
]}  # fmt: skip
PROGRAMS = {
    "nothing": "",
    "garbage": "print('I found nothing of note')",
    "late": "import time; time.sleep(999)",
    "dangling": f"print({json.dumps(json.dumps(DANGLING))})",
    "fails": "raise SystemExit(3)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_failed_drafting_step_writes_nothing_else(name: str, tmp_path: Path) -> None:
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    program = tmp_path / "drafter.py"
    program.write_text(PROGRAMS[name])
    command = f"{shlex.quote(sys.executable)} -I {shlex.quote(str(program))}"
    config = tmp_path / "project" / ".recall" / "config.toml"
    config.write_text(f"[consolidation]\ndrafter_command = {json.dumps(command)}\ndrafter_timeout_s = 0.5\n")
    app = App({"RECALL_INDEX_MODEL": "none:at-all"}, tmp_path / "project", tmp_path / "data")

    def files() -> dict[str, bytes]:
        folder = tmp_path / "project" / ".recall"
        return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    record, held = project.workspace.activity.read_bytes(), files()
    done = CliRunner().invoke(cli, ["checkpoint"], obj=app)

    assert done.exit_code == 1
    assert "draft    failed" in done.output
    assert files() == held
    after = project.workspace.activity.read_bytes()
    assert after.startswith(record)
    added = list(Log(project.workspace).read())[len(record.splitlines()) :]
    assert [(event.type, event.body["state"], event.body["failed_step"]) for event in added] == [
        ("checkpoint", "failed", "draft"),
    ]  # fmt: skip
