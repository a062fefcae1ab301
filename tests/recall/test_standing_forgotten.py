"""What is forgotten is told by no standing context and stands in no rules file; a file of yours with it is named."""

import os
from pathlib import Path
from typing import Any

import pytest
from support.command import runner

from recall.standing_context import held
from transcript.workspace import locate

WORDS = "the vault opens at nine"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Any:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    run = runner(capsys)
    assert run("init").code == 0
    return run


def test_a_critical_memory_that_is_forgotten_is_in_no_file_any_more_and_the_others_are(call):
    assert call("enable-hooks", "grok-build").code == 0
    for text in (f"Note that {WORDS}.", "Deploys go out on Tuesdays."):
        call("memory", "add", text, "--for", "any", "--critical")
    call("project")
    rules = next(path for path in Path.cwd().rglob("*.md") if "recall: begin" in path.read_text("utf-8"))
    before = rules.read_text("utf-8")

    done = call("forget", WORDS, "--authorised")

    assert WORDS in before
    assert done.code == 0, done.err
    assert WORDS not in rules.read_text("utf-8")
    found = locate(Path.cwd(), Path(os.environ["RECALL_HOME"]))
    assert found is not None
    assert [one.text for one in held(found.run_dir).entries] == ["Deploys go out on Tuesdays."]
    for path in [*found.home.rglob("*"), *Path.cwd().rglob("*")]:
        assert not path.is_file() or WORDS.encode() not in path.read_bytes(), path


def test_a_file_of_the_users_that_says_it_is_named_and_left_alone(call):
    path = Path.cwd() / ".recall" / "identity" / "IDENTITY.md"
    path.parent.mkdir()
    path.write_text(f"You know that {WORDS}.\n", "utf-8")
    call("memory", "add", f"Note that {WORDS}.", "--for", "any", "--critical")

    done = call("forget", WORDS, "--authorised")

    assert f"out of reach: {path}" in done.out
    assert path.exists()
