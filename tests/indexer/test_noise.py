"""Passages that nobody said: what recall had shown, and what clients wrap around prompts."""

from pathlib import Path

import pytest

from eval.planted_project import Project
from indexer import noise
from indexer.store import Store
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\n1. The port is 5432.\n[/recall 1a2b3c4d]"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("<system-reminder>Todo list is empty.</system-reminder>", True),
        ("<system-reminder>Todo list is empty.</system-reminder>\nWhich port?", False),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", True),
        ('{"parentUuid":null,"isSidechain":false}', True),
        ('{"port": 5432} is what I see', False),
        ("what does <system-reminder> mean?", False),
    ],
)
def test_only_what_is_wholly_a_clients_is_its_text(text: str, is_one: bool) -> None:
    """Case log-shape-drift: tools that read raw lines index nothing but envelope words."""
    assert noise.is_envelope(text) is is_one


def test_own_text_is_counted_where_it_got_past_the_cutting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case recall-feedback-loop (thedotmack/claude-mem#98)."""
    project = Project(tmp_path / "planted")
    project.say("s", f"Which port?\n{BLOCK}", f"It said: {BLOCK}")
    project.index()
    with Store.open(project.workspace.index_path) as store:
        kept_out = noise.own_text(store), noise.envelopes(store)
    monkeypatch.setattr("indexer.passages.block_spans", lambda text: [])
    project.say("s", f"And which host?\n{BLOCK}", "None.")
    project.index()

    with Store.open(project.workspace.index_path) as store:
        assert (kept_out, noise.own_text(store)) == ((0, (0, 1)), 1)
