"""Passages of prompts that nobody said: what clients wrap around them."""

import pytest

from indexer import noise


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
